"""`aaco inspect`: what it counts, and what it refuses."""
import pathlib
import struct

import program

SEEDS = pathlib.Path(__file__).resolve().parents[1] / 'fixtures/fuzz'


def field(number, payload):
    """A length-delimited field of protobuf's wire format."""
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def integer(number, value):
    return varint(number << 3) + varint(value & (2 ** 64 - 1))


def varint(value):
    out = b''
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def tensor(name, dims, element_type=1):
    """A ValueInfoProto; a dimension is a number or a name."""
    shape = b''.join(field(1, field(2, dim.encode()) if isinstance(dim, str) else integer(1, dim)) for dim in dims)
    return field(1, name.encode()) + field(2, field(1, integer(1, element_type) + field(2, shape)))


def node(op_type, inputs, outputs, domain=''):
    return (b''.join(field(1, name.encode()) for name in inputs) + b''.join(field(2, name.encode()) for name in outputs)
            + field(4, op_type.encode()) + (field(7, domain.encode()) if domain else b''))


def weight(name, dims):
    count = 1
    for dim in dims:
        count *= dim
    return b''.join(integer(1, dim) for dim in dims) + integer(2, 1) + field(8, name.encode()) + field(9, struct.pack('<f', 1) * count)


def model(nodes, inputs, outputs, weights=()):
    graph = b''.join(field(1, item) for item in nodes) + field(2, b'g') + b''.join(field(5, item) for item in weights)
    graph += b''.join(field(11, item) for item in inputs) + b''.join(field(12, item) for item in outputs)
    return integer(1, 8) + field(7, graph) + field(8, integer(2, 17)) + field(8, field(1, b'example.domain') + integer(2, 1))


class Inspect(program.ProgramTest):
    def test_names_cannot_control_the_terminal(self):
        named = node('Relu', ['x'], ['y']) + field(3, b'a\x1b[31m\nb\xff' + b'z' * 300)
        path = self.write('names.onnx', model([named], [tensor('x', ('n\x1b', 8))], [tensor('y', ('n\x1b', 8))]))
        outcome = self.aaco('inspect', path, '--nodes')
        self.assertEqual(outcome.code, 0, outcome.errors)
        self.assertNotIn('\x1b', outcome.output)
        lines = [line for line in outcome.output.splitlines() if line.startswith('a [31m b')]
        self.assertEqual([len(line.split()[-1]) > 0 and len(line) < 140 for line in lines], [True])

    @classmethod
    def write(cls, name, data):
        path = cls.folder / name
        path.write_bytes(data)
        return path

    def small(self, dims=('batch', 8), element_type=1):
        return model([node('MatMul', ['x', 'w'], ['h']), node('Relu', ['h'], ['y'])], [tensor('x', dims, element_type)],
                     [tensor('y', ('batch', 4))], [weight('w', (8, 4))])

    def inspect(self, *arguments):
        outcome = self.aaco('inspect', '--json', *arguments)
        self.assertEqual(outcome.code, 0, outcome.errors)
        return outcome.json()

    def test_matches_a_hand_counted_product(self):
        told = self.inspect(self.write('small.onnx', self.small()), '--dim', 'batch=3')
        self.assertEqual(told['flops'], 2 * 3 * 8 * 4 + 3 * 4)
        self.assertEqual(told['macs'], 3 * 8 * 4)
        self.assertEqual(told['parameters']['count'], 32)
        self.assertEqual(told['dimensions'], {'batch': 3})
        self.assertEqual(told['assumptions'], [])
        self.assertEqual(told['outputs'][0]['shape'], [3, 4])
        self.assertEqual(told['opsets'], {'ai.onnx': 17, 'example.domain': 1})
        self.assertEqual(told['unmodelled'], [])

    def test_attention_projections_are_counted(self):
        heads = field(5, field(1, b'num_heads') + integer(3, 2) + integer(20, 2))
        attention = node('Attention', ['x', 'w', 'b'], ['y'], 'com.microsoft') + heads
        path = self.write('attention.onnx', model([attention], [tensor('x', (1, 6, 8))], [tensor('y', (1, 6, 8))],
                                                  [weight('w', (8, 24)), weight('b', (24,))]))
        self.assertEqual(self.inspect(path)['macs'], 6 * 8 * 24 + 2 * 6 * 6 * (4 + 4))

    def test_batch_is_the_item_dimension(self):
        path = self.write('small.onnx', self.small())
        self.assertEqual(self.inspect(path, '--batch', 5)['inputs'][0]['shape'], [5, 8])

    def test_open_dimension_is_assumed_and_reported(self):
        told = self.inspect(self.write('small.onnx', self.small()))
        self.assertEqual(told['dimensions'], {'batch': 1})
        self.assertIn("'batch'", told['assumptions'][0])

    def test_published_work_of_resnet50(self):
        told = self.inspect('resnet50')
        self.assertEqual(told['parameters']['count'], 25557032)
        self.assertAlmostEqual(told['macs'] / 1e9, 4.09, delta=0.01)
        self.assertAlmostEqual(self.inspect('resnet50', '--batch', 4)['macs'] / told['macs'], 4)

    def test_nodes_sum_to_the_total(self):
        told = self.inspect('squeezenet1.1', '--nodes')
        self.assertEqual(sum(row['flops'] * row['repeats'] for row in told['nodes']), told['flops'])
        self.assertEqual(sum(row['nodes'] for row in told['operators']), told['node_count'])
        self.assertEqual(sum(row['flops'] for row in told['classes'].values()), told['flops'])

    def test_unmodelled_operator_is_reported_with_its_possible_cost(self):
        data = model([node('MatMul', ['x', 'w'], ['h']), node('Mystery', ['h'], ['y'], 'example.domain')], [tensor('x', (2, 8))],
                     [tensor('y', (2, 4))], [weight('w', (8, 4))])
        told = self.inspect(self.write('odd.onnx', data))
        self.assertEqual([row['op_type'] for row in told['unmodelled']], ['example.domain.Mystery'])
        self.assertGreater(told['unmodelled'][0]['activation_ratio'], 0)
        self.assertLess(told['confidence_ratio'], 1)
        shown = self.aaco('inspect', self.folder / 'odd.onnx')
        self.assertIn('example.domain.Mystery', shown.output)

    def test_work_behind_an_unknown_operator_is_not_zero(self):
        tensors = [tensor('x', (2, 8))], [tensor('y', (2, 4))], [weight('w', (8, 4))]
        first = model([node('Mystery', ['x'], ['h'], 'example.domain'), node('MatMul', ['h', 'w'], ['y2']), node('Relu', ['y2'], ['y'])], *tensors)
        path = self.write('first.onnx', first)
        shown = self.aaco('inspect', path).output
        self.assertIn('work        unknown: no operator with work', shown)
        self.assertNotIn('0 FLOP', shown)
        self.refused(self.aaco('analyze', path, '--hardware', 'H100'), 3, 'example.domain.Mystery', 'only its weights are known, 128 B')
        last = model([node('MatMul', ['x', 'w'], ['h']), node('Mystery', ['h'], ['y'], 'example.domain')], *tensors)
        self.assertIn('work        at least 128 FLOP', self.aaco('inspect', self.write('last.onnx', last)).output)

    def test_plan_shows_the_backends_fusions(self):
        plan = self.inspect('resnet50', '--plan', 'onnxruntime_cpu')['plan']
        kernels = {row['pattern']: row['kernels'] for row in plan['fusion']['patterns']}
        # 53 convolutions, each with its normalisation; 33 end in a Relu, 16 in a sum and a Relu, 4 in neither.
        self.assertEqual(kernels, {'conv_activation': 33, 'conv_add_relu': 16, 'conv_bn': 4})
        self.assertEqual(plan['fusion']['kernels'], 53 + 3)  # and both pools and the product at the end
        self.assertEqual(len(plan['partition']['parts']), 1)
        plan = self.inspect('bert-base', '--plan', 'onnxruntime_cpu')['plan']
        kernels = {row['pattern']: row['kernels'] for row in plan['fusion']['patterns']}
        self.assertEqual((kernels['attention'], kernels['gelu_erf']), (12, 12))

    def test_host_operators_split_the_graph(self):
        plan = self.inspect('resnet50', '--plan', 'migraphx', '--on-host', 'MaxPool')['plan']
        self.assertEqual([part['target'] for part in plan['partition']['parts']], ['migraphx', 'host', 'migraphx'])
        self.assertEqual(plan['partition']['transfer_bytes'], 64 * 112 * 112 * 4 + 64 * 56 * 56 * 4)
        self.assertEqual(plan['partition']['refusals'][0]['op_type'], 'MaxPool')
        self.refused(self.aaco('inspect', 'resnet50', '--plan', 'migraphx', '--on-host', 'TopK'), 2, 'TopK')
        self.refused(self.aaco('inspect', 'resnet50', '--plan', 'abacus'), 3, 'abacus', 'onnxruntime_cpu')

    def test_text_matches_json(self):
        shown = self.aaco('inspect', 'resnet50')
        for word in ('25.6 M', '4.09 GMAC', 'Conv', '[1, 3, 224, 224]'):
            self.assertIn(word, shown.output)

    # Both are a convolution of 3 x 8 x 8 by four filters of 3 x 3 with stride 2, and a Relu.
    def test_a_pytorch_export(self):
        told = self.inspect(SEEDS / 'pt2_fuzz/new_layout.pt2', '--batch', 2)
        self.assertEqual((told['format'], told['macs'], told['parameters']['count']), ('pt2', 2 * 4 * 16 * 27, 4 * 27 + 4))
        self.assertEqual(told['flops'], 2 * told['macs'] + 2 * 2 * 64)  # the bias and the Relu

    def test_an_older_pytorch_export_with_branches(self):
        told = self.inspect(SEEDS / 'pt2_fuzz/old_layout_deflated.pt2')
        self.assertEqual((told['flops'], told['unmodelled']), (8, []))  # two of the three Relus run

    def test_a_tflite_model(self):
        told = self.inspect(SEEDS / 'tflite_fuzz/convolution.tflite', '--batch', 2)
        self.assertEqual((told['format'], told['macs'], told['parameters']['count']), ('tflite', 2 * 4 * 16 * 27, 4 * 27))

    def test_rejects_a_truncated_archive(self):
        data = (SEEDS / 'pt2_fuzz/new_layout.pt2').read_bytes()
        self.refused(self.aaco('inspect', self.write('cut.pt2', data[:len(data) // 2])), 3, 'cut.pt2', 'damaged')
        data = (SEEDS / 'tflite_fuzz/convolution.tflite').read_bytes()
        self.refused(self.aaco('inspect', self.write('cut.tflite', data[:len(data) // 2])), 3, 'cut.tflite', 'truncated')

    def test_newer_versions_are_reported_and_lower_the_confidence(self):
        for name, data in {'ai.onnx': self.small().replace(field(8, integer(2, 17)), field(8, integer(2, 99))),
                           'IR': integer(1, 14) + self.small()[2:]}.items():
            path = self.write('newer.onnx', data)
            document = self.aaco('inspect', path, '--json').json()
            self.assertEqual([one['what'] for one in document['newer_versions']], [name])
            self.assertLess(document['confidence_ratio'], 1)
            self.assertIn('newer than', self.aaco('inspect', path).output)
            self.assertIn('newer than', self.aaco('analyze', path, '--hardware', 'MI300X').output)
            estimate = self.aaco('analyze', path, '--hardware', 'MI300X', '--json').json()['estimate']
            self.assertEqual((estimate['newer_versions'], estimate['confidence_ratio']), (document['newer_versions'], document['confidence_ratio']))
        plain = self.aaco('inspect', self.write('plain.onnx', self.small()), '--json').json()
        self.assertNotIn('newer_versions', plain)

    def test_rejects_invalid_numbers(self):
        for option in ('--batch', '--loop-trips', '--dim'):
            for value in ('-1', '0', 'x', '1.5', '', '99999999999999999999'):
                self.refused(self.aaco('inspect', 'resnet18', option, f'batch={value}' if option == '--dim' else value), 2)

    def test_rejects_a_truncated_file(self):
        self.refused(self.aaco('inspect', self.write('cut.onnx', self.small()[:-40])), 3, 'cut.onnx')

    def test_rejects_an_empty_file(self):
        self.refused(self.aaco('inspect', self.write('empty.onnx', b'')), 3, 'empty')

    def test_rejects_a_cycle(self):
        data = model([node('Add', ['x', 'b'], ['a']), node('Relu', ['a'], ['b'])], [tensor('x', (2,))], [tensor('b', (2,))])
        self.refused(self.aaco('inspect', self.write('cycle.onnx', data)), 3, 'cycle')

    def test_rejects_an_unknown_element_type(self):
        self.refused(self.aaco('inspect', self.write('type.onnx', self.small(element_type=99))), 3, '99')

    def test_rejects_a_negative_dimension(self):
        self.refused(self.aaco('inspect', self.write('negative.onnx', self.small(dims=(-3, 8)))), 3, '-3')

    def test_strict_refuses_an_open_dimension(self):
        path = self.write('small.onnx', self.small())
        self.refused(self.aaco('inspect', '--strict', path), 3, 'batch', '--dim')
        self.assertEqual(self.aaco('inspect', '--strict', path, '--dim', 'batch=2').code, 0)

    def test_other_file_types_are_named(self):
        self.refused(self.aaco('inspect', self.write('weights.gguf', b'GGUF' + bytes(60))), 3, 'GGUF', 'export')
        self.refused(self.aaco('inspect', self.write('w.safetensors', struct.pack('<Q', 40) + b'{"a":1}' + bytes(60))), 3, 'safetensors')

    def test_an_unknown_dimension_is_a_usage_error(self):
        self.refused(self.aaco('inspect', 'resnet50', '--dim', 'length=3'), 2, 'length', 'batch')

    def test_non_numeric_size_is_a_usage_error(self):
        self.refused(self.aaco('inspect', 'resnet50', '--dim', 'batch=two'), 2, 'NAME=SIZE')

    def test_fixed_batch_cannot_change(self):
        path = self.write('fixed.onnx', self.small(dims=(2, 8)))
        self.refused(self.aaco('inspect', path, '--batch', 4), 2, "fixes the input 'x' at [2, 8]")

    def test_a_missing_model_is_an_error(self):
        self.refused(self.aaco('inspect', 'no_such.onnx'), 3, 'no_such.onnx')
        self.refused(self.aaco('inspect', 'resnet51'), 3, 'resnet50')


class MemoryFits(program.ProgramTest):
    def test_rejects_a_batch_that_does_not_fit_in_memory(self):
        with open('/proc/meminfo', encoding='ascii') as text:
            available = next(int(line.split()[1]) * 1024 for line in text if line.startswith('MemAvailable'))
        if available > 60e9:
            self.skipTest('skipped, it would fit into the memory of this machine')
        self.run_small()  # skips where there is no ONNX Runtime
        outcome = self.aaco('run', '--model', 'squeezenet1.1', '--batch', 25000)
        self.refused(outcome, 3, 'a batch of 25000 needs', 'is available', 'would fit')
