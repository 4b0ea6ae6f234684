"""Comparing sessions: comparability first, then a verdict; sweeps; a killed writer; a full or forbidden disk; bad inputs."""
import json
import os
import signal
import struct
import subprocess
import time
import unittest

import program


class Diff(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.first = cls.run_small('--tag', 'a', iterations=400)
        cls.second = cls.run_small('--tag', 'b', iterations=400)
        cls.other = cls.run_small('--tag', 'c', '--batch', 4, iterations=400)
        cls.changed = cls.run_small('--tag', 'd', '--threads', 1, '--graph-level', 'disabled', iterations=400)

    def test_same_command_is_comparable(self):
        verdict = self.aaco('diff', 'tag:a', 'tag:b', '--json').json()
        self.assertTrue(verdict['comparable'])
        self.assertIn(verdict['verdict'], ('regression', 'improvement', 'equivalent', 'inconclusive'))

    def test_different_batches_are_not_comparable_with_a_reason(self):
        outcome = self.aaco('diff', 'tag:a', 'tag:c')
        self.assertEqual(outcome.code, 4)
        self.assertIn('not comparable', outcome.output)
        self.assertIn('batch', outcome.output)

    def test_changed_settings_are_named_first_then_judged(self):
        printed = self.aaco('diff', 'tag:a', 'tag:d').output
        self.assertTrue(printed.startswith('changed from A to B:'), printed)
        self.assertIn('graph_level: all vs disabled', printed.split('verdict:')[0])
        verdict = self.aaco('diff', 'tag:a', 'tag:d', '--json').json()
        self.assertTrue(verdict['comparable'])
        self.assertIn(verdict['verdict'], ('regression', 'improvement', 'equivalent', 'inconclusive'))
        self.assertTrue(verdict['statistics'])
        self.assertEqual({one['key'] for one in verdict['differences'] if one['severity'] == 'changed'}, {'threads.intra', 'graph_level'})

    def test_two_versions_on_one_side_are_rejected(self):
        outcome = self.aaco('diff', 'tag:a', 'tag:b,tag:d', '--json')
        self.assertEqual((outcome.code, outcome.json()['verdict']), (4, 'not-comparable'))

    def test_numbers_have_units_and_no_exponents(self):
        printed = self.aaco('diff', 'tag:a', 'tag:c', '--force', '--metric', 'p50,throughput').output
        self.assertRegex(printed, r'throughput\.items_per_second .* items/s -> +[0-9,.]+ items/s')
        self.assertNotRegex(printed, r'[0-9]e[+-]?[0-9]')

    def test_forced_comparison_has_numbers(self):
        verdict = self.aaco('diff', 'tag:a', 'tag:c', '--force', '--json').json()
        self.assertFalse(verdict['comparable'])
        self.assertTrue(verdict['statistics'])

    def test_session_equals_itself(self):
        outcome = self.aaco('diff', 'tag:a', 'tag:a', '--threshold', '50%', '--json')
        self.assertEqual(outcome.json()['statistics'][0]['delta_ratio'], 0)

    def test_exit_code_follows_the_verdict(self):
        outcome = self.aaco('diff', 'tag:a', 'tag:b', '--json')
        expected = {'regression': 1, 'inconclusive': 4, 'improvement': 0, 'equivalent': 0}
        self.assertEqual(outcome.code, expected[outcome.json()['verdict']])

    def test_every_statistic_has_a_detectable_change(self):
        for statistic in self.aaco('diff', 'tag:a', 'tag:b', '--json').json()['statistics']:
            self.assertTrue('interval' in statistic or statistic['reason'])
            if 'interval' in statistic:
                self.assertGreaterEqual(statistic['smallest_detectable_ratio'], statistic['threshold_ratio'])
                self.assertGreaterEqual(statistic['smallest_detectable_decrease_ratio'], statistic['threshold_ratio'])
                self.assertLessEqual(statistic['interval'][0], statistic['interval'][1])

    def test_rejects_unknown_session(self): self.refused(self.aaco('diff', 'tag:a', 'tag:none'), 3, 'none')
    def test_rejects_unknown_metric(self): self.refused(self.aaco('diff', 'tag:a', 'tag:b', '--metric', 'p12'), 2, 'p12')
    def test_rejects_bad_threshold(self): self.refused(self.aaco('diff', 'tag:a', 'tag:b', '--threshold', 'much'), 2, 'much')


class Sweep(program.ProgramTest):
    def test_one_session_per_point_and_one_summary(self):
        lake = {'AACO_SESSIONS': str(self.folder / 'swept')}
        outcome = self.aaco('sweep', '--model', 'mlp', '--batch', '1,2', '--threads', '1,2', '-n', 30, '--warmup', 2, '--json', **lake)
        points = outcome.json()['points']
        self.assertEqual([(p['threads'], p['batch']) for p in points], [(1, 1), (1, 2), (2, 1), (2, 2)])
        kinds = [s['kind'] for s in self.aaco('ls', '--json', **lake).json()['sessions']]
        self.assertEqual(sorted(kinds), ['run'] * 4 + ['sweep'])

    def test_failed_point_keeps_its_reason(self):
        outcome = self.aaco('sweep', '--model', 'mlp', '--backend', 'cpu,migraphx', '-n', 20, '--warmup', 2, '--json')
        self.assertEqual(outcome.code, 3)
        good, bad = outcome.json()['points']
        self.assertIn('metrics', good)
        self.assertIn('MIGraphX', bad['error'])

    def test_rejects_an_invalid_list(self): self.refused(self.aaco('sweep', 'mlp', '--batch', '1,two'), 2, '1,two')


class Export(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.run_small('--tag', 'x', '--profile')

    def test_chrome_timeline_has_the_iterations_and_nodes(self):
        file = self.folder / 'x.json'
        self.assertEqual(self.aaco('export', 'tag:x', '--format', 'chrome', '-o', file).code, 0)
        document = json.loads(file.read_text())
        events = document['traceEvents'] if isinstance(document, dict) else document
        self.assertGreater(sum(1 for event in events if event.get('ph') == 'X'), 60)

    def test_perfetto_timeline_is_written(self):
        file = self.folder / 'x.perfetto-trace'
        self.assertEqual(self.aaco('export', 'tag:x', '-o', file).code, 0)
        self.assertGreater(file.stat().st_size, 1000)

    def test_csv_has_one_file_per_table(self):
        folder = self.folder / 'csv'
        self.assertEqual(self.aaco('export', 'tag:x', '-f', 'csv', '-o', folder).code, 0)
        self.assertIn('inference_iters.csv', [path.name for path in folder.iterdir()])

    def test_rejects_unknown_formats(self): self.refused(self.aaco('export', 'tag:x', '-f', 'pdf'), 2)
    def test_rejects_unknown_session(self): self.refused(self.aaco('export', 'tag:none'), 3, 'none')


class Safety(program.ProgramTest):
    def test_kill_keeps_finished_sessions_and_marks_the_open_one(self):
        lake = {'AACO_SESSIONS': str(self.folder / 'killed')}
        done = self.aaco('run', '--model', 'mlp', '--warmup', 5, '-n', 60, '--no-report', '--json', '--tag', 'whole', **lake).json()
        with subprocess.Popen([program.PROGRAM, 'run', '--model', 'mlp', '--duration', '60s', '--telemetry'], cwd=self.folder,
                              env=dict(os.environ) | lake, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
            for _ in range(300):
                if len(self.aaco('ls', '--json', **lake).json()['sessions']) == 2:
                    break
                time.sleep(0.1)
            running.send_signal(signal.SIGKILL)
        states = {s['id']: s['state'] for s in self.aaco('ls', '--json', **lake).json()['sessions']}
        self.assertEqual(states.pop(done['session']['id']), 'complete')
        self.assertEqual(list(states.values()), ['incomplete'])
        self.assertEqual(self.aaco('verify', 'tag:whole', **lake).code, 0)

    def test_failed_start_leaves_no_session(self):
        lake = {'AACO_SESSIONS': str(self.folder / 'refused')}
        self.aaco('run', 'nothing.onnx', **lake)
        self.aaco('run', '--model', 'mlp', '--backend', 'migraphx', **lake)
        self.assertEqual(self.aaco('ls', '--json', **lake).json()['sessions'], [])

    def test_interrupt_keeps_partial_results(self):
        environment = dict(os.environ, AACO_SESSIONS=str(self.lake))
        with subprocess.Popen([program.PROGRAM, 'run', '--model', 'mlp', '--duration', '60s', '--json', '--no-report'], cwd=self.folder, env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as running:
            time.sleep(3)
            running.send_signal(signal.SIGINT)
            output, _ = running.communicate(timeout=60)
        answer = json.loads(output)
        self.assertEqual(answer['session']['state'], 'interrupted')
        self.assertEqual(self.aaco('verify', answer['session']['id']).code, 0)

    def test_unsupported_batch(self):
        path = self.folder / 'fixed.onnx'
        path.write_bytes(identity_model(batch=1))
        self.refused(self.aaco('run', path, '--batch', 4), 2, 'batch')

    def test_unsupported_operator(self):
        path = self.folder / 'unknown.onnx'
        path.write_bytes(identity_model(batch=1, operator='NoSuchOperator'))
        self.refused(self.aaco('run', path), 3, 'NoSuchOperator')

    def test_node_name_that_corrupts_the_runtimes_profile(self):
        path = self.folder / 'quoted.onnx'
        for name, broken in ((b'plain', False), (b'q"uo"ted', True)):
            path.write_bytes(identity_model(batch=1, operator='Relu', name=name))
            answer = self.aaco('run', path, '--iterations', 20, '--profile', '--no-report', '--json').json()
            self.assertEqual('profile.records_lost' in [one['id'] for one in answer['warnings']], broken)

    def test_nan_in_an_input(self):
        path = self.folder / 'fixed.onnx'
        path.write_bytes(identity_model(batch=1))
        values = self.folder / 'nan.npy'
        header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 4), }"
        header += b' ' * (64 - (10 + len(header) + 1) % 64) + b'\n'
        values.write_bytes(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header + struct.pack('<4f', 1, float('nan'), 2, 3))
        self.refused(self.aaco('run', path, '--input', f'x={values}'), 3, 'nan')

    def test_unreadable_model(self):
        if os.geteuid() == 0:
            self.skipTest('skipped, root may read everything')
        path = self.folder / 'secret.onnx'
        path.write_bytes(identity_model(batch=1))
        path.chmod(0)
        self.refused(self.aaco('run', path), 3, 'permission')

    def test_full_disk(self):
        mount = self.folder / 'small'
        mount.mkdir()
        if os.geteuid() != 0 or subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=64k', 'none', mount], capture_output=True, check=False).returncode != 0:
            self.skipTest('skipped, a small file system needs root')
        try:
            outcome = self.aaco('run', '--model', 'mlp', '-n', 20000, '--warmup', 5, '--no-report', '--sessions', mount)
            self.refused(outcome, 3, 'space')
        finally:
            subprocess.run(['umount', mount], check=False)


def field(number, payload):
    """A length-delimited field of a protobuf message."""
    return bytes([number << 3 | 2]) + varint(len(payload)) + payload


def number(index, value):
    return bytes([index << 3]) + varint(value)


def varint(value):
    out = b''
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def identity_model(batch, operator='Identity', name=b'n'):
    """An ONNX model of one node over a float input x[batch, 4]."""
    def value(name):
        shape = b''.join(field(1, number(1, size)) for size in (batch, 4))
        return field(1, name) + field(2, field(1, number(1, 1) + field(2, shape)))
    node = field(1, b'x') + field(2, b'y') + field(3, name) + field(4, operator.encode())
    graph = field(1, node) + field(2, b'g') + field(11, value(b'x')) + field(12, value(b'y'))
    return number(1, 8) + field(8, field(1, b'') + number(2, 17)) + field(7, graph)


if __name__ == '__main__':
    unittest.main()
