"""`aaco import`: what it prints, and what it refuses without leaving a session."""
import json

import program

LAUNCH = {'ph': 'X', 'cat': 'cuda_runtime', 'name': 'hipLaunchKernel', 'pid': 1, 'tid': 1, 'ts': 1, 'dur': 4, 'args': {'correlation': 11}}
KERNEL = {'ph': 'X', 'cat': 'kernel', 'name': 'Cijk_Ailk_Bljk_SB_MT64x64x8_SE', 'pid': 0, 'tid': 7, 'ts': 10.001, 'dur': 5.5,
          'args': {'device': 0, 'stream': 7, 'correlation': 11}}


class Import(program.ProgramTest):
    def trace(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def test_json_has_session_account_metrics_and_top_kernels(self):
        printed = self.aaco('import', self.trace('good.json', json.dumps({'traceEvents': [LAUNCH, KERNEL]})), '--json').json()
        self.assertEqual(printed['session']['kind'], 'import')
        self.assertEqual(printed['metrics']['gpu.busy_ns']['value'], 5500)
        self.assertEqual(printed['metrics']['gpu.orphan_kernel_count']['value'], 0)
        self.assertEqual(printed['top_kernels'], [{'name': KERNEL['name'], 'family': 'gemm', 'library': 'rocBLAS/Tensile', 'count': 1, 'sum_ns': 5500}])
        self.assertEqual(len(printed['account']), 1)

    def test_text_report_describes_gpu_activity(self):
        outcome = self.aaco('import', self.trace('text.json', json.dumps({'traceEvents': [LAUNCH, KERNEL]})), '--no-report')
        self.assertEqual(outcome.code, 0, outcome.errors)
        self.assertIn('GPU 0 is busy', outcome.output)

    def test_gpu_name_is_consistent_in_all_sections(self):
        late = {**KERNEL, 'ts': 90}
        for rank, events in enumerate(([LAUNCH, KERNEL], [KERNEL, late])):  # the second idles, and has no launch
            self.trace(f'rank{rank}.json', json.dumps({'traceEvents': events}))
        paths = [self.folder / 'rank0.json', self.folder / 'rank1.json']
        printed = self.aaco('import', *paths, '--no-report').output
        self.assertIn('Least busy of 2 GPUs: GPU 0, rank 1 is busy for', printed)
        self.assertIn('Values for GPU 0, rank 1.', printed)
        self.assertIn('\n  GPU 0, rank 1: kernels running', printed)
        self.assertIn('! GPU 0, rank 1: 0 of 2 kernels', printed)
        self.assertNotIn('GPU 1', printed)
        self.assertIn('of the whole trace, sum over 2 GPUs, 91.0 µs', printed)  # 5.5 and 85.5
        numbers = printed[:printed.index('Values for GPU 0, rank 1.')]
        self.assertIn('12.9 %', numbers)  # 11 of 85.5 us
        report = self.aaco('report', 'latest', '--json').json()
        self.assertEqual(report['headline_of'], {'device': 1, 'name': 'GPU 0, rank 1'})
        self.assertIn('| GPU 0, rank 1 | value |', self.aaco('report', 'latest', '-f', 'md').output)

    def test_different_device_or_tag_is_not_comparable(self):
        def named(device):
            return {'traceEvents': [LAUNCH, KERNEL], 'deviceProperties': [{'id': 0, 'name': device}]}
        traces = [self.trace(f'{device}.json', json.dumps(named(device))) for device in ('MI300X', 'H100')]
        ids = [self.aaco('-q', 'import', path, '--no-report', '--tag', 'devices').output.strip() for path in traces]
        shown = [self.aaco('show', one, '--json').json()['session']['fingerprint'] for one in ids]
        self.assertNotEqual(shown[0], shown[1])
        self.assertEqual(self.aaco('explain', ids[1], '--json').json()['compared_with_sessions'], 0)
        series = self.aaco('history', 'gpu.busy_ns', '--where', 'tag=devices', '--json').json()['series']
        self.assertEqual(len(series), 2)
        self.assertIn('H100', json.dumps(series))
        other = self.aaco('-q', 'import', traces[1], '--no-report', '--tag', 'another').output.strip()
        self.assertEqual(self.aaco('explain', other, '--json').json()['compared_with_sessions'], 0)
        plain = [self.aaco('-q', 'import', traces[1], '--no-report').output.strip() for _ in range(2)]
        self.assertEqual(self.aaco('explain', plain[1], '--json').json()['compared_with_sessions'], 0, 'untagged imports do not say what ran')
        listed = next(one for one in self.aaco('ls', '--json').json()['sessions'] if one['id'] == ids[0])
        self.assertEqual(listed['what'], 'MI300X.json, MI300X')
        self.assertEqual(self.aaco('report', ids[0], '--json').json()['title'], 'MI300X.json, MI300X')

    def test_kernel_names_show_their_differences(self):
        signature = 'void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, at::detail::Array<char*, 1> >(int, float)'
        events = [LAUNCH] + [{**KERNEL, 'name': signature, 'ts': 10 + 1000 * i, 'dur': {20: 400, 30: 300}.get(i, 10)} for i in range(40)]
        path = self.trace('many.json', json.dumps({'traceEvents': events}))
        self.assertEqual(self.aaco('import', path, '--tag', 'named').code, 0)
        explained = self.aaco('explain', 'tag:named')
        self.assertRegex(explained.output, r'\n  execution +vectorized_elementwise_kernel<4, FillFunctor<float>, Array<char\*, 1>>: '
                                           '2 executions took 300 µs to 400 µs instead of 10.0 µs\n')
        self.assertNotIn('at::native', explained.output)
        self.assertEqual(len(self.aaco('explain', 'tag:named', '--json').json()['anomalies']), 2)
        listed = [line for line in self.aaco('report', 'tag:named', COLUMNS='132').output.splitlines() if 'FillFunctor' in line]
        self.assertTrue(any(line.startswith('    vectorized_elementwise_kernel') for line in listed), listed)

    def test_kernels_are_in_the_trace_bar(self):
        self.aaco('import', self.trace('bar.json', json.dumps({'traceEvents': [LAUNCH, KERNEL]})), '--no-report')
        time = self.aaco('report', 'latest', '--json').json()['time']
        self.assertEqual([one['parent'] for one in time['kernels']], [time['parts'][0]['name']])
        flame = self.aaco('report', 'latest', '-f', 'svg', '--plot', 'flame').output
        self.assertIn('Flame graph of the trace', flame)
        self.assertNotIn('iteration', flame)

    def test_single_skipped_file_is_singular(self):
        folder = self.folder / 'with_notes'
        folder.mkdir()
        (folder / 'trace.json').write_text(json.dumps({'traceEvents': [LAUNCH, KERNEL]}))
        (folder / 'notes.txt').write_text('of the day')
        self.assertIn('1 file was skipped: notes.txt', self.aaco('import', folder, '--no-report').output)

    def test_quiet_prints_the_id_of_the_session_only(self):
        outcome = self.aaco('-q', 'import', self.trace('quiet.json', json.dumps({'traceEvents': [LAUNCH, KERNEL]})), '--no-report')
        self.assertEqual((outcome.code, outcome.errors), (0, ''))
        self.assertEqual(self.aaco('show', outcome.output.strip(), '--json').json()['session']['id'] + '\n', outcome.output)

    def test_orphans_and_memsets_can_be_excluded_and_are_reported(self):
        trace = self.trace('orphan.json', json.dumps({'traceEvents': [KERNEL]}))
        counted = self.aaco('import', trace, '--no-report')
        self.assertIn('Kernels without a launch record are counted', counted.output)
        trace = self.trace('both.json', json.dumps({'traceEvents': [LAUNCH, KERNEL, {**KERNEL, 'ts': 30, 'args': {'device': 0, 'stream': 7}}]}))
        for options in (['--orphans', 'exclude', '--memset', 'exclude'], ['--without-orphans', '--without-memset']):
            outcome = self.aaco('import', trace, '--json', *options).json()
            self.assertEqual(outcome['metrics']['gpu.kernel_count']['value'], 1)
            self.assertEqual(outcome['outcome']['gpu']['convention']['memset'], 'left out')
        self.refused(self.aaco('import', trace, '--orphans', 'maybe'), 2)

    def test_sensor_log_gives_a_session_with_a_correct_verdict(self):
        log = self.trace('gpu.csv', 'timestamp, index, utilization.gpu [%], power.draw [W]\n'
                         '2024/05/01 10:00:00.000, 0, 95 %, 310.5 W\n2024/05/01 10:00:01.000, 0, 97 %, 330.5 W\n')
        outcome = self.aaco('import', log, '--no-report')
        self.assertEqual(outcome.code, 0, outcome.errors)
        self.assertIn('gpu.csv contains 4 sensor readings over 1.00 s: machine state only, no workload events.', outcome.output)

    def test_bad_input_is_code_3_and_leaves_nothing(self):
        before = self.aaco('ls').output
        for text in ('', 'hello', '{"traceEvents":[]}'):
            self.refused(self.aaco('import', self.trace('bad.json', text)), 3)
        self.refused(self.aaco('import', self.folder / 'nowhere.json'), 3)
        self.assertEqual(self.aaco('ls').output, before)

    def test_totals_without_events_are_shown_as_totals_and_can_be_queried(self):
        path = self.folder / 'results.stats.csv'
        path.write_text('"Name","Calls","TotalDurationNs","AverageNs","Percentage"\n'
                        '"Cijk_Ailk_Bljk_SB_MT64x64x8_SE.kd",6,3000,500,75.0\n"elementwise_kernel.kd",4,1000,250,25.0\n')
        printed = self.aaco('import', path, '--json').json()
        self.assertEqual(printed['metrics']['gpu.kernel_sum_ns']['value'], 4000)
        self.assertNotIn('gpu.busy_ns', printed['metrics'])
        text = self.aaco('report', printed['session']['id']).output
        self.assertIn('of total kernel time', text)
        self.assertNotIn('per iteration', text)
        rows = self.aaco('query', "SELECT family, count, sum_ns FROM kernel_totals WHERE session_id = '%s' ORDER BY sum_ns DESC" % printed['session']['id'],
                         '--format', 'csv').output
        self.assertIn('gemm,6,3000', rows)

    def test_kernels_are_compared_with_those_of_their_grid(self):
        def imported(tag, grid_of_long):
            events = []
            for number in range(60):
                long = number in (9, 25, 50)  # at one distance they would be another problem size
                arguments = {'correlation': number, 'device': 0, 'stream': 7, 'grid': [grid_of_long if long else 64, 1, 1], 'block': [256, 1, 1]}
                events.append({'ph': 'X', 'cat': 'kernel', 'name': 'copy_kernel', 'pid': 0, 'tid': 7, 'ts': 1000.0 + 300 * number,
                               'dur': (200 if long else 20) + number % 3 / 10, 'args': arguments})
            path = self.folder / (tag + '.json')
            path.write_text(json.dumps({'schemaVersion': 1, 'traceEvents': events}))
            self.aaco('import', path, '--tag', tag, '--no-report')
            return [one for one in self.aaco('explain', 'tag:' + tag, '--json').json()['anomalies'] if one['kind'] == 'execution']
        self.assertTrue(imported('one_grid', 64))
        self.assertEqual(imported('two_grids', 640), [])

    def test_usage_errors_are_code_2(self):
        self.refused(self.aaco('import'), 2)
        self.refused(self.aaco('import', 'x.json', '--gap-threshold', 'soon'), 2)
        self.refused(self.aaco('import', 'x.json', '--gap-threshold', '5'), 2, 'missing unit')  # 5 us are meant, not 5 s


if __name__ == '__main__':
    program.unittest.main()
