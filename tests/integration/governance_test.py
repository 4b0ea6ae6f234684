"""Baselines, the gate and service levels, as continuous integration uses them."""
import http.server
import json
import pathlib
import re
import threading
import unittest
import xml.etree.ElementTree

import program


class Governed(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for _ in range(3):  # in turn: what else the machine does meets both alike
            cls.run_small('--tag', 'base', iterations=60)
            cls.run_small('--tag', 'new', iterations=60)
        cls.made = cls.aaco('baseline', 'add', 'mlp', 'tag:base', '--owner', 'perf team', '--metric', 'memory=50%,p50=99%,throughput=99%', '--expires', '90d')

    def file(self, name='mlp'):
        return self.folder / 'baselines' / f'{name}.yaml'


class Baselines(Governed):
    def test_baseline_is_a_reviewable_file(self):
        self.assertEqual(self.made.code, 0, self.made.errors)
        text = self.file().read_text()
        for word in ('owner: "perf team"', 'expires:', '"latency.p50_ns": {loss: 0.99, better: lower}', '"throughput.items_per_second": {loss: 0.99, better: higher}'):
            self.assertIn(word, text)

    def test_ls_and_show(self):
        listed = self.aaco('baseline', 'ls', '--json').json()['baselines']
        self.assertIn('mlp', [b['name'] for b in listed])
        shown = self.aaco('baseline', 'show', 'mlp', '--json').json()
        self.assertEqual((shown['decides'], len(shown['sessions']), shown['expired']), ('memory.rss_peak_bytes', 3, False))
        self.assertIn('perf team', self.aaco('baseline', 'show', 'mlp').output)

    def test_change_revokes_the_approval(self):
        self.aaco('baseline', 'add', 'agreed', 'tag:base', '--owner', 'o')
        self.assertEqual(self.aaco('baseline', 'approve', 'agreed', '--by', 'ada').code, 0)
        self.assertEqual(self.aaco('baseline', 'show', 'agreed', '--json').json()['approval'], 'approved')
        path = self.file('agreed')
        path.write_text(path.read_text().replace('loss: 0.05', 'loss: 0.5', 1))
        self.assertEqual(self.aaco('baseline', 'show', 'agreed', '--json').json()['approval'], 'changed_since')
        outcome = self.aaco('gate', '--baseline', 'agreed', '--session', 'tag:new', '--require-approval')
        self.assertEqual(outcome.code, 4)
        self.assertIn('changed after it was approved', outcome.output)

    def test_rm(self):
        self.aaco('baseline', 'add', 'gone', 'tag:base', '--owner', 'o')
        self.assertEqual(self.aaco('baseline', 'rm', 'gone').code, 0)
        self.refused(self.aaco('baseline', 'show', 'gone'), 3, 'gone')

    def test_existing_name(self): self.refused(self.aaco('baseline', 'add', 'mlp', 'tag:base', '--owner', 'o'), 3, '--replace')
    def test_path_as_name(self): self.refused(self.aaco('baseline', 'add', '../x', 'tag:base', '--owner', 'o'), 2, 'not a valid baseline name')
    def test_no_owner(self): self.refused(self.aaco('baseline', 'add', 'x', 'tag:base', '--owner', ' '), 2, '--owner')
    def test_no_session(self): self.refused(self.aaco('baseline', 'add', 'x', 'tag:none', '--owner', 'o'), 3, 'none')
    def test_unmeasured_metric(self): self.refused(self.aaco('baseline', 'add', 'x', 'tag:base', '--owner', 'o', '--metric', 'gpu.busy_ns'), 2, 'gpu.busy_ns')
    def test_invalid_budget(self): self.refused(self.aaco('baseline', 'add', 'x', 'tag:base', '--owner', 'o', '--metric', 'p50=lots'), 2, 'p50=lots')
    def test_misspelt_name(self): self.refused(self.aaco('gate', '--baseline', 'mpl', '--session', 'latest'), 3, 'mlp')

    def test_a_damaged_file(self):
        self.file('bad').write_text('schema_version: 1\nname: bad\n')
        self.refused(self.aaco('gate', '--baseline', 'bad', '--session', 'latest'), 3, 'bad.yaml')
        self.assertIn('unreadable', self.aaco('baseline', 'ls').output)
        self.refused(self.aaco('baseline', 'rm', 'bad'), 3, 'bad.yaml')
        self.file('bad').unlink()

    def test_unsupported_schema_version(self):
        self.file('newer').write_text(self.file().read_text().replace('schema_version: 1', 'schema_version: 9'))
        self.refused(self.aaco('gate', '--baseline', 'newer', '--session', 'latest'), 3, 'schema version 9')
        self.file('newer').unlink()


class Gate(Governed):
    def smaller(self, name, factor):
        """The baseline as if memory had been that much smaller, with a tight budget."""
        scaled = re.sub(r'("memory.rss_peak_bytes", unit: "bytes", value: )(\d+)', lambda m: m.group(1) + str(int(int(m.group(2)) * factor)), self.file().read_text())
        self.file(name).write_text(scaled.replace('loss: 0.5,', 'loss: 0.05,'))

    def test_within_budget(self):
        outcome = self.aaco('gate', '--baseline', 'mlp', '--session', 'tag:new', '--json')
        self.assertEqual(outcome.code, 0, outcome.output + outcome.errors)
        verdict = outcome.json()
        self.assertEqual((verdict['verdict'], verdict['gate']['attempts'], verdict['decided_by']), ('equivalent', 1, 'memory.rss_peak_bytes'))
        self.assertIn('not approved', ' '.join(verdict['notes']))

    def test_regression_in_every_format(self):
        self.smaller('small', 0.1)
        files = {name: self.folder / name for name in ('comment.md', 'gate.xml', 'bencher.json', 'github.json')}
        outcome = self.aaco('gate', '--baseline', 'small', '--session', 'tag:new', '--markdown', files['comment.md'], '--junit', files['gate.xml'], '--bencher',
                            files['bencher.json'], '--github-benchmark', files['github.json'])
        self.assertEqual(outcome.code, 1, outcome.output)
        self.assertIn('Regression, critical', files['comment.md'].read_text())
        suite = xml.etree.ElementTree.parse(files['gate.xml']).getroot().find('testsuite')
        self.assertGreaterEqual(int(suite.get('failures')), 1)
        self.assertGreater(json.loads(files['bencher.json'].read_text())['mlp']['latency.p50_ns']['value'], 0)
        self.assertIn('mlp latency.p50_ns', [b['name'] for b in json.loads(files['github.json'].read_text())])
        bigger = json.loads((self.folder / 'github.bigger.json').read_text())
        self.assertEqual([b['unit'] for b in bigger], ['1/s'])

    def test_exceeded_budget_of_a_secondary_metric(self):
        """The leading metric holds, another one does not: the gate fails, and says by which."""
        self.smaller('behind', 0.1)
        text = self.file('behind').read_text().replace('decides: "memory.rss_peak_bytes"', 'decides: "latency.p50_ns"')
        self.file('behind').write_text(text)
        outcome = self.aaco('gate', '--baseline', 'behind', '--session', 'tag:new', '--json', '--junit', self.folder / 'behind.xml')
        verdict = outcome.json()
        self.assertEqual((outcome.code, verdict['verdict'], verdict['decided_by']), (1, 'regression', 'memory.rss_peak_bytes'))
        self.assertIn('memory.rss_peak_bytes exceeded its budget', ' '.join(verdict['notes']))
        self.assertEqual(self.aaco('diff', '--baseline', self.file('behind'), '--session', 'tag:new').code, 1)
        # Who names metrics has the first decide.
        named = self.aaco('diff', '--baseline', self.file('behind'), '--session', 'tag:new', '--metric', 'p50,memory.rss_peak_bytes', '--json')
        self.assertEqual(named.json()['decided_by'], 'latency.p50_ns')

    def test_different_units_are_rejected(self):
        text = self.file().read_text()
        self.file('unit').write_text(text.replace('"memory.rss_peak_bytes", unit: "bytes"', '"memory.rss_peak_bytes", unit: "MiB"'))
        self.refused(self.aaco('gate', '--baseline', 'unit', '--session', 'tag:new'), 3, "'MiB'", "'bytes'")

    def test_gate_repeats_the_baselines_run(self):
        outcome = self.aaco('gate', '--baseline', 'mlp', '--retries', '2', '--json')
        self.assertIn(outcome.code, (0, 1, 4), outcome.errors)
        verdict = outcome.json()
        self.assertEqual(len(verdict['gate']['measured']), verdict['gate']['attempts'])
        self.assertTrue(verdict['comparable'])

    def test_changed_graph_level_is_judged(self):
        outcome = self.aaco('gate', '--baseline', 'mlp', '--json', '--', '--model', 'mlp', '--graph-level', 'disabled', '--iterations', '60', '--warmup', '5')
        verdict = outcome.json()
        self.assertTrue(verdict['comparable'], verdict['differences'])
        self.assertIn('graph_level', [one['key'] for one in verdict['differences']])
        self.assertTrue(verdict['statistics'])

    def test_options_are_added_to_those_of_the_baseline(self):
        outcome = self.aaco('gate', '--baseline', 'mlp', '--json', '--', '--batch', '2')
        self.assertEqual(outcome.code, 4, outcome.errors)
        differences = {one['key'] for one in outcome.json()['differences']}
        self.assertIn('batch', differences)
        self.assertFalse(differences & {'model.hash', 'threads.intra', 'graph_level', 'baseline.approval'}, differences)

    def test_unknown_option_for_the_measurement(self):
        self.refused(self.aaco('gate', '--baseline', 'mlp', '--', '--bach', '2'), 2, '--bach')

    def test_injected_delay_is_detected_with_its_cause(self):
        outcome = self.aaco('gate', '--baseline', 'mlp', '--json', '--inject-delay', '900%')
        self.assertEqual((outcome.code, outcome.json()['verdict']), (1, 'regression'))
        self.assertTrue([note for note in outcome.json()['notes'] if '--inject-delay' in note])
        manifest = json.loads((self.folder / outcome.json()['gate']['measured'][0] / 'session.json').read_text())
        self.assertIn('run.injected', [warning['id'] for warning in manifest['warnings']])

    def test_delay_of_a_stored_session_is_refused(self):
        self.refused(self.aaco('gate', '--baseline', 'mlp', '--session', 'tag:new', '--inject-delay', '5%'), 2, '--inject-delay', '--session')

    def test_invalid_delay_is_refused(self):
        for value in ('soon', '-5%', '2000%', '2h'):
            self.refused(self.aaco('gate', '--baseline', 'mlp', '--inject-delay', value), 2, '--inject-delay', value)

    def test_different_run_is_not_comparable(self):
        outcome = self.aaco('gate', '--baseline', 'mlp', '--json', '--', '--model', 'mlp', '--batch', '2', '--iterations', '20')
        self.assertEqual((outcome.code, outcome.json()['verdict']), (4, 'not-comparable'))

    def test_expired(self):
        text = self.file().read_text()
        start = text.index('expires: "') + len('expires: "')
        self.file('old').write_text(text[:start] + '2020-01-01T00:00:00Z' + text[start + 20:])
        outcome = self.aaco('gate', '--baseline', 'old', '--session', 'tag:new', '--json')
        self.assertEqual((outcome.code, outcome.json()['verdict'], outcome.json()['differences'][0]['key']), (4, 'not-comparable', 'baseline.expired'))
        self.assertIn('expired', self.aaco('gate', '--baseline', 'old', '--session', 'tag:new').output)
        difference = self.aaco('diff', '--baseline', self.file('old'), '--session', 'tag:new')
        self.assertEqual(difference.code, 4)
        self.assertIn('expired', difference.output)
        self.assertEqual(self.aaco('gate', '--baseline', 'old', '--session', 'tag:new', '--force').code, 0)
        self.assertEqual(self.file('old').read_text(), text[:start] + '2020-01-01T00:00:00Z' + text[start + 20:])  # nothing renews it by itself

    def test_diff_accepts_the_file(self):
        verdict = self.aaco('diff', '--baseline', self.file(), '--session', 'tag:new', '--json').json()
        self.assertEqual([s['metric'] for s in verdict['statistics']], ['memory.rss_peak_bytes', 'latency.p50_ns', 'throughput.items_per_second'])
        self.assertEqual([s['threshold_ratio'] for s in verdict['statistics']], [0.5, 0.99, 0.99])
        kept = pathlib.Path(self.aaco('show', 'tag:new', '--json').json()['session']['path']) / 'regress' / 'baseline_ref.json'
        self.assertEqual(json.loads(kept.read_text())['name'], 'mlp')

    def test_options_after_the_dashes(self): self.refused(self.aaco('gate', '--baseline', 'mlp', '--', '--bacth', '2'), 2, 'after')
    def test_no_baseline(self): self.assertEqual(self.aaco('gate').code, 2)


class Hook(http.server.BaseHTTPRequestHandler):
    received = []
    hang = threading.Event()

    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length']))
        if self.path == '/hang':
            self.hang.wait(30)
            return
        Hook.received.append(json.loads(body))
        self.send_response(500 if self.path == '/broken' else 204)
        self.end_headers()

    def log_message(self, *_):
        pass


class Sla(Governed):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Hook)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        cls.addClassCleanup(server.server_close)
        cls.addClassCleanup(server.shutdown)
        cls.addClassCleanup(Hook.hang.set)
        cls.url = f'http://127.0.0.1:{server.server_port}'

    def check(self, rules, alerts='', *options):
        path = self.folder / 'sla.yaml'
        path.write_text('schema_version: 1\nrules:\n' + ''.join(f'  - {{{rule}}}\n' for rule in rules) + (f'alerts:\n{alerts}' if alerts else ''))
        return self.aaco('sla', 'check', '--rules', path, 'tag:new', *options)

    def test_rules_met(self):
        outcome = self.check(['metric: p50, max: 10s', 'metric: throughput, min: 0.001', 'metric: memory, max: 100GiB'])
        self.assertEqual(outcome.code, 0, outcome.output)

    def test_violation_alerts_all_receivers(self):
        alerts = f'  - {{file: {self.folder}/alerts.jsonl}}\n  - {{command: [cp, /dev/stdin, {self.folder}/told.json]}}\n  - {{webhook: "{self.url}/hook"}}\n'
        outcome = self.check(['name: tail, metric: p50, max: 1ns, severity: critical'], alerts)
        self.assertEqual(outcome.code, 1, outcome.errors)
        self.assertIn('VIOLATED', outcome.output)
        for document in (json.loads((self.folder / 'alerts.jsonl').read_text().splitlines()[0]), json.loads((self.folder / 'told.json').read_text()), Hook.received[-1]):
            self.assertEqual((document['findings'][0]['rule'], document['findings'][0]['severity']), ('tail', 'critical'))

    def test_hanging_webhook_times_out(self):
        outcome = self.check(['metric: p50, max: 1ns'], f'  - {{webhook: "{self.url}/hang", timeout: 500ms}}\n', '--json')
        self.assertEqual(outcome.code, 1)
        alert = outcome.json()['alerts'][0]
        self.assertFalse(alert['delivered'])
        self.assertIn('did not respond within 500 ms', alert['problem'])

    def test_failing_receivers_do_not_change_the_verdict(self):
        alerts = (f'  - {{webhook: "{self.url}/broken"}}\n  - {{webhook: "http://127.0.0.1:1/x"}}\n  - {{command: ["false"]}}\n  - {{command: [no-such-program]}}\n'
                  '  - {file: /proc/none/alerts}\n  - {command: [sleep, "20"], timeout: 300ms}\n')
        outcome = self.check(['metric: p50, max: 1ns'], alerts, '--json')
        self.assertEqual(outcome.code, 1)
        self.assertEqual([a['delivered'] for a in outcome.json()['alerts']], [False] * 6)
        self.assertIn('status 500', outcome.json()['alerts'][0]['problem'])

    def test_no_alert_when_rules_are_met(self): self.assertEqual(self.check(['metric: p50, max: 10s'], f'  - {{webhook: "{self.url}/hang"}}\n', '--json').json()['alerts'], [])
    def test_unmeasured_metric_is_undecided(self): self.assertEqual(self.check(['metric: energy.gpu_joules, max: 5']).code, 4)
    def test_rule_for_another_model(self): self.assertEqual(self.check(['metric: p50, max: 1ns, where: {model: vgg16}']).code, 4)
    def test_invalid_rules(self): self.refused(self.check(['metric: p50']), 3, 'sla.yaml:3', 'no limit')
    def test_example_of_the_help_is_valid(self):
        lines = self.aaco('sla', 'check', '--help').output.splitlines()
        begin = lines.index('A rules file:') + 1
        example = lines[begin:lines.index('', begin)]
        rules = self.folder / 'example.yaml'
        rules.write_text('\n'.join(line.removeprefix('  ') for line in example) + '\n')
        self.assertIn('where: {model: resnet50}', rules.read_text())
        checked = self.aaco('sla', 'check', '--rules', rules, '--no-alert', 'tag:new')
        self.assertEqual(checked.code, 4, f'no rule is for this model: {checked}')

    def test_no_rules(self): self.refused(self.aaco('sla', 'check', '--rules', 'none.yaml'), 3, 'none.yaml')


if __name__ == '__main__':
    unittest.main()
