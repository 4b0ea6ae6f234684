"""Verdicts of `aaco diff`: sets of sessions, traces, metrics of every kind, stored results, and sessions that are not whole."""
import gzip
import json
import pathlib
import shutil
import unittest

import program

KEYS = {'verdict', 'regression', 'severity', 'confidence', 'latency_delta_pct', 'suspected_cause', 'evidence', 'recommendation', 'statistics'}
EVIDENCE = {'kernel_launch_count_delta', 'avg_kernel_duration_delta', 'cpu_overhead_delta'}


def trace(path, steps=10, slower=1.0, calls=4, grid=64, device='AMD Instinct MI300X', name='kernel'):
    """A PyTorch trace of steps with kernels; their time varies a little from step to step."""
    events, time, number = [], 1000.0, 1
    for step in range(steps):
        start = time
        for call in range(calls):
            duration = (50 + 10 * call) * slower * (1 + 0.01 * ((step * 7 + call * 3) % 5 - 2))
            arguments = {'correlation': number, 'device': 0, 'stream': 7, 'grid': [grid, 1, 1], 'block': [256, 1, 1]}
            events.append({'ph': 'X', 'cat': 'cuda_runtime', 'name': 'hipLaunchKernel', 'pid': 1, 'tid': 1, 'ts': time, 'dur': 5,
                           'args': {'correlation': number}})
            events.append({'ph': 'X', 'cat': 'kernel', 'name': f'{name}_{call % 3}', 'pid': 0, 'tid': 7, 'ts': time + 8, 'dur': duration,
                           'args': arguments})
            time += duration + 12
            number += 1
        events.append({'ph': 'X', 'cat': 'user_annotation', 'name': f'ProfilerStep#{step}', 'pid': 1, 'tid': 1, 'ts': start,
                       'dur': time - start, 'args': {}})
        time += 3
    document = {'schemaVersion': 1, 'deviceProperties': [{'id': 0, 'name': device}], 'traceEvents': events}
    pathlib.Path(path).write_text(json.dumps(document))


def trace_ahead(path, slower=1.0, dispatch=100.0, steps=8, **facts):
    """A PyTorch trace whose host runs ahead: each step dispatches 10 kernels of 200 us in `dispatch` us and waits for none."""
    events, device, number = [], 1010.0, 1
    for step in range(steps):
        start = 1000.0 + step * dispatch
        events.append({'ph': 'X', 'cat': 'user_annotation', 'name': f'ProfilerStep#{step}', 'pid': 1, 'tid': 1, 'ts': start, 'dur': dispatch - 1, 'args': {}})
        for call in range(10):
            events.append({'ph': 'X', 'cat': 'cuda_runtime', 'name': 'cudaLaunchKernel', 'pid': 1, 'tid': 1, 'ts': start + 1 + call * dispatch / 11, 'dur': 2,
                           'args': {'correlation': number}})
            duration = 200 * slower * (1 + 0.01 * ((step * 7 + call * 3) % 5 - 2))
            events.append({'ph': 'X', 'cat': 'kernel', 'name': f'kernel_{call % 3}', 'pid': 0, 'tid': 7, 'ts': device, 'dur': duration,
                           'args': {'correlation': number, 'device': 0, 'stream': 7, 'grid': [64, 1, 1], 'block': [256, 1, 1]}})
            device += duration + 1
            number += 1
    document = {'schemaVersion': 1, 'deviceProperties': [{'id': 0, 'name': 'NVIDIA H100'}], **facts, 'traceEvents': events}
    pathlib.Path(path).write_text(json.dumps(document))


class Verdict(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for number in range(3):
            for tag in ('left', 'right'):
                cls.run_small('--tag', tag, '--profile', iterations=100)

    def test_the_document_has_every_key(self):
        verdict = self.aaco('diff', 'tag:left', 'tag:right', '--json').json()
        self.assertLessEqual(KEYS, set(verdict))
        self.assertLessEqual(EVIDENCE, set(verdict['evidence']))
        self.assertEqual(verdict['evidence']['kernels_are'], 'graph_nodes')
        self.assertEqual(verdict['evidence']['kernel_launch_count_delta'], 0)
        self.assertEqual(verdict['regression'], verdict['verdict'] == 'regression')

    def test_nodes_add_up_to_the_profiled_iteration(self):
        verdict = self.aaco('diff', 'tag:left', 'tag:right', '--json').json()
        nodes = verdict['nodes']
        self.assertIn(nodes['baseline_session'], verdict['baseline'])
        self.assertIn(nodes['candidate_session'], verdict['candidate'])
        self.assertEqual(len(nodes['nodes']), nodes['node_count'])
        parts = sum(one['delta_ns'] for one in nodes['nodes']) + nodes['between_nodes_ns'] + nodes['around_nodes_ns']
        self.assertAlmostEqual(parts, nodes['delta_ns'], delta=1)
        for one in nodes['nodes']:
            self.assertEqual(one['baseline']['op_type'], one['candidate']['op_type'])
            self.assertIn(one['change'], ('same', 'slower', 'faster', 'unclear'))

    def test_tag_selects_all_of_its_sessions(self):
        verdict = self.aaco('diff', 'tag:left', 'tag:right', '--json').json()
        self.assertEqual((len(verdict['baseline']), len(verdict['candidate'])), (3, 3))
        self.assertTrue(verdict['statistics'][0]['between_sessions_known'])
        memory = next(s for s in verdict['statistics'] if s['metric'] == 'memory.rss_peak_bytes')
        self.assertEqual(memory['method'], 'values')

    def test_any_metric_can_be_selected(self):
        verdict = self.aaco('diff', 'tag:left', 'tag:right', '--metric', 'memory,throughput,load.duration_ns', '--json').json()
        self.assertEqual([s['metric'] for s in verdict['statistics']],
                         ['memory.rss_peak_bytes', 'throughput.items_per_second', 'load.duration_ns'])
        self.assertEqual(verdict['decided_by'], 'memory.rss_peak_bytes')
        self.assertEqual(verdict['verdict'], 'equivalent')

    def test_results_are_stored_without_changing_hashes(self):
        self.aaco('diff', 'tag:left', 'tag:right')
        session = pathlib.Path(self.aaco('show', 'tag:right', '--json').json()['session']['path'])
        kept = {name: json.loads((session / 'regress' / f'{name}.json').read_text()) for name in ('baseline_ref', 'diff', 'verdict')}
        self.assertEqual(len(kept['baseline_ref']['baseline']), 3)
        self.assertLessEqual(KEYS, set(kept['verdict']))
        self.assertEqual(self.aaco('verify', 'tag:right').code, 0)

    def test_sides_as_options(self):
        self.assertIn(self.aaco('diff', '--baseline', 'tag:left', '--session', 'tag:right').code, (0, 1, 4))
        self.refused(self.aaco('diff', 'tag:left'), 2, 'two sides')
        self.refused(self.aaco('diff', 'tag:left', '--baseline', 'tag:left', '--session', 'tag:right'), 2, 'two sides')

    def test_session_history_estimates_variation(self):
        sessions = [s['id'] for s in self.aaco('ls', '--json').json()['sessions']]
        for _ in range(2):
            self.run_small('--tag', 'more', '--profile', iterations=100)
        verdict = self.aaco('diff', sessions[0], sessions[1], '--json').json()
        self.assertGreaterEqual(verdict['history']['sessions'], 5)
        self.assertTrue(verdict['statistics'][0]['between_sessions_known'])
        self.assertNotIn('history', self.aaco('diff', sessions[0], sessions[1], '--no-history', '--json').json())

    def test_page_holds_the_document(self):
        file = self.folder / 'compared.html'
        outcome = self.aaco('diff', 'tag:left', 'tag:right', '--no-history', '--html', file, '--json')
        if 'does not include the comparison page' in outcome.errors:
            self.skipTest('skipped, this build has no comparison page')
        page = file.read_text()
        data = page.split('id="aaco-data">', 1)[1].split('</script>', 1)[0]
        self.assertEqual(json.loads(data), json.loads(outcome.output))
        self.assertIn('verdict: ', page.split('<noscript>', 1)[1].split('</noscript>', 1)[0])
        self.assertIn('verdict: ', self.aaco('diff', 'tag:left', 'tag:right', '--html', file).output)  # a log of CI shows it as well
        self.refused(self.aaco('diff', 'tag:left', 'tag:right', '--html', self.folder / 'missing/x.html'), 3, 'missing')

    def test_unknown_metric_has_a_suggestion(self):
        self.refused(self.aaco('diff', 'tag:left', 'tag:right', '--metric', 'memory.rss_peak_byte'), 2, 'memory.rss_peak_bytes')
    def test_empty_pattern(self): self.refused(self.aaco('diff', 'tag:left', 'tag:right', '--metric', 'gpu.*'), 2, 'gpu.*')


class Traces(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for tag, how in {'base': {}, 'slow': {'slower': 1.2}, 'more': {'calls': 6}, 'grid': {'grid': 128}, 'few': {'steps': 2},
                         'few_slow': {'steps': 2, 'slower': 1.3}, 'other': {'device': 'NVIDIA H100'},
                         'long': {'name': 'k' * 400}, 'long_slow': {'name': 'k' * 400, 'slower': 1.2}}.items():
            trace(cls.folder / f'{tag}.json', **how)
            cls.aaco('import', cls.folder / f'{tag}.json', '--tag', tag)
        for tag, how in {'ahead': {'with_stack': 0}, 'ahead_slow': {'with_stack': 0, 'slower': 1.3, 'dispatch': 50.0},
                         'ahead_stack': {'with_stack': 1, 'dispatch': 400.0}}.items():
            trace_ahead(cls.folder / f'{tag}.json', **how)
            cls.aaco('import', cls.folder / f'{tag}.json', '--tag', tag)

    def diff(self, a, b, *options):
        outcome = self.aaco('diff', f'tag:{a}', f'tag:{b}', '--json', *options)
        return outcome.code, outcome.json()

    def test_long_kernel_name_is_shortened(self):
        _, verdict = self.diff('long', 'long_slow')
        self.assertIn('k...k', verdict['suspected_cause'])
        self.assertLess(len(verdict['suspected_cause']), 400)

    def test_slower_kernels_are_a_regression_per_kernel(self):
        code, verdict = self.diff('base', 'slow')
        self.assertEqual((code, verdict['verdict']), (1, 'regression'))
        self.assertAlmostEqual(verdict['evidence']['avg_kernel_duration_delta'], 0.2, places=2)
        self.assertEqual(verdict['evidence']['kernel_launch_count_delta'], 0)
        self.assertEqual(verdict['root_cause']['causes'][0]['cause'], 'kernels_alike')
        self.assertNotIn('clock', verdict['suspected_cause'])  # none was recorded
        self.assertEqual({kernel['verdict'] for kernel in verdict['kernels']['kernels']}, {'slower'})
        kernels = verdict['kernels']['kernels']
        self.assertEqual({kernel['change'] for kernel in kernels}, {'slower'})
        self.assertAlmostEqual(sum(kernel['delta_ns'] for kernel in kernels), verdict['kernels']['delta_ns'], places=3)

    def test_additional_kernels_are_detected(self):
        code, verdict = self.diff('base', 'more')
        self.assertEqual(code, 1)
        self.assertAlmostEqual(verdict['evidence']['kernel_launch_count_delta'], 0.5)
        count = next(s for s in verdict['statistics'] if s['metric'] == 'gpu.kernel_count')
        self.assertEqual(count['verdict'], 'regression')

    def test_same_trace_is_equivalent(self):
        code, verdict = self.diff('base', 'base')
        self.assertEqual((code, verdict['verdict']), (0, 'equivalent'))
        self.assertEqual({kernel['change'] for kernel in verdict['kernels']['kernels']}, {'same'})

    def test_an_improvement(self): self.assertEqual(self.diff('slow', 'base')[1]['verdict'], 'improvement')

    def test_kernels_side_by_side_decide_nothing(self):
        code, sides = self.diff('base', 'slow', '--kernels')
        self.assertEqual((code, sides['same_device'], len(sides['kernels'])), (0, True, 3))
        self.assertNotIn('verdict', sides)
        for kernel in sides['kernels']:
            self.assertEqual(kernel['match'], 'name')
            self.assertAlmostEqual(kernel['delta_ratio'], 0.2, places=2)
        self.assertAlmostEqual(sum(kernel['candidate']['total_ns'] for kernel in sides['kernels']), sides['candidate']['kernel_ns'], delta=1)

    def test_side_by_side_of_different_devices_is_information(self):
        outcome = self.aaco('diff', 'tag:base', 'tag:other', '--kernels', '--tree')
        self.assertEqual(outcome.code, 0)
        for text in ('kernel_0', 'ProfilerStep', 'different devices: AMD Instinct MI300X and NVIDIA H100', 'no verdict'):
            self.assertIn(text, outcome.output)

    def test_call_tree_has_every_kernel_once(self):
        _, sides = self.diff('base', 'more', '--tree')
        leaves = [node for node in sides['tree'] if node['kind'] == 'kernel']
        self.assertEqual(sorted(node['depth'] for node in leaves), [1, 2, 2, 2])  # the additional kernel has no operator
        self.assertAlmostEqual(sum(node['candidate']['device_ns'] for node in leaves), sides['tree'][0]['candidate']['device_ns'], delta=1)

    def test_side_by_side_needs_one_traced_session_per_side(self):
        self.refused(self.aaco('diff', 'tag:base,tag:slow', 'tag:slow', '--kernels'), 2, 'one session per side')
        self.refused(self.aaco('diff', 'tag:base', 'tag:none', '--tree'), 3, 'the tag none')

    def test_steps_of_a_host_that_runs_ahead_are_timed_by_the_device(self):
        code, verdict = self.diff('ahead', 'ahead_slow')
        self.assertEqual((code, verdict['verdict']), (1, 'regression'), 'the host is faster, the device is slower')
        self.assertAlmostEqual(verdict['latency_delta_pct'], 30, delta=1)
        kernels = next(s for s in verdict['statistics'] if s['metric'] == 'gpu.kernel_sum_ns')
        self.assertEqual(kernels['verdict'], 'regression')

    def test_recording_options_forbid_a_verdict_on_the_host(self):
        code, verdict = self.diff('ahead', 'ahead_stack')
        self.assertEqual((code, verdict['verdict'], verdict['decided_by']), (0, 'equivalent', 'gpu.kernel_sum_ns'))
        self.assertEqual([one['key'] for one in verdict['differences']], ['measured_with'])
        latency = next(s for s in verdict['statistics'] if s['metric'] == 'latency.p50_ns')
        self.assertNotEqual(latency['verdict'], 'regression')

    def test_two_step_trace_is_compared_by_span(self):
        code, verdict = self.diff('few', 'few_slow')
        self.assertEqual((code, verdict['decided_by']), (1, 'gpu.span_ns'))

    def test_simulated_faults_are_regressions_with_their_cause(self):
        for fault, cause in {'gpu_clock_cap': 'kernels_alike', 'gpu_thermal_steps': 'kernels_alike', 'gpu_gaps': 'dependency_bound', 'gpu_copies': 'copy_bound',
                             'gpu_slower_kernel': 'slower_kernels', 'gpu_more_launches': 'more_launches'}.items():
            # Eight kernels cut in pieces are other kernels: nothing pairs them with those before, and so few alone decide nothing.
            for of in ('base',) if fault == 'gpu_more_launches' else ('base', 'few'):
                self.aaco('lab', 'simulate', fault, f'tag:{of}', '--tag', f'{of}_{fault}', '--intensity', '0.9')
                code, verdict = self.diff(of, f'{of}_{fault}')
                self.assertEqual((code, verdict['verdict']), (1, 'regression'), f'{fault} on {of}: {verdict["statistics"][0]["explanation"]}')
                causes = verdict['root_cause']['causes']
                self.assertEqual(causes[0]['cause'], cause, f'{fault} on {of}')
                self.assertAlmostEqual(sum(one['probability_ratio'] for one in causes), 1)
                decomposition = verdict['root_cause']['decomposition']
                self.assertAlmostEqual(sum(part['delta_ns'] for part in decomposition['parts']) + decomposition['unexplained_ns'], decomposition['delta_ns'], places=3)

    def test_equivalent_sides_have_no_cause(self):
        verdict = self.diff('base', 'base')[1]
        self.assertIsNone(verdict['suspected_cause'])
        self.assertNotIn('root_cause', verdict)

    def test_all_gpu_metrics(self):
        metrics = [s['metric'] for s in self.diff('base', 'slow', '--metric', 'gpu.*')[1]['statistics']]
        self.assertIn('gpu.busy_ns', metrics)
        self.assertIn('gpu.kernel_count', metrics)

    def test_different_grids_are_not_comparable(self):
        code, verdict = self.diff('base', 'grid')
        self.assertEqual((code, verdict['verdict']), (4, 'not-comparable'))
        self.assertEqual(verdict['differences'][0]['key'], 'grid')
        self.assertIn('64x1x1', verdict['differences'][0]['baseline'])
        self.assertIn('128x1x1', verdict['differences'][0]['candidate'])
        self.assertFalse(verdict['statistics'])
        forced = self.diff('base', 'grid', '--force')[1]
        self.assertTrue(forced['forced'])
        self.assertTrue(forced['statistics'])

    def test_one_rewritten_kernel_is_the_same_problem(self):
        for tag, grid in {'old': 64, 'rewritten': 16}.items():
            file = self.folder / f'{tag}.json'
            trace(file)
            document = json.loads(file.read_text())
            for event in document['traceEvents']:
                if event['name'] == 'kernel_0':
                    event['args']['grid'] = [grid, 1, 1]
                    event['dur'] *= grid / 64 * 0.5 + 0.5
            file.write_text(json.dumps(document))
            self.aaco('import', file, '--tag', tag)
        _, verdict = self.diff('old', 'rewritten')
        self.assertTrue(verdict['comparable'])
        difference = next(one for one in verdict['differences'] if one['key'] == 'grid')
        self.assertEqual((difference['baseline'][:7], difference['candidate'][:7], difference['forbids']), ('64x1x1 ', '16x1x1 ', False))
        kernels = {kernel['kernel']: kernel['verdict'] for kernel in verdict['kernels']['kernels']}
        self.assertEqual(kernels, {'kernel_0': 'faster', 'kernel_1': 'not significant', 'kernel_2': 'not significant'})

    def test_different_device_is_not_comparable(self):
        code, verdict = self.diff('base', 'other')
        self.assertEqual((code, verdict['differences'][0]['key']), (4, 'device'))


class Damaged(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for tag in ('good', 'one', 'newer', 'holed', 'damaged'):
            cls.run_small('--tag', tag, iterations=1 if tag == 'one' else 60)

    def path(self, tag):
        return pathlib.Path(self.aaco('show', f'tag:{tag}', '--json').json()['session']['path'])

    def test_rejects_a_single_iteration(self):
        outcome = self.aaco('diff', 'tag:good', 'tag:one')
        self.assertEqual(outcome.code, 4)
        self.assertIn('at least 6 iterations', outcome.output)

    def test_unsupported_schema_version(self):
        path = self.path('newer')
        manifest = json.loads((path / 'session.json').read_text())
        manifest['schema_version'] = 99
        (path / 'session.json').write_text(json.dumps(manifest))
        self.refused(self.aaco('diff', 'tag:good', path), 3, '99')

    def test_a_missing_table(self):
        path = self.path('holed')
        (path / 'metrics' / 'inference_iters.parquet').unlink()
        self.refused(self.aaco('diff', 'tag:good', 'tag:holed'), 3, 'inference_iters', 'verify')

    def test_a_damaged_table(self):
        path = self.path('damaged')
        (path / 'metrics' / 'inference_iters.parquet').write_bytes(b'PAR1 nonsense PAR1')
        self.refused(self.aaco('diff', 'tag:good', 'tag:damaged'), 3, 'inference_iters')

    def test_deleted_session(self):
        folder = self.folder / 'copy'
        shutil.copytree(self.path('good'), folder)
        (folder / 'session.json').unlink()
        self.refused(self.aaco('diff', 'tag:good', folder), 3)


class Ranks(program.ProgramTest):
    """Traces of one DDP job, one rank each, in which rank 1 sleeps before each step (tests/corpus/own, made by scripts/parts/oracle_runs.py)."""
    OWN = pathlib.Path(__file__).resolve().parents[1] / 'corpus' / 'own'

    def imported(self, number, tag, **changed):
        document = json.loads(gzip.decompress((self.OWN / f'oracle_late_rank{number}.json.gz').read_bytes()))
        document['distributedInfo'].update(changed)
        path = self.folder / f'{tag}.json'
        path.write_text(json.dumps(document))
        self.assertEqual(self.aaco('import', path, '--tag', tag, '--no-report').code, 0)

    def compared(self, a, b):
        return self.aaco('diff', f'tag:{a}', f'tag:{b}', '--json').json()

    def test_names_the_rank_that_the_other_waits_for(self):
        self.imported(0, 'first')
        self.imported(1, 'second')
        verdict = self.compared('first', 'second')
        self.assertEqual(verdict['root_cause']['causes'][0]['cause'], 'straggler')
        self.assertIn('waiting for rank 1', verdict['suspected_cause'])
        self.assertIn('balance', verdict['recommendation'])
        late, waits = verdict['root_cause']['ranks']
        self.assertEqual((late['rank'], waits['rank']), (1, 0))
        self.assertLess(late['wait_ns'], waits['wait_ns'])

    def test_ranks_of_other_jobs_have_no_straggler(self):
        self.imported(0, 'job')
        self.imported(1, 'larger_job', world_size=4)
        self.imported(1, 'same_rank', rank=0)
        self.imported(1, 'impossible_rank', rank=-1)
        for other in ('larger_job', 'same_rank', 'impossible_rank'):
            self.assertNotIn('straggler', json.dumps(self.compared('job', other).get('root_cause', {})), other)


if __name__ == '__main__':
    unittest.main()
