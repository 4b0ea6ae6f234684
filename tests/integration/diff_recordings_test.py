"""Verdicts and causes of recordings: the run time, what took it, and which recordings are comparable."""
import json
import shutil
import unittest

import program

SLEEPS = 'import time; time.sleep({})'


class RecordingsTest(program.ProgramTest):
    def record(self, *command, options=()):
        return self.session(self.aaco('record', '--no-report', *options, '--', *command))

    def session(self, outcome):
        self.assertEqual(outcome.code, 0, outcome.errors)
        newest = max(self.lake.glob('*/*/session.json'), key=lambda path: json.loads(path.read_text())['created_realtime_ns'])
        return newest.parent.name

    def diff(self, a, b, *options):
        return json.loads(self.aaco('diff', ','.join(a), ','.join(b), '--json', *options).output)

    def test_a_program_that_sleeps_longer_is_a_regression(self):
        # Ten times the sleep; a busy machine adds to both sides.
        a = [self.record('python3', '-c', SLEEPS.format(0.3)) for _ in range(3)]
        b = [self.record('python3', '-c', SLEEPS.format(3.0)) for _ in range(3)]
        result = self.diff(a, b)
        self.assertEqual(result['verdict'], 'regression', result)
        self.assertEqual(result['statistics'][0]['metric'], 'process.run_time_ns')
        self.assertIn('command', [one['key'] for one in result['differences']])
        parts = result['root_cause']['decomposition']
        self.assertAlmostEqual(sum(part['delta_ns'] for part in parts['parts']) + parts['unexplained_ns'], parts['delta_ns'], delta=2)
        self.assertTrue(parts['parts'][0]['part'].startswith('asleep:'), parts)

    def test_a_tracer_is_a_fact_and_a_difference(self):
        if shutil.which('strace') is None:
            self.skipTest('no strace on this machine')
        plain, outcome = self.record('sleep', '1'), self.aaco('record', '--no-report', '--', 'strace', '-o', '/dev/null', 'sleep', '1')
        if outcome.code != 0:
            self.skipTest('this machine forbids ptrace: ' + outcome.errors)
        traced = self.session(outcome)
        files = {name: next(self.lake.glob('*/' + traced)) / name for name in ('env.json', 'session.json')}
        self.assertIn('process.tracer', files['env.json'].read_text())
        self.assertIn('traced by ptrace (strace)', files['session.json'].read_text())
        differences = {one['key']: one for one in self.diff([plain], [traced])['differences']}
        self.assertEqual((differences['process.tracer']['baseline'], differences['process.tracer']['candidate']), ('none', 'strace'))

    def test_other_programs_are_not_compared(self):
        a, b = self.record('python3', '-c', 'pass'), self.record('sleep', '0.1')
        result = self.diff([a], [b])
        self.assertEqual(result['verdict'], 'not-comparable')
        self.assertIn('program', [one['key'] for one in result['differences']])

    def test_a_recording_ended_by_duration_has_no_run_time(self):
        sessions = []
        for _ in range(2):
            self.aaco('record', '--no-report', '--duration', '300ms', '--', 'sleep', '20')
            sessions.append(max(self.lake.glob('*/*/session.json'), key=lambda path: json.loads(path.read_text())['created_realtime_ns']).parent.name)
        outcome = self.aaco('diff', sessions[0], sessions[1])
        self.assertIn('without a run time: --duration ended its command', outcome.output)
        self.refused(self.aaco('diff', sessions[0], sessions[1], '--metric', 'no_such'), 2, 'unknown metric')
        self.assertNotIn('unknown metric', self.aaco('diff', sessions[0], sessions[1], '--metric', 'duration').errors)

    def test_history_is_of_the_same_command_only(self):
        for _ in range(6):
            self.record('sleep', '0.02')
        other = self.record('sleep', '1.5')
        explained = json.loads(self.aaco('explain', other, '--json').output)
        self.assertEqual(explained['compared_with_sessions'], 0)
        same = self.record('sleep', '0.02')
        self.assertEqual(json.loads(self.aaco('explain', same, '--json').output)['compared_with_sessions'], 6)

    def test_paths_of_temporary_folders_are_no_difference(self):
        sessions = [self.record('true', f'/tmp/{name}/input') for name in ('tmpa1b2c3d4', 'tmpz9y8x7w6')]
        result = self.diff([sessions[0]], [sessions[1]])
        self.assertNotIn('command', [one['key'] for one in result['differences']])


class HistoryOfRuns(program.ProgramTest):
    def test_history_excludes_the_change_under_test(self):
        """Sessions with other allocator settings do not estimate how far equal sessions differ."""
        self.run_small()  # skips without ONNX Runtime

        def run(**variables):
            outcome = self.aaco('run', '--model', 'mlp', '--warmup', 5, '--iterations', 60, '--no-report', '--json', **variables)
            return json.loads(outcome.output)['session']['id']
        first = run()
        for _ in range(5):
            run()
            run(MALLOC_ARENA_MAX='1')
        last = run()
        result = json.loads(self.aaco('diff', first, last, '--json').output)
        self.assertEqual(result['history']['sessions'], 6, result.get('history'))


if __name__ == '__main__':
    unittest.main()
