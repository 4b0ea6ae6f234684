"""aaco benchmark on PyTorch: on the real one where a Python here has it, and on one that stands in for a GPU's."""
import csv
import fcntl
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

import program

DEVICE = 'amd_instinct_mi300x_192gb'
STAND_IN = pathlib.Path(__file__).resolve().parents[1] / 'fixtures/torch_stand_in'
VECTOR = 'add, sub, mul, div, relu, sigmoid, tanh, gelu, exp, erf, sqrt, softmax, ln, reduce_sum, reduce_mean, reduce_max, transpose, concat, gather'
SUITE = f"""schema: 1
suite: operators
rounds: 2
visit_ms: 5
kernels:
  - {{kernel: launch, kind: vector, ops: [launch, call], sites: [{{rows: 1, cols: 64}}]}}
  - {{kernel: gemm, kind: gemm, dtypes: [float32, bfloat16, int8], sites: [{{m: [1, 32], n: 64, k: 64}}]}}
  - {{kernel: batched_gemm, kind: gemm, sites: [{{batch: 4, m: 8, n: 8, k: 16}}]}}
  - {{kernel: convolution, kind: convolution, sites: [{{c: 16, h: 14, w: 14, k: 16, r: 3, s: 3, pad: 1}}]}}
  - {{kernel: depthwise, kind: convolution, sites: [{{c: 16, h: 14, w: 14, k: 16, r: 3, s: 3, pad: 1}}]}}
  - {{kernel: attention, kind: attention, sites: [{{tokens: 16, heads: 2, head_dim: 16}}]}}
  - {{kernel: elementwise, kind: vector, ops: [{VECTOR}], sites: [{{rows: 8, cols: 32}}]}}
"""


def python_with_torch():
    for python in (os.environ.get('AACO_PYTHON'), 'python3', '/usr/bin/python3'):
        if python and subprocess.run([python, '-c', 'import torch; torch.nn.functional'], capture_output=True, check=False).returncode == 0:
            return python
    return None


class PyTorchTest(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.registry = {'AACO_REGISTRY': str(cls.folder / 'registry')}
        cls.suite = cls.write('suite.yaml', SUITE)

    @classmethod
    def write(cls, name, text):
        (cls.folder / name).write_text(text)
        return cls.folder / name

    def rows(self, outcome, name):
        with open(pathlib.Path(outcome['folder']) / name, encoding='utf-8', newline='') as file:
            return list(csv.DictReader(file))


class OnTheProcessor(PyTorchTest):
    @classmethod
    def setUpClass(cls):
        python = python_with_torch()
        if python is None:
            raise unittest.SkipTest('skipped, no Python here has PyTorch (name one with AACO_PYTHON)')
        super().setUpClass()
        cls.registry['AACO_PYTHON'] = python
        cls.aaco('hardware', 'probe', '--memory', '32MiB', **cls.registry)
        cls.outcome = cls.aaco('benchmark', '--suite', cls.suite, '--backend', 'pytorch', '--json', **cls.registry).json()

    def test_every_available_operator_is_measured(self):
        absent = {failure.split(':')[0].split()[0] for failure in self.outcome['failures']}
        self.assertLessEqual(absent, {'gemm', 'attention'}, self.outcome['failures'])  # int8, and what came with 2.0
        self.assertEqual(len(self.rows(self.outcome, 'elementwise_float32.csv')), 19)
        for name in ('gemm_float32', 'gemm_bfloat16', 'batched_gemm_float32', 'convolution_float32', 'depthwise_float32'):
            for row in self.rows(self.outcome, name + '.csv'):
                self.assertGreater(float(row['latency_us']), 0)
        self.assertRegex(self.outcome['runtime'], r'^pytorch \d')

    def test_results_are_kept_separate_from_onnx_runtime(self):
        own = self.aaco('benchmark', '--suite', self.suite, '--json', **self.registry)
        if own.code == 3 and 'ONNX Runtime' in own.errors:
            raise unittest.SkipTest('skipped, no ONNX Runtime on this machine')
        self.assertEqual(pathlib.Path(self.outcome['folder']).parent, pathlib.Path(own.json()['folder']))
        self.refused(self.aaco('calibrate', '--hardware', 'this', **self.registry), 2, 'several backends', 'cpu, pytorch', '--backend')
        fitted = self.aaco('calibrate', '--hardware', 'this', '--backend', 'pytorch', '--json', **self.registry).json()
        tables = [self.rows(self.outcome, table['path']) for table in self.outcome['tables']]
        self.assertEqual(fitted['rows'], sum(map(len, tables)))
        self.refused(self.aaco('calibrate', '--hardware', 'this', '--backend', 'rocm', **self.registry), 3, 'on rocm')


class OnAGpuThatIsStoodInFor(PyTorchTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.registry |= {'PYTHONPATH': str(STAND_IN), 'AACO_PYTHON': sys.executable}

    def benchmark(self, suite, *options, **variables):
        return self.aaco('benchmark', '--suite', suite, '--backend', 'pytorch-gpu', '--hardware', 'mi300x', '--json', *options,
                         **self.registry | variables)

    def test_times_are_device_times(self):
        outcome = self.benchmark(self.suite).json()
        self.assertEqual(outcome['failures'], [])
        self.assertEqual((outcome['device'], outcome['visits']), (DEVICE, 2 * outcome['cases']))
        self.assertEqual(outcome['runtime'], 'pytorch 9.9.stand-in')
        # The device takes 10 us for an operand, whatever the host does meanwhile.
        [product] = [row for row in self.rows(outcome, 'gemm_bfloat16.csv') if row['m'] == '32']
        self.assertAlmostEqual(float(product['latency_us']), 20, places=2)
        attention = self.rows(outcome, 'attention_float32.csv')[0]
        self.assertAlmostEqual(float(attention['latency_us']), 30, places=2)
        head = json.loads((pathlib.Path(outcome['folder']) / (outcome['run'] + '.jsonl')).read_text().splitlines()[0])['provenance']
        self.assertEqual((head['backend'], head['device_name'], head['threads']), ('pytorch-gpu', 'AMD Instinct MI300X', 3))
        estimate = self.aaco('calibrate', '--hardware', 'mi300x', '--json', **self.registry).json()
        self.assertEqual(estimate['device'], DEVICE)

    def test_failing_and_crashing_cases_are_skipped(self):
        text = SUITE[:SUITE.index('kernels:')] + """kernels:
  - {kernel: gemm, kind: gemm, sites: [{m: [1, 32], n: 64, k: 64}, {m: 65536, n: 65536, k: 65536}]}
  - {kernel: norm, kind: vector, ops: [reduce_max], sites: [{rows: 1, cols: [64, 666]}]}
"""
        outcome = self.benchmark(self.write('failing.yaml', text), '--fresh').json()
        self.assertEqual((outcome['visits'], outcome['failed']), (10, 4))
        failures = '\n'.join(outcome['failures'])
        self.assertIn('out of memory. Tried to allocate more', failures)
        self.assertRegex(failures, r'(?s)signal 6.*HSA_STATUS_ERROR_OUT_OF_RESOURCES')

    def test_stops_on_request_and_resumes(self):
        registry = self.registry | {'AACO_REGISTRY': str(self.folder / 'stopped')}
        slow = self.write('slow.yaml', SUITE.replace('visit_ms: 5', 'visit_ms: 60'))
        command = [program.PROGRAM, 'benchmark', '--suite', slow, '--backend', 'pytorch-gpu', '--hardware', 'mi300x', '--json']
        folder = self.folder / ('stopped/benchmarks/' + DEVICE + '/pytorch-gpu')
        with subprocess.Popen(command, cwd=self.folder, env=os.environ | registry, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as running:
            for _ in range(300):
                if any(len(file.read_text().splitlines()) > 3 for file in folder.glob('run-*.jsonl')):
                    break
                time.sleep(0.05)
            running.send_signal(signal.SIGINT)
            outcome = json.loads(running.communicate(timeout=60)[0])
        self.assertTrue(outcome['interrupted'])
        again = self.aaco(*command[1:], **registry).json()
        self.assertEqual((again['resumed'], again['visits']), (True, 2 * again['cases']))

    def test_rejects_a_concurrent_benchmark_of_the_device(self):
        registry = self.folder / 'held'
        folder = registry / 'benchmarks' / DEVICE
        folder.mkdir(parents=True)
        held = os.open(folder, os.O_RDONLY)
        self.addCleanup(os.close, held)
        fcntl.flock(held, fcntl.LOCK_EX)  # as one on another backend does
        self.refused(self.benchmark(self.suite, AACO_REGISTRY=str(registry)), 3, "another 'aaco benchmark'")

    def test_rejects_invalid_requests(self):
        self.refused(self.benchmark(self.suite, STAND_IN_GPU='0'), 3, 'detects no GPU', '--python')
        self.refused(self.benchmark(self.suite, AACO_PYTHON='/nonexistent/python'), 3, '/nonexistent/python', '--python')
        self.refused(self.benchmark(self.suite, AACO_PYTHON='/bin/true'), 3, '/bin/true')
        self.refused(self.benchmark(self.suite, AACO_PYTHON='/bin/echo'), 3, '/bin/echo')
        self.refused(self.benchmark('workloads'), 2, 'models', '--suite micro')
        self.refused(self.aaco('benchmark', '--suite', self.suite, '--backend', 'pytorch', '--hardware', 'mi300x', **self.registry), 2,
                     'measures this machine', DEVICE)
        self.refused(self.aaco('calibrate', '--hardware', 'h100', '--backend', 'pytorch', '--measurements', 'x.csv'), 2, '--backend')


if __name__ == '__main__':
    unittest.main()
