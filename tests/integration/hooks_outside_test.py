"""`record --hooks` of programs that are hard on a preloaded library (src/hooks/standin/outside.c). Each program says how many launches it
made; the session must have as many, or say how many are missing and why, and the program must do what it does without aaco."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
import unittest

import program

STANDS = pathlib.Path(program.PROGRAM).resolve().parents[1] / 'tests/hooks'
OUTSIDE = STANDS / 'aaco_hooks_outside'
BARE = STANDS / 'aaco_hooks_bare'


@unittest.skipUnless(OUTSIDE.exists(), 'skipped, the stand-in runtimes are not built')
class Outside(program.ProgramTest):
    def record(self, tag, *words, options=(), **variables):
        return self.aaco('record', '--hooks', *options, '--tag', tag, '--no-report', '--', *words, LD_LIBRARY_PATH=str(STANDS), **variables)

    def start(self, tag, *words, **options):
        environment = {**os.environ, 'AACO_SESSIONS': str(self.lake), 'NO_COLOR': '1', 'LD_LIBRARY_PATH': str(STANDS)}
        return subprocess.Popen([program.PROGRAM, 'record', '--hooks', '--tag', tag, '--no-report', '--', *map(str, words)], cwd=self.folder, env=environment,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)

    def manifest(self, tag):
        shown = self.aaco('show', f'tag:{tag}', '--json').json()
        return json.loads((self.folder / shown['session']['path'] / 'session.json').read_text())

    def account(self, tag):
        return next(one for one in self.manifest(tag)['accounts'] if one['source'] == 'hooks')

    def warned(self, tag):
        return [one['id'] for one in self.manifest(tag)['warnings']]

    def recorded(self, tag, where="name IN ('hipLaunchKernel', 'cudaLaunchKernel')"):
        outcome = self.aaco('query', f"SELECT count(*) AS calls FROM api_calls WHERE {where} AND session_id = '{self.manifest(tag)['session_id']}'", '--json')
        self.assertEqual(outcome.code, 0, outcome.errors)
        return int(outcome.json()[0]['calls'])

    def check_complete(self, tag, outcome, **options):
        """All launches are in the session, and none was lost."""
        self.assertEqual(outcome.code, 0, outcome.errors)
        launched = sum(map(int, re.findall(r'launched (\d+)', outcome.output)))
        self.assertGreater(launched, 0)
        account = self.account(tag)
        self.assertEqual(account['read'], account['kept'], account)
        self.assertEqual(self.recorded(tag, **options), launched)
        return launched

    def test_forks_in_the_middle_of_launches(self):
        outcome = self.record('fork', OUTSIDE, 'fork', 40)
        self.assertEqual(outcome.code, 0, outcome.errors)
        launched = sum(map(int, re.findall(r'launched (\d+)', outcome.output)))
        account = self.account('fork')
        # Three threads in a tight loop can be faster than a loaded machine reads: then the account says how many are missing.
        self.assertEqual(self.recorded('fork') + account['read'] - account['kept'], launched)
        self.assertGreater(launched, 2000)

    def test_a_handler_launches_in_the_middle_of_a_launch(self):
        self.check_complete('handler', self.record('handler', OUTSIDE, 'handler', 40000))

    def test_a_runtime_that_is_unloaded_and_loaded_again(self):
        alone = subprocess.run([str(OUTSIDE), 'reload', '60'], env={**os.environ, 'LD_LIBRARY_PATH': str(STANDS)}, capture_output=True, text=True, check=True)
        outcome = self.record('reload', OUTSIDE, 'reload', 60)
        self.assertEqual(outcome.output, alone.stdout)
        self.assertGreaterEqual(self.check_complete('reload', outcome), 90)

    def test_lookups_of_several_versions(self):
        outcome = self.record('lookups', OUTSIDE, 'lookups', 30)
        self.check_complete('lookups', outcome, where="name = 'cuLaunchKernel'")

    def test_two_runtimes_in_one_process(self):
        self.check_complete('both', self.record('both', OUTSIDE, 'both', 2000))

    def test_a_library_that_is_preloaded_already(self):
        other = STANDS / 'libaaco_hooks_other_preload.so'
        # Calls by symbol go through both; the other library sees as many as without aaco.
        words = [STANDS / 'aaco_hooks_program', 'linked', 500]
        alone = subprocess.run([*map(str, words)], env={**os.environ, 'LD_PRELOAD': str(other)}, capture_output=True, text=True, check=True)
        self.assertIn('other library saw 500', alone.stderr)
        outcome = self.record('preloaded', *words, LD_PRELOAD=str(other))
        self.assertEqual(outcome.code, 0, outcome.errors)
        self.assertIn('other library saw 500', outcome.errors)
        self.assertIn('launches 500', outcome.output)
        self.assertEqual(self.recorded('preloaded'), 500)

    @unittest.skipUnless(hasattr(os, 'geteuid') and os.geteuid() == 0, 'skipped, only root can make a set-user-ID program of another user')
    def test_a_set_user_id_program_is_not_seen_and_runs(self):
        own = self.folder / 'setuid'
        shutil.copy(OUTSIDE, own)
        os.chown(own, 65534, 65534)
        own.chmod(0o4755)
        # Its loader ignores LD_LIBRARY_PATH, too: the mode is one that needs no runtime.
        outcome = self.record('setuid', own, 'unknown')
        self.assertEqual(outcome.code, 2, outcome.errors)
        self.assertIn('hooks.not_loaded', self.warned('setuid'))

    def test_exec_of_a_static_program(self):
        outcome = self.record('static', OUTSIDE, 'exec', BARE)
        self.assertIn('bare', outcome.output)
        self.check_complete('static', outcome)
        outcome = self.record('bare', BARE)
        self.assertEqual((outcome.code, outcome.output), (0, 'bare\n'))
        self.assertIn('hooks.not_loaded', self.warned('bare'))

    def test_a_child_outlives_its_parent(self):
        told = self.folder / 'outlived'
        outcome = self.record('outlive', OUTSIDE, 'outlive', told)
        self.assertEqual(outcome.code, 0, outcome.errors)
        self.assertGreaterEqual(self.recorded('outlive'), 2)
        self.assertIn('hooks.still_running', self.warned('outlive'))
        for _ in range(600):
            if told.exists() and told.read_text():
                break
            time.sleep(0.05)
        self.assertEqual(told.read_text(), 'launched 1000\n')

    def test_the_reader_is_killed(self):
        def folders():
            return {path for path in os.listdir('/dev/shm') if path.startswith(f'aaco-hooks.{running.pid}.')}

        running = self.start('killed', OUTSIDE, 'repeat', 20000, 100)  # at least 2 s
        while not any(pathlib.Path('/dev/shm', folder).glob('*.ring') for folder in folders()):
            self.assertIsNone(running.poll())
            time.sleep(0.01)
        running.kill()
        output, _ = running.communicate(timeout=120)  # the program's own end closes the pipe
        self.assertIn('launched 20000', output)
        left = folders()
        self.assertEqual(len(left), 1)
        self.check_complete('after', self.record('after', OUTSIDE, 'repeat', 10))  # the next one cleans up
        self.assertFalse(left & set(os.listdir('/dev/shm')))

    def test_a_ring_overflows_while_the_reader_is_stopped(self):
        running = self.start('stopped', OUTSIDE, 'repeat', 1000000)
        time.sleep(0.2)
        running.send_signal(signal.SIGSTOP)
        time.sleep(1.5)
        running.send_signal(signal.SIGCONT)
        output, errors = running.communicate(timeout=300)
        self.assertEqual(running.returncode, 0, errors)
        self.assertIn('launched 1000000', output)
        account = self.account('stopped')
        if account['read'] > account['kept']:
            self.assertIn('hooks.lost', self.warned('stopped'))
        self.assertEqual(self.recorded('stopped') + account['read'] - account['kept'], 1000000)

    def test_ten_thousand_threads(self):
        self.assertEqual(self.check_complete('churn', self.record('churn', OUTSIDE, 'churn', 10000)), 10000)

    def test_a_signal_pauses_again_and_again(self):
        running = self.start('toggled', OUTSIDE, 'repeat', 20000, 50)
        time.sleep(0.3)
        for _ in range(41):
            running.send_signal(signal.SIGRTMIN + 8)
            time.sleep(0.03)
        output, errors = running.communicate(timeout=300)
        self.assertEqual(running.returncode, 0, errors)
        self.assertIn('launched 20000', output)
        self.assertLess(self.recorded('toggled'), 20000)
        self.assertIn('hooks.paused', self.warned('toggled'))

    def test_deep_binding_is_reported(self):
        outcome = self.record('deep', OUTSIDE, 'deepbind', 30, STANDS / 'libaaco_hooks_plugin.so')
        self.assertEqual((outcome.code, outcome.output), (0, 'launched 30\n'))
        self.assertIn('hooks.deep_binding', self.warned('deep'))

    def test_namespaces_are_reported(self):
        self.check_complete('asked', self.record('asked', OUTSIDE, 'namespace', 30, STANDS / 'libamdhip64.so.6'))
        self.assertIn('hooks.namespaces', self.warned('asked'))
        outcome = self.record('inside', OUTSIDE, 'namespace', 30, STANDS / 'libaaco_hooks_plugin.so')
        self.assertEqual((outcome.code, outcome.output), (0, 'launched 30\n'), outcome.errors)
        self.assertIn('hooks.namespaces', self.warned('inside'))
        self.assertEqual(self.recorded('inside'), 0)

    def test_a_stripped_static_runtime_runs_unreported(self):
        """What the how-to says it cannot tell."""
        own = self.folder / 'stripped'
        if not shutil.which('strip'):
            self.skipTest('skipped, strip is not installed')
        subprocess.run(['strip', '-o', own, STANDS / 'aaco_hooks_static_program'], check=True)
        outcome = self.record('stripped', own, 'linked', 30)
        self.assertEqual(outcome.code, 0, outcome.errors)
        self.assertIn('launches 30', outcome.output)
        self.assertNotIn('hooks.static_runtime', self.warned('stripped'))
        self.record('unstripped', STANDS / 'aaco_hooks_static_program', 'late', 100)
        self.assertIn('hooks.static_runtime', self.warned('unstripped'))
