"""Files that hold several programs: FILE#NAME takes one of them."""
import io
import json
import pathlib
import unittest
import zipfile

import program

SEEDS = pathlib.Path(__file__).resolve().parents[1] / 'fixtures/fuzz'


def exported(width, schema=8):
    """An ExportedProgram of one relu."""
    values = {name: {'dtype': 7, 'sizes': [{'as_int': 2}, {'as_int': width}]} for name in 'xy'}
    tensor = {name: {'as_tensor': {'name': name}} for name in 'xy'}
    node = {'target': 'torch.ops.aten.relu.default', 'inputs': [{'name': 'self', 'arg': tensor['x']}], 'outputs': [tensor['y']]}
    graph = {'inputs': [tensor['x']], 'outputs': [tensor['y']], 'nodes': [node], 'tensor_values': values}
    signature = {'input_specs': [{'user_input': {'arg': tensor['x']}}], 'output_specs': [{'user_output': {'arg': tensor['y']}}]}
    return json.dumps({'graph_module': {'graph': graph, 'signature': signature}, 'schema_version': {'major': schema, 'minor': 1}})


def tied():
    """Two parameters, one of which is read."""
    program_of = json.loads(exported(8))
    module = program_of['graph_module']
    for name in ('p_a', 'p_b'):
        module['graph']['tensor_values'][name] = {'dtype': 7, 'sizes': [{'as_int': 8}, {'as_int': 8}]}
        module['graph']['inputs'].insert(0, {'as_tensor': {'name': name}})
        module['signature']['input_specs'].insert(0, {'parameter': {'arg': {'name': name}, 'parameter_name': name[2:]}})
    for name in ('p_a', 'p_b'):
        module['graph']['tensor_values']['y_' + name] = module['graph']['tensor_values']['y']
        module['graph']['nodes'].append({'target': 'torch.ops.aten.linear.default', 'outputs': [{'as_tensor': {'name': 'y_' + name}}],
                                         'inputs': [{'name': 'input', 'arg': {'as_tensor': {'name': 'x'}}},
                                                    {'name': 'weight', 'arg': {'as_tensor': {'name': name}}}]})
    return json.dumps(program_of)


def archive(models, weights=None):
    held = io.BytesIO()
    with zipfile.ZipFile(held, 'w') as out:
        out.writestr('net/archive_format', 'pt2')
        if weights:
            config = {name: {'path_name': path, 'is_param': True, 'tensor_meta': {'sizes': []}} for name, path in weights.items()}
            out.writestr('net/data/weights/model_weights_config.json', json.dumps({'config': config}))
        for name, text in models.items():
            out.writestr(f'net/models/{name}.json', text)
    return held.getvalue()


class ModelNames(program.ProgramTest):
    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        return str(path)

    def inspect(self, path):
        outcome = self.aaco('inspect', path, '--json')
        self.assertEqual(outcome.code, 0, outcome.errors)
        return json.loads(outcome.output)

    def test_model_is_selected_by_name(self):
        path = self.write('net.pt2', archive({'prefill': exported(8), 'decode': exported(16)}))
        self.assertEqual(self.inspect(path + '#decode')['inputs'][0]['shape'], [2, 16])
        self.assertEqual(self.inspect(path + '#prefill')['inputs'][0]['shape'], [2, 8])

    def test_model_named_model_is_the_default_and_reported(self):
        path = self.write('net.pt2', archive({'aux': exported(8), 'model': exported(16)}))
        document = self.inspect(path)
        self.assertEqual(document['inputs'][0]['shape'], [2, 16])
        self.assertIn("aux, model, 'model' was used", ' '.join(document['assumptions']))
        self.assertEqual(self.inspect(path + '#model')['assumptions'], [])

    def test_ambiguous_name_is_rejected(self):
        path = self.write('net.pt2', archive({'prefill': exported(8), 'decode': exported(16)}))
        for verb in ('inspect', 'analyze'):
            outcome = self.aaco(verb, path, *(('--hardware', 'nvidia_a100_sxm4_40gb') if verb == 'analyze' else ()))
            self.assertEqual(outcome.code, 2, outcome.output)
            self.assertIn('prefill, decode', outcome.errors)
            self.assertIn('#prefill', outcome.errors)

    def test_rejects_a_missing_name(self):
        one = self.write('one.pt2', archive({'model': exported(8)}))
        for name, said in ((one + '#decode', 'its models: model'), (one + 'x#decode', 'no such file'), ('zoo:resnet50#x', 'has no entry')):
            outcome = self.aaco('inspect', name)
            self.assertIn(outcome.code, (2, 3))
            self.assertIn(said, outcome.errors)

    def test_file_name_may_contain_the_separator(self):
        path = self.write('a#b.pt2', archive({'model': exported(8)}))
        self.assertEqual(self.inspect(path)['inputs'][0]['shape'], [2, 8])
        self.assertEqual(self.inspect(path + '#model')['inputs'][0]['shape'], [2, 8])

    def test_models_in_one_file_are_compared(self):
        path = self.write('net.pt2', archive({'prefill': exported(8), 'decode': exported(16)}))
        outcome = self.aaco('compare', path + '#prefill', path + '#decode', '--hardware', 'nvidia_a100_sxm4_40gb', '--json')
        self.assertEqual(outcome.code, 0, outcome.errors)
        self.assertIn('#prefill', outcome.output)

    def test_tied_weights_are_counted_once(self):
        for name, weights, count in (('tied', {'a': 'weight_0', 'b': 'weight_0'}, 64), ('two', {'a': 'weight_0', 'b': 'weight_1'}, 128),
                                     ('unsaid', None, 128)):
            path = self.write(name + '.pt2', archive({'model': tied()}, weights))
            self.assertEqual(self.inspect(path)['parameters']['count'], count)

    def test_formats_unsupported_by_onnx_runtime_are_rejected(self):
        path = self.write('net.pt2', archive({'model': exported(8)}))
        outcome = self.aaco('run', '--model', path)
        self.assertEqual(outcome.code, 3, outcome.output)
        self.assertIn('is a PyTorch export', outcome.errors)
        self.assertIn("'aaco inspect'", outcome.errors)

    def test_inconsistent_tflite_model_is_not_predicted(self):
        for verb in ('analyze', 'compare'):
            outcome = self.aaco(verb, SEEDS / 'model_fuzz/misfit.tflite', '--hardware', 'nvidia_a100_sxm4_40gb')
            self.assertEqual(outcome.code, 3, outcome.output)
            self.assertIn('it cannot reshape [4] to [3, 2]', outcome.errors)
        outcome = self.aaco('analyze', SEEDS / 'model_fuzz/open.tflite', '--hardware', 'nvidia_a100_sxm4_40gb')
        self.assertEqual(outcome.code, 0, outcome.errors)

    def test_rejects_a_newer_schema(self):
        path = self.write('new.pt2', archive({'model': exported(8, 99)}))
        outcome = self.aaco('inspect', path)
        self.assertEqual(outcome.code, 3)
        self.assertIn('version 99', outcome.errors)


if __name__ == '__main__':
    unittest.main()
