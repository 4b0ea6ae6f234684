"""`--ebpf` of run and record: with permission there are rows, without there is a reason, and the run goes on all the same."""
import json
import os
import shutil
import subprocess
import unittest

import program

# The same user without the capabilities that loading eBPF programs takes.
WITHOUT = ('setpriv', '--inh-caps=-all', '--bounding-set=-bpf,-perfmon,-sys_admin,-net_admin')


class Ebpf(program.ProgramTest):
    def bundle(self, tag):
        return self.folder / self.aaco('show', f'tag:{tag}', '--json').json()['session']['path']

    def manifest(self, tag):
        return json.loads((self.bundle(tag) / 'session.json').read_text())

    def account(self, manifest):
        return next(account for account in manifest['accounts'] if account['source'] == 'ebpf')

    def watched(self, tag):
        """The manifest of a session that was watched; skips where this machine refuses, with its reason."""
        manifest = self.manifest(tag)
        account = self.account(manifest)
        if account['state'] == 'unsupported':
            self.skipTest(f'no eBPF here: {account["reason"]}')
        return manifest

    def query(self, text):
        outcome = self.aaco('query', text, '--json')
        self.assertEqual(outcome.code, 0, outcome.errors)
        return outcome.json()

    def record(self, tag, script):
        outcome = self.aaco('record', '--ebpf', '--tag', tag, '--no-report', '--', 'sh', '-c', script)
        self.assertEqual(outcome.code, 7, outcome.errors)
        return outcome

    def test_record_covers_the_child_from_its_start(self):
        self.record('born', 'sleep 0.05; (i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done); exit 7')
        manifest = self.watched('born')
        account = self.account(manifest)
        self.assertGreater(account['kept'], 0)
        self.assertEqual(sum(account.get('dropped', {}).values()), account['read'] - account['kept'])
        where = f"session_id = '{manifest['session_id']}'"
        kinds = {row['kind'] for row in self.query(f'SELECT DISTINCT kind FROM sched_events WHERE {where}')}
        for kind in ('run', 'run_queue', 'off_cpu'):
            self.assertIn(kind, kinds)
        seen = self.query(f'SELECT count(DISTINCT process_id) AS processes FROM sched_events WHERE {where}')
        self.assertGreaterEqual(int(seen[0]['processes']), 3, 'the shell, sleep and the subshell')
        sleeps = self.query("SELECT max(duration_ns) AS longest FROM sched_events WHERE kind = 'off_cpu' AND detail = 'sleep' "
                            f"AND call LIKE '%nanosleep' AND {where}")
        self.assertGreaterEqual(int(sleeps[0]['longest']), 45_000_000)

    def test_run_links_events_to_iterations(self):
        outcome = self.run_small('--ebpf', '--tag', 'joined', iterations=400)
        self.assertEqual(outcome.code, 0, outcome.errors)
        manifest = self.watched('joined')
        where = f"session_id = '{manifest['session_id']}'"
        rows = self.query('SELECT phase, count(*) AS total, count(caller_run_queue_ns) AS known, '
                          'coalesce(count_if(caller_run_queue_ns + caller_off_cpu_ns <= duration_ns), 0) AS within '
                          f'FROM inference_iters WHERE {where} GROUP BY phase')
        counts = {row['phase']: {name: int(row[name]) for name in ('total', 'known', 'within')} for row in rows}
        self.assertEqual(counts['measure']['known'], 0, 'nobody watches the measurement itself')
        watched = counts['measure_telemetry']
        self.assertEqual(watched['total'], watched['known'])
        self.assertEqual(watched['known'], watched['within'], 'a call cannot wait longer than it took')
        metrics = self.aaco('show', 'tag:joined', '--json').json()['metrics']
        self.assertIn('sched.caller_run_queue_ratio', metrics)
        self.assertIn('observer.effect_ratio', metrics)
        self.assertIn('Operating system activity', self.aaco('report', 'tag:joined').output)

    def test_stacks_of_waiting_threads(self):
        self.record('stacks', 'sleep 0.3; exit 7')
        self.watched('stacks')
        folded = self.bundle('stacks') / 'telemetry/off_cpu.folded'
        if not folded.exists():
            self.skipTest('this kernel walks no stacks for programs')
        lines = [line.rsplit(' ', 1) for line in folded.read_text().splitlines()]
        slept = sum(int(ns) for frames, ns in lines if frames.startswith('sleep'))
        self.assertGreaterEqual(slept, 290_000_000, lines)
        report = self.aaco('report', 'tag:stacks', '--json').json()
        waits = report['extra']['operating_system']['waits']
        self.assertEqual(waits['total_ns'], sum(int(ns) for _, ns in lines))
        self.assertIn('sleep', [thread['name'] for thread in waits['children']])
        drawing = self.aaco('report', 'tag:stacks', '-f', 'svg', '--plot', 'waits')
        self.assertEqual(drawing.code, 0, drawing.errors)
        self.assertIn('Off-CPU flame graph', drawing.output)
        self.assertEqual(self.aaco('verify', 'tag:stacks').code, 0)

    def test_without_stacks_the_plot_is_refused(self):
        outcome = self.aaco('record', '--no-report', '--tag', 'plain', '--', 'true')
        self.assertEqual(outcome.code, 0, outcome.errors)
        refused = self.aaco('report', 'tag:plain', '-f', 'svg', '--plot', 'waits')
        self.assertNotEqual(refused.code, 0)
        self.assertIn("no data for the plot 'waits'", refused.errors)

    def test_sleep_is_divided_by_its_cause(self):
        for fault, generator, cause in (('sleep', 'timer', 'timer'), ('sleep', 'futex', 'timer'), ('io_storm', 'read', 'io')):
            tag = fault + generator
            outcome = self.aaco('lab', 'inject', '--intensity', '0.9', '--generator', generator, '--', fault, 'run', '--model', 'squeezenet1.1', '--threads', 1,
                                '--warmup', 5, '--iterations', 60, '--ebpf', '--no-report', '--tag', tag)
            if outcome.code == 3 and 'ONNX Runtime' in outcome.errors: self.skipTest('skipped, no ONNX Runtime on this machine')
            self.assertEqual(outcome.code, 0, outcome.errors)
            self.watched(tag)
            metrics = self.aaco('show', f'tag:{tag}', '--json').json()['metrics']
            slept = {name[len('sched.sleep_'):-len('_per_iteration_ns')]: one['value'] for name, one in metrics.items() if name.startswith('sched.sleep_')}
            self.assertEqual(len(slept), 11)
            if cause == 'timer':  # whether a read reaches a disk is the machine's matter
                self.assertGreater(slept[cause], 0.9 * sum(slept.values()), slept)
                self.assertGreater(slept[cause], 0)
            asleep = metrics['sched.caller_off_cpu_ratio']['value'] * metrics['latency.mean_ns']['value']
            self.assertLess(sum(slept.values()), 3 * asleep + 1e6, 'the causes divide the sleep of the caller')

    def test_timeline_has_thread_states(self):
        self.record('timeline', 'sleep 0.05; exit 7')
        self.watched('timeline')
        target = self.folder / 'timeline.json'
        self.assertEqual(self.aaco('export', 'tag:timeline', '--format', 'chrome', '--output', target).code, 0)
        names = {event.get('name') for event in json.loads(target.read_text())['traceEvents']}
        self.assertIn('off_cpu: sleep', names)

    @unittest.skipUnless(shutil.which('setpriv'), 'skipped, setpriv is missing')
    def test_run_continues_without_permission(self):
        tag = 'refused'
        environment = {**os.environ, 'AACO_SESSIONS': str(self.lake), 'NO_COLOR': '1'}
        privileged = os.geteuid() == 0
        ran = subprocess.run([*(WITHOUT if privileged else ()), program.PROGRAM, 'record', '--ebpf', '--tag', tag, '--', 'sh', '-c', 'exit 7'],
                             capture_output=True, text=True, check=False, timeout=300, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL)
        self.assertEqual(ran.returncode, 7, ran.stderr)
        manifest = self.manifest(tag)
        account = self.account(manifest)
        self.assertEqual(account['state'], 'unsupported')
        warning = next(warning for warning in manifest['warnings'] if warning['id'] == 'ebpf.unavailable')
        self.assertTrue(warning['remedy'])
        self.assertEqual(manifest['state'], 'complete')
        self.assertFalse((self.bundle(tag) / 'telemetry/sched_events.parquet').exists())

    def test_doctor_reports_availability(self):
        lines = self.aaco('doctor', '--json').json()
        features = {line['feature']: line for line in lines.get('features', lines.get('lines', []))}
        for name in ('kernel scheduler events (eBPF)', 'GPU driver events (eBPF)', 'GPU runtime calls (record --hooks)'):
            self.assertIn(name, features)
            self.assertTrue(features[name]['reason'], name)

    def test_ab_rejects_ebpf(self):
        self.refused(self.aaco('ab', '--', '--model', 'mlp', '--ebpf', '--', '--model', 'mlp'), 2, '--ebpf')
