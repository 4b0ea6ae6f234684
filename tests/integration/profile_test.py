"""`aaco record --profile` and `aaco run --profile` under a stand-in for rocprofv3 that writes its real format."""
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

    def test_exit_code_of_the_measured_execution_is_passed_on(self):
        printed = self.profiled(code=7, command=('sh', '-c', 'exit 7'))
        self.assertIn('profile.failed', self.warnings(printed))

    def test_trouble_of_the_profiler_is_a_warning(self):
        for mode, warning in (('exit', 'profile.failed'), ('crash', 'profile.no_output'), ('nothing', 'profile.no_output'), ('cut', 'import.truncated'),
                              ('empty', 'profile.no_kernels'), ('second', 'profile.second_tool')):
            with self.subTest(mode):
                self.assertIn(warning, self.warnings(self.profiled(mode=mode)))

    def test_what_was_written_before_a_failure_is_kept(self):
        self.assertEqual(self.profiled(mode='exit')['metrics']['gpu.kernel_count']['value'], 5)
        self.assertEqual(self.profiled(mode='cut')['metrics']['gpu.kernel_count']['value'], 4)

    def test_a_profiler_that_hangs_is_killed(self):
        printed = self.profiled('--profile-timeout', '2s', mode='hang')
        self.assertIn('profile.timed_out', self.warnings(printed))

    def test_another_registered_tool_is_named(self):
        outcome = self.aaco('record', '--profile', '--no-report', '--json', '--', 'true', PATH=self.path, FAKE_ROCPROF='empty', HSA_TOOLS_LIB='libother.so')
        warnings = {warning['id']: warning['message'] for warning in outcome.json()['warnings']}
        self.assertIn('libother.so', warnings['profile.second_tool'])

    def test_refusals_help(self):
        self.refused(self.aaco('record', '--profile', '--', 'true', PATH='/usr/bin:/bin'), 125, 'rocprofv3', 'rocprofiler-sdk')
        self.refused(self.aaco('record', '--profile', '--profile-domains', 'gpu', '--', 'true', PATH=self.path), 2, 'kernel, hip')
        self.refused(self.aaco('record', '--profile', '--counters', 'a b', '--', 'true', PATH=self.path), 2, 'counter')
        self.refused(self.aaco('record', '--counters', 'SQ_WAVES', '--', 'true', PATH=self.path), 2, '--profile')
        self.refused(self.aaco('record', '--profile', '--profile-timeout', 'soon', '--', 'true', PATH=self.path), 2, '10min')

    def test_run_executes_the_model_again_under_the_profiler(self):
        self.run_small()
        outcome = self.aaco('run', '--model', 'mlp', '--warmup', 3, '--iterations', 20, '--no-report', '--json', '--profile', '--profile-domains', 'kernel',
                            PATH=self.path)
        self.assertEqual(outcome.code, 0, outcome.errors)
        self.assertEqual(outcome.json()['metrics']['gpu.kernel_count']['value'], 5)
        self.refused(self.aaco('run', '--model', 'mlp', '--profile', '--counters', 'SQ_WAVES', PATH='/usr/bin:/bin'), 3, 'rocprofv3')


if __name__ == '__main__':
    program.unittest.main()
