"""Fetched builds of ONNX Runtime (scripts/bootstrap.sh --ort-providers, --ort-versions) and the OpenCV engine."""
import json
import os
import pathlib
import shutil
import unittest

import program
from compiler_test import weight, FLOAT, model, node
from inspect_test import tensor

BFLOAT16 = 16
CACHE = pathlib.Path(os.environ.get('XDG_CACHE_HOME', pathlib.Path.home() / '.cache')) / 'aaco'


def build(name):
    return CACHE / 'onnxruntime' / name / 'lib/libonnxruntime.so.1'


class BuildTest(program.ProgramTest):
    def ran(self, *options):
        outcome = self.run_small(*options, iterations=10)
        self.assertEqual(outcome.code, 0, outcome.errors)
        return json.loads(next(self.lake.glob(f"*/{outcome.json()['session']['id']}/runtime/ort_config.json")).read_text())


@unittest.skipUnless(build('providers').exists(), 'skipped, scripts/bootstrap.sh --ort-providers fetches this build')
class Providers(BuildTest):
    def test_nodes_run_on_the_provider(self):
        for backend, provider in (('dnnl', 'DnnlExecutionProvider'), ('xnnpack', 'XnnpackExecutionProvider')):
            self.assertGreater(self.ran('--provider', backend)['nodes_by_provider'][provider], 0)

    def test_a_model_that_only_one_provider_runs(self):
        # bfloat16 products: ONNX Runtime 1.23 has them for DNNL alone.
        nodes = [node('Cast', ['x'], 'a', to=BFLOAT16), node('Cast', ['u'], 'b', to=BFLOAT16), node('MatMul', ['a', 'b'], 'p'),
                 node('Cast', ['p'], 'y', to=FLOAT)]
        file = self.folder / 'bfloat16.onnx'
        file.write_bytes(model(nodes, [tensor('x', (16, 32)), tensor('u', (32, 16))], [tensor('y', (16, 16))]))
        space = self.folder / 'space.yaml'
        space.write_text(json.dumps({'schema_version': 1, 'axes': [{'id': 'provider', 'key': 'backend', 'values': ['cpu', 'xnnpack']},
                                                                   {'id': 'label', 'key': 'session_options.session.label', 'values': ['1']}]}))
        search = ('optimize', file, '--threads', 1, '--budget', '20s', '--space', space, '--json', '--no-store', '-o', self.folder / 'search')
        self.refused(self.aaco(*search), 3, 'implementation for MatMul', '--provider NAME', 'aaco doctor')
        found = self.aaco(*search, '--provider', 'dnnl')  # in the same folder: nothing was tried there
        self.assertIn(found.code, (0, 4), found.errors)
        trials = {trial['values']['provider']: trial for trial in found.json()['trials'] if 'provider' in trial['values']}
        for provider in ('cpu', 'xnnpack'):
            self.assertEqual(trials[provider]['outcome'], 'failed')
            self.assertIn('implementation for MatMul', trials[provider]['reason'])
        self.assertTrue([trial for trial in found.json()['trials'] if trial['outcome'] == 'ok'], found.output)

    def test_the_compiler_counts_nodes_per_provider(self):
        against = self.aaco('compiler', 'mlp', '--this-level', '--against', 'dnnl', '--json').json()['against']
        self.assertEqual(against['kind'], 'backend')
        self.assertGreater(against['nodes_by_provider']['DnnlExecutionProvider'], 0)

    def fallen(self, backend, nodes, weights):
        """What `backend` left to the CPU: by --against and by --backend."""
        path = self.folder / f'{backend}.onnx'
        path.write_bytes(model(nodes, [tensor('x', (1, 8, 9, 9))], [tensor('y', (1, 8, 3, 3) if backend == 'dnnl' else (1, 8, 4, 4))], weights))
        for option in ('--against', '--backend'):
            outcome = self.aaco('compiler', path, '--this-level', option, backend, '--json')
            self.assertEqual(outcome.code, 0, outcome.errors)
            runtime = outcome.json()['runtime']
            if option == '--backend':
                asked = {'dnnl': 'DnnlExecutionProvider', 'xnnpack': 'XnnpackExecutionProvider'}[backend]
                self.assertEqual(runtime.get('requested_provider', runtime['provider']), asked)
            yield [(row['node'], row['reason'], row.get('splits')) for row in outcome.json()['against']['refused']]

    def test_nodes_that_fell_to_the_cpu_are_named_with_the_reason(self):
        ends = [node('Conv', ['x', 'w'], 'a'), node('Conv', ['p', 'w'], 'y')]
        for backend, pool in (('dnnl', node('MaxPool', ['a'], 'p', kernel_shape=[2, 2], dilations=[2, 2])),
                              ('xnnpack', node('MaxPool', ['a'], 'p', kernel_shape=[3, 3], pads=[1, 1, 1, 1], ceil_mode=1, strides=[2, 2]))):
            size = (8, 8, 3, 3) if backend == 'dnnl' else (8, 8, 2, 2)
            for told in self.fallen(backend, [ends[0], pool, ends[1]], [weight('w', size)]):
                self.assertEqual(told, [('n_p', 'provider_attribute', {'before': 'n_a', 'behind': 'n_y'})], backend)

    def test_the_cost_of_going_from_one_provider_to_another_is_measured(self):
        against = self.aaco('compiler', 'squeezenet1.1', '--this-level', '--against', 'dnnl', '--time', '--json').json()['against']
        providers = set(against['nodes_by_provider'])
        self.assertGreaterEqual(len(against['seams']), 3)
        self.assertEqual({seam[end] for seam in against['seams'] for end in ('from', 'to')}, providers)
        self.assertTrue(all(seam['from'] != seam['to'] for seam in against['seams']))
        timed = against['seams_timed']
        self.assertAlmostEqual(timed['total_ns'], sum(seam['time_ns'] for seam in against['seams']), delta=1)
        self.assertGreater(timed['total_ns'], 0)  # layouts are converted between the two
        self.assertGreater(timed['call_ns'], timed['total_ns'])
        shown = self.aaco('report', 'latest').output
        self.assertIn('changes between providers cost', shown)

    def test_the_doctor_tries_each_backend_in_its_own_build(self):
        lines = {line['feature']: line for line in self.aaco('doctor', '--json').json()['features']}
        self.assertTrue(lines['backend dnnl']['works'], lines['backend dnnl'])


@unittest.skipUnless(build('1.20.1').exists(), 'skipped, scripts/bootstrap.sh --ort-versions fetches this build')
class Versions(BuildTest):
    def test_a_build_is_named_by_its_version(self):
        self.assertEqual(self.ran('--ort-lib', '1.20.1')['version'], '1.20.1')

    def test_versions_are_compared(self):
        outcome = self.aaco('compiler', 'mlp', '--this-level', '--against', '1.20.1', '--json')
        self.assertEqual(outcome.code, 0, outcome.errors)
        self.assertEqual(outcome.json()['against']['there'], 'ONNX Runtime 1.20.1')


class Refusals(BuildTest):
    def test_a_backend_without_its_build(self):
        cache = self.folder / 'cache/aaco'
        cache.mkdir(parents=True)
        if (CACHE / 'parts').exists():
            (cache / 'parts').symlink_to(CACHE / 'parts')
        outcome = self.aaco('run', 'mlp', '--backend', 'dnnl', XDG_CACHE_HOME=str(self.folder / 'cache'))
        if 'library not found' in outcome.errors:
            self.skipTest('skipped, no ONNX Runtime on this machine')
        self.refused(outcome, 3, 'DnnlExecutionProvider', '--ort-providers')
        lines = {line['feature']: line for line in self.aaco('doctor', '--json', XDG_CACHE_HOME=str(self.folder / 'cache')).json()['features']}
        self.assertIn('--ort-providers', lines['backend dnnl']['remedy'])
        space = {axis['axis']: axis for axis in self.aaco('optimize', 'mlp', '--dry-run', '--json', XDG_CACHE_HOME=str(self.folder / 'cache')).json()['space']}
        self.assertIn('--ort-providers', space['provider']['absent'])

    def test_an_invalid_loader(self):
        folder = self.folder / 'build'
        folder.mkdir()
        (folder / 'libonnxruntime.so.1').write_bytes(b'')
        loader = folder / 'ld-linux-x86-64.so.2'
        loader.write_text('#!/bin/sh\nshift 2\nexec "$@"\n')
        loader.chmod(0o755)
        self.refused(self.aaco('run', 'mlp', '--ort-lib', folder / 'libonnxruntime.so.1'), 3, 'not a valid program loader')
        loader.unlink()
        self.refused(self.aaco('run', 'mlp', '--ort-lib', folder / 'libonnxruntime.so.1'), 3, 'libonnxruntime.so.1')

    def test_a_side_whose_loader_ends_at_once(self):
        folder = self.folder / 'ends'
        folder.mkdir()
        (folder / 'libonnxruntime.so.1').write_bytes(b'')
        shutil.copy('/bin/false', folder / 'ld-linux-x86-64.so.2')
        outcome = self.aaco('ab', '--iterations', 20, '--no-store', '--', '--model', 'mlp', '--', '--ort-lib', folder / 'libonnxruntime.so.1')
        self.assertEqual(outcome.code, 3, outcome.errors)

    def test_the_build_of_another_version(self):
        self.refused(self.aaco('compiler', 'mlp', '--this-level', '--against', '0.0.1'), 2, '0.0.1')


class Opencv(BuildTest):
    def test_a_model_runs(self):
        lines = {line['feature']: line for line in self.aaco('doctor', '--json').json()['features']}
        if not lines.get('backend opencv', {}).get('works'):
            self.skipTest('skipped, this build does not include the OpenCV engine')
        described = self.ran('--backend', 'opencv')
        self.assertEqual(described['runtime'], 'opencv')
        self.refused(self.aaco('run', 'mlp', '--backend', 'opencv', '--profile', '--iterations', 5), 3, '--profile')


if __name__ == '__main__':
    unittest.main()
