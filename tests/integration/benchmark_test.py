"""aaco benchmark: a suite of one's own, its registry, going on after a kill, and what it refuses."""
import csv
import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

import program

SUITE = """schema: 1
suite: tiny
rounds: 2
visit_ms: 5
kernels:
  - {kernel: launch, kind: vector, ops: [launch, call], sites: [{rows: 1, cols: 64}]}
  - {kernel: gemm, kind: gemm, dtypes: [float32, int8], sites: [{m: [1, 32], n: 64, k: 64}]}
  - {kernel: batched_gemm, kind: gemm, sites: [{batch: 4, m: 8, n: 8, k: 16}]}
  - {kernel: convolution, kind: convolution, sites: [{c: 16, h: 14, w: 14, k: 16, r: 3, s: 3, pad: 1}]}
  - {kernel: depthwise, kind: convolution, sites: [{c: 16, h: 14, w: 14, k: 16, r: 3, s: 3, pad: 1}]}
  - {kernel: attention, kind: attention, sites: [{tokens: 16, heads: 2, head_dim: 16}]}
  - kernel: elementwise
    kind: vector
    ops: [add, sub, mul, div, relu, sigmoid, tanh, gelu, exp, erf, sqrt, softmax, ln, reduce_sum, reduce_mean, reduce_max, transpose, concat, gather]
    sites: [{rows: 8, cols: 32}]
models:
  - {model: mlp, batch: [1, 4]}
"""


class Benchmark(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.registry = {'AACO_REGISTRY': str(cls.folder / 'registry')}
        cls.suite = cls.folder / 'tiny.yaml'
        cls.suite.write_text(SUITE)
        probe = cls.aaco('hardware', 'probe', '--memory', '32MiB', '--json', **cls.registry)
        cls.device = probe.json()['device']['id']
        cls.outcome = cls.aaco('benchmark', '--suite', cls.suite, '--json', **cls.registry)
        if cls.outcome.code == 3 and 'ONNX Runtime' in cls.outcome.errors:
            raise unittest.SkipTest('skipped, no ONNX Runtime on this machine')

    def table(self, name):
        with open(pathlib.Path(self.outcome.json()['folder']) / name, encoding='utf-8', newline='') as file:
            return list(csv.DictReader(file))

    def test_every_case_is_measured(self):
        outcome = self.outcome.json()
        self.assertEqual(outcome['failures'], [])
        self.assertEqual(outcome['rounds_apart']['cases'], outcome['cases'])
        self.assertEqual(len(outcome['warnings']), int(outcome['rounds_apart']['median_ratio'] > 0.05))
        self.assertRegex(outcome['power'], '^(measured$|not measured: )')
        self.assertEqual(outcome['visits'], 2 * outcome['cases'])

    def test_tables_have_one_row_per_site_with_its_source(self):
        rows = self.table('gemm_float32.csv')
        self.assertEqual(sorted(int(row['m']) for row in rows), [1, 32])
        for row in rows:
            self.assertEqual(row['device'], self.device)
            self.assertEqual(row['source'], self.outcome.json()['run'])
            self.assertGreater(float(row['latency_us']), 0)
        self.assertEqual(len(self.table('elementwise_float32.csv')), 19)

    def test_models_include_memory(self):
        for row in self.table('models_float32.csv'):
            self.assertGreater(float(row['latency_ms']), 0)
            self.assertGreater(int(row['memory_bytes']), 0)
            self.assertGreater(float(row['flops']), 1e5)

    def test_journal_records_provenance(self):
        outcome = self.outcome.json()
        head = json.loads((pathlib.Path(outcome['folder']) / (outcome['run'] + '.jsonl')).read_text().splitlines()[0])
        self.assertEqual(head['provenance']['device'], self.device)
        self.assertIn('onnxruntime', head['provenance']['runtime'])

    def test_killed_run_resumes(self):
        registry = {'AACO_REGISTRY': str(self.folder / 'killed')}
        self.aaco('hardware', 'probe', '--memory', '32MiB', **registry)
        slow = self.folder / 'slow.yaml'
        slow.write_text(SUITE.replace('visit_ms: 5', 'visit_ms: 60').replace('suite: tiny', 'suite: slow'))
        folder = pathlib.Path(registry['AACO_REGISTRY']) / 'benchmarks' / self.device
        with subprocess.Popen([program.PROGRAM, 'benchmark', '--suite', slow], cwd=self.folder, env=dict(os.environ) | registry,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
            for _ in range(300):
                lines = [line for file in folder.glob('run-*.jsonl') for line in file.read_text().splitlines()] if folder.exists() else []
                if len(lines) > 3:
                    break
                time.sleep(0.05)
            running.send_signal(signal.SIGKILL)
        self.assertGreater(len(lines), 3)
        again = self.aaco('benchmark', '--suite', slow, '--json', **registry).json()
        self.assertTrue(again['resumed'])
        self.assertEqual(again['visits'], 2 * again['cases'])
        self.assertEqual(len(list(folder.glob('run-*.jsonl'))), 1)

    def test_dry_run_lists_cases(self):
        self.assertIn('gemm float32', self.aaco('benchmark', '--suite', 'micro', '--list').output)
        suites = self.aaco('benchmark', '--list', '--json').json()['suites']
        self.assertEqual([suite['suite'] for suite in suites], ['micro', 'workloads'])

    def test_rejects_invalid_requests(self):
        self.refused(self.aaco('benchmark', '--suite', 'macro'), 2, 'macro')
        self.refused(self.aaco('benchmark', '--suite', self.suite, '--hardware', 'mi300y'), 3, 'mi300y')
        self.refused(self.aaco('benchmark', '--suite', self.suite, '--hardware', 'h100'), 2, 'measures this machine', 'nvidia_h100')
        self.refused(self.aaco('benchmark', '--suite', self.suite, '--backend', 'abacus'), 3, 'abacus')
        # which the ONNX Runtime that comes with AACO does not have: said once, not of every case
        self.refused(self.aaco('benchmark', '--suite', self.suite, '--backend', 'dnnl', **self.registry), 3, 'DnnlExecutionProvider', '--ort-lib')
        for option in ('--threads', '--seed'):
            for value in ('-1', 'x', '1.5', ''):
                self.refused(self.aaco('benchmark', '--list', option, value), 2, option)
        wrong = self.folder / 'wrong.yaml'
        wrong.write_text(SUITE.replace('n: 64', 'n: -64'))
        self.refused(self.aaco('benchmark', '--suite', wrong), 3, 'wrong.yaml:7')
        wrong.write_text(SUITE.replace('model: mlp', 'model: mlpp'))
        untouched = {'AACO_REGISTRY': str(self.folder / 'untouched')}
        self.refused(self.aaco('benchmark', '--suite', wrong, **untouched), 3, 'mlpp')
        self.assertFalse((self.folder / 'untouched').exists(), 'said before anything is measured')
