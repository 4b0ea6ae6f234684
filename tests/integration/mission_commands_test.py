"""Each command as the first documents of this field's tools write it: it works, or names the right command."""
import csv
import io
import json
import pathlib
import unittest

import program
from server_test import Server

MODELS = '''models:
  tokens:
    path: zoo:mlp
    dtype: int64
  broken:
    path: zoo:mlp
    warmup: many
'''
BACKENDS = '''backends:
  mine:
    provider: CPUExecutionProvider
'''


class MissionCommands(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        config = cls.folder / 'config/aaco'
        config.mkdir(parents=True)
        (config / 'models.yaml').write_text(MODELS)
        (config / 'backends.yaml').write_text(BACKENDS)
        for tag in ('base', 'base', 'new'):
            cls.run_small('--profile', '--tag', tag)
        cls.aaco('run', '--model', 'mlp', '--warmup', 5, '--iterations', 60)  # with a page
        made = cls.aaco('baseline', 'add', 'prod', 'tag:base', '--owner', 'team', '--expires', '90d')
        assert made.code == 0, made.errors

    @classmethod
    def aaco(cls, *arguments, **variables):
        return super().aaco(*arguments, XDG_CONFIG_HOME=str(cls.folder / 'config'), **variables)

    def works(self, *words, codes=(0,)):
        outcome = self.aaco(*words)
        self.assertIn(outcome.code, codes, outcome.errors)
        return outcome

    def test_report_by_session_and_format(self):
        text = self.works('report', '--session', 'sessions/latest', '--format', 'terminal').output
        self.assertEqual(text, self.works('report', 'latest').output)

    def test_report_as_a_page(self):
        outcome = self.aaco('report', '--session', 'sessions/latest', '--format', 'html')
        if 'does not include the report page' in outcome.errors:
            self.skipTest('skipped, this build has no report page')
        self.assertEqual(outcome.code, 0, outcome.errors)
        self.assertIn('<html', outcome.output)

    def test_report_as_pdf(self):
        file = self.folder / 'report.pdf'
        outcome = self.aaco('report', '--session', 'sessions/latest', '--format', 'pdf', '-o', file)
        for reason in ('does not include the report page', 'requires Chromium'):
            if reason in outcome.errors:
                self.skipTest('skipped, ' + reason)
        self.assertEqual(outcome.code, 0, outcome.errors)
        pdf = file.read_bytes()
        self.assertTrue(pdf.startswith(b'%PDF-') and b'%%EOF' in pdf[-1024:])
        self.assertGreater(pdf.count(b'/Type /Page\n') + pdf.count(b'/Type /Page '), 0)

    def test_pdf_without_a_chromium_names_the_way(self):
        for chromium, part in (('/nowhere/chromium', 'missing program'), ('/bin/false', 'wrote no PDF')):
            outcome = self.aaco('report', 'latest', '--format', 'pdf', '-o', 'x.pdf', AACO_CHROMIUM=chromium)
            if 'does not include the report page' in outcome.errors:
                self.skipTest('skipped, this build has no report page')
            self.refused(outcome, 3, part, '--html')

    def test_diff_against_a_baseline(self):
        for words in (['--baseline', 'prod'], ['--baseline', 'baselines/prod.json', '--session', 'sessions/latest'],
                      ['--baseline', 'baselines/prod.yaml', '--session', 'sessions/latest'], ['--baseline', 'prod', '--session', 'tag:new']):
            verdict = json.loads(self.works('diff', *words, '--json', codes=(0, 1, 4)).output)
            self.assertEqual(verdict['comparable'], True, words)

    def test_unknown_baseline_is_refused(self):
        self.refused(self.aaco('diff', '--baseline', 'baselines/other.json', '--session', 'sessions/latest'), 3, 'other', 'aaco baseline add')
        self.assertNotEqual(self.aaco('diff', '--baseline', 'nothing').code, 0)

    def test_dashboard_opens_by_a_link(self):
        server = Server(self, 'dashboard')
        self.addCleanup(server.stop)
        self.assertRegex(server.line, r'^http://127\.0\.0\.1:\d+/open\?code=[0-9a-f]{64}$')
        self.refused(self.aaco('dashboard', '--port', 'http'), 2, 'port')

    def test_backend_by_its_provider(self):
        self.works('run', '--model', 'mlp', '--backend', 'CPUExecutionProvider', '-n', 5, '--no-report')
        outcome = self.aaco('run', '--model', 'mlp', '--backend', 'MIGraphXExecutionProvider', '-n', 5, '--no-report')
        self.assertNotIn('no backend', outcome.errors)  # it works, or the library lacks the provider
        self.refused(self.aaco('run', '--model', 'mlp', '--backend', 'NoSuchExecutionProvider', '-n', 5), 3, 'no backend')

    def test_wrapped_files_and_types_of_indices(self):
        self.works('run', '--model', 'tokens', '--backend', 'mine', '-n', 5, '--no-report')

    def test_invalid_entry_blocks_no_other(self):
        self.works('run', '--model', 'mlp', '-n', 5, '--no-report')
        self.refused(self.aaco('run', '--model', 'broken', '-n', 5), 3, 'models.yaml:7', 'many')

    def test_analyze_by_option(self):
        self.assertEqual(self.works('analyze', '--model', 'resnet18', '--hardware', 'mi300x').output,
                         self.works('analyze', 'resnet18', '--hardware', 'mi300x').output)
        self.refused(self.aaco('analyze', '--hardware', 'mi300x'), 2, 'missing model')

    def test_memory_timeline_of_an_estimate(self):
        arguments = ('analyze', 'resnet18', '--hardware', 'H100')
        parts = self.works(*arguments, '--json').json()['estimate']['memory_parts']
        live = {one['node']: one['activation_bytes'] + one['workspace_bytes'] for one in parts['timeline']}
        self.assertEqual(max(live.values()), parts['activation_bytes'] + parts['workspace_bytes'])
        self.assertEqual(live[parts['peak_node']], max(live.values()))
        rows = list(csv.DictReader(io.StringIO(self.works(*arguments, '--format', 'csv').output)))
        known = [row for row in rows if row['live_bytes']]
        self.assertTrue(known)
        for row in known: self.assertEqual(int(row['live_bytes']), live[row['node']])
        self.assertIn('Memory over the graph', self.works(*arguments, '--format', 'html').output)

    def test_compare_with_several_batches(self):
        self.assertEqual(self.works('compare', 'resnet18', '--hardware', 'mi300x', '--batch', '1,8').output,
                         self.works('compare', '--model', 'resnet18', '--hardware', 'mi300x', '--batches', '1,8').output)
        self.assertEqual(self.works('compare', 'resnet18', '--hardware', 'mi300x', '--batch', '8', '--json').output,
                         self.works('compare', 'resnet18', '--hardware', 'mi300x', '--batches', '8', '--json').output)
        self.refused(self.aaco('compare', 'resnet18', '--hardware', 'mi300x', '--batch', '1,x'), 2, '--batch', 'x')
        self.refused(self.aaco('compare', '--hardware', 'mi300x'), 2, 'missing models')

    def test_rules_of_the_help_work(self):
        text = self.works('sla', 'check', '--help').output.split('A rules file:\n')[1].split('\n\n')[0]
        (self.folder / 'rules.yaml').write_text('\n'.join(line[2:] for line in text.splitlines()) + '\n')
        self.works('sla', 'check', '--rules', 'rules.yaml', '--no-alert', codes=(0, 1, 4))

    def test_history_by_metric(self):
        self.assertEqual(self.works('history', '--metric', 'p50').output, self.works('history', 'p50').output)

    def test_evidence_weights_are_shares(self):
        evidence = self.works('explain', 'tag:new', '--json').json()['bottleneck']['top_evidence']
        if evidence:
            self.assertAlmostEqual(sum(one['weight'] for one in evidence), 1, places=6)

    def imported(self, name):
        """The bundle of an import, in a lake of its own: "latest" is a run in the others."""
        lake = str(self.folder / 'imports')
        outcome = self.aaco('-q', 'import', name, '--no-report', AACO_SESSIONS=lake)
        self.assertEqual(outcome.code, 0, outcome.errors)
        return pathlib.Path(self.folder, self.aaco('show', outcome.output.strip(), '--json', AACO_SESSIONS=lake).json()['session']['path'])

    def test_derived_metrics_are_in_the_bundle_with_their_bands(self):
        events = [{'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::mm', 'pid': 1, 'tid': 1, 'ts': 0.5, 'dur': 6}]
        for i in range(4):
            events += [{'ph': 'X', 'cat': 'cuda_runtime', 'name': 'hipLaunchKernel', 'pid': 1, 'tid': 1, 'ts': 1 + 20 * i, 'dur': 4, 'args': {'correlation': 11 + i}},
                       {'ph': 'X', 'cat': 'kernel', 'name': 'gemm', 'pid': 0, 'tid': 7, 'ts': 10 + 20 * i, 'dur': 5.5,
                        'args': {'device': 0, 'stream': 7, 'correlation': 11 + i}}]
        (self.folder / 'gpu.json').write_text(json.dumps({'traceEvents': events}))
        bundle = self.imported('gpu.json')
        derived = json.loads((bundle / 'metrics/derived_metrics.json').read_text())['metrics']
        for name in ('gpu.active_ratio', 'launch.tax', 'gpu.microkernel_ratio'):
            values = derived[name] if isinstance(derived[name], list) else [derived[name]]
            self.assertTrue(all(one['band'] for one in values), name)

    def test_partition_of_a_compiler_is_in_the_bundle(self):
        text = '@0 = @param:x -> float_type, {1}, {1}\n@1 = gpu::relu(@0) -> float_type, {1}, {1}\n'
        (self.folder / 'compile.txt').write_text('Compiling ...\n' + text)
        bundle = self.imported('compile.txt')
        self.assertTrue(json.loads((bundle / 'runtime/migraphx_partition.json').read_text()))

    def test_plots_are_in_the_bundle(self):
        plots = {path.name for path in (self.lake / 'latest').resolve().glob('report/plots/*.svg')}
        shown = {path.name for path in self.lake.glob('*/*/report/plots/*.svg')}
        self.assertLessEqual({'latency.svg', 'distribution.svg'}, plots | shown)
        for session in self.lake.glob('*/*/report/plots'):
            self.assertEqual(self.aaco('verify', session.parent.parent).code, 0)


if __name__ == '__main__':
    unittest.main()
