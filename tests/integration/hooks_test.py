"""`record --hooks` with stand-ins for the GPU runtimes: calls, idle times and their causes, and that the program is left as it is."""
import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

import program

STANDS = pathlib.Path(program.PROGRAM).resolve().parents[1] / 'tests/hooks'
USER = STANDS / 'aaco_hooks_program'


@unittest.skipUnless(USER.exists(), 'skipped, the stand-in runtimes are not built')
class Hooks(program.ProgramTest):
    def record(self, tag, *words, options=()):
        outcome = self.aaco('record', '--hooks', *options, '--tag', tag, '--no-report', '--', USER, *words, LD_LIBRARY_PATH=str(STANDS))
        self.assertEqual(outcome.code, 0, outcome.errors)
        return outcome

    def shown(self, tag):
        return self.aaco('show', f'tag:{tag}', '--json').json()

    def manifest(self, tag):
        return json.loads((self.folder / self.shown(tag)['session']['path'] / 'session.json').read_text())

    def query(self, tag, text):
        where = self.manifest(tag)['session_id']
        outcome = self.aaco('query', text.replace('SESSION', f"session_id = '{where}'"), '--json')
        self.assertEqual(outcome.code, 0, outcome.errors)
        return outcome.json()

    def test_calls_and_metrics(self):
        outcome = self.record('common', 'common')
        self.assertIn('GPU runtime calls', outcome.errors)
        rows = {row['name']: row for row in self.query('common', 'SELECT name, count(*) AS calls, min(domain) AS domain FROM api_calls WHERE SESSION GROUP BY 1')}
        self.assertEqual((rows['hipMemcpy']['calls'], rows['hipMemcpy']['domain']), (2, 'hip'))
        metrics = self.shown('common')['metrics']
        self.assertEqual(metrics['calls.launch_count']['value'], 1)
        self.assertEqual(metrics['calls.copy_bytes']['value'], 128)
        self.assertEqual(metrics['calls.allocated_peak_bytes']['value'], 4096)
        self.assertGreater(metrics['calls.sync_sum_ns']['value'], 100_000)
        account = next(one for one in self.manifest('common')['accounts'] if one['source'] == 'hooks')
        self.assertEqual((account['state'], account['read']), ('ok', account['kept']))

    def test_runtime_and_driver_count_a_launch_once(self):
        self.record('nested', 'cuda12', 50)
        self.assertEqual(self.shown('nested')['metrics']['calls.launch_count']['value'], 50)
        domains = {row['domain']: row['calls'] for row in self.query('nested', "SELECT domain, count(*) AS calls FROM api_calls WHERE name LIKE '%LaunchKernel' AND SESSION GROUP BY 1")}
        self.assertEqual(domains, {'cuda_runtime': 50, 'cuda_driver': 50})

    def test_late_thread_explains_the_idle_device(self):
        outcome = self.record('asleep', 'late', 35, 'sleep', options=['--ebpf'])
        gaps = self.query('asleep', 'SELECT cause, host_cause, end_ns - start_ns AS length, host_off_cpu_ns AS asleep, evidence FROM gaps WHERE end_ns - start_ns > 15000000 AND SESSION')
        self.assertEqual(len(gaps), 3)
        self.assertIn('Idle time by cause', outcome.errors)
        if next(one for one in self.manifest('asleep')['accounts'] if one['source'] == 'ebpf')['state'] == 'unsupported': self.skipTest('no eBPF here')
        for gap in gaps:
            self.assertEqual(gap['host_cause'], 'sleep')
            self.assertIn('nanosleep', gap['evidence'])
            self.assertGreater(int(gap['asleep']), 15_000_000)
        self.assertIn('sleeping', self.aaco('report', 'tag:asleep').output)
        self.assertEqual(self.aaco('explain', 'tag:asleep').code, 0)
        target = self.folder / 'timeline.json'
        self.assertEqual(self.aaco('export', 'tag:asleep', '--format', 'chrome', '--output', target).code, 0)
        names = {event.get('name') for event in json.loads(target.read_text())['traceEvents']}
        self.assertTrue({'hipLaunchKernel', 'hipDeviceSynchronize', 'off_cpu: sleep'} <= names)

    def test_a_busy_thread_is_not_called_asleep(self):
        self.record('busy', 'late', 25, 'spin', options=['--ebpf'])
        gaps = self.query('busy', 'SELECT host_cause FROM gaps WHERE end_ns - start_ns > 15000000 AND SESSION')
        self.assertEqual(len(gaps), 2)
        self.assertNotIn('sleep', {gap['host_cause'] for gap in gaps})

    def test_children_are_followed(self):
        self.record('forks', 'forks', 20)
        self.assertEqual(self.query('forks', 'SELECT count(DISTINCT process_id) AS processes FROM api_calls WHERE SESSION')[0]['processes'], 4)

    def test_a_signal_pauses_recording(self):
        environment = {**os.environ, 'AACO_SESSIONS': str(self.lake), 'NO_COLOR': '1', 'LD_LIBRARY_PATH': str(STANDS)}
        running = subprocess.Popen([program.PROGRAM, 'record', '--hooks', '--duration', '2s', '--tag', 'paused', '--no-report', '--', str(USER), 'forever'],
                                   cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(1)
        running.send_signal(signal.SIGRTMIN + 8)
        running.wait(timeout=60)
        span = self.query('paused', "SELECT (max(end_ns) - min(start_ns)) / 1e9 AS seconds FROM api_calls WHERE name = 'hipLaunchKernel' AND SESSION")[0]['seconds']
        wall = self.manifest('paused')['outcome']['wall_ns'] / 1e9
        self.assertLess(span, 0.9 * wall)

    def test_a_program_without_a_gpu(self):
        outcome = self.aaco('record', '--hooks', '--tag', 'none', '--no-report', '--', 'sh', '-c', 'exit 3')
        self.assertEqual(outcome.code, 3, outcome.errors)
        self.assertIn('hooks.no_calls', [one['id'] for one in self.manifest('none')['warnings']])

    def test_a_static_runtime_is_reported(self):
        outcome = self.aaco('record', '--hooks', '--tag', 'static', '--no-report', '--', STANDS / 'aaco_hooks_static_program', 'late', 100)
        self.assertEqual(outcome.code, 0, outcome.errors)
        self.assertIn('hooks.static_runtime', [one['id'] for one in self.manifest('static')['warnings']])

    def test_rejects_a_running_process(self):
        self.refused(self.aaco('record', '--hooks', '--pid', os.getpid()), 2, '--hooks', '--pid')

    def test_rejects_libraries_without_hooks(self):
        self.refused(self.aaco('record', '--hook-libraries', '--', 'true'), 2, '--hook-libraries requires --hooks')

    def test_a_missing_command_is_127(self):
        self.assertEqual(self.aaco('record', '--hooks', '--', '/nowhere/program').code, 127)
