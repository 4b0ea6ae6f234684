"""`aaco record --profile` and `aaco run --profile` under a stand-in for rocprofv3 that writes its real format."""
import json
import os
import pathlib

import program

FAKE = pathlib.Path(__file__).resolve().parents[1] / 'support/fake_rocprofv3.py'


class Profile(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.tools = cls.folder / 'tools'
        cls.tools.mkdir()
        (cls.tools / 'rocprofv3').symlink_to(FAKE)
        cls.path = f'{cls.tools}:{os.environ["PATH"]}'

    def profiled(self, *options, mode='', code=0, command=('sh', '-c', 'exit 0')):
        outcome = self.aaco('record', '--profile', '--no-report', '--json', *options, '--', *command, PATH=self.path, FAKE_ROCPROF=mode)
        self.assertEqual(outcome.code, code, outcome.errors)
        return outcome.json()

    def warnings(self, printed):
        return {warning['id'] for warning in printed['warnings']}

    def test_kernels_calls_and_counters_are_in_the_same_session(self):
        printed = self.profiled('--counters', 'SQ_WAVES,GRBM_COUNT', '--tag', 'good')
        self.assertEqual(printed['metrics']['gpu.kernel_count']['value'], 5)
        self.assertEqual(printed['metrics']['gpu.kernel_sum_ns']['value'], 15000)
        self.assertEqual(printed['metrics']['gpu.orphan_kernel_count']['value'], 0)
        self.assertFalse({name for name in self.warnings(printed) if name.startswith('profile.')})
        rows = self.aaco('query', 'SELECT counter, count(*) AS n, sum(value) AS v FROM counters GROUP BY counter ORDER BY counter', '--json').json()
        self.assertIn('SQ_WAVES', str(rows))
        bundle = self.folder / printed['session']['path']
        self.assertTrue((bundle / 'profiler/rocprof_raw/out_kernel_trace.csv').is_file())
        self.assertTrue((bundle / 'profiler/rocprof_raw/pmc_1/out_counter_collection.csv').is_file())

    def test_domains_are_chosen(self):
        printed = self.profiled('--profile-domains', 'kernel')
        self.assertEqual(printed['metrics']['gpu.kernel_count']['value'], 5)
        bundle = self.folder / printed['session']['path']
        self.assertFalse((bundle / 'profiler/rocprof_raw/out_hip_api_trace.csv').exists())

    def test_exit_code_of_the_measured_execution_is_returned(self):
        printed = self.profiled(code=7, command=('sh', '-c', 'exit 7'))
        self.assertIn('profile.failed', self.warnings(printed))

    def test_profiler_failure_is_a_warning(self):
        for mode, warning in (('exit', 'profile.failed'), ('crash', 'profile.no_output'), ('nothing', 'profile.no_output'), ('cut', 'import.truncated'),
                              ('empty', 'profile.no_kernels'), ('second', 'profile.second_tool')):
            with self.subTest(mode):
                self.assertIn(warning, self.warnings(self.profiled(mode=mode)))

    def test_partial_output_is_kept_after_a_failure(self):
        self.assertEqual(self.profiled(mode='exit')['metrics']['gpu.kernel_count']['value'], 5)
        self.assertEqual(self.profiled(mode='cut')['metrics']['gpu.kernel_count']['value'], 4)

    def test_hanging_profiler_is_killed(self):
        printed = self.profiled('--profile-timeout', '2s', mode='hang')
        self.assertIn('profile.timed_out', self.warnings(printed))

    def test_other_registered_tool_is_reported(self):
        outcome = self.aaco('record', '--profile', '--no-report', '--json', '--', 'true', PATH=self.path, FAKE_ROCPROF='empty', HSA_TOOLS_LIB='libother.so')
        warnings = {warning['id']: warning['message'] for warning in outcome.json()['warnings']}
        self.assertIn('libother.so', warnings['profile.second_tool'])

    def test_rejections_have_hints(self):
        self.refused(self.aaco('record', '--profile', '--', 'true', PATH='/usr/bin:/bin'), 125, 'rocprofv3', 'rocprofiler-sdk')
        self.refused(self.aaco('record', '--profile', '--profile-domains', 'gpu', '--', 'true', PATH=self.path), 2, 'kernel, hip')
        self.refused(self.aaco('record', '--profile', '--counters', 'a b', '--', 'true', PATH=self.path), 2, 'counter')
        self.refused(self.aaco('record', '--counters', 'SQ_WAVES', '--', 'true', PATH=self.path), 2, '--profile')
        self.refused(self.aaco('record', '--profile', '--profile-timeout', 'soon', '--', 'true', PATH=self.path), 2, '10min')

    # The kernels that rocBLAS and ONNX Runtime launch for a perceptron of three layers, four elements a thread.
    def test_kernels_are_matched_to_model_nodes(self):
        self.run_small()
        batch = 64
        gemms = [('Cijk_Alik_Bljk_SB_MT64x64x16_SN_1LDSB0_APM1_ABV0_ACED0_AF0EM1', 512, 60_000), ('Cijk_Alik_Bljk_SB_MT32x64x16_SN_1LDSB0', 512, 40_000),
                 ('Cijk_Alik_Bljk_SB_MT32x32x16_SN_1LDSB0', 10, 5_000)]
        relu = 'void onnxruntime::rocm::_UnaryElementWise<float, float, onnxruntime::rocm::OP_Relu<float>, 256, 4>(float const*, float*)'
        step = []
        for layer, (name, width, ns) in enumerate(gemms):
            step.append({'name': name, 'grid': max(256, batch * width // 16), 'block': 256, 'ns': ns})
            if layer < 2:
                step.append({'name': relu, 'grid': batch * width // 4, 'block': 256, 'ns': 3000})
        (self.folder / 'step.json').write_text(json.dumps(step))
        outcome = self.aaco('run', '--model', 'mlp', '--batch', batch, '--warmup', 3, '--iterations', 20, '--no-report', '--json', '--profile',
                            '--profile-domains', 'kernel,hip', PATH=self.path, FAKE_ROCPROF_STEP=str(self.folder / 'step.json'))
        self.assertEqual(outcome.code, 0, outcome.errors)
        printed = outcome.json()
        session = printed['session']['id']
        nodes = printed['outcome']['gpu']['nodes']
        self.assertEqual(printed['outcome']['gpu']['steps']['count'], 20, printed['outcome']['gpu']['steps'])
        usual = max(nodes['joins'], key=lambda join: join['steps'])  # the first step has the setup's kernels, too
        self.assertGreaterEqual(usual['steps'], 18, nodes)
        self.assertEqual(usual['joined_kernels_a_step'], 5, nodes)
        rows = self.aaco('query', f"SELECT node_name, kernel_name, method, confidence_ratio, kernel_count FROM op_to_kernel_map WHERE session_id = '{session}'",
                         '--json').json()
        joined = [row for row in rows if row['method'] == 'node_order' and row['kernel_count'] >= 18]
        self.assertEqual(len({row['node_name'] for row in joined}), 5, rows)
        self.assertIn(('/layers.0/Gemm', gemms[0][0]), {(row['node_name'], row['kernel_name']) for row in joined}, rows)
        for row in joined:
            self.assertTrue(0 < row['confidence_ratio'] <= 1)
            self.assertEqual('Relu' in row['node_name'], 'OP_Relu' in row['kernel_name'], row)
        # The session's iterations are those that were measured; the pass has its own.
        phases = self.aaco('query', f"SELECT DISTINCT phase FROM inference_iters WHERE session_id = '{session}'", '--json').json()
        self.assertNotIn('step', {row['phase'] for row in phases})

    def test_run_repeats_the_model_under_the_profiler(self):
        self.run_small()
        outcome = self.aaco('run', '--model', 'mlp', '--warmup', 3, '--iterations', 20, '--no-report', '--json', '--profile', '--profile-domains', 'kernel',
                            PATH=self.path)
        self.assertEqual(outcome.code, 0, outcome.errors)
        self.assertEqual(outcome.json()['metrics']['gpu.kernel_count']['value'], 5)
        self.refused(self.aaco('run', '--model', 'mlp', '--profile', '--counters', 'SQ_WAVES', PATH='/usr/bin:/bin'), 3, 'rocprofv3')


if __name__ == '__main__':
    program.unittest.main()
