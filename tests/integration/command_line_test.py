"""What holds for every verb: standard streams that are full, closed or gone, and command lines that cannot be read."""
import os
import pathlib
import re
import signal
import subprocess
import unittest

import program


class Streams(program.ProgramTest):
    def shell(self, script, **options):
        return subprocess.run(['sh', '-c', script], cwd=self.folder, capture_output=True, text=True, check=False, timeout=300,
                              env=os.environ | {'A': program.PROGRAM, 'AACO_SESSIONS': str(self.lake)}, **options)

    def test_batch_and_batches_conflict(self):
        self.refused(self.aaco('compare', 'mlp', '--hardware', 'MI300X', '--batch', 1, '--batches', '1,8'), 2, '--batch and --batches', 'list all values in --batches')

    def test_full_output_is_an_error(self):
        for verb in ('--help', '--version', 'ls', 'ls --json', 'query "SELECT * FROM range(20000)"', 'zoo ls'):
            told = self.shell(f'"$A" {verb} >/dev/full')
            self.assertEqual(told.returncode, 3, verb)
            self.assertIn('No space left on device', told.stderr, verb)

    def test_closed_pipe_is_not_an_error(self):
        read_end, write_end = os.pipe()
        os.close(read_end)
        told = subprocess.run([program.PROGRAM, 'zoo', 'ls'], stdout=write_end, stderr=subprocess.PIPE, cwd=self.folder, check=False)
        os.close(write_end)
        self.assertEqual((told.returncode, told.stderr), (0, b''))

    def test_full_standard_error_does_not_stop_a_run(self):
        self.run_small()
        told = self.shell('"$A" run --model mlp --warmup 2 --iterations 20 --no-report --tag untold 2>/dev/full')
        self.assertEqual(told.returncode, 0)
        self.assertEqual(self.aaco('verify', 'tag:untold').code, 0)
        self.assertEqual(self.shell('"$A" show no-such-session 2>/dev/full').returncode, 3)

    def test_full_output_of_a_run_is_an_error(self):
        self.run_small()
        self.assertEqual(self.shell('"$A" run --model mlp --warmup 2 --iterations 20 --no-report >/dev/full').returncode, 3)
        told = self.shell('"$A" record --no-report --json -- true >/dev/full')
        self.assertEqual(told.returncode, 125, told.stderr)

    def test_closed_streams_are_not_reused_by_files(self):
        self.run_small()
        self.assertEqual(self.shell('"$A" run --model mlp --warmup 2 --iterations 20 --tag shut <&- >&- 2>&-').returncode, 0)
        self.assertEqual(self.aaco('verify', 'tag:shut').code, 0)
        self.assertEqual(self.shell('"$A" record -- sh -c "exit 7" <&- >&- 2>&-').returncode, 7)


class Home(program.ProgramTest):
    def test_home_folder_without_environment(self):
        self.run_small()
        bare = subprocess.run([program.PROGRAM, 'run', '--model', 'mlp', '--warmup', '2', '--iterations', '5', '--no-report'], cwd=self.folder, env={},
                              capture_output=True, text=True, check=False)
        self.assertEqual(bare.returncode, 0, bare.stderr)


class Stop(program.ProgramTest):
    def test_first_ctrl_c_ends_a_query(self):
        self.run_small()
        endless = 'SELECT sum(sin(a.range) * b.range) FROM range(1000000000) a, range(1000000000) b'
        for number in (signal.SIGINT, signal.SIGTERM):
            with subprocess.Popen([program.PROGRAM, '--sessions', str(self.lake), 'query', endless], stdout=subprocess.DEVNULL) as asked:
                with self.assertRaises(subprocess.TimeoutExpired):
                    asked.wait(timeout=0.5)
                asked.send_signal(number)
                try:
                    self.assertEqual(asked.wait(timeout=60), -number)
                finally:
                    asked.kill()

    def test_interrupted_run_is_marked_in_every_output(self):
        self.assertIn('Ctrl-C ends the measurement early', self.aaco('run', '--help').output)
        self.run_small('--tag', 'whole', iterations=200)
        words = ['--sessions', str(self.lake), 'run', '--model', 'mlp', '--warmup', '2', '--duration', '100s', '--tag', 'cut', '--no-report']
        with subprocess.Popen([program.PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            try:
                with self.assertRaises(subprocess.TimeoutExpired):
                    running.wait(timeout=1.5)
                running.send_signal(signal.SIGINT)
                output = running.communicate(timeout=60)[0].decode()
            finally:
                running.kill()
        self.assertEqual(running.returncode, 0)
        self.assertIn('The session is interrupted', output)
        self.assertIn('The session is interrupted', self.aaco('report', 'tag:cut', '--format', 'md').output)
        self.assertIn('B: 1 of 1 session stopped early', self.aaco('diff', 'tag:whole', 'tag:cut').output)
        self.refused(self.aaco('baseline', 'add', 'early', 'tag:cut', '--owner', 'me', AACO_BASELINES=str(self.folder)), 3, 'stopped early')


class Telemetry(program.ProgramTest):
    def test_runtime_telemetry_is_off(self):
        """ONNX Runtime's own telemetry leaves an id in the user's cache before it sends anything."""
        self.run_small()
        own = pathlib.Path(os.environ.get('XDG_CACHE_HOME') or pathlib.Path.home() / '.cache') / 'aaco'
        cache = self.folder / 'cache'
        cache.mkdir()
        (cache / 'aaco').symlink_to(own)
        for words in (['run', '--model', 'mlp', '--warmup', 2, '--iterations', 5, '--no-report'], ['doctor'], ['info']):
            told = self.aaco(*words, XDG_CACHE_HOME=str(cache))
            self.assertEqual(told.code, 0, told.errors)
            self.assertEqual([path.name for path in cache.iterdir()], ['aaco'], words)


class Help(program.ProgramTest):
    def verbs(self):
        return re.findall(r'^  ([a-z]+) ', self.aaco('--help', COLUMNS='100').output.split('Subcommands:')[1].split('\n\n')[0], re.M)

    def test_every_verb_fits_the_terminal(self):
        verbs = self.verbs()
        self.assertGreater(len(verbs), 30)
        for verb in verbs:
            for columns in (72, 100):
                told = self.aaco(verb, '--help', COLUMNS=str(columns))
                self.assertEqual(told.code, 0, told.errors)
                # names and examples, which are to be copied, may be longer
                wide = [line for line in told.output.splitlines() if len(line) > columns and (not line.startswith('  ') or line.startswith(' ' * 30))]
                self.assertEqual(wide, [], verb)
                # a sentence is broken where the width ends, not where the source's line does
                lines = told.output.splitlines()
                broken = [first for first, second in zip(lines, lines[1:]) if re.match(r'\w', first) and re.match(r'(?!Usage:)\w', second)
                          and first[-1] not in '.:!?' and len(first) + 1 + len(second.split()[0]) <= columns]
                self.assertEqual(broken, [], verb)

    def test_narrow_terminal_puts_descriptions_below_names(self):
        self.assertRegex(self.aaco('run', '--help', COLUMNS='40').output, r'(?m)^  --iterations.*\n {6}Measured iterations$|^  -n, --iterations.*\n {6}Measured iterations$')


class Usage(program.ProgramTest):
    def told(self, arguments, *words): self.refused(self.aaco(*arguments.split()), 2, 'aaco: ', 'hint: ', *words)
    def test_no_verb(self): self.told('', 'missing subcommand', 'hint: for example run, record', "see 'aaco --help'")
    def test_no_verb_of_a_verb(self): self.told('hardware', "missing subcommand for 'aaco hardware'", 'one of ls, show, check, probe')
    def test_unknown_verb(self): self.told('nosuch', "unknown subcommand 'nosuch'")
    def test_misspelt_verb(self): self.told('shw', "'shw'", 'hint: did you mean show?')
    def test_misspelt_verb_of_a_verb(self): self.told('hardware lst', "unknown subcommand 'lst' for 'aaco hardware'", 'did you mean ls?', 'aaco hardware --help')
    def test_misspelt_optional_verb(self): self.told('calibrate shwo', "unknown subcommand 'shwo' for 'aaco calibrate'", 'did you mean show?')
    def test_misspelt_option(self): self.told('run --iteration 4', "unknown option '--iteration' for 'aaco run'", 'did you mean --iterations?')
    def test_misspelt_option_with_a_value(self): self.told('ls --lsat=4', "unknown option '--lsat'", 'did you mean --last?')
    def test_option_without_a_verb(self): self.told('--nosuch', "unknown option '--nosuch'")
    def test_too_many_threads(self): self.told('run --model mlp --threads 100000', '100000 threads')
    def test_missing_argument(self): self.told('fleet compare x', "missing argument 'a'", 'aaco fleet compare --help')
    def test_query_without_sql(self): self.told('query', 'no SQL statement', '--recipe')
    def test_missing_option(self): self.told('compare mlp', "missing option '--hardware'")
    def test_option_without_its_value(self): self.told('run --model', "missing value for '--model'")
    def test_flag_with_a_value(self): self.told('ls --json=maybe', "invalid value 'maybe' for '--json'")
    def test_unexpected_argument(self): self.told('doctor now', "unexpected argument 'now'")
    def test_three_sides(self): self.told('diff a b c', 'diff needs exactly two sides (A B), got 3')
    def test_choice(self): self.told('report --format jsn', "invalid value 'jsn' for '--format': expected one of text, html, json", 'did you mean json?')
    def test_integer(self): self.told('run mlp -n 1.5', "invalid value for '--iterations': '1.5' is not an integer between 1 and")
    def test_leading_zero(self): self.told('run mlp -n 010', "'010' has a leading zero")
    def test_range(self): self.told('roofline --quantile 2', "'2' is not a number between 0.5 and 0.999")
    def test_positive(self): self.told('history p50 --horizon -1', "'-1' is not a positive number")
    def test_duration(self): self.refused(self.aaco('run', 'mlp', '--duration', 'soon'), 2, "invalid value 'soon' for '--duration': expected a duration such as 10s or 500ms")
    def test_side_of_a_comparison(self): self.told('ab -- mlp -- --thraeds 2', "side B: unknown option '--thraeds'")


if __name__ == '__main__':
    unittest.main()
