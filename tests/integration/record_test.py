"""`aaco record`: the child's exit code, signals, and what it refuses."""
import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
import unittest

import program


class Record(program.ProgramTest):
    def test_exit_code_is_returned(self): self.assertEqual(self.aaco('record', '--', 'sh', '-c', 'exit 7').code, 7)
    def test_success_is_returned(self): self.assertEqual(self.aaco('record', '--', 'true').code, 0)
    def test_death_by_signal(self): self.assertEqual(self.aaco('record', '--', 'sh', '-c', 'kill -TERM $$').code, 128 + 15)
    def test_output_is_passed_through(self): self.assertIn('hello', self.aaco('record', '--', 'echo', 'hello').output)
    def test_options_of_the_child_are_not_parsed(self): self.assertIn('--json', self.aaco('record', '--', 'echo', '--json').output)

    def test_session_records_the_command(self):
        self.aaco('record', '--tag', 'known', '--', 'sh', '-c', 'sleep 0.3')
        shown = self.aaco('show', 'tag:known', '--json').json()
        self.assertEqual(shown['session']['kind'], 'record')

    def test_telemetry_of_the_child(self):
        self.aaco('record', '--tag', 'busy', '--', 'sh', '-c', 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done')
        bundle = self.folder / self.aaco('show', 'tag:busy', '--json').json()['session']['path']
        self.assertTrue((bundle / 'telemetry/system_events.parquet').is_file())

    def test_command_stopped_by_duration_is_reported(self):
        warned = lambda outcome: 'record.command_ended' in [warning['id'] for warning in outcome.json()['warnings']]
        ended = self.aaco('record', '--json', '--duration', '300ms', '--', 'sleep', '30')
        self.assertEqual(ended.code, 128 + 15)
        self.assertTrue(warned(ended))
        self.assertFalse(warned(self.aaco('record', '--json', '--duration', '30s', '--', 'true')))

    def recorded(self, tag, script):
        """The report of a script that was recorded, and what `explain` says of it."""
        done = self.aaco('record', '--no-report', '--tag', tag, '--', 'sh', '-c', script)
        self.assertEqual(done.code, 0, done.errors)
        return self.aaco('report', f'tag:{tag}', '--json').json(), self.aaco('explain', f'tag:{tag}', '--json').json()['bottleneck']

    def test_cpu_time_of_short_children_is_counted(self):
        report, bottleneck = self.recorded('children', 'i=0; while [ $i -lt 400 ]; do /bin/true; i=$((i+1)); done')
        metrics = report['metrics']
        self.assertGreater(metrics['process.cpu_time_ns']['value'], 0)
        self.assertGreater(metrics['process.cpu_unsampled_ratio']['value'], 0.05)
        self.assertTrue([line for line in bottleneck['statements'] if 'too short to be sampled' in line], bottleneck)

    def test_sleep_is_not_waiting_for_a_cpu(self):
        report, bottleneck = self.recorded('sleeper', 'sleep 1')
        self.assertEqual(report['why'][0]['id'], 'host_waiting')
        self.assertEqual(bottleneck['bottleneck_class'], 'host_waiting')
        self.assertEqual(bottleneck['meaning'], report['why'][0]['text'])
        text = self.aaco('explain', 'tag:sleeper').output
        self.assertIn('Bottleneck: host waits.', text)
        self.assertNotIn('confidence', text)

    def test_stops_are_named(self):
        report, bottleneck = self.recorded('halted', '(sleep 1.5; kill -CONT $$) & kill -STOP $$; wait')
        self.assertEqual(report['why'][0]['id'], 'process_stopped')
        self.assertIn('SIGSTOP', bottleneck['meaning'])

    def start(self, tag, *command, before=()):
        """A record that observes `command`, once that runs."""
        environment = {**os.environ, 'AACO_SESSIONS': str(self.lake)}
        child = subprocess.Popen([*before, program.PROGRAM, 'record', '--tag', tag, '--', *command], cwd=self.folder, env=environment,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        for _ in range(200):
            if list(self.lake.rglob('session.json')) and subprocess.run(['pgrep', '-P', str(child.pid)], capture_output=True, check=False).stdout:
                break
            time.sleep(0.05)
        time.sleep(0.3)
        return child

    def state_of(self, tag):
        bundle = self.folder / self.aaco('show', f'tag:{tag}', '--json').json()['session']['path']
        return json.loads((bundle / 'session.json').read_text())['state']

    def test_stop_leaves_a_complete_session(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number.name):
                child = self.start(f'stopped-{number.name}', 'sleep', '60')
                child.send_signal(number)
                child.wait(timeout=60)
                self.assertIn(self.state_of(f'stopped-{number.name}'), ('complete', 'interrupted'))

    # A script that says which signal it got; sh runs its traps only between commands.
    ANSWERS = 'trap "echo {0} >> got" {0}; '

    def answered(self, names, *, count=1, exits=''):
        """Sends each signal `count` times to a record of a script that answers them; what the script wrote, and the exit code."""
        got = self.folder / 'got'
        got.unlink(missing_ok=True)
        traps = ''.join(self.ANSWERS.format(name) for name in names)
        tag = 'answers-' + '-'.join(names) + str(count)
        child = self.start(tag, 'bash', '-c', f'{traps} for i in $(seq 40); do sleep 0.1; done; {exits}')
        for _ in range(count):
            for name in names:
                child.send_signal(getattr(signal, 'SIG' + name))
                time.sleep(0.4)
        code = child.wait(timeout=60)
        return tag, got.read_text().split() if got.exists() else [], code

    def test_signals_are_passed_as_they_are(self):
        names = ['INT', 'TERM', 'HUP', 'QUIT', 'USR1', 'USR2']
        tag, got, code = self.answered(names, exits='exit 9')
        self.assertEqual((got, code), (names, 9))
        self.assertEqual(self.state_of(tag), 'complete')

    def test_second_signal_is_passed_too(self):
        tag, got, code = self.answered(['TERM', 'INT'], count=2)
        self.assertEqual((got, code), (['TERM', 'INT', 'TERM', 'INT'], 0))
        self.assertEqual(self.state_of(tag), 'complete')

    def test_death_by_a_passed_signal_leaves_a_session(self):
        for number in (signal.SIGTERM, signal.SIGQUIT, signal.SIGUSR1, signal.SIGHUP):
            with self.subTest(number.name):
                child = self.start(f'died-{number.name}', 'sleep', '60')
                child.send_signal(number)
                self.assertEqual(child.wait(timeout=60), 128 + number)
                self.assertEqual(self.state_of(f'died-{number.name}'), 'interrupted')

    def on_terminal(self, *words):
        """What a verb writes to a terminal that is only its standard error."""
        master, slave = pty.openpty()
        child = subprocess.Popen([program.PROGRAM, *words], cwd=self.folder, env={**os.environ, 'AACO_SESSIONS': str(self.lake)},
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=slave)
        os.close(slave)
        written = b''
        with os.fdopen(master, 'rb', buffering=0) as terminal:
            while True:
                try:
                    part = terminal.read(4096)
                except OSError:  # the last writer has gone
                    break
                if not part:
                    break
                written += part
        return child.wait(timeout=60), written.decode()

    def test_observing_a_process_shows_progress(self):
        code, shown = self.on_terminal('record', '--no-report', '--pid', str(os.getpid()), '--duration', '1200ms')
        self.assertEqual(code, 0, shown)
        self.assertRegex(shown, rf'recording pid {os.getpid()}: 0 s of 1\.20 s, 0\.00 %, 2 s left')

    def test_the_terminal_is_the_commands_while_it_runs(self):
        code, shown = self.on_terminal('record', '--no-report', '--duration', '30s', '--', 'sh', '-c', 'sleep 0.3; printf half >&2; sleep 1.2; echo line >&2')
        self.assertEqual(code, 0, shown)
        self.assertTrue(shown.startswith('halfline'), shown)

    def test_report_is_not_on_the_commands_output(self):
        outcome = self.aaco('record', '--no-report', '--', 'echo', 'hello')
        self.assertEqual(outcome.output, 'hello\n')
        self.assertIn('echo', outcome.errors)

    def test_report_goes_to_a_file(self):
        outcome = self.aaco('record', '--no-report', '--report-to', 'report.txt', '--', 'echo', 'hello')
        self.assertEqual(outcome.output, 'hello\n')
        self.assertIn('echo', (self.folder / 'report.txt').read_text())
        self.aaco('record', '--no-report', '--json', '--report-to', 'report.json', '--', 'true')
        self.assertEqual(json.loads((self.folder / 'report.json').read_text())['session']['kind'], 'record')

    def test_unwritable_report_is_an_error(self):
        self.refused(self.aaco('record', '--no-report', '--report-to', 'missing/report.txt', '--', 'true'), 125, 'missing/report.txt')

    def test_exit_codes_of_commands_that_do_not_start(self):
        (self.folder / 'not_executable').write_text('text')
        self.refused(self.aaco('record', '--tag', 'never', '--', './not_executable'), 126, 'not_executable')
        self.refused(self.aaco('record', '--tag', 'never', '--', 'aaco-no-such-program'), 127, 'aaco-no-such-program')
        self.assertFalse([line for line in self.aaco('ls', '--json').output.splitlines() if 'never' in line])

    def test_nohup_is_respected(self):
        child = self.start('nohup', 'sleep', '1.5', before=['nohup'])
        child.send_signal(signal.SIGHUP)
        self.assertEqual(child.wait(timeout=60), 0)
        self.assertEqual(self.state_of('nohup'), 'complete')

    def test_lockbox_has_the_packages_of_a_python(self):
        site = self.folder / 'venv/lib' / f'python{sys.version_info.major}.{sys.version_info.minor}' / 'site-packages'
        (site / 'pretended_package-4.5.6.dist-info').mkdir(parents=True)
        self.aaco('record', '--tag', 'python', '--', sys.executable, '-c', 'import time; time.sleep(0.4)', PYTHONPATH=str(site))
        bundle = self.folder / self.aaco('show', 'tag:python', '--json').json()['session']['path']
        interpreters = json.loads((bundle / 'env.json').read_text())['libraries']['python']
        self.assertEqual(interpreters[0]['packages']['pretended_package'], '4.5.6')

    def in_terminal(self, script, *, send=b'', after=b'', tag):
        """Runs record with a terminal of its own; types `send` when `after` was printed. Its output and exit code."""
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            os.environ['AACO_SESSIONS'] = str(self.lake)
            os.execv(program.PROGRAM, [program.PROGRAM, '-q', 'record', '--tag', tag, '--', 'sh', '-c', script])
        output, typed = b'', False
        while True:
            ready, _, _ = select.select([terminal], [], [], 60)
            try:
                piece = os.read(terminal, 4096) if ready else b''
            except OSError:  # the other end is closed
                piece = b''
            if not piece:
                break
            output += piece
            if not typed and after in output:
                os.write(terminal, send)
                typed = True
        _, status = os.waitpid(child, 0)
        os.close(terminal)
        return output.decode(errors='replace'), os.waitstatus_to_exitcode(status)

    def test_child_reads_the_terminal(self):
        output, code = self.in_terminal('echo ready; read line; echo "got $line"; exit 3', send=b'words\n', after=b'ready', tag='reads')
        self.assertIn('got words', output)
        self.assertEqual(code, 3)

    def test_ctrl_c_is_handled_by_the_child(self):
        output, code = self.in_terminal('trap "echo caught; exit 5" INT; echo ready; while :; do sleep 0.1; done', send=b'\x03',
                                        after=b'ready', tag='caught')
        self.assertEqual(output.count('caught'), 1)
        self.assertEqual(code, 5)
        self.assertEqual(self.aaco('show', 'tag:caught', '--json').json()['session']['state'], 'complete')

    def test_rejects_missing_program(self): self.refused(self.aaco('record', '--', 'aaco-no-such-program'), 127, 'aaco-no-such-program')
    def test_rejects_a_missing_command(self): self.assertIn(self.aaco('record').code, (2, 125))
    # -1 would be every process there is, which never ends.
    def test_rejects_an_empty_command(self): self.refused(self.aaco('record', '--', ''), 2, 'the command is empty')

    def test_rejects_invalid_process_ids(self):
        for process in (-1, 0): self.refused(self.aaco('record', '--pid', process, '--duration', '1s'), 2, '--pid')
    def test_rejects_missing_process(self): self.refused(self.aaco('record', '--pid', 2 ** 22 - 1), 125)


class Others(program.ProgramTest):
    def test_version(self): self.assertRegex(self.aaco('--version').output, r'^aaco \d+\.\d+\.\d+')
    def test_help_has_examples(self): self.assertIn('Start here', self.aaco('--help').output)
    def test_info(self): self.assertEqual(self.aaco('info', '--json').code, 0)
    def test_doctor(self): self.assertEqual(self.aaco('doctor').code, 0)
    def test_empty_session_folder(self): self.assertEqual(self.aaco('ls').code, 0)
    def test_zoo_lists_the_published_models(self): self.assertIn('resnet50', self.aaco('zoo', 'ls').output)

    def test_completion_of_each_shell(self):
        for shell in ('bash', 'zsh', 'fish'):
            completion = self.aaco('completion', shell)
            self.assertEqual(completion.code, 0)
            self.assertIn('doctor', completion.output)

    def test_bash_completion_completes(self):
        (self.folder / 'completion').write_text(self.aaco('completion', 'bash').output)
        script = '. ./completion; COMP_WORDS=(aaco rec) COMP_CWORD=1; _aaco; echo "${COMPREPLY[@]}"'
        ran = subprocess.run(['bash', '-c', script], cwd=self.folder, capture_output=True, text=True, check=True)
        self.assertEqual(ran.stdout.strip(), 'record')

    def test_bash_completes_the_verbs_below_a_verb(self):
        (self.folder / 'completion').write_text(self.aaco('completion', 'bash').output)
        script = '. ./completion; COMP_WORDS=(aaco lab inject --i) COMP_CWORD=3; _aaco; echo "${COMPREPLY[@]}"; ' \
                 'COMP_WORDS=(aaco run mlp --iter) COMP_CWORD=3; _aaco; echo "${COMPREPLY[@]}"; ' \
                 'COMP_WORDS=(aaco hardware "") COMP_CWORD=2; _aaco; echo "${COMPREPLY[@]}"'
        done = subprocess.run(['bash', '-c', script], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.stdout.splitlines(), ['--intensity', '--iterations', '--help ls show check probe'])

    def test_completion_offers_the_values_that_an_option_takes(self):
        (self.folder / 'completion').write_text(self.aaco('completion', 'bash').output)
        script = '. ./completion; COMP_WORDS=(aaco export --format "") COMP_CWORD=3; _aaco; echo "${COMPREPLY[@]}"; ' \
                 'COMP_WORDS=(aaco export tag:x --format pe) COMP_CWORD=4; _aaco; echo "${COMPREPLY[@]}"; ' \
                 'COMP_WORDS=(aaco hardware ls --kind c) COMP_CWORD=4; _aaco; echo "${COMPREPLY[@]}"; ' \
                 'COMP_WORDS=(aaco export --format csv --o) COMP_CWORD=4; _aaco; echo "${COMPREPLY[@]}"; ' \
                 'COMP_WORDS=(aaco completion "") COMP_CWORD=2; _aaco; echo "${COMPREPLY[@]}"'
        ran = subprocess.run(['bash', '-c', script], cwd=self.folder, capture_output=True, text=True, check=True)
        self.assertEqual(ran.stdout.splitlines(), ['perfetto chrome csv prometheus', 'perfetto', 'cpu', '--output', '--help bash zsh fish'])
        self.assertIn("-l format -x -a 'perfetto chrome csv prometheus'", self.aaco('completion', 'fish').output)
        self.assertIn('compadd -- perfetto chrome csv prometheus; return', self.aaco('completion', 'zsh').output)

    def test_completion_refuses_other_shells(self): self.refused(self.aaco('completion', 'tcsh'), 2)


if __name__ == '__main__':
    unittest.main()
