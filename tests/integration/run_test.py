"""`aaco run`: the bundle it leaves, the numbers it prints, and what it refuses."""
import hashlib
import json
import os
import pathlib
import subprocess
import time
import unittest

import program

PROMISED = ('latency.mean_ns latency.std_ns latency.cov_ratio latency.p50_ns latency.count warmup.iterations '
            'observer.effect_ratio throughput.items_per_second memory.rss_peak_bytes').split()


class Run(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.outcome = cls.run_small('--telemetry', '--telemetry-period', '5ms', '--profile', '--tag', 'first', iterations=4000)
        assert cls.outcome.code == 0, cls.outcome.errors
        cls.answer = cls.outcome.json()
        cls.bundle = cls.folder / cls.answer['session']['path']

    def test_json_has_all_sections(self):
        for part in ('session', 'account', 'warnings', 'metrics'):
            self.assertIn(part, self.answer)

    def test_promised_metrics(self):
        self.assertEqual([name for name in PROMISED if name not in self.answer['metrics']], [])

    def test_metrics_have_value_and_unit(self):
        for name, metric in self.answer['metrics'].items():
            for item in metric if isinstance(metric, list) else [metric]:
                self.assertIsInstance(item['value'], (int, float), name)
                self.assertTrue(item['unit'], name)

    def test_intervals_contain_the_median(self):
        median = self.answer['metrics']['latency.p50_ns']
        self.assertLessEqual(median['ci95'][0], median['value'])
        self.assertGreaterEqual(median['ci95'][1], median['value'])

    def test_no_gpu_means_no_gpu_metric(self):
        if os.path.exists('/sys/class/drm/card0') or os.path.exists('/dev/nvidia0'):
            self.skipTest('skipped, this machine has a GPU')
        self.assertEqual([name for name in self.answer['metrics'] if name.startswith('gpu.')], [])

    def test_accounts_are_consistent(self):
        self.assertTrue(self.answer['account'])
        for account in self.answer['account']:
            self.assertEqual(account['read'], account['kept'] + sum(account['dropped'].values()), account)

    def test_bundle_is_complete(self):
        for name in ('session.json', 'env.json', 'model/model_meta.json', 'runtime/ort_config.json', 'metrics/inference_iters.parquet',
                     'telemetry/system_events.parquet', 'profiler/node_executions.parquet'):
            self.assertTrue((self.bundle / name).is_file(), name)

    def test_hashes_match_the_files(self):
        hashes = json.loads((self.bundle / 'session.json').read_text())['hashes']
        self.assertIn('env.json', hashes)
        for name, expected in hashes.items():
            self.assertEqual(hashlib.sha256((self.bundle / name).read_bytes()).hexdigest(), expected, name)

    def test_every_file_is_hashed(self):
        hashes = json.loads((self.bundle / 'session.json').read_text())['hashes']
        files = {str(path.relative_to(self.bundle)) for path in self.bundle.rglob('*') if path.is_file()}
        self.assertEqual({name for name in files - set(hashes) if not name.startswith('report/')}, {'session.json'})

    def test_no_session_stays_open(self):
        self.assertEqual([path.name for path in self.bundle.parent.iterdir() if path.name.startswith('.')], [])

    def test_found_by_tag_id_and_path(self):
        for name in ('tag:first', self.answer['session']['id'], self.bundle):
            shown = self.aaco('show', name, '--json')
            self.assertEqual(shown.code, 0, shown.errors)
            self.assertEqual(shown.json()['session']['id'], self.answer['session']['id'])

    def test_show_repeats_the_numbers(self):
        self.assertEqual(self.aaco('show', 'tag:first', '--json').json()['metrics'], self.answer['metrics'])

    def test_report_names_the_model(self):
        report = self.aaco('report', 'tag:first')
        self.assertEqual(report.code, 0, report.errors)
        self.assertIn('mlp', report.output)

    def test_no_colour_when_disabled(self): self.assertNotIn('\x1b[', self.aaco('report', 'tag:first').output)


class FurtherRuns(program.ProgramTest):
    def test_latest_points_at_the_newest(self):
        bundle = self.folder / self.run_small().json()['session']['path']
        self.assertEqual((self.lake / 'latest').resolve(), bundle.resolve())

    def test_secrets_are_not_stored(self):
        outcome = self.aaco('run', 'mlp', '--warmup', 1, '--iterations', 5, '--no-report', '--json', MY_API_TOKEN='do-not-store-this',
                            AWS_SECRET_ACCESS_KEY='nor-this-one')
        self.assertEqual(outcome.code, 0, outcome.errors)
        bundle = self.folder / outcome.json()['session']['path']
        for path in bundle.rglob('*'):
            if path.is_file():
                self.assertNotIn(b'do-not-store-this', path.read_bytes(), path)
                self.assertNotIn(b'nor-this-one', path.read_bytes(), path)

    def test_same_command_same_fingerprint(self):
        first, second, third = (self.run_small(*options).json()['session']['fingerprint'] for options in ((), (), ('--threads', 1)))
        self.assertEqual(first, second)
        self.assertNotEqual(first, third)


class RunRefuses(program.ProgramTest):
    def test_no_verb(self): self.refused(self.aaco(), 2)
    def test_unknown_verb(self): self.refused(self.aaco('runn'), 2)
    def test_unknown_option(self): self.refused(self.aaco('run', '--modle', 'mlp'), 2)
    def test_zero_iterations(self): self.refused(self.aaco('run', 'mlp', '--iterations', 0), 2)
    def test_negative_warmup(self): self.refused(self.aaco('run', 'mlp', '--warmup', -1), 2, 'between 0 and')
    def test_option_of_the_cpu_provider(self): self.refused(self.aaco('run', 'mlp', '--provider-option', 'x=y'), 2, "'x'", 'CPU provider')
    def test_no_model(self): self.refused(self.aaco('run'), 2, 'model')
    def test_unknown_model(self): self.refused(self.aaco('run', 'resnet5'), 3, 'resnet5')
    def test_unknown_backend(self): self.refused(self.aaco('run', 'mlp', '--backend', 'gpu9'), 3, 'gpu9')
    def test_unavailable_provider(self): self.refused(self.aaco('run', 'mlp', '--backend', 'migraphx'), 3, 'migraphx', 'hint:')
    def test_missing_file(self): self.refused(self.aaco('run', 'nothing.onnx'), 3, 'nothing.onnx')
    def test_bad_shape(self): self.refused(self.aaco('run', 'mlp', '--shape', 'input=1xtwo'), 2, '1xtwo')
    def test_unknown_input(self): self.refused(self.aaco('run', 'mlp', '--shape', 'nothing=1x2'), 2, 'nothing')
    def test_missing_library(self): self.refused(self.aaco('run', 'mlp', '--ort-lib', '/nowhere/libonnxruntime.so'), 3, '/nowhere')

    def test_damaged_model(self):
        (self.folder / 'damaged.onnx').write_bytes(b'\x08\x07\x12' + os.urandom(200))
        self.refused(self.aaco('run', 'damaged.onnx'), 3, 'damaged.onnx')

    def test_empty_model(self):
        (self.folder / 'empty.onnx').write_bytes(b'')
        self.refused(self.aaco('run', 'empty.onnx'), 3, 'empty.onnx')

    def test_folder_as_model(self):
        (self.folder / 'folder.onnx').mkdir()
        self.refused(self.aaco('run', 'folder.onnx'), 2, 'folder.onnx')

    def test_unwritable_session_folder(self):
        self.refused(self.aaco('run', 'mlp', '--iterations', 5, AACO_SESSIONS='/proc/aaco-sessions'), 3, '/proc/aaco-sessions')

    def test_sessions_below_a_file(self):
        (self.folder / 'file').write_text('x')
        self.refused(self.aaco('run', 'mlp', '--iterations', 5, AACO_SESSIONS=str(self.folder / 'file')), 3)

    def test_show_without_sessions(self): self.refused(self.aaco('show', 'latest'), 3)
    def test_report_of_unknown_tag(self): self.refused(self.aaco('report', 'tag:none'), 3, 'none')


class AllowedCpus(program.ProgramTest):
    """What taskset and cpusets leave to a run is obeyed by the runtime's threads, recorded, and compared."""

    def run_on(self, cpus, tag, groups=()):
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, cpus)
        self.addCleanup(os.sched_setaffinity, 0, before)

        def enter():
            for group in groups:
                (group / 'cgroup.procs').write_text(str(os.getpid()))
        command = [program.PROGRAM, 'run', '--model', 'mlp', '--warmup', '5', '--duration', '1s', '--no-report', '--json', '--tag', tag]
        environment = {name: value for name, value in os.environ.items() if name not in program.OURS}
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder, stdin=subprocess.DEVNULL,
                                 preexec_fn=enter, env=environment | {'AACO_SESSIONS': str(self.lake), 'NO_COLOR': '1'})
        seen, threads = set(), 0
        while child.poll() is None:
            tasks = list(pathlib.Path(f'/proc/{child.pid}/task').glob('*'))
            threads = max(threads, len(tasks))
            for task in tasks:
                try:
                    seen |= os.sched_getaffinity(int(task.name))
                except OSError:
                    pass
            time.sleep(0.02)
        output, errors = child.communicate()
        os.sched_setaffinity(0, before)
        if child.returncode == 3 and 'ONNX Runtime' in errors and 'unsupported' in errors:
            self.skipTest('skipped, no ONNX Runtime on this machine')
        self.assertEqual(child.returncode, 0, errors)
        return seen, self.folder / json.loads(output)['session']['path']

    def group(self, controller, settings):
        """A cgroup (v1 or v2), one level down, with `settings` of the inner one; skips where none can be made."""
        root = pathlib.Path('/sys/fs/cgroup')
        second = (root / 'cgroup.controllers').exists()
        outer = (root if second else root / controller) / f'aaco-test-{os.getpid()}-{controller}'
        inner = outer / 'inner'
        try:
            outer.mkdir()
            self.addCleanup(outer.rmdir)
            if second:
                (outer / 'cgroup.subtree_control').write_text('+' + controller)
            elif controller == 'cpuset':
                for name in ('cpuset.cpus', 'cpuset.mems'):
                    (outer / name).write_text((outer.parent / name).read_text())
            inner.mkdir()
            self.addCleanup(inner.rmdir)
            if not second and controller == 'cpuset':
                (inner / 'cpuset.mems').write_text((outer / 'cpuset.mems').read_text())
            for name, value in settings[second].items():
                (inner / name).write_text(value)
        except OSError as error:
            self.skipTest(f'skipped, no {controller} cgroup can be made here: {error}')
        return inner

    def facts(self, bundle):
        return json.loads((bundle / 'env.json').read_text())['fingerprint']['facts']

    def test_cpuset_is_obeyed_recorded_and_compared(self):
        machine = sorted(os.sched_getaffinity(0))
        if len(machine) < 2:
            self.skipTest('skipped, one CPU only')
        narrow = {'cpuset.cpus': str(machine[-1])}
        group = self.group('cpuset', (narrow, narrow))
        self.run_on(set(machine), 'outside')
        seen, bundle = self.run_on(set(machine), 'inside', [group])
        self.assertEqual(self.facts(bundle)['cpu.allowed_list'], str(machine[-1]))
        self.assertEqual(self.facts(bundle)['cpu.allowed_cores'], '1')
        self.assertEqual(seen, {machine[-1]}, 'a thread of the run may use another CPU')
        self.assertEqual(json.loads((bundle / 'runtime/ort_config.json').read_text())['pool_threads'], 1)
        document = self.aaco('diff', 'tag:outside', 'tag:inside', '--json').json()
        different = {one['key']: one['candidate'] for one in document['differences']}
        self.assertEqual(different['cpu.allowed_cores'], '1')

    def test_quota_sizes_the_pool_and_is_recorded_and_compared(self):
        machine = sorted(os.sched_getaffinity(0))
        if len(machine) < 2:
            self.skipTest('skipped, one CPU only')
        group = self.group('cpu', ({'cpu.cfs_period_us': '100000', 'cpu.cfs_quota_us': '100000'}, {'cpu.max': '100000 100000'}))
        self.run_on(set(machine), 'unlimited')
        seen, bundle = self.run_on(set(machine), 'limited', [group])
        self.assertEqual(seen, set(machine), 'a quota pins nothing')
        self.assertEqual(float(self.facts(bundle)['cpu.limit_cores']), 1)
        self.assertEqual(json.loads((bundle / 'runtime/ort_config.json').read_text())['pool_threads'], 1)
        document = self.aaco('diff', 'tag:unlimited', 'tag:limited', '--json').json()
        self.assertIn('cpu.limit_cores', [one['key'] for one in document['differences']])
        self.assertNotEqual(document['verdict'], 'not-comparable', 'a quota is named first, then judged')

    def test_mask_is_obeyed_recorded_and_compared(self):
        machine = sorted(os.sched_getaffinity(0))
        if len(machine) < 2:
            self.skipTest('skipped, one CPU only')
        everywhere, _ = self.run_on(set(machine), 'whole')
        self.assertEqual(everywhere, set(machine))
        for number, cpus in enumerate([{machine[0]}, set(machine[-2:])]):
            seen, bundle = self.run_on(cpus, f'narrow{number}')
            self.assertEqual(seen, cpus, 'a thread of the run may use another CPU')
            facts = json.loads((bundle / 'env.json').read_text())['fingerprint']['facts']
            self.assertEqual(facts['cpu.allowed_cores'], str(len(cpus)))
            runtime = json.loads((bundle / 'runtime/ort_config.json').read_text())
            if len(cpus) < os.cpu_count():
                self.assertEqual(runtime['pool_threads'], len(cpus))
        document = self.aaco('diff', 'tag:whole', 'tag:narrow0', '--json').json()
        different = {one['key']: (one['baseline'], one['candidate']) for one in document['differences']}
        self.assertEqual(different['cpu.allowed_list'][1], str(machine[0]))


if __name__ == '__main__':
    unittest.main()
