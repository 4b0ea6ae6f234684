"""`aaco optimize`: searches configurations, proves the gain, writes it down."""
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import time

import program
from energy_counter import EnergyCounter

DATA = pathlib.Path(os.environ.get('AACO_REAL_DATA', pathlib.Path(__file__).parents[2].parent / 'shared' / 'data'))
CONSTRUCTOR = '#include <stdlib.h>\n#include <unistd.h>\n__attribute__((constructor)) static void start(void) { %s; }\n'

# Memory that nothing touches: it counts for the address space at once, and no trial waits for a machine to find pages.
GREEDY = """char* volatile kept;
__attribute__((constructor)) static void start() {
  for (;;) kept = new char[1 << 24];
}
"""


class OptimizeTest(program.ProgramTest):
    def optimize(self, folder, *options, model='mlp', budget='12s'):
        outcome = self.aaco('optimize', model, '--budget', budget, '--json', '-o', self.folder / folder, *options)
        if outcome.code == 3 and 'ONNX Runtime' in outcome.errors and 'unsupported' in outcome.errors:
            self.skipTest('skipped, no ONNX Runtime on this machine')
        return outcome

    def search(self, folder, *options, model='mlp', budget='8s'):
        """A search; with the budget that the program asks for where this machine is too slow for the one given."""
        outcome = self.optimize(folder, *options, model=model, budget=budget)
        for _ in range(3):
            if outcome.code != 2 or 'use --budget' not in outcome.errors:
                break
            asked = float(outcome.errors.split('use --budget ')[1].split('s')[0])
            outcome = self.optimize(folder, *options, model=model, budget=f'{1.5 * asked:.0f}s')
        return outcome

    def space(self, name, axes):
        path = self.folder / name
        path.write_text(json.dumps({'schema_version': 1, 'axes': axes}))
        return path


class Search(OptimizeTest):
    def test_a_gain_is_proven_and_written_down(self):
        # A call of this model takes about twice as long with 8 items as with one.
        space = self.space('gain.yaml', [{'id': 'build', 'key': 'ort_library', 'values': ['/nowhere/libonnxruntime.so']},
                                         {'id': 'batch', 'for': 'throughput', 'key': 'batch', 'values': [8]}])
        outcome = self.search('gain', '--for', 'throughput', '--threads', 1, '--space', space, budget='10s')
        self.assertEqual(outcome.code, 0, outcome.errors)
        result = outcome.json()
        folder = self.folder / 'gain'
        self.assertEqual(json.loads((folder / 'result.json').read_text())['trials'], result['trials'])
        by_name = {json.dumps(trial['values'], sort_keys=True): trial for trial in result['trials']}
        failed = by_name['{"build": "/nowhere/libonnxruntime.so"}']
        self.assertEqual(failed['outcome'], 'failed')
        self.assertIn('/nowhere', failed['reason'])
        self.assertEqual(len(by_name), 2)  # the failed value is not combined
        best = by_name['{"batch": "8"}']
        self.assertEqual((best['outcome'], best['batch'], best['agreement']['inputs']), ('ok', 8, 32))
        self.assertLess(best['agreement']['max_error_ratio'], 1e-3)
        self.assertTrue(best['nodes_by_provider'])
        self.assertGreater(result['proof']['interval']['low'], 0.01)
        self.assertGreater(result['proof']['smallest_detectable_ratio'], 0)
        for session in (result['proof']['baseline_session'], result['proof']['candidate_session'], result['session']):
            self.assertEqual(self.aaco('verify', session).code, 0)
        ran = self.aaco('run', '--config', folder / 'best.yaml', '--warmup', 1, '--iterations', 5, '--no-report', '--json')
        self.assertEqual(ran.code, 0, ran.errors)
        self.assertEqual(self.aaco('show', 'latest', '--json').json()['outcome']['batch'], 8)
        self.check_programs(folder)
        text = self.aaco('report', result['session']).output
        self.assertIn('batch=8', text)
        again = self.aaco('optimize', '--replay', folder, '--budget', '5s', '--no-store', '--json')
        self.assertEqual(again.json()['proof']['configuration'], 'batch=8')
        self.assertIn(again.code, (0, 4))

    def check_programs(self, folder):
        compile((folder / 'run.py').read_text(), 'run.py', 'exec')
        parts = pathlib.Path(os.environ.get('AACO_PARTS', pathlib.Path.home() / '.cache/aaco/parts')) / 'onnxruntime'
        libraries = sorted(parts.rglob('libonnxruntime.so*'))
        headers = sorted(parts.rglob('onnxruntime_c_api.h'))
        if not libraries or not headers or not shutil.which('c++'):
            return
        built = subprocess.run(['c++', '-std=c++17', '-Wall', '-Werror', folder / 'run.cc', '-I', headers[0].parent, libraries[0], f'-Wl,-rpath,{libraries[0].parent}',
                                '-o', folder / 'run'], capture_output=True, text=True, check=False)
        self.assertEqual(built.returncode, 0, built.stderr)
        ran = subprocess.run([folder / 'run', folder / 'model.onnx', '20'], capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertGreater(float(ran.stdout.split()[1]), 0)

    def test_every_objective_has_a_space_as_it_comes(self):
        for objective in ('latency', 'throughput', 'memory'):
            listed = self.aaco('optimize', 'mlp', '--for', objective, '--dry-run', '--json', '-o', self.folder / 'none')
            if listed.code == 3 and 'ONNX Runtime' in listed.errors:
                self.skipTest('skipped, no ONNX Runtime on this machine')
            self.assertEqual(listed.code, 0, listed.errors)
            self.assertGreater(listed.json()['configurations'], 100)

    def test_equal_configurations_keep_what_you_have(self):
        space = self.space('equal.yaml', [{'id': 'label', 'key': 'session_options.session.label', 'values': ['1', '2']}])
        outcome = self.search('equal', '--threads', 1, '--space', space, budget='6s')
        self.assertEqual(outcome.code, 4, outcome.errors)
        self.assertIn('keep what you have', outcome.json()['recommendation'])
        self.assertFalse((self.folder / 'equal' / 'best.yaml').exists())
        self.assertTrue((self.folder / 'equal' / 'trials.parquet').exists())

    def test_a_crash_and_a_hang_end_their_trial_only(self):
        libraries = {}
        for name, body in (('crash', 'abort()'), ('hang', 'sleep(60)')):
            source, library = self.folder / f'{name}.c', self.folder / f'lib{name}.so'
            source.write_text(CONSTRUCTOR % body)
            if not shutil.which('cc'):
                self.skipTest('skipped, no C compiler')
            subprocess.run(['cc', '-shared', '-fPIC', source, '-o', library], check=True)
            libraries[name] = library
        space = self.space('bad.yaml', [{'id': 'build', 'key': 'ort_library', 'values': [str(path) for path in libraries.values()]},
                                        {'id': 'arena', 'key': 'session_options.memory_arena', 'values': ['off']}])
        outcome = self.search('bad', '--threads', 1, '--space', space, '--no-store', budget='10s')
        self.assertIn(outcome.code, (0, 4), outcome.errors)
        outcomes = {next(iter(trial['values'].values())): trial for trial in outcome.json()['trials'] if len(trial['values']) == 1}
        self.assertEqual(outcomes[str(libraries['crash'])]['outcome'], 'failed')
        self.assertIn('crashed (signal 6', outcomes[str(libraries['crash'])]['reason'])
        self.assertEqual(outcomes[str(libraries['hang'])]['outcome'], 'timed_out')

    def test_memory_that_does_not_suffice_ends_its_trial_only(self):
        source, library = self.folder / 'greedy.cc', self.folder / 'libgreedy.so'
        source.write_text(GREEDY)
        if not shutil.which('c++'):
            self.skipTest('skipped, no C++ compiler')
        subprocess.run(['c++', '-shared', '-fPIC', source, '-o', library], check=True)
        space = self.space('greedy.yaml', [{'id': 'build', 'key': 'ort_library', 'values': [str(library)]},
                                           {'id': 'batch', 'for': 'throughput', 'key': 'batch', 'values': ['8', '500000']}])
        within = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (1_500_000_000, within[1]))
        try:
            outcome = self.search('greedy', '--for', 'throughput', '--threads', 1, '--space', space, '--no-store', budget='15s')
        finally:
            resource.setrlimit(resource.RLIMIT_AS, within)
        self.assertEqual(outcome.code, 0, outcome.errors)
        outcomes = {next(iter(trial['values'].values())): trial for trial in outcome.json()['trials'] if len(trial['values']) == 1}
        self.assertEqual(outcomes[str(library)]['outcome'], 'failed')
        self.assertIn('aaco: out of memory', outcomes[str(library)]['reason'])
        self.assertEqual(outcomes['500000']['outcome'], 'failed')
        self.assertIn('limit of the address space', outcomes['500000']['reason'])
        self.assertEqual(outcomes['8']['outcome'], 'ok')

    def test_an_interrupted_search_resumes(self):
        folder = self.folder / 'resumed'
        command = [program.PROGRAM, 'optimize', 'mlp', '--budget', '60s', '--threads', '1', '--no-store', '-o', str(folder)]
        started = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=self.folder,
                                   env=dict(os.environ, AACO_SESSIONS=str(self.lake)))
        journal = folder / 'journal.jsonl'
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and started.poll() is None and (not journal.exists() or journal.read_text().count('\n') < 3):
            time.sleep(0.1)
        if started.poll() is not None and b'unsupported' in started.stderr.read():
            self.skipTest('skipped, no ONNX Runtime on this machine')
        started.send_signal(signal.SIGKILL)
        started.communicate()
        with journal.open('a') as file:
            file.write('{"torn')
        kept = journal.read_text().count('\n') - 1
        result = self.search('resumed', '--threads', 1, '--no-store', budget='6s').json()
        self.assertEqual(result['counts']['resumed'], kept)
        self.assertGreaterEqual(result['counts']['tried'], kept)
        refused = self.optimize('resumed', '--threads', 1, '--no-store', '--batch', 2)
        self.refused(refused, 3, 'another search', 'hint')


class Rewrites(OptimizeTest):
    # The baseline runs operators on a second thread pool that sleeps between them: every variant of a small model is much faster.
    SLOW = ('--threads', 1, '--session-option', 'execution_mode=parallel', '--session-option', 'inter_op_threads=2',
            '--session-option', 'session.inter_op.allow_spinning=0')
    FAST = {'session_options.execution_mode': 'sequential', 'session_options.inter_op_threads': '1'}

    def variants(self, *rewrites):
        return self.space('variants.yaml', [{'id': 'precision', 'values': [{'id': one, 'set': dict(self.FAST, rewrite=one)} for one in rewrites]}])

    def outcomes(self, result):
        return {trial['values']['precision']: trial for trial in result['trials']}

    def test_precision_is_offered_and_with_accept_it_wins(self):
        space = self.variants('int8_weights')
        offered = self.search('offered', *self.SLOW, '--space', space, '--tolerance', '0.2', '--no-store', budget='8s')
        self.assertEqual(offered.code, 4, offered.errors)
        result = offered.json()
        self.assertEqual(self.outcomes(result)['int8_weights']['outcome'], 'offered')
        self.assertEqual(result['offered']['configuration'], 'precision=int8_weights')
        self.assertIn('--accept', result['offered']['reason'])
        self.assertFalse((self.folder / 'offered' / 'best.yaml').exists())
        # The same folder: the trial is not measured again to be accepted.
        accepted = self.search('offered', *self.SLOW, '--space', space, '--tolerance', '0.2', '--no-store', '--accept', budget='8s')
        self.assertEqual(accepted.code, 0, accepted.output + accepted.errors)
        folder = self.folder / 'offered'
        self.assertTrue({'model.onnx', 'baseline.onnx', 'best.yaml', 'run.py', 'run.cc'} <= set(accepted.json()['files']))
        self.assertLess((folder / 'model.onnx').stat().st_size, (folder / 'baseline.onnx').stat().st_size)
        self.assertIn('MatMulNBits', self.aaco('inspect', folder / 'model.onnx').output)
        ran = self.aaco('run', '--config', folder / 'best.yaml', '--warmup', 1, '--iterations', 5, '--no-report', '--json')
        self.assertEqual(ran.code, 0, ran.errors)
        self.assertFalse((folder / 'models').exists())

    def test_ranges_are_measured_for_static_eight_bits(self):
        outcome = self.search('static', *self.SLOW, '--space', self.variants('int8_static'), '--tolerance', '0.3', '--no-store', '--accept', budget='8s')
        self.assertEqual(outcome.code, 0, outcome.output + outcome.errors)
        agreement = self.outcomes(outcome.json())['int8_static']['agreement']
        self.assertLess(agreement['max_error_ratio'], 0.3)
        self.assertGreater(agreement['max_error_ratio'], 1e-4)
        written = self.aaco('inspect', self.folder / 'static' / 'model.onnx').output
        self.assertIn('QuantizeLinear', written)
        self.assertFalse(list((self.folder / 'static').glob('.ranges*')))

    def test_trained_model_accepts_eight_bits_and_refuses_them_at_a_tight_tolerance(self):
        model = DATA / 'traces/onnx/microsoft_onnxruntime_via_riscv_fork/cnn_mnist_pytorch.onnx'
        if not model.exists():
            self.skipTest(f'skipped, no trained model at {model} (AACO_REAL_DATA)')
        space = self.variants('int8_weights')
        refused = self.search('tight', *self.SLOW, '--space', space, '--no-store', '--accept', '--tolerance', '1e-4', model=model, budget='8s')
        self.assertEqual(refused.code, 4, refused.errors)
        trial = self.outcomes(refused.json())['int8_weights']
        self.assertEqual(trial['outcome'], 'tolerance')
        self.assertIn('output RMS', trial['reason'])
        accepted = self.search('top1', *self.SLOW, '--space', space, '--no-store', '--accept', '--tolerance', 'top1=90%', model=model, budget='8s')
        self.assertEqual(accepted.code, 0, accepted.output + accepted.errors)
        self.assertGreaterEqual(self.outcomes(accepted.json())['int8_weights']['agreement']['top1_ratio'], 0.9)

    def test_exact_rewrites_need_no_accept(self):
        result = self.search('exact', *self.SLOW, '--space', self.variants('offline'), '--no-store', budget='8s').json()
        trial = self.outcomes(result)['offline']
        self.assertEqual(trial['outcome'], 'ok', trial)
        self.assertLess(trial['agreement']['max_error_ratio'], 1e-4)

    def test_memory_is_an_objective(self):
        space = self.space('memory.yaml', [{'id': 'label', 'key': 'session_options.session.label', 'values': ['1']}])
        outcome = self.search('memory', '--for', 'memory', '--threads', 1, '--space', space, '--no-store', budget='6s')
        self.assertEqual(outcome.code, 4, outcome.errors)
        self.assertIn('keep what you have', outcome.json()['recommendation'])

    def test_energy_per_item_is_an_objective(self):
        # Eight items take less than eight times the CPU time of one, and so less energy each.
        with EnergyCounter(self.folder / 'machine'):
            space = self.space('energy.yaml', [{'id': 'threads', 'key': 'threads', 'values': [1]},
                                               {'id': 'batch', 'for': ['throughput', 'energy'], 'key': 'batch', 'values': [8]}])
            for attempt in range(4):
                outcome = self.search(f'energy{attempt}', '--for', 'energy', '--threads', 1, '--fix', 'threads=1', '--root', self.folder / 'machine',
                                      '--space', space, budget='40s')
                # Other work can keep the counter's thread from the CPU for a whole block; then there is no figure to judge.
                if 'did not advance' not in outcome.output + outcome.errors:
                    break
        self.assertEqual(outcome.code, 0, outcome.output[:1500] + outcome.errors)
        proof = outcome.json()['proof']
        self.assertEqual((proof['metric'], proof['configuration'], proof['verdict']), ('energy.joules_per_item', 'batch=8', 'improvement'))
        self.assertGreaterEqual(proof['rounds'], 4)
        self.assertLess(proof['interval']['high'], -0.01)
        self.assertIn('energy per item', outcome.json()['summary'])

    def test_energy_counter_that_does_not_advance_fails(self):
        EnergyCounter(self.folder / 'still').write(5_000_000)
        outcome = self.optimize('still', '--for', 'energy', '--root', self.folder / 'still', '--space',
                                self.space('still.yaml', [{'id': 'spinning', 'values': [{'id': 'off', 'set': {'session_options.session.intra_op.allow_spinning': '0'}}]}]),
                                budget='60s')
        self.assertEqual(outcome.code, 3, outcome.errors)
        self.assertIn('did not advance', outcome.errors)

    def test_rewrites_that_change_nothing_are_left_out(self):
        space = self.space('idle.yaml', [{'id': 'graph', 'key': 'rewrite', 'values': ['clean']}, {'id': 'arena', 'key': 'session_options.memory_arena', 'values': ['off']}])
        axes = {axis['axis']: axis for axis in self.aaco('optimize', 'mlp', '--dry-run', '--json', '--space', space).json()['space']}
        if len(axes['graph']['values']) == 1:
            self.assertIn('nothing to change', axes['graph']['absent'])

    def test_unknown_rewrites_are_refused(self):
        space = self.space('unknown.yaml', [{'id': 'graph', 'key': 'rewrite', 'values': ['faster']}])
        self.refused(self.aaco('optimize', 'mlp', '-o', self.folder / 'never', '--space', space), 2, "unknown rewrite 'faster'", 'int8_dynamic')
        config = self.folder / 'run.yaml'
        config.write_text('model: mlp\nrewrite: clean\n')
        self.refused(self.aaco('run', '--config', config, '--no-report'), 3, "'aaco optimize'")


class Advice(OptimizeTest):
    def test_session_without_advice_is_refused(self):
        self.refused(self.aaco('optimize', '--advice', 'absent', '-o', self.folder / 'never'), 3, 'absent')
        self.refused(self.aaco('optimize', 'mlp', '--advice', 'latest', '-o', self.folder / 'never'), 2, '--advice does not accept')

    def test_what_is_advised_is_tried_and_said(self):
        ran = self.aaco('run', 'launch-bound', '--profile', '--warmup', 5, '--iterations', 60, '--no-report', '--json')
        if ran.code == 3:
            self.skipTest('skipped, no ONNX Runtime on this machine')
        session = ran.json()['session']['id']
        tried = self.aaco('optimize', '--advice', session, '--budget', '20s', '--json', '-o', self.folder / 'advice')
        if tried.code == 3:
            self.assertIn('has no advice', tried.errors)
            return
        self.assertIn(tried.code, (0, 4), tried.errors)
        document = json.loads((self.folder / 'advice' / 'advice.json').read_text())
        self.assertEqual(document['session'], session)
        measured = [item for item in document['items'] if item.get('proof')]
        if measured:
            explained = self.aaco('explain', session)
            self.assertIn('measured here', explained.output)


class Refusals(OptimizeTest):
    def test_dry_run_measures_nothing(self):
        outcome = self.aaco('optimize', 'mlp', '--dry-run', '--json', '--fix', 'graph_level=basic')
        self.assertEqual(outcome.code, 0, outcome.errors)
        axes = {axis['axis']: axis for axis in outcome.json()['space']}
        self.assertEqual(axes['graph_level']['absent'], 'fixed at basic')
        self.assertIn('--for throughput', axes['batch']['absent'])
        self.assertIn('off', axes['spinning']['values'])
        self.assertGreater(outcome.json()['configurations'], 96)

    def test_bad_options(self):
        for words, message in ((['--tolerance', 'top1=2'], '--tolerance'), (['--slo', '20ms'], 'p99='), (['--fix', 'threads'], 'AXIS=VALUE'),
                               (['--fix', 'wings=2'], 'unknown axis'), (['--fix', 'arena=maybe'], 'unknown value'),
                               (['--budget', 'long'], '--budget'), (['--for', 'fame'], '--for'), (['--for', 'energy'], 'sensor')):
            refused = self.aaco('optimize', 'mlp', '-o', self.folder / 'never', *words)
            self.refused(refused, 3 if 'energy' in words else 2, message)
            self.assertFalse((self.folder / 'never').exists(), words)
        self.refused(self.aaco('optimize', 'mlp'), 2, 'output folder')

    def test_bad_spaces(self):
        for axes, message in (([], 'at least one axis'), ([{'id': 'a', 'key': 'thread', 'values': [1]}], "unknown key 'thread'"),
                              ([{'id': 'a', 'key': 'threads', 'values': [0]}], 'at least 1'), ([{'id': 'a', 'values': [1]}], "'key'"),
                              ([{'id': 'a', 'key': 'threads', 'values': [1]}] * 2, 'more than once'), ([{'id': 'a', 'key': 'threads', 'values': []}], 'no configuration')):
            refused = self.aaco('optimize', 'mlp', '-o', self.folder / 'never', '--space', self.space('wrong.yaml', axes))
            self.assertIn(refused.code, (2, 3))
            self.assertIn(message, refused.errors)
        self.refused(self.aaco('optimize', 'mlp', '-o', self.folder / 'never', '--space', self.folder / 'absent.yaml'), 3, 'absent.yaml')

    def test_unusable_models_and_folders(self):
        damaged = self.folder / 'damaged.onnx'
        damaged.write_bytes(b'not a model')
        self.refused(self.aaco('optimize', damaged, '-o', self.folder / 'never'), 3, 'damaged.onnx')
        self.refused(self.aaco('optimize', self.folder / 'absent.onnx', '-o', self.folder / 'never'), 3, 'absent.onnx')
        occupied = self.folder / 'file'
        occupied.write_text('')
        self.refused(self.aaco('optimize', 'mlp', '-o', occupied / 'below'), 3, 'file')

    def test_budget_below_one_trial(self):
        refused = self.optimize('short', budget='50ms')
        self.refused(refused, 2, '--budget 50', 'too short', 'use --budget')

    def test_replay_needs_a_proven_result(self):
        self.refused(self.aaco('optimize', '--replay', self.folder / 'absent'), 3, 'result.json')
        self.refused(self.aaco('optimize', 'mlp', '--replay', self.folder), 2, '--replay does not accept')
        unproven = self.folder / 'unproven'
        unproven.mkdir()
        (unproven / 'result.json').write_text('{}')
        self.refused(self.aaco('optimize', '--replay', unproven), 3, 'no best.yaml')

    def test_unknown_session_option(self):
        refused = self.aaco('run', 'mlp', '--session-option', 'wings=on', '--iterations', 1, '--no-report')
        if 'unsupported' in refused.errors:
            self.skipTest('skipped, no ONNX Runtime on this machine')
        self.refused(refused, 2, "unknown session option 'wings'")
