"""`aaco compiler`: planted changes that break a fusion are named with their reason, and what it refuses."""
import json
import pathlib
import struct

import program
from inspect_test import field, integer, tensor, varint

FLOAT, INT64, HALF, DOUBLE = 1, 7, 10, 11
INT8, BOOLEAN = 3, 9
PACKED = {FLOAT: 'f', INT64: 'q', HALF: 'e', DOUBLE: 'd', INT8: 'b'}
RULES = pathlib.Path(__file__).resolve().parents[2] / 'data/rules/compiler.yaml'


def attribute(name, value):
    if isinstance(value, int):
        return field(5, field(1, name.encode()) + integer(3, value) + integer(20, 2))
    if isinstance(value, str):
        return field(5, field(1, name.encode()) + field(4, value.encode()) + integer(20, 3))
    if isinstance(value, bytes):
        return field(5, field(1, name.encode()) + field(6, value) + integer(20, 5))
    return field(5, field(1, name.encode()) + b''.join(integer(8, item) for item in value) + integer(20, 7))


def node(op_type, inputs, output, **attributes):
    """A node that makes `output` and is called n_OUTPUT."""
    return (b''.join(field(1, name.encode()) for name in inputs) + field(2, output.encode()) + field(3, b'n_' + output.encode())
            + field(4, op_type.encode()) + b''.join(attribute(*item) for item in attributes.items()))


def weight(name, dims=(), value=None, element_type=FLOAT):
    count = 1
    for dim in dims:
        count *= dim
    values = [0.5 + 0.01 * (place % 7) if value is None else value for place in range(count)]
    return (b''.join(integer(1, dim) for dim in dims) + integer(2, element_type) + field(8, name.encode())
            + field(9, struct.pack(f'<{count}{PACKED[element_type]}', *values)))


def model(nodes, inputs, outputs, weights=(), opset=17):
    graph = b''.join(field(1, item) for item in nodes) + field(2, b'g') + b''.join(field(5, item) for item in weights)
    graph += b''.join(field(11, item) for item in inputs) + b''.join(field(12, item) for item in outputs)
    return integer(1, 8) + field(7, graph) + field(8, integer(2, opset))


def image(*names, element_type=FLOAT): return [tensor(name, (1, 8, 8, 8), element_type) for name in names]
def rows(*names, element_type=FLOAT): return [tensor(name, (4, 16), element_type) for name in names]
def cast(source, output, to=DOUBLE): return node('Cast', [source], output, to=to)


CONV = node('Conv', ['x', 'w'], 'c', pads=[1, 1, 1, 1])
FILTER = weight('w', (8, 8, 3, 3))
NORM = [weight(name, (8,)) for name in 'sbmv']
SQUARE = weight('w', (16, 16))
BIAS = weight('k', (16,))
OTHER = node('Neg', ['c'], 'z')
GELU_WEIGHTS = [weight('root', (), 1.41421356), weight('one', (), 1.0), weight('half', (), 0.5)]
LAYER_WEIGHTS = [weight('two', (), 2.0), weight('eps', (), 1e-5), weight('g', (16,)), weight('b', (16,))]


def gelu(erf='e', plus='p'):
    return [node('Div', ['x', 'root'], 'd'), node('Erf', ['d'], 'e'), node('Add', [erf, 'one'], 'p'), node('Mul', ['x', plus], 't'),
            node('Mul', ['t', 'half'], 'y')]


def layer_norm(variance='var'):
    return [node('ReduceMean', ['x'], 'mean', axes=[-1]), node('Sub', ['x', 'mean'], 'c'), node('Pow', ['c', 'two'], 'q'),
            node('ReduceMean', ['q'], 'var', axes=[-1]), node('Add', [variance, 'eps'], 've'), node('Sqrt', ['ve'], 'sd'),
            node('Div', ['c', 'sd'], 'nn'), node('Mul', ['nn', 'g'], 'ms'), node('Add', ['ms', 'b'], 'y')]


def turned_product(opset):
    return model([node('Transpose', ['u'], 't', perm=[1, 0]), node('MatMul', ['x', 't'], 'y')], rows('x') + [tensor('u', (8, 16))],
                 [tensor('y', (4, 8))], [], opset)


def scaled_product(opset):
    return model([node('Mul', ['x', 'k'], 't'), node('MatMul', ['t', 'u'], 'y')], rows('x') + [tensor('u', (16, 8))], [tensor('y', (4, 8))],
                 [weight('k', (), 0.125)], opset)


# What is planted -> the model, the reason, the two nodes that stay apart and the node at fault.
CONSUMERS = {
    'conv_relu': (model([CONV, node('Relu', ['c'], 'y'), OTHER], image('x'), image('y', 'z'), [FILTER]), 'n_c', 'n_y', 'n_z'),
    'conv_sigmoid': (model([CONV, OTHER, node('Sigmoid', ['c'], 'y')], image('x'), image('y', 'z'), [FILTER]), 'n_c', 'n_y', 'n_z'),
    'conv_bn': (model([CONV, node('BatchNormalization', ['c', 's', 'b', 'm', 'v'], 'y'), OTHER], image('x'), image('y', 'z'), [FILTER, *NORM]),
                'n_c', 'n_y', 'n_z'),
    'conv_add': (model([CONV, node('Add', ['c', 'k'], 'y'), OTHER], image('x'), image('y', 'z'), [FILTER, weight('k', (1, 8, 1, 1))]), 'n_c', 'n_y', 'n_z'),
    'matmul_add': (model([node('MatMul', ['x', 'w'], 'c'), node('Add', ['c', 'k'], 'y'), OTHER], rows('x'), rows('y', 'z'), [SQUARE, BIAS]),
                   'n_c', 'n_y', 'n_z'),
    'gemm_relu': (model([node('Gemm', ['x', 'w'], 'c'), node('Relu', ['c'], 'y'), OTHER], rows('x'), rows('y', 'z'), [SQUARE]), 'n_c', 'n_y', 'n_z'),
    'gelu': (model([*gelu(), node('Neg', ['e'], 'z')], rows('x'), rows('y', 'z'), GELU_WEIGHTS), 'n_e', 'n_p', 'n_z'),
    'layer_norm': (model([*layer_norm(), node('Neg', ['var'], 'z')], rows('x'), rows('y') + [tensor('z', (4, 1))], LAYER_WEIGHTS), 'n_var', 'n_ve', 'n_z'),
}
CASTS = {
    'conv_relu': (model([CONV, cast('c', 'k'), node('Relu', ['k'], 'y')], image('x'), image('y', element_type=DOUBLE), [FILTER]), 'n_c', 'n_y', 'n_k'),
    'gemm_relu': (model([node('Gemm', ['x', 'w'], 'c'), cast('c', 'k'), node('Relu', ['k'], 'y')], rows('x'), rows('y', element_type=DOUBLE), [SQUARE]),
                  'n_c', 'n_y', 'n_k'),
    'matmul_add': (model([node('MatMul', ['x', 'w'], 'c'), cast('c', 'h'), node('Add', ['h', 'k'], 'y')], rows('x'), rows('y', element_type=DOUBLE),
                         [SQUARE, weight('k', (16,), None, DOUBLE)]), 'n_c', 'n_y', 'n_h'),
    'gelu': (model([*gelu(erf='e2')[:2], cast('e', 'e1', HALF), cast('e1', 'e2', FLOAT), *gelu(erf='e2')[2:]], rows('x'), rows('y'), GELU_WEIGHTS),
             'n_e', 'n_p', 'n_e2'),
    'layer_norm': (model([*layer_norm('v2')[:4], cast('var', 'v1', HALF), cast('v1', 'v2', FLOAT), *layer_norm('v2')[4:]], rows('x'), rows('y'),
                         LAYER_WEIGHTS), 'n_var', 'n_ve', 'n_v2'),
}
OPSETS = {
    'transpose_matmul_7': (turned_product(7), 'n_t', 'n_y'), 'transpose_matmul_8': (turned_product(8), 'n_t', 'n_y'),
    'scale_matmul_7': (scaled_product(7), 'n_t', 'n_y'), 'scale_matmul_8': (scaled_product(8), 'n_t', 'n_y'),
}
OTHERS = {
    'graph_output': (model([CONV, node('Relu', ['c'], 'y')], image('x'), image('y', 'c'), [FILTER]), 'n_c', 'n_y'),
    'type_not_covered': (model([node('Gemm', ['x', 'w'], 'c'), node('Relu', ['c'], 'y')], rows('x', element_type=DOUBLE), rows('y', element_type=DOUBLE),
                               [weight('w', (16, 16), None, DOUBLE)]), 'n_c', 'n_y'),
    'shape_not_covered': (model([node('MatMul', ['x', 'w'], 'c'), node('Add', ['c', 'k'], 'y')], [tensor('x', ('n', 4, 16))], [tensor('y', ('n', 4, 16))],
                                [SQUARE, BIAS]), 'n_c', 'n_y'),
    'node_between': (model([CONV, node('Transpose', ['c'], 't', perm=[0, 1, 3, 2]), node('Relu', ['t'], 'y')], image('x'), image('y'), [FILTER]), 'n_c', 'n_y'),
}
# A constant that becomes an input of the graph -> the model, the two nodes.
INPUTS = {
    'conv_bn_scale': (model([CONV, node('BatchNormalization', ['c', 's', 'b', 'm', 'v'], 'y')], image('x') + [tensor('s', (8,))], image('y'),
                            [FILTER, *NORM[1:]]), 'n_c', 'n_y'),
    'conv_bn_all': (model([CONV, node('BatchNormalization', ['c', 's', 'b', 'm', 'v'], 'y')], image('x') + [tensor(name, (8,)) for name in 'sbmv'],
                          image('y'), [FILTER]), 'n_c', 'n_y'),
    'conv_bn_filter': (model([CONV, node('BatchNormalization', ['c', 's', 'b', 'm', 'v'], 'y')], image('x') + [tensor('w', (8, 8, 3, 3))], image('y'),
                             NORM), 'n_c', 'n_y'),
    'conv_mul': (model([CONV, node('Mul', ['c', 'k'], 'y')], image('x') + [tensor('k', (1, 8, 1, 1))], image('y'), [FILTER]), 'n_c', 'n_y'),
    'conv_add_filter': (model([CONV, node('Add', ['c', 'k'], 'y')], image('x') + [tensor('w', (8, 8, 3, 3))], image('y'), [weight('k', (1, 8, 1, 1))]),
                        'n_c', 'n_y'),
    'gelu': (model(gelu(), rows('x') + [tensor('root', ())], rows('y'), GELU_WEIGHTS[1:]), 'n_d', 'n_e'),
    'pad_conv': (model([node('Pad', ['x', 'pads'], 'p'), node('Conv', ['p', 'w'], 'y', pads=[1, 1, 1, 1])], image('x') + [tensor('pads', (8,), INT64)],
                       image('y'), [FILTER]), 'n_p', 'n_y'),
    'quick_gelu': (model([node('Mul', ['x', 'k'], 's'), node('Sigmoid', ['s'], 'g'), node('Mul', ['x', 'g'], 'y')], rows('x') + [tensor('k', ())], rows('y')),
                   'n_s', 'n_g'),
    'scale_matmul': (model([node('Mul', ['x', 'k'], 't'), node('MatMul', ['t', 'u'], 'y')], rows('x') + [tensor('u', (16, 8)), tensor('k', ())],
                           [tensor('y', (4, 8))]), 'n_t', 'n_y'),
}
def body(nodes, outputs):
    """A branch or a body without inputs of its own."""
    return b''.join(field(1, item) for item in nodes) + field(2, b'body') + b''.join(field(12, item) for item in outputs)


def quantised(op_type, operands):
    """`op_type` on quantised operands (those called w are weights), its result quantised to q."""
    nodes = []
    for name in operands:
        if name != 'w':
            nodes.append(node('QuantizeLinear', [name, 'scale', 'zero'], f'{name}q'))
        nodes.append(node('DequantizeLinear', [f'{name}q' if name != 'w' else 'w', 'scale', 'zero'], f'{name}d'))
    return [*nodes, node(op_type, [f'{name}d' for name in operands], 'm'), node('QuantizeLinear', ['m', 'scale', 'zero'], 'q'),
            node('DequantizeLinear', ['q', 'scale', 'zero'], 'y')]


def turned(perm):
    return model([node('Neg', ['x'], 'n'), node('Transpose', ['n'], 't', perm=perm), node('MatMul', ['t', 'u'], 'y')],
                 [tensor('x', (2, 3, 4, 5)), tensor('u', (2, 4, 5, 6) if perm[1] == 2 else (2, 3, 4, 6))],
                 [tensor('y', (2, 4, 3, 6) if perm[1] == 2 else (2, 3, 5, 6))])


SCALE = [weight('scale', (), 0.1), weight('zero', (), 0, INT8)]
# Conditions of fusions that the models below do not meet -> the model, the reason, the two nodes.
CONDITIONS = {
    'order_of_axes': (turned([0, 2, 1, 3]), 'attribute_not_covered', 'n_t', 'n_y'),
    'overridable': (model([CONV, node('Add', ['c', 'k'], 'y')], image('x') + [tensor('k', (8, 1, 1))], image('y'), [FILTER, weight('k', (8, 1, 1))]),
                    'operand_not_constant', 'n_c', 'n_y'),
    'broadcast_sum': (model([CONV, node('GlobalMaxPool', ['x'], 'g'), node('Add', ['c', 'g'], 's'), node('Relu', ['s'], 'y')], image('x'), image('y'),
                            [FILTER]), 'shape_not_covered', 'n_c', 'n_s'),
    'layout_of_an_input': (model([CONV, node('Add', ['c', 'r'], 's'), node('Relu', ['s'], 'y')], image('x', 'r'), image('y'), [FILTER]),
                           'layout_not_covered', 'n_c', 'n_s'),
    'gemm_with_c': (model([node('Gemm', ['x', 'w', 'k'], 'c'), node('Sum', ['c', 'r'], 'y')], rows('x', 'r'), rows('y'), [SQUARE, BIAS]),
                    'operand_not_covered', 'n_c', 'n_y'),
    'gemm_softsign': (model([node('Gemm', ['x', 'w'], 'c'), node('Softsign', ['c'], 'y'), OTHER], rows('x'), rows('y', 'z'), [SQUARE]),
                      'several_consumers', 'n_c', 'n_y'),
    'scale_is_a_vector': (model([node('Mul', ['x', 'k'], 't'), node('MatMul', ['t', 'u'], 'y')], rows('x') + [tensor('u', (16, 8))],
                                [tensor('y', (4, 8))], [BIAS]), 'shape_not_covered', 'n_t', 'n_y'),
    'numerator': (model([node('Div', ['two', 'x'], 'd'), node('Mul', ['d', 'u'], 'y')], rows('x', 'u'), rows('y'), [weight('two', (), 2.0)]),
                  'value_not_covered', 'n_d', 'n_y'),
    'bias_of_rank_2': (model([node('MatMul', ['x', 'w'], 'c'), node('Add', ['c', 'k'], 'y')], [tensor('x', (2, 4, 16))], [tensor('y', (2, 4, 16))],
                             [SQUARE, weight('k', (1, 16))]), 'shape_not_covered', 'n_c', 'n_y'),
    'float_operand': (model([node('QuantizeLinear', ['x', 'scale', 'zero'], 'xq'), node('DequantizeLinear', ['xq', 'scale', 'zero'], 'xd'),
                             node('Add', ['xd', 'r'], 'm'), node('QuantizeLinear', ['m', 'scale', 'zero'], 'q'),
                             node('DequantizeLinear', ['q', 'scale', 'zero'], 'y')], rows('x', 'r'), rows('y'), SCALE),
                      'operand_not_quantised', 'n_m', 'n_q'),
    'quantised_output': (model(quantised('MatMul', ['x', 'w']), rows('x'), rows('y', 'm'), [*SCALE, weight('w', (16, 16), 3, INT8)]),
                         'graph_output', 'n_m', 'n_q'),
}
# A node that a provider does not take: provider, model, reason, node.
PROVIDERS = {
    'migraphx': (model([node('Relu', ['x'], 'a'), node('Hardmax', ['a'], 'c'), node('Neg', ['c'], 'y')], rows('x'), rows('y')), 'provider_operator', 'n_c'),
    'tensorrt': (model([node('Relu', ['x'], 'a'), node('LayerNormalization', ['a', 'k'], 'c'), node('Neg', ['c'], 'y')], rows('x'), rows('y'), [BIAS]),
                 'provider_operator', 'n_c'),
    'edgetpu': (model([node('Relu', ['x'], 'y')], rows('x'), rows('y')), 'provider_type', 'n_y'),
}


class Compiler(program.ProgramTest):
    def compile(self, name, data, *options):
        path = self.folder / f'{name}.onnx'
        path.write_bytes(data)
        outcome = self.aaco('compiler', path, '--this-level', '--json', *options)
        if outcome.code == 3 and 'ONNX Runtime' in outcome.errors and 'unsupported' in outcome.errors:
            self.skipTest('skipped, no ONNX Runtime on this machine')
        self.assertEqual(outcome.code, 0, (name, outcome.errors))
        return outcome.json()

    def named(self, name, data, reason, first, second, cause=None):
        """Exactly one missed fusion has the reason, and it is the planted one."""
        missed = [miss for miss in self.compile(name, data)['not_fused'] if miss['reason'] == reason]
        self.assertEqual([(miss['first'], miss['second'], miss.get('cause')) for miss in missed], [(first, second, cause)], name)
        self.assertIn(f'id: {reason},', RULES.read_text())
        self.assertTrue(missed[0]['condition'], name)

    def test_added_consumers(self):
        for name, (data, *nodes) in CONSUMERS.items():
            self.named('consumer_' + name, data, 'several_consumers', *nodes)

    def test_casts(self):
        for name, (data, *nodes) in CASTS.items():
            self.named('cast_' + name, data, 'cast_between', *nodes)

    def test_operator_sets_without_the_fusion(self):
        for name, (data, *nodes) in OPSETS.items():
            self.named('opset_' + name, data, 'opset_not_covered', *nodes)
        for whole in (turned_product(9), scaled_product(9)):
            self.assertEqual(self.compile('opset_9', whole)['not_fused'], [])

    def test_outputs_types_shapes_and_nodes_between(self):
        for reason, (data, *nodes) in OTHERS.items():
            self.named('other_' + reason, data, reason, *nodes, *(['n_t'] if reason == 'node_between' else []))

    def test_constants_that_become_inputs(self):
        for name, (data, *nodes) in INPUTS.items():
            self.named('input_' + name, data, 'operand_not_constant', *nodes)

    def test_conditions_of_fusions(self):
        for name, (data, reason, *nodes) in CONDITIONS.items():
            told = self.compile('condition_' + name, data)['not_fused']
            self.assertEqual([(miss['reason'], miss['first'], miss['second']) for miss in told if (miss['first'], miss['second']) == tuple(nodes)],
                             [(reason, *nodes)], (name, told))
            self.assertIn(f'id: {reason},', RULES.read_text())

    def test_whole_quantised_operators_and_orders_that_fit_are_fused(self):
        for name, data, kernel in (('matmul', model(quantised('MatMul', ['x', 'w']), rows('x'), rows('y'), [*SCALE, weight('w', (16, 16), 3, INT8)]),
                                    'QLinearMatMul'),
                                   ('add', model(quantised('Add', ['x', 'r']), rows('x', 'r'), rows('y'), SCALE), 'QLinearAdd'),
                                   ('turned', turned([0, 1, 3, 2]), 'FusedMatMul')):
            told = self.compile('whole_' + name, data)
            self.assertEqual(told['not_fused'], [], name)
            self.assertIn(kernel, [fused['op_type'].split('.')[-1] for fused in told['fused']], name)

    def test_a_transposition_that_others_read_is_taken_in_too(self):
        shared = model([node('Transpose', ['u'], 't', perm=[1, 0]), node('MatMul', ['x', 't'], 'y'), node('Neg', ['t'], 'z')],
                       rows('x') + [tensor('u', (8, 16))], [tensor('y', (4, 8)), tensor('z', (16, 8))])
        self.assertEqual(self.compile('shared', shared)['not_fused'], [])

    def test_bodies_are_looked_into(self):
        branch = body([node('Gemm', ['x', 'w'], 'c'), node('Relu', ['c'], 'a'), node('Neg', ['c'], 'b'), node('Max', ['a', 'b'], 'm')],
                      [tensor('m', (4, 16))])
        other = body([node('Gemm', ['x', 'w'], 'e'), node('Relu', ['e'], 'f')], [tensor('f', (4, 16))])
        data = model([node('If', ['p'], 'y', then_branch=branch, else_branch=other)], rows('x') + [tensor('p', (), BOOLEAN)], rows('y'), [SQUARE])
        told = self.compile('bodies', data)
        self.assertEqual(told['nodes'], 7)
        self.assertEqual([(miss['reason'], miss['first'], miss['second'], miss['within']) for miss in told['not_fused']],
                         [('several_consumers', 'n_c', 'n_a', "then_branch of 'n_y'")])
        self.assertEqual([(fused['nodes'], fused['within']) for fused in told['fused']], [(['n_e', 'n_f'], "else_branch of 'n_y'")])
        text = self.aaco('compiler', self.folder / 'bodies.onnx', '--this-level').output
        self.assertIn("n_c (then_branch of 'n_y') and n_a", text)

    def test_nodes_that_change_nothing_are_removed_and_named(self):
        data = model([node('Sin', ['x'], 'a'), node('Expand', ['a', 'size'], 'b'), node('Cos', ['b'], 'c'), node('Add', ['c', 'none'], 'd'),
                      node('Neg', ['none'], 'k'), node('Abs', ['d'], 'e'), node('Max', ['e', 'k'], 'y')], rows('x'), rows('y'),
                     [weight('size', (2,), 1, INT64), weight('none', (), 0.0)])
        told = self.compile('removed', data)
        self.assertEqual(told['fused'], [])
        fates = {row['node']: row['fate'] for row in told['compiler_nodes']}
        self.assertEqual((fates['n_b'], fates['n_d'], fates['n_k']), ('removed', 'removed', 'folded'))
        text = self.aaco('compiler', self.folder / 'removed.onnx', '--this-level').output
        self.assertIn('Expand: n_b', text)
        self.assertIn('Neg: n_k', text)

    def test_a_pool_between(self):
        pool = model([CONV, node('MaxPool', ['c'], 'p', kernel_shape=[2, 2], strides=[2, 2]), node('Relu', ['p'], 'y')], image('x'),
                     [tensor('y', (1, 8, 4, 4))], [FILTER])
        self.named('pool', pool, 'node_between', 'n_c', 'n_y', 'n_p')

    def test_nodes_that_a_provider_does_not_take(self):
        for provider, (data, reason, refused) in PROVIDERS.items():
            against = self.compile('provider_' + provider, data, '--against', provider)['against']
            self.assertEqual([(row['reason'], row['node']) for row in against['refused']], [(reason, refused)], provider)
        seams = self.compile('seams', PROVIDERS['migraphx'][0], '--against', 'migraphx')['against']['seams']
        self.assertEqual([(seam['first'], seam['second'], seam['bytes']) for seam in seams], [('n_a', 'n_c', 256), ('n_c', 'n_y', 256)])
        self.assertTrue(all(seam['least_ns'] > 0 for seam in seams))

    def test_whole_patterns_are_fused(self):
        for name, data, kernel in (('conv_relu', model([CONV, node('Relu', ['c'], 'y')], image('x'), image('y'), [FILTER]), 'Conv'),
                                   ('gelu', model(gelu(), rows('x'), rows('y'), GELU_WEIGHTS), 'Gelu'),
                                   ('layer_norm', model(layer_norm(), rows('x'), rows('y'), LAYER_WEIGHTS), 'LayerNormalization')):
            told = self.compile(name, data)
            self.assertEqual(told['not_fused'], [], name)
            self.assertEqual([fused['op_type'].split('.')[-1] for fused in told['fused']], [kernel])
            self.assertEqual({row['fate'] for row in told['compiler_nodes'] if 'node' in row}, {'fused'})

    def test_levels_files_and_text(self):
        path = self.folder / 'levels.onnx'
        path.write_bytes(model([node('Identity', ['x'], 'i'), node('Gemm', ['i', 'w'], 'c'), node('Relu', ['c'], 'y')], rows('x'), rows('y'), [SQUARE]))
        outcome = self.aaco('compiler', path, '--json', '--against', 'basic', '-o', self.folder / 'out')
        if outcome.code == 3 and 'unsupported' in outcome.errors:
            self.skipTest('skipped, no ONNX Runtime on this machine')
        self.assertEqual(outcome.code, 0, outcome.errors)
        told = outcome.json()
        levels = {level['level']: level for level in told['levels']}
        self.assertEqual(list(levels), ['disabled', 'basic', 'extended', 'all'])
        self.assertEqual((levels['disabled']['kernels'], levels['basic']['kernels'], levels['all']['kernels']), (3, 2, 1))
        self.assertEqual((levels['all']['removed'], levels['all']['fused']), (1, 2))
        self.assertEqual([fused['nodes'] for fused in told['against']['only_here']], [['n_c', 'n_y']])
        self.assertEqual(told['against']['only_there'], [])
        self.assertEqual(json.loads((self.folder / 'out/compiler.json').read_text()), told)
        self.assertTrue((self.folder / 'out/compiler_nodes.parquet').exists())
        self.assertTrue((self.folder / 'out/optimized_all.onnx').exists())
        text = self.aaco('compiler', path, '--graph-level', 'basic').output
        self.assertIn('level_too_low         gemm_activation: n_c and n_y', text)

    def test_the_report_draws_the_graph_with_repetitions_folded(self):
        path = self.folder / 'layers.onnx'
        layers = [node(op, inputs, name, **more) for place in range(3) for op, inputs, name, more in (
            ('Conv', ['x' if place == 0 else f'r{place - 1}', 'w'], f'c{place}', {'pads': [1, 1, 1, 1]}), ('Relu', [f'c{place}'], f'r{place}', {}))]
        path.write_bytes(model([*layers, node('Add', ['r2', 'r0'], 'y')], image('x'), image('y'), [FILTER]))
        outcome = self.aaco('compiler', path, '--graph-level', 'extended', '--against', 'edgetpu')
        if outcome.code == 3 and 'unsupported' in outcome.errors:
            self.skipTest('skipped, no ONNX Runtime on this machine')
        self.assertEqual(outcome.code, 0, outcome.errors)
        drawn = self.aaco('report', 'latest', '--format', 'json').json()['extra']['compiler']
        self.assertEqual(drawn['summary'], '7 nodes become 4 kernels at level extended')
        self.assertEqual([block['repeats'] for block in drawn['blocks']], [3, 1])
        self.assertEqual([(row['before'], row['after'], row['from']) for block in drawn['blocks'] for row in block['rows']],
                         [('Conv+Relu', 'com.microsoft.FusedConv', []), ('Add', 'Add', [0])])
        self.assertEqual([(one['target'], one['nodes']) for one in drawn['parts']], [('host', 7)])
        self.assertEqual(drawn['seams'], [])
        self.assertIn('Conv+Relu', self.aaco('report', 'latest').output)
        self.assertIn('| 3 | `Conv+Relu` |', self.aaco('report', 'latest', '--format', 'markdown').output)
        before = self.aaco('ls', '--json').output
        self.assertEqual(self.aaco('compiler', path, '--no-store').code, 0)
        self.assertEqual(self.aaco('ls', '--json').output, before)

    def test_times_of_kernels_and_of_the_same_nodes_on_the_other_side(self):
        path = self.folder / 'timed.onnx'
        path.write_bytes(model([CONV, node('Relu', ['c'], 'y')], image('x'), image('y'), [FILTER]))
        outcome = self.aaco('compiler', path, '--time', '--against', 'disabled', '--json', '-o', self.folder / 'timed')
        if outcome.code == 3 and 'ONNX Runtime' in outcome.errors:
            self.skipTest('skipped, no ONNX Runtime on this machine')
        self.assertEqual(outcome.code, 0, outcome.errors)
        result = outcome.json()
        self.assertGreaterEqual(result['timed']['calls'], 5)
        fused = result['against']['only_here']
        self.assertEqual([one['nodes'] for one in fused], [['n_c', 'n_y']])
        self.assertGreater(fused[0]['time_ns'], 0)
        apart = self.aaco('compiler', path, '--time', '--graph-level', 'disabled', '--this-level', '--json').json()
        self.assertTrue(all(row['time_ns'] > 0 for row in apart['compiler_nodes']))
        self.assertGreater(fused[0]['other_ns'], 0)
        self.assertAlmostEqual(fused[0]['change_ns'], fused[0]['time_ns'] - fused[0]['other_ns'])
        self.assertNotIn('other_has_more', fused[0])
        times = {row['time_ns'] for row in result['compiler_nodes'] if row.get('node') in ('n_c', 'n_y')}
        self.assertEqual(times, {fused[0]['time_ns']})
        self.assertFalse(list((self.folder / 'timed').glob('profile*')))
        self.assertNotIn('time_ns', self.aaco('compiler', path, '--json').output)
        self.assertIn('the same nodes on the other side', self.aaco('compiler', path, '--time', '--against', 'disabled').output)

    def test_the_same_library_fuses_the_same_nodes(self):
        path = self.folder / 'same.onnx'
        path.write_bytes(CONSUMERS['gelu'][0])
        found = self.aaco('info', '--json')
        library = (json.loads(found.output).get('onnxruntime') or {}).get('library', '') if found.code == 0 else ''
        if not library or not pathlib.Path(library).exists():
            self.skipTest('skipped, no ONNX Runtime on this machine')
        against = self.aaco('compiler', path, '--this-level', '--json', '--against', library).json()['against']
        self.assertEqual((against['kind'], against['only_here'], against['only_there']), ('library', [], []))


class Refusals(program.ProgramTest):
    def test_bad_input(self):
        damaged = self.folder / 'damaged.onnx'
        damaged.write_bytes(b'not a model')
        self.refused(self.aaco('compiler', damaged), 3, 'damaged.onnx')
        self.refused(self.aaco('compiler', self.folder / 'absent.onnx'), 3, 'absent.onnx')
        self.refused(self.aaco('compiler'), 2, 'model')
        self.refused(self.aaco('compiler', 'mlp', '--against', 'fast'), 2, "invalid value 'fast' for '--against'", 'hint', 'migraphx')
        self.refused(self.aaco('compiler', 'mlp', '--against', '/nowhere/libonnxruntime.so'), 3, '/nowhere')
        self.refused(self.aaco('compiler', 'mlp', '--graph-level', 'most'), 2, '--graph-level')

    def test_a_library_that_does_not_load_ends_with_its_message(self):
        broken = self.folder / 'libonnxruntime.so.broken'
        broken.write_bytes(varint(1))
        outcome = self.aaco('compiler', 'mlp', '--this-level', '--against', broken)
        if 'unsupported' in outcome.errors and 'broken' not in outcome.errors:
            self.skipTest('skipped, no ONNX Runtime on this machine')
        self.refused(outcome, 3, 'libonnxruntime.so.broken')
        occupied = self.folder / 'file'
        occupied.write_text('')
        self.refused(self.aaco('compiler', 'mlp', '--this-level', '-o', occupied / 'below'), 3, 'file')
