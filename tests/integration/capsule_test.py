"""The isolation capsule: what it sets, that it is put back, also after kill -9, and what a session says of it."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

import program

GROUPS = pathlib.Path('/sys/fs/cgroup')


def groups_of(pid):
    return [path for path in GROUPS.rglob(f'aaco-capsule-{pid}') if path.is_dir()]


def members(groups):
    return [int(pid) for group in groups for pid in (group / 'cgroup.procs').read_text().split()]


def name_of(pid):
    try:
        return pathlib.Path(f'/proc/{pid}/comm').read_text().strip()
    except OSError:
        return ''


class Capsule(program.ProgramTest):
    def capsule(self, *words):
        return self.aaco('capsule', *words, XDG_CACHE_HOME=str(self.folder / 'cache'))

    def start(self, *words):
        environment = {**os.environ, 'XDG_CACHE_HOME': str(self.folder / 'cache'), 'AACO_SESSIONS': str(self.lake)}
        return subprocess.Popen([program.PROGRAM, 'capsule', *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)

    def test_exit_code_of_the_command_is_returned(self):
        self.assertEqual(self.capsule('--set', 'nice=5', '--', 'sh', '-c', 'exit 7').code, 7)
        self.assertEqual(self.capsule('--set', 'nice=5', '--', '/nonexistent/program').code, 125)
        self.assertEqual(self.capsule('--set', 'nice=5', '--', 'sh', '-c', 'kill -TERM $$').code, 128 + signal.SIGTERM)

    def test_rejects_unknown_settings(self):
        self.refused(self.capsule('--level', 'strickt', '--', 'true'), 2, 'strickt', 'strict')
        self.refused(self.capsule('--set', 'nise=3', '--', 'true'), 2, 'nice')
        self.refused(self.capsule('--set', 'nice=300', '--', 'true'), 2, '-20 to 19')
        self.refused(self.capsule('--level', 'light'), 2, 'command')

    def test_command_runs_isolated(self):
        cpus = sorted(os.sched_getaffinity(0))
        if len(cpus) < 2:
            self.skipTest('skipped, one CPU')
        script = 'import os, sys; print(sorted(os.sched_getaffinity(0)), os.nice(0), open("/proc/self/personality").read().strip())'
        outcome = self.capsule('--set', 'affinity=one', '--set', f'nice={os.nice(0) + 1}', '--set', 'aslr=off', '--', sys.executable, '-c', script)
        self.assertEqual(outcome.code, 0, outcome.errors)
        if 'not set' in outcome.errors:
            self.skipTest('skipped, this machine does not allow it: ' + outcome.errors)
        self.assertEqual(outcome.output.split('\n')[0], f'[{cpus[-1]}] {os.nice(0) + 1} 00040000')
        self.assertEqual(sorted(os.sched_getaffinity(0)), cpus)

    def test_unavailable_settings_are_listed_with_reasons(self):
        outcome = self.capsule('--set', 'memory_lock=on', '--', 'true')
        self.assertEqual(outcome.code, 0)
        self.assertIn('not set: memory_lock', outcome.errors)

    def test_levels_and_switches_are_listed(self):
        listed = self.capsule('ls', '--json').json()
        self.assertEqual([level['level'] for level in listed['levels']], ['light', 'standard', 'strict'])
        self.assertIn('governor', [one['switch'] for one in listed['switches']])
        self.assertEqual(listed['changes'], [])

    def test_next_start_restores_after_a_kill(self):
        running = self.start('--set', 'cpu_weight=300', '--', 'sh', '-c', 'echo in; exec sleep 60')
        try:
            self.assertEqual(running.stdout.readline(), 'in\n')
            groups = groups_of(running.pid)
            if os.geteuid() != 0 or not groups:
                self.skipTest('skipped, no control group can be made here')
            inside, end = [], time.monotonic() + 30
            while not inside and time.monotonic() < end:  # the shell is still to become it
                time.sleep(0.02)
                inside = [pid for pid in members(groups) if name_of(pid) == 'sleep']
            self.assertTrue(inside)
            self.assertEqual(self.capsule('restore').output.strip(), '0 leftover changes undone')  # it lives
            running.send_signal(signal.SIGKILL)
            running.wait()
            listed = self.capsule('ls', '--json').json()['changes']
            self.assertEqual([one['alive'] for one in listed], [False])
            restored = self.capsule('restore', '--json')
            self.assertEqual(restored.code, 0, restored.errors)
            self.assertEqual(restored.json()['undone'], 1)
            self.assertEqual(groups_of(running.pid), [])
            self.assertEqual(self.capsule('ls', '--json').json()['changes'], [])
            for pid in inside:
                os.kill(pid, 0)  # the command itself was not harmed: it stands outside now
                os.kill(pid, signal.SIGKILL)
        finally:
            running.kill()
            running.communicate()

    def test_stop_is_forwarded_and_settings_are_restored(self):
        running = self.start('--set', 'cpu_weight=300', '--', 'sh', '-c', 'trap "exit 9" INT; echo in; while :; do sleep 0.05; done')
        try:
            self.assertEqual(running.stdout.readline(), 'in\n')
            running.send_signal(signal.SIGINT)
            self.assertEqual(running.wait(timeout=30), 9)
            self.assertEqual(groups_of(running.pid), [])
        finally:
            running.kill()
            running.communicate()

    def test_run_records_its_isolation(self):
        plain = self.run_small()
        isolated = self.run_small('--isolate-set', 'aslr=off', '--isolate-set', 'governor=performance')
        self.assertEqual(isolated.code, 0, isolated.errors)
        path = pathlib.Path(isolated.json()['session']['path'])
        session = json.loads((path / 'session.json').read_text())
        told = session['outcome']['isolation']
        names = {one['switch'] for one in told['set'] + told['not_set']}
        self.assertEqual(names, {'aslr', 'governor'})
        facts = json.loads((path / 'env.json').read_text())['fingerprint']['facts']
        if told['set']:
            self.assertIn(told['set'][0]['switch'], facts['isolation'])
            other = json.loads((pathlib.Path(plain.json()['session']['path']) / 'session.json').read_text())
            self.assertNotEqual(session['fingerprint'], other['fingerprint'])
        self.assertEqual('isolation.partly' in [one['id'] for one in session['warnings']], bool(told['not_set']))

    def test_run_rejects_an_unknown_level(self):
        self.refused(self.run_small('--isolate', 'strickt'), 2, 'strict')

    def test_check_rates_the_machine(self):
        judged = self.aaco('capsule', 'check', '--duration', '3s', '--json')
        self.assertIn(judged.code, (0, 4), judged.errors)
        verdict = judged.json()
        self.assertEqual(verdict['fit'], judged.code == 0)
        self.assertEqual(bool(verdict['against']), judged.code == 4)
        for loop in verdict['loops']:
            self.assertGreater(loop['detectable_interleaved_ratio']['10s'], loop['detectable_interleaved_ratio']['60s'])
        self.refused(self.aaco('capsule', 'check', '--duration', 'soon'), 2, '--duration')
        self.refused(self.aaco('capsule', 'check', '--duration', '100ms'), 2, '300 ms')

    def test_disturbed_iterations_are_marked_and_excluded_on_request(self):
        # On one CPU, or the scheduler may put the model on another one and nothing disturbs it.
        cpus = os.sched_getaffinity(0)
        self.addCleanup(os.sched_setaffinity, 0, cpus)
        os.sched_setaffinity(0, {min(cpus)})
        hogged = self.aaco('lab', 'inject', '--intensity', '1', '--', 'cpu_hog_same_core', 'run', '--model', 'mlp', '--threads', '1', '--duration', '3s',
                           '--drop-disturbed', '--no-report', '--json')
        if hogged.code == 3:
            self.skipTest('skipped: ' + hogged.errors)
        path = pathlib.Path(hogged.json()['session']['path'])
        noise = json.loads((path / 'metrics/noise.json').read_text())
        self.assertGreater(noise['disturbed_blocks'], 0)
        self.assertEqual(noise['disturbed_blocks'], len(noise['marks']))
        warnings = [one['id'] for one in json.loads((path / 'session.json').read_text())['warnings']]
        self.assertIn('noise.dropped' if noise['dropped'] else 'noise.not_dropped', warnings)
        rows = self.aaco('query', '--json', f"SELECT count(*) AS n FROM inference_iters WHERE phase = 'measure' AND disturbance <> '' "
                         f"AND session_id = '{hogged.json()['session']['id']}'")
        self.assertIn(str(noise['all']['iterations'] - noise['undisturbed']['iterations']), rows.output)

    def test_record_isolates_the_command(self):
        outcome = self.aaco('record', '--isolate-set', f'nice={os.nice(0) + 1}', '--no-report', '--json', '--', sys.executable, '-c', 'import os, sys; sys.exit(os.nice(0))')
        self.assertEqual(outcome.code, os.nice(0) + 1, outcome.errors)
        self.refused(self.aaco('record', '--isolate', 'light', '--pid', os.getpid()), 2, '--isolate')


if __name__ == '__main__':
    unittest.main()
