"""Sessions in the lake: ls, show, verify, pack, unpack, rm, gc, and sweeps that leave one session a point."""
import json
import os
import pathlib
import re
import signal
import subprocess
import time
import unittest

import program


class Store(program.ProgramTest):
    def setUp(self):
        self.bundle = self.folder / self.run_small('--tag', 'kept').json()['session']['path']

    def damage(self):
        path = self.bundle / 'env.json'
        path.write_bytes(path.read_bytes() + b' ')

    def test_query_has_a_time_limit(self):
        slow = 'SELECT count(*) FROM range(100000000) a, range(100000000) b WHERE a.range % 7 = b.range % 11'
        self.refused(self.aaco('query', slow, '--timeout', '200ms'), 3, 'longer than 200', '--timeout')
        self.assertEqual(self.aaco('query', 'SELECT 1', '--timeout', '10s').code, 0)
        self.assertEqual(self.aaco('query', 'SELECT 1', '--timeout', '0').code, 0)
        self.refused(self.aaco('query', 'SELECT 1', '--timeout', 'soon'), 2, '--timeout')

    def test_tables_have_no_bloom_filters(self):
        """DuckDB keeps them in memory until a file ends: a long recording would grow by megabytes per minute."""
        for table in self.bundle.rglob('*.parquet'):
            counted = self.aaco('query', f"SELECT count(bloom_filter_offset) AS filters, count(*) AS columns FROM parquet_metadata('{table}')", '--json')
            self.assertEqual(counted.code, 0, counted.errors)
            row = counted.json()[0]
            self.assertGreater(int(row['columns']), 0)
            self.assertEqual(int(row['filters']), 0, table)

    def test_csv_has_no_formulas(self):
        outcome = self.aaco('query', "SELECT '=cmd()' AS a, '@x' AS b, -1 AS c, '-2.5' AS d", '--format', 'csv')
        self.assertEqual(outcome.output.splitlines()[1], "'=cmd(),'@x,-1,-2.5")

    def test_listed(self):
        listed = self.aaco('ls')
        self.assertEqual(listed.code, 0, listed.errors)
        self.assertIn(self.bundle.name, listed.output)
        self.assertIn('kept', listed.output)

    def test_listed_as_json(self): self.assertIn(self.bundle.name, json.dumps(self.aaco('ls', '--json').json()))
    def test_intact(self): self.assertEqual(self.aaco('verify', 'latest').code, 0)

    def test_detects_a_change(self):
        self.damage()
        verified = self.aaco('verify', 'latest')
        self.assertNotEqual(verified.code, 0)
        self.assertIn('env.json', verified.output + verified.errors)

    def test_truncated_table_is_reported_with_a_hint(self):
        table = self.bundle / 'metrics/inference_iters.parquet'
        table.write_bytes(table.read_bytes()[:200])
        told = self.aaco('report', self.bundle)
        self.refused(told, 3, 'inference_iters.parquet', 'aaco verify')
        self.assertNotIn('SELECT', told.errors)

    def test_damaged_tables_are_named_by_report_and_diff(self):
        tables = [*self.bundle.rglob('graph_*.parquet'), *self.bundle.rglob('loop_blocks.parquet')]
        self.assertGreaterEqual(len(tables), 2)
        for table in tables:
            whole = table.read_bytes()
            table.write_bytes(whole[:len(whole) // 3] + bytes(len(whole) // 3) + whole[len(whole) // 3 * 2:])
            name = str(table.relative_to(self.bundle))
            told = self.aaco('report', self.bundle, '--json')
            self.assertEqual(told.code, 0, told.errors)
            self.assertTrue([one for one in told.json()['warnings'] if one['id'] == 'evidence.changed' and name in one['message']], name)
            compared = self.aaco('diff', self.bundle, self.bundle)
            self.assertIn(name, compared.output + compared.errors)
            table.write_bytes(whole)
        self.assertNotIn('evidence.', self.aaco('report', self.bundle, '--json').output)

    def test_damaged_document_costs_its_part_of_the_report_only(self):
        (self.bundle / 'metrics/bottleneck.json').write_text('{"bottleneck_cl')
        told = self.aaco('report', self.bundle, '--json')
        self.assertEqual(told.code, 0, told.errors)
        warnings = {one['id']: one['message'] for one in told.json()['warnings']}
        self.assertIn('the bottleneck is left out', warnings['evidence.unreadable'])
        self.assertIn('bottleneck.json', warnings['evidence.changed'])

    def test_killed_run_is_found_by_its_tag(self):
        environment = {**os.environ, 'AACO_SESSIONS': str(self.lake)}
        child = subprocess.Popen([program.PROGRAM, 'record', '--tag', 'killed', '--', 'sleep', '5'], cwd=self.folder, env=environment,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        for _ in range(200):
            if 'killed' in self.aaco('ls').output: break
            time.sleep(0.05)
        child.kill()
        child.wait()
        self.assertIn('killed', self.aaco('ls').output)
        for verb in ('show', 'report'):
            told = self.aaco(verb, 'tag:killed')
            self.assertNotIn('no session', told.errors)
            self.assertIn('incomplete', told.output + told.errors)

    def test_detects_a_missing_file(self):
        (self.bundle / 'metrics/inference_iters.parquet').unlink()
        verified = self.aaco('verify', 'latest')
        self.assertNotEqual(verified.code, 0)
        self.assertIn('inference_iters.parquet', verified.output + verified.errors)
        # A page without the evidence says so, and no conclusion is drawn anew from what is left.
        warnings = self.aaco('report', self.bundle, '--json').json()['warnings']
        self.assertIn('evidence.missing', [one['id'] for one in warnings])
        self.assertIn('part of its data is lost', self.aaco('report', self.bundle).output.replace('\n    ', ' '))
        self.refused(self.aaco('explain', self.bundle), 3, 'inference_iters.parquet', 'verify')

    def test_manual_edit_is_reported(self):
        for file, old, new in (('metrics/inference_summary.json', '"unit": "ns"', '"unit": "ns" '), ('session.json', '"tag": "', '"tag": "other')):
            path = self.bundle / file
            whole = path.read_text()
            path.write_text(whole.replace(old, new, 1))
            warnings = self.aaco('report', self.bundle, '--json').json()['warnings']
            self.assertEqual([one['message'] for one in warnings if one['id'] == 'evidence.changed'], [file + ' changed after the session was closed'])
            self.assertIn(file + ' in session ', self.aaco('diff', self.bundle, self.bundle).output)
            path.write_text(whole)
        self.assertNotIn('evidence.changed', self.aaco('report', self.bundle, '--json').output)

    def test_pack_and_unpack_keep_every_byte(self):
        before = {path.relative_to(self.bundle): path.read_bytes() for path in self.bundle.rglob('*') if path.is_file()}
        self.assertEqual(self.aaco('pack', 'latest', '--output', 'one.aaco').code, 0)
        other = str(self.folder / 'other')
        unpacked = self.aaco('unpack', 'one.aaco', AACO_SESSIONS=other)
        self.assertEqual(unpacked.code, 0, unpacked.errors)
        copy = next((self.folder / 'other').rglob('session.json')).parent
        after = {path.relative_to(copy): path.read_bytes() for path in copy.rglob('*') if path.is_file()}
        self.assertEqual(before, after)
        self.assertEqual(self.aaco('verify', copy, AACO_SESSIONS=other).code, 0)

    def test_session_content_cannot_control_the_terminal(self):
        self.run_small('--tag', 'plain')
        manifest = next(self.folder.rglob('session.json'))  # of a session that came from elsewhere
        manifest.write_text(manifest.read_text().replace('"plain"', json.dumps('one\ntwo \x1b[2J\u202e' + 'long ' * 100)))
        for words in (['ls'], ['show'], ['query', 'SELECT tag, kind FROM sessions'], ['report']):
            told = self.aaco(*words)
            self.assertEqual(told.code, 0, told.errors)
            self.assertNotRegex(told.output, '[\\x00-\\x09\\x0b-\\x1f\\u202e]', words)
        rows = self.aaco('ls').output.splitlines()
        self.assertEqual(len(rows), 1 + len(self.aaco('ls', '--json').json()['sessions']))
        self.assertLess(max(map(len, rows)), 200)

    def test_narrow_table_does_not_truncate_numbers(self):
        told = self.aaco('query', "SELECT 1234567890123456789 AS n, 'abcdefghijklmnopqrstuvwxyz' AS t, 2 AS m", COLUMNS='24')
        self.assertRegex(told.output, r'1234567890123456789  abc.*…')

    def test_rejects_a_truncated_package(self):
        self.aaco('pack', 'latest', '--output', 'cut.aaco')
        packed = (self.folder / 'cut.aaco').read_bytes()
        (self.folder / 'cut.aaco').write_bytes(packed[:len(packed) // 2])
        self.refused(self.aaco('unpack', 'cut.aaco', AACO_SESSIONS=str(self.folder / 'third')), 3, 'cut.aaco')
        self.assertEqual(list((self.folder / 'third').rglob('session.json')), [])

    def test_rm(self):
        self.assertEqual(self.aaco('rm', self.bundle.name).code, 0)
        self.assertFalse(self.bundle.exists())
        self.assertNotIn(self.bundle.name, self.aaco('ls').output)

    def test_gc_of_a_negative_size_or_age_removes_nothing(self):
        for words in (['--keep-size', '-1GiB'], ['--older-than', '-5d']):
            self.refused(self.aaco('gc', *words), 2, words[0], words[1])
        self.assertTrue(self.bundle.exists())

    def test_rm_of_a_missing_session(self): self.refused(self.aaco('rm', 'tag:none'), 3, 'none')
    def test_verify_of_a_missing_session(self): self.refused(self.aaco('verify', 'nosuchsession'), 3)

    def test_damaged_session_does_not_hide_others(self):
        (self.bundle / 'session.json').write_text('{"schema_version": 1,')
        second = self.folder / self.run_small().json()['session']['path']
        listed = self.aaco('ls')
        self.assertEqual(listed.code, 0, listed.errors)
        self.assertIn(second.name, listed.output)

    def test_rejects_a_newer_session(self):
        document = json.loads((self.bundle / 'session.json').read_text())
        document['schema_version'] = 99
        (self.bundle / 'session.json').write_text(json.dumps(document))
        self.refused(self.aaco('show', self.bundle), 3, '99')


class Sweep(program.ProgramTest):
    def test_one_session_per_point(self):
        swept = self.aaco('sweep', 'mlp', '--batch', '1,2', '--threads', '1,2', '--warmup', 2, '--iterations', 40, '--json')
        self.assertEqual(swept.code, 0, swept.errors)
        kinds = [json.loads(path.read_text())['kind'] for path in self.lake.glob('2*/*/session.json')]
        self.assertEqual(kinds.count('run'), 4, kinds)

    def test_table_distinguishes_points_of_a_dimension(self):
        told = self.aaco('sweep', 'llama-tiny', '--dims', 'sequence_length=2,5', '--dim', 'past_sequence_length=4', '--iterations', 5, '--warmup', 1)
        self.assertEqual(told.code, 0, told.errors)
        head, *rows = (line.split() for line in told.output.splitlines())
        self.assertEqual([row[head.index('sequence_length')] for row in rows], ['2', '5'])

    def test_sweep_report_shows_scaling(self):
        swept = self.aaco('sweep', 'mlp', '--batch', '1,64', '--threads', 1, '--iterations', 50, '--warmup', 5, '--json').json()
        items = [point['metrics']['throughput.items_per_second']['value'] for point in swept['points']]
        name = swept['session']['id']
        report = self.aaco('report', name, '--json').json()
        points = report['extra']['scaling']['points']
        self.assertEqual([point['label'] for point in points], ['batch 1', 'batch 64'])
        self.assertEqual([point['items_per_second'] for point in points], items)
        self.assertEqual(points[1]['relative_ratio'], items[1] / items[0])
        self.assertIn('highest throughput with batch', report['verdict']['text'])
        warned = [point for point in points if self.aaco('show', point['session_id'], '--json').json()['warnings']]
        said = [one['message'] for one in report['warnings'] if one['id'] == 'sweep.points_warned']
        self.assertEqual([one.split(' points')[0] for one in said], [f'{len(warned)} of 2'] if warned else [])
        text = self.aaco('report', name).output
        self.assertIn('Scaling', text)
        self.assertRegex(text, r'batch 64 .* items/s +\d+\.\d\d')
        self.assertIn('| `batch 64` |', self.aaco('report', name, '--format', 'markdown').output)
        rows = self.aaco('report', name, '--format', 'csv', '--table', 'scaling').output.splitlines()
        self.assertEqual(len(rows), 3)
        self.assertIn('batch 64,', rows[2])

    def test_sweep_tells_its_case(self):
        told = self.folder / 'told'
        running = subprocess.Popen([program.PROGRAM, 'sweep', 'mlp', '--batch', '1,2', '--duration', '1s', '--json'], cwd=self.folder,
                                   env={**os.environ, 'AACO_SESSIONS': str(self.folder / 'counted'), 'AACO_PROGRESS_FILE': str(told)},
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        seen = set()
        while running.poll() is None:
            seen.add(told.read_text() if told.exists() else '')
            time.sleep(0.05)
        self.assertEqual(running.returncode, 0)
        seen.discard('')
        self.assertTrue(any(one.startswith('case 1 of 2: measuring mlp') for one in seen), seen)
        self.assertTrue(any(re.match(r'case 2 of 2 \(about \d+ s left in all\): ', one) for one in seen), seen)

    def test_stopped_sweep_reports_its_progress(self):
        lake = self.folder / 'ended'
        running = subprocess.Popen([program.PROGRAM, 'sweep', 'mlp', '--batch', '1,2,4', '--duration', '60s', '--json'], cwd=self.folder,
                                   env={**os.environ, 'AACO_SESSIONS': str(lake)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(400):  # until the first point is being measured
            if running.poll() is not None or len(list(lake.rglob('ort_config.json'))) == 1:
                break
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        output, errors = running.communicate(timeout=60)
        self.assertEqual(running.returncode, 0, errors)
        answer = json.loads(output)
        self.assertEqual((answer['interrupted'], answer['asked_points'], len(answer['points'])), (True, 3, 1))

    def test_failed_sweep_leaves_no_session(self):
        lake = {'AACO_SESSIONS': str(self.folder / 'none')}
        self.refused(self.aaco('sweep', 'nosuch', '--batch', '1,2', **lake), 3, "no model 'nosuch'")
        self.assertEqual(self.aaco('ls', '--json', **lake).json()['sessions'], [])

    def test_unfinished_sweep_keeps_its_points(self):
        lake = self.folder / 'unclosed'
        child = subprocess.Popen([program.PROGRAM, 'sweep', 'mlp', '--threads', '1,2', '--duration', '1s', '--json'], cwd=self.folder,
                                 env=os.environ | {'AACO_SESSIONS': str(lake)}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                 stdin=subprocess.DEVNULL, text=True)
        own = []
        while not own and child.poll() is None:
            time.sleep(0.02)
            own = [path for path in lake.glob('2*/.*.open/session.json') if '"kind": "sweep"' in path.read_text()]
        (own[0].parent / 'metrics').write_text('in the way of the folder')
        errors = child.communicate()[1]
        self.assertEqual(child.returncode, 3, errors)
        states = {entry['kind']: entry['state'] for entry in self.aaco('ls', '--json', AACO_SESSIONS=str(lake)).json()['sessions']}
        self.assertEqual(states, {'run': 'complete', 'sweep': 'incomplete'}, errors)

    def test_rejects_an_invalid_batch(self): self.refused(self.aaco('sweep', 'mlp', '--batch', '1,x'), 2, 'x')


class Recipes(program.ProgramTest):
    """Every statement of docs/how_to/query_recipes.md runs."""

    def test_all_models_run(self):
        document = pathlib.Path(__file__).resolve().parents[2] / 'docs/how_to/query_recipes.md'
        lines = [line.strip() for line in document.read_text().splitlines() if line.startswith('    ') and not line.startswith('    aaco ')]
        statements = []
        for line in lines:
            whole = not statements or statements[-1].count('(') == statements[-1].count(')')
            if line.startswith('SELECT') and whole:
                statements.append(line)
            else:
                statements[-1] += ' ' + line
        self.assertGreater(len(statements), 10)
        trace = self.folder / 'trace.json'
        trace.write_text(json.dumps({'traceEvents': [
            {'ph': 'X', 'cat': 'cuda_runtime', 'name': 'hipLaunchKernel', 'pid': 1, 'tid': 1, 'ts': 1, 'dur': 4, 'args': {'correlation': 11}},
            {'ph': 'X', 'cat': 'kernel', 'name': 'gemm', 'pid': 0, 'tid': 7, 'ts': 10, 'dur': 5, 'args': {'device': 0, 'stream': 7, 'correlation': 11}}]}))
        session = self.aaco('-q', 'import', trace, '--no-report').output.strip()
        for statement in statements:
            outcome = self.aaco('query', statement.replace('SESSION', session))
            self.assertEqual(outcome.code, 0, f'{statement}\n{outcome.errors}')


if __name__ == '__main__':
    unittest.main()
