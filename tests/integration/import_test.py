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

    def test_text_report_says_what_the_gpu_did(self):
        outcome = self.aaco('import', self.trace('text.json', json.dumps({'traceEvents': [LAUNCH, KERNEL]})), '--no-report')
        self.assertEqual(outcome.code, 0, outcome.errors)
        self.assertIn('GPU 0 is busy', outcome.output)

    def test_bad_input_is_code_3_and_leaves_nothing(self):
        before = self.aaco('ls').output
        for text in ('', 'hello', '{"traceEvents":[]}'):
            self.refused(self.aaco('import', self.trace('bad.json', text)), 3)
        self.refused(self.aaco('import', self.folder / 'nowhere.json'), 3)
        self.assertEqual(self.aaco('ls').output, before)

    def test_wrong_use_is_code_2(self):
        self.refused(self.aaco('import'), 2)
        self.refused(self.aaco('import', 'x.json', '--gap-threshold', 'soon'), 2)


if __name__ == '__main__':
    program.unittest.main()
