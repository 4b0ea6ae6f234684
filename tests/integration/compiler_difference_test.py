"""`aaco compiler A --against B`, `aaco diff` of its sessions, what each kernel computes, sizes that are fixed, and what it prints."""
from compiler_test import BIAS, CONV, FILTER, INT8, OTHER, SQUARE, image, model, node, rows, weight
from inspect_test import tensor
import program

INT32 = 6
FUSES = model([CONV, node('Relu', ['c'], 'y')], image('x'), image('y'), [FILTER])
BROKEN = model([CONV, node('Relu', ['c'], 'y'), OTHER], image('x'), image('y', 'z'), [FILTER])
OTHER_FILTER = weight('v', (8, 8, 3, 3))


def second(source, output): return node('Conv', [source, 'v'], output, pads=[1, 1, 1, 1])


# Two fused kernels one behind the other -> the nodes of each kernel with a convolution.
ADJACENT = {
    'transposes_that_cancel': (model([CONV, node('Transpose', ['c'], 't', perm=[0, 2, 3, 1]), node('Relu', ['t'], 'r'),
                                      node('Transpose', ['r'], 'u', perm=[0, 3, 1, 2]), second('u', 'y')], image('x'), image('y'), [FILTER, OTHER_FILTER]),
                               [['n_c', 'n_r'], ['n_y']]),
    'activation_between': (model([CONV, node('Relu', ['c'], 'r'), second('r', 'd'), node('Sigmoid', ['d'], 'y')], image('x'), image('y'),
                                 [FILTER, OTHER_FILTER]), [['n_c', 'n_r'], ['n_d', 'n_y']]),
    'normalisation_apart': (model([CONV, OTHER, node('BatchNormalization', ['c', 's', 'b', 'm', 'v2'], 'n'), node('Relu', ['n'], 'r'), second('r', 'y')],
                                  image('x'), image('y', 'z'), [FILTER, OTHER_FILTER, *[weight(name, (8,)) for name in ('s', 'b', 'm', 'v2')]]),
                            [['n_c'], ['n_n', 'n_r'], ['n_y']]),
}


class CompilerTest(program.ProgramTest):
    def write(self, name, data):
        path = self.folder / f'{name}.onnx'
        path.write_bytes(data)
        return path

    def done(self, *arguments):
        outcome = self.aaco(*arguments)
        if outcome.code == 3 and 'ONNX Runtime' in outcome.errors and 'unsupported' in outcome.errors:
            self.skipTest('skipped, no ONNX Runtime on this machine')
        self.assertEqual(outcome.code, 0, (arguments, outcome.errors))
        return outcome

    def compile(self, name, data, *options):
        return self.done('compiler', self.write(name, data), '--this-level', '--no-store', '--json', *options).json()


class Difference(CompilerTest):
    def test_kernels_that_are_neighbours_have_their_own_nodes(self):
        for name, (data, expected) in ADJACENT.items():
            for level in ('extended', 'all'):
                told = self.compile(name, data, '--graph-level', level)
                kernels = {}
                for row in told['compiler_nodes']:
                    if row.get('kernel') and row.get('node'):
                        kernels.setdefault(row['kernel'], []).append(row['node'])
                if name == 'normalisation_apart' and level == 'extended':
                    continue  # the activation is not fused there
                found = [sorted(nodes) for nodes in kernels.values() if any(node[2:] in 'cdny' for node in nodes) and nodes != ['n_z']]
                self.assertEqual(sorted(found), sorted(sorted(nodes) for nodes in expected), (name, level))
                self.assertFalse([one for one in told['inserted'] if one['kind'] == 'other'], (name, level))

    def test_two_models(self):
        a, b = self.write('a', FUSES), self.write('b', BROKEN)
        told = self.done('compiler', a, '--against', b, '--no-store', '--json').json()['against']
        self.assertEqual((told['kind'], told['here'], told['there']), ('model', 'a.onnx', 'b.onnx'))
        self.assertEqual([(one['nodes'], one['reason'], one['first'], one['second'], one['cause']) for one in told['only_here']],
                         [(['n_c', 'n_y'], 'several_consumers', 'n_c', 'n_y', 'n_z')])
        self.assertEqual(told['only_there'], [])
        self.assertEqual(([one['node'] for one in told['nodes_here']], [one['node'] for one in told['nodes_there']]), ([], ['n_z']))
        text = self.done('compiler', a, '--against', b, '--no-store').output
        for part in ('a.onnx -> b.onnx', 'Nodes only in b.onnx', 'Fused only with a.onnx', 'nodes: n_c, n_y', "also read by 'n_z'"):
            self.assertIn(part, text)
        same = self.done('compiler', a, '--against', a, '--no-store', '--json').json()['against']
        self.assertEqual([same[key] for key in ('only_here', 'only_there', 'nodes_here', 'nodes_there', 'changed')], [[]] * 5)

    def test_stored_sessions_are_compared_by_diff(self):
        self.done('compiler', self.write('a', FUSES), '--this-level', '--tag', 'ca')
        self.done('compiler', self.write('b', BROKEN), '--this-level', '--tag', 'cb')
        told = self.done('diff', 'tag:ca', 'tag:cb', '--json').json()
        self.assertEqual([(one['nodes'], one['cause']) for one in told['only_here']], [(['n_c', 'n_y'], 'n_z')])
        back = self.done('diff', 'tag:cb', 'tag:ca', '--json').json()
        self.assertEqual((back['only_here'], [one['nodes'] for one in back['only_there']]), ([], [['n_c', 'n_y']]))
        self.assertIn("also read by 'n_z'", self.done('diff', 'tag:ca', 'tag:cb').output)
        self.refused(self.aaco('diff', 'tag:ca', 'tag:nosuch'), 3, 'nosuch')
        self.refused(self.aaco('diff', 'tag:ca', 'tag:cb', '--html', self.folder / 'page.html'), 2, '--html')

    def test_nodes_without_names_are_paired_in_order(self):
        def layers(extra):
            nodes = [node('Neg', ['x'], 'm')] if extra else []
            nodes += [CONV if not extra else node('Conv', ['m', 'w'], 'c', pads=[1, 1, 1, 1]), node('Relu', ['c'], 'y')]
            return model([one.replace(b'\x1a\x03n_', b'\x7a\x03n_') for one in nodes], image('x'), image('y'), [FILTER])
        told = self.done('compiler', self.write('a', layers(False)), '--against', self.write('b', layers(True)), '--no-store', '--json').json()['against']
        self.assertEqual((told['only_here'], told['only_there'], [one['op_type'] for one in told['nodes_there']]), ([], [], ['Neg']))

    def test_a_level_has_reasons(self):
        data = model([node('Gemm', ['x', 'w'], 'c'), node('Relu', ['c'], 'y')], rows('x'), rows('y'), [SQUARE])
        told = self.compile('level', data, '--against', 'basic')['against']
        self.assertEqual([(one['nodes'], one['reason']) for one in told['only_here']], [(['n_c', 'n_y'], 'level_too_low')])

    def test_sizes_that_are_given_are_fixed_for_the_optimiser(self):
        data = model([node('MatMul', ['x', 'w'], 'c'), node('Add', ['c', 'k'], 'y')], [tensor('x', ('n', 4, 16))], [tensor('y', ('n', 4, 16))],
                     [SQUARE, BIAS])
        self.assertEqual(self.compile('open', data)['fused'], [])
        for given in (['--batch', '2'], ['--dim', 'n=2'], ['--shape', 'x=2x4x16']):
            told = self.compile('open', data, *given)
            self.assertEqual([one['nodes'] for one in told['fused']], [['n_c', 'n_y']], given)
            self.assertEqual((told['fixed_dimensions'], told['not_fused']), ({'n': 2}, []))
        self.refused(self.aaco('compiler', self.folder / 'open.onnx', '--dim', 'nowhere=2'), 2, 'nowhere')

    def test_a_provider_that_this_build_lacks(self):
        data = self.write('absent', FUSES)
        self.refused(self.aaco('compiler', data, '--backend', 'migraphx', '--no-store'), 3, 'MIGraphX')
        outcome = self.done('compiler', data, '--backend', 'migraphx', '--allow-fallback', '--no-store', '--this-level')
        self.assertNotIn('1.30.0, MIGraphXExecutionProvider', outcome.output)
        self.assertIn('this build of ONNX Runtime does not have MIGraphXExecutionProvider', outcome.output)

    def test_layers_are_one_line_and_the_planted_one_comes_first(self):
        nodes, last = [], 'x'
        for place in range(4):
            nodes += [node('Gemm', [last, 'w'], f'c{place}'), node('Softmax', [f'c{place}'], f's{place}') if place == 2 else
                      node('Relu', [f'c{place}'], f's{place}'), node('Neg', [f'c{place}'], f'z{place}')]
            last = f's{place}'
        outputs = [name for place in range(4) for name in (f'z{place}',)]
        data = model(nodes, rows('x'), rows(last, *outputs), [SQUARE])
        text = self.done('compiler', self.write('layers', data), '--this-level', '--no-store').output
        self.assertIn('    3  several_consumers     gemm_activation: n_c* and n_s*\n', text)
        self.assertEqual(text.count('gemm_activation'), 1)

    def test_what_a_provider_says_of_types_and_zero_points(self):
        product = model([node('MatMul', ['x', 'u'], 'y')], rows('x', element_type=INT32) + [tensor('u', (16, 16), INT32)], rows('y', element_type=INT32))
        refused = self.compile('product', product, '--against', 'tensorrt')['against']['refused']
        self.assertEqual([(one['node'], one['reason']) for one in refused], [('n_y', 'provider_type')])
        scale = [weight('s', (), 0.1), weight('z', (), 1, INT8)]
        quantised = model([node('QuantizeLinear', ['x', 's', 'z'], 'q'), node('DequantizeLinear', ['q', 's', 'z'], 'y')], rows('x'), rows('y'), scale)
        refused = self.compile('quantised', quantised, '--against', 'tensorrt')['against']['refused']
        self.assertEqual(sorted((one['node'], one['reason']) for one in refused), [('n_q', 'provider_attribute'), ('n_y', 'provider_attribute')])

    def test_a_dequantised_weight_is_a_constant(self):
        data = model([node('DequantizeLinear', ['w8', 's'], 'wd'), node('Conv', ['x', 'wd'], 'y', pads=[1, 1, 1, 1])], image('x'), image('y'),
                     [weight('w8', (8, 8, 3, 3), 1, INT8), weight('s', (), 0.1)])
        self.assertEqual([one for one in self.compile('weight', data, '--against', 'tensorrt')['against']['refused'] if one['node'] == 'n_y'], [])


class Providers(CompilerTest):
    """With the build of scripts/bootstrap.sh --ort-providers; else skipped."""

    def placed(self, name, data, backend, *options):
        outcome = self.aaco('compiler', self.write(name, data), '--backend', backend, '--this-level', '--no-store', '--json', *options)
        if outcome.code == 3:
            self.skipTest(f'skipped, no build with {backend} on this machine')
        self.assertEqual(outcome.code, 0, outcome.errors)
        self.assertNotIn('Schema error', outcome.errors)
        return outcome.json()

    def test_a_node_in_the_blocked_layout_keeps_its_name(self):
        pooled = model([CONV, node('MaxPool', ['c'], 'p', kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1), second('p', 'y')], image('x'),
                       [tensor('y', (1, 8, 4, 4))], [FILTER, OTHER_FILTER])
        refused = self.placed('pooled', pooled, 'xnnpack')['against']['refused']
        self.assertEqual([(one['node'], one['reason']) for one in refused], [('n_p', 'provider_attribute')])

    def test_a_provider_that_takes_nothing_has_a_reason_for_each_node(self):
        data = model([CONV, node('Relu', ['c'], 'y')], [tensor('x', (1, 8, 'h', 8))], [tensor('y', (1, 8, 'h', 8))], [FILTER])
        told = self.placed('open', data, 'xnnpack')['against']
        self.assertNotIn('XnnpackExecutionProvider', told['nodes_by_provider'])
        self.assertEqual([(one['node'], one['reason']) for one in told['refused']], [('n_c', 'provider_shape'), ('n_y', 'provider_follows')])
        fixed = self.placed('open', data, 'xnnpack', '--dim', 'h=8')['against']
        self.assertIn('XnnpackExecutionProvider', fixed['nodes_by_provider'])
        self.assertEqual(fixed['refused'], [])

    def test_what_moved_between_providers(self):
        a, b = (model([CONV, node('Relu', ['c'], 'y')], [tensor('x', (1, 8, size, 8))], [tensor('y', (1, 8, size, 8))], [FILTER]) for size in (8, 'h'))
        there = self.write('b', b)
        told = self.placed('a', a, 'xnnpack', '--against', there)['against']
        self.assertEqual([(one['node'], one['from'], one['reason']) for one in told['moved']],
                         [('n_c', 'xnnpack', 'provider_shape'), ('n_y', 'xnnpack', 'provider_follows')])


class Words(program.ProgramTest):
    def test_help_as_a_verb(self):
        self.assertEqual(self.aaco('help').output, self.aaco('--help').output)
        self.assertEqual(self.aaco('help', 'compiler').output, self.aaco('compiler', '--help').output)
        self.assertEqual(self.aaco('help').code, 0)

    def test_help_names_all_that_against_takes(self):
        text = self.aaco('compiler', '--help').output
        for word in ('migraphx', 'tensorrt', 'edgetpu', 'hailo', 'dnnl', 'xnnpack', 'disabled', 'another model'):
            self.assertIn(word, text)

    def test_no_model_names_this_verb(self):
        self.refused(self.aaco('compiler'), 2, 'aaco compiler --model resnet50')

    def test_errors_of_the_runtime_are_short_and_have_a_remedy(self):
        path = self.folder / 'new.onnx'
        path.write_bytes(model([node('Relu', ['x'], 'y')], rows('x'), rows('y'), [], 99))
        outcome = self.aaco('compiler', path, '--no-store')
        if 'ONNX Runtime library not found' in outcome.errors:
            self.skipTest('skipped, no ONNX Runtime on this machine')
        self.refused(outcome, 3, 'opset 99 of ai.onnx is newer', 'hint')
        self.assertNotIn('std::', outcome.errors)
        self.assertLess(len(outcome.errors), 600)
