"""`aaco compiler`: why nodes are not fused, kept or folded, by classes of planted models; and models without a cause, of which nothing is said."""
import program
from compiler_test import (BIAS, BOOLEAN, CONV, FILTER, FLOAT, INT8, INT64, LAYER_WEIGHTS, NORM, RULES, SCALE, SQUARE, body, image, layer_norm, model, node,
                           rows, weight)
from inspect_test import field, integer, tensor

LARGEST = (1 << 63) - 1


def shapeless(name): return field(1, name.encode()) + field(2, field(1, integer(1, FLOAT)))
def several(op_type, inputs, outputs, **attributes):
    return node(op_type, inputs, outputs[0], **attributes) + b''.join(field(2, name.encode()) for name in outputs[1:])


def norm(**attributes): return several('BatchNormalization', ['c', 's', 'b', 'm', 'v'], ['y', 'rm', 'rv'] if attributes else ['y'], **attributes)
def open_rows(*names): return [tensor(name, ('n', 16)) for name in names]
def behind(nodes, last, weights=()):
    """Nodes between a Relu and a Tanh."""
    return model([node('Relu', ['x'], 'r'), *nodes, node('Tanh', [last], 'y')], open_rows('x'), [shapeless('y')], weights)


def one(name, value, element_type=FLOAT): return weight(name, (1,), value, element_type)
def scalar(name, value, element_type=FLOAT): return weight(name, (), value, element_type)
def activation(op_type, first, *operands, opset=17, weights=()):
    conv = first == 'Conv'
    nodes = [CONV if conv else node('Gemm', ['x', 'w'], 'c'), node(op_type, ['c', *operands], 'y')]
    return model(nodes, image('x') if conv else rows('x'), image('y') if conv else rows('y'), [FILTER if conv else SQUARE, *weights], opset)


def moved(behind_scale, op_type='Transpose'):
    return model([node('DequantizeLinear', ['x', 'scale', 'zero'], 'd'), node(op_type, ['d'], 't', perm=[1, 0]),
                  node('QuantizeLinear', ['t', behind_scale, 'zero'], 'y')], [tensor('x', (4, 16), INT8)], [tensor('y', (16, 4), INT8)],
                 [*SCALE, scalar('other', 0.2)])


def absorbed(zero):
    return model([CONV, node('Relu', ['c'], 'a'), node('QuantizeLinear', ['a', 'scale', 'z'], 'y')], image('x'), image('y', element_type=INT8),
                 [FILTER, SCALE[0], scalar('z', zero, INT8)])


def dynamic(*more, outputs=()):
    return model([several('DynamicQuantizeLinear', ['x'], ['q', 'qs', 'qz']), node('MatMulInteger', ['q', 'w', 'qz', 'zero'], 'p'),
                  node('Cast', ['p'], 'f', to=FLOAT), node('Mul', ['qs', 'scale'], 'ss'), node('Mul', ['f', 'ss'], 'y'), *more], rows('x'),
                 [*rows('y'), *outputs], [*SCALE, weight('w', (16, 16), 3, INT8)])


def heads(*places):
    sizes = [node('Shape', ['r'], 'sh')]
    for number, place in enumerate(places):
        sizes += [node('Gather', ['sh', f'i{place}'], f'g{number}'), node('Unsqueeze', [f'g{number}', 'zero'], f'u{number}')]
    sizes += [node('Concat', [*(f'u{number}' for number in range(len(places))), 'four', 'four'], 'shape', axis=0), node('Reshape', ['r', 'shape'], 'h')]
    return model([node('Relu', ['x'], 'r'), *sizes, node('Tanh', ['h'], 'y')], [tensor('x', ('b', 's', 16))], [tensor('y', ('p', 'q', 4, 4))],
                 [scalar('i0', 0, INT64), scalar('i1', 1, INT64), one('zero', 0, INT64), one('four', 4, INT64)])


def read_in_a_branch():
    then = body([node('Tanh', ['c'], 't')], [tensor('t', (1, 8, 8, 8))])
    other = body([node('Neg', ['x'], 'e')], [tensor('e', (1, 8, 8, 8))])
    return model([CONV, node('Relu', ['c'], 'y'), node('If', ['p'], 'z', then_branch=then, else_branch=other)],
                 [*image('x'), tensor('p', (), BOOLEAN)], image('y', 'z'), [FILTER])


def square_by_product():
    nodes = layer_norm()
    nodes[2] = node('Mul', ['c', 'c'], 'q')
    return model(nodes, rows('x'), rows('y'), LAYER_WEIGHTS)


def turned_axes():
    nodes = layer_norm()
    for place, (source, made) in ((0, ('x', 'mean')), (3, ('q', 'var'))):
        nodes[place] = node('ReduceMean', [source], made, axes=[1])
    return model(nodes, [tensor('x', (2, 16, 4))], [tensor('y', (2, 16, 4))],
                 [*LAYER_WEIGHTS[:2], weight('g', (16, 1)), weight('b', (16, 1))])


# What is planted -> the model, the reason, the two nodes; exactly this one is said.
PLANTED = {
    'unknown_shape': (model([node('MatMul', ['x', 'w'], 'c'), node('Add', ['c', 'k'], 'y')], [shapeless('x')], [shapeless('y')], [SQUARE, BIAS]),
                      'shape_unknown', 'n_c', 'n_y'),
    'bias_of_a_convolution': (model([node('Conv', ['x', 'w', 'cb'], 'c', pads=[1, 1, 1, 1]), norm()], [*image('x'), tensor('cb', (8,))], image('y'),
                                    [FILTER, *NORM]), 'operand_not_constant', 'n_c', 'n_y'),
    'training': (model([CONV, norm(training_mode=1), node('Relu', ['y'], 'a')], image('x'), image('a'), [FILTER, *NORM]),
                 'attribute_not_covered', 'n_c', 'n_y'),
    'filter_that_may_be_replaced': (model([CONV, norm(), node('Relu', ['y'], 'a')], [*image('x'), tensor('w', (8, 8, 3, 3))], image('a'), [FILTER, *NORM]),
                                    'operand_not_constant', 'n_c', 'n_y'),
    'reader_in_a_branch': (read_in_a_branch(), 'several_consumers', 'n_c', 'n_y'),
    'conv_prelu': (activation('PRelu', 'Conv', 'slope', weights=[weight('slope', (8, 1, 1))]), 'operator_not_covered', 'n_c', 'n_y'),
    'conv_hard_swish': (activation('HardSwish', 'Conv'), 'operator_not_covered', 'n_c', 'n_y'),
    'gemm_clip': (activation('Clip', 'Gemm', 'low', 'high', weights=[scalar('low', 0.0), scalar('high', 6.0)]), 'operator_not_covered', 'n_c', 'n_y'),
    'square_by_product': (square_by_product(), 'operator_not_covered', 'n_c', 'n_q'),
    'axes_of_a_norm': (turned_axes(), 'attribute_not_covered', 'n_mean', 'n_c'),
    'scales': (moved('other'), 'quantisation_differs', 'n_d', 'n_y'),
    'zero_point': (absorbed(0), 'quantisation_differs', 'n_a', 'n_y'),
    'dynamic': (dynamic(node('ReduceMax', ['f'], 'z', axes=[1]), outputs=[tensor('z', (4, 1))]), 'several_consumers', 'n_f', 'n_y'),
    'mask': (model([node('Relu', ['x'], 'r'), several('Dropout', ['r'], ['d', 'mask']), node('Tanh', ['d'], 'y'), node('Cast', ['mask'], 'z', to=FLOAT)],
                   open_rows('x'), open_rows('y', 'z')), 'several_consumers', 'n_d', 'n_z'),
    'slice': (behind([node('Slice', ['r', 'start', 'end', 'start'], 's')], 's', [one('start', 0, INT64), one('end', 512, INT64)]),
              'value_not_covered', 'n_s', 'n_y'),
    'neutral': (behind([node('Add', ['r', 'none'], 'a')], 'a', [weight('none', (1, 1, 1), 0.0)]), 'shape_not_covered', 'n_a', 'n_y'),
    'random': (behind([several('RandomNormal', [], ['noise'], shape=[1, 16]), node('Mul', ['noise', 'k'], 'm'), node('Add', ['r', 'm'], 'a')], 'a', [BIAS]),
               'not_deterministic', 'n_noise', 'n_m'),
    'sizes_at_other_places': (heads(1, 0), 'value_not_covered', 'n_g0', 'n_shape'),
    'narrow_cast': (behind([node('Cast', ['r'], 'a', to=10), node('Cast', ['a'], 'b', to=FLOAT)], 'b'), 'type_not_covered', 'n_a', 'n_b'),
}
# Models in which everything happens that may be expected.
WHOLE = {
    'sizes': heads(0, 1), 'scales': moved('scale'), 'zero_point': absorbed(-128), 'dynamic': dynamic(),
    'gone': behind([node('Dropout', ['r'], 'd'), node('Slice', ['d', 'start', 'end', 'start'], 's'), node('Add', ['s', 'none'], 'a'),
                    node('Cast', ['a'], 'c', to=FLOAT)], 'c', [one('start', 0, INT64), one('end', LARGEST, INT64), scalar('none', 0.0)]),
    'norm': model([CONV, norm(), node('Relu', ['y'], 'a')], image('x'), image('a'), [FILTER, *NORM]),
}


class Reasons(program.ProgramTest):
    def told(self, name, data):
        path = self.folder / f'{name}.onnx'
        path.write_bytes(data)
        outcome = self.aaco('compiler', path, '--this-level', '--json')
        if outcome.code == 3 and 'ONNX Runtime' in outcome.errors and 'unsupported' in outcome.errors:
            self.skipTest('skipped, no ONNX Runtime on this machine')
        self.assertEqual(outcome.code, 0, (name, outcome.errors))
        return outcome.json()['not_fused']

    def test_planted_causes_are_named_and_nothing_else(self):
        for name, (data, reason, *nodes) in PLANTED.items():
            with self.subTest(name):
                told = self.told('planted_' + name, data)
                self.assertEqual([(miss['reason'], miss['first'], miss['second']) for miss in told], [(reason, *nodes)], told)
                self.assertTrue(told[0]['condition'])
                self.assertIn(f'id: {reason},', RULES.read_text())

    def test_a_reader_in_a_branch_is_named(self):
        told = self.told('branch', read_in_a_branch())
        self.assertEqual(told[0]['cause'], 'n_z')
        self.assertIn("'n_t' in then_branch of 'n_z'", told[0]['condition'])

    def test_nothing_is_said_where_nothing_is_missed(self):
        for name, data in WHOLE.items():
            with self.subTest(name):
                self.assertEqual([miss for miss in self.told('whole_' + name, data) if miss['reason'] != 'other_fusion'], [])
