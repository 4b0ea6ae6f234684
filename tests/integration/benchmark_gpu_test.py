"""aaco benchmark and hardware probe on a GPU without a framework, on libraries that stand in for the vendors'."""
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

import program

STANDS = pathlib.Path(program.PROGRAM).resolve().parents[1] / 'tests/gpu'
H100 = 'nvidia_h100_sxm5_80gb'
MI300X = 'amd_instinct_mi300x_192gb'
VECTOR = 'add, sub, mul, div, relu, sigmoid, tanh, gelu, exp, erf, sqrt, softmax, ln, reduce_sum, reduce_mean, reduce_max, transpose, concat, gather'
SUITE = f"""schema: 1
suite: operators
rounds: 2
visit_ms: 2
kernels:
  - {{kernel: launch, kind: vector, ops: [launch, graph_launch, call], sites: [{{rows: 1, cols: 64}}]}}
  - {{kernel: gemm, kind: gemm, dtypes: [float64, float32, tf32, float16, bfloat16, float8, int8], sites: [{{m: [32, 4096], n: 4096, k: 4096}}]}}
  - {{kernel: batched_gemm, kind: gemm, dtypes: [float16, int8], sites: [{{batch: 4, m: 32, n: 64, k: 128}}]}}
  - {{kernel: convolution, kind: convolution, dtypes: [float16], sites: [{{c: 16, h: 14, w: 14, k: 16, r: 3, s: 3, pad: 1}}]}}
  - {{kernel: depthwise, kind: convolution, sites: [{{c: 16, h: 14, w: 14, k: 16, r: 3, s: 3, pad: 1, stride: 2}}]}}
  - {{kernel: elementwise, kind: vector, dtypes: [float32, float16, bfloat16], ops: [{VECTOR}], sites: [{{rows: 33, cols: 100}}]}}
  - {{kernel: transfer, kind: transfer, ops: [h2d_pinned, h2d_pageable, d2h_pinned, d2h_pageable, d2d, read], sites: [{{bytes: [4096, 67108864]}}]}}
"""


@unittest.skipUnless((STANDS / 'cuda/libcuda.so.1').exists(), 'skipped, the stand-ins of GPU libraries are not built')
class GpuTest(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.suite = cls.write('suite.yaml', SUITE)

    @classmethod
    def write(cls, name, text):
        (cls.folder / name).write_text(text)
        return cls.folder / name

    def benchmark(self, suite, *options, backend='cuda', stands=None, registry='registry', **variables):
        return self.aaco('benchmark', '--suite', suite, '--backend', backend, '--no-power', '--json', *options,
                         AACO_GPU_LIBRARIES=str(STANDS / (stands or backend)), AACO_REGISTRY=str(self.folder / registry), **variables)

    def rows(self, outcome, name):
        with open(pathlib.Path(outcome['folder']) / name, encoding='utf-8', newline='') as file:
            return list(csv.DictReader(file))

    def cases(self, *lines):
        return self.write('cases.yaml', 'schema: 1\nsuite: own\nrounds: 1\nvisit_ms: 2\nkernels:\n' + ''.join(f'  - {line}\n' for line in lines))


class Measures(GpuTest):
    def test_every_operator_and_transfer_on_both_runtimes(self):
        for backend, device in (('cuda', H100), ('hip', MI300X)):
            outcome = self.benchmark(self.suite, backend=backend).json()
            failures = [line for line in outcome['failures'] if 'tf32' not in line or backend == 'cuda']
            self.assertEqual(failures, [])
            self.assertEqual(outcome['device'], device)
            self.assertRegex(outcome['runtime'], {'cuda': '^cuda driver 12.4$', 'hip': '^hip runtime 6.4$'}[backend])
            self.assertNotIn('absent', outcome)
            # The stand-in's device takes 4 us for a kernel, 1 us for a node of a graph, 1 ns for a million multiply-adds of float32.
            launches = {row['op']: float(row['latency_us']) for row in self.rows(outcome, 'launch_float32.csv')}
            self.assertAlmostEqual(launches['launch'], 4, places=3)
            self.assertAlmostEqual(launches['graph_launch'], 1, places=3)
            for dtype, faster in (('float64', 0.5), ('float32', 1), ('tf32', 1), ('float16', 2), ('bfloat16', 2), ('float8', 4), ('int8', 4)):
                [row] = [row for row in self.rows(outcome, f'gemm_{dtype}.csv') if row['m'] == '4096']
                self.assertAlmostEqual(float(row['latency_us']), 4096**3 / 1e9 / faster, delta=0.1, msg=dtype)
            self.assertEqual(len(self.rows(outcome, 'elementwise_bfloat16.csv')), 19)
            transfers = {(row['path'], row['bytes']): row for row in self.rows(outcome, 'transfer_float32.csv')}
            self.assertAlmostEqual(float(transfers['h2d_pinned', '67108864']['bytes_per_s']) / 25e9, 1, places=2)
            self.assertAlmostEqual(float(transfers['d2d', '67108864']['bytes_per_s']) / 1000e9, 1, places=1)
            self.assertAlmostEqual(float(self.rows(outcome, 'convolution_float16.csv')[0]['latency_us']), 50, places=2)

    def test_results_calibrate(self):
        outcome = self.benchmark(self.suite, registry='calibrated').json()
        fitted = self.aaco('calibrate', '--hardware', 'h100', '--backend', 'cuda', '--json', AACO_REGISTRY=str(self.folder / 'calibrated')).json()
        tables = [self.rows(outcome, table['path']) for table in outcome['tables']]
        self.assertEqual(fitted['rows'], sum(map(len, tables)))
        self.assertIn('12 rows skipped: copies and bandwidths', json.dumps(fitted))

    def test_peers(self):
        peers = self.cases('{kernel: transfer, kind: transfer, ops: [peer], sites: [{bytes: 67108864, peer: [0, 1]}]}')
        for backend in ('cuda', 'hip'):
            outcome = self.benchmark(peers, '--gpu', '0', '--fresh', backend=backend, STANDIN_DEVICES='2').json()
            self.assertEqual([line.split(': ', 1)[1] for line in outcome['failures']], ['GPU 0 is not its own peer'])
            [row] = self.rows(outcome, 'transfer_float32.csv')[-1:]
            self.assertEqual((row['path'], row['peer']), ('peer', '1'))
            self.assertAlmostEqual(float(row['bytes_per_s']) / 100e9, 1, places=1)
        # One GPU has no peer: that is no failure.
        both = self.cases('{kernel: transfer, kind: transfer, ops: [d2d], sites: [{bytes: 67108864}]}',
                          '{kernel: peers, kind: transfer, ops: [peer], sites: [{bytes: 67108864, peer: [1, 2]}]}')
        for devices, left_out in (('1', 2), ('2', 1)):
            single = self.benchmark(both, '--gpu', '0', '--fresh', STANDIN_DEVICES=devices).json()
            self.assertEqual((single['failed'], single['failures'], single['not_applicable']), (0, [], left_out))
            self.assertEqual(single['visits'], single['cases'])
            self.assertEqual(len(single['not_applicable_cases']), left_out)
            self.assertTrue(all(('one GPU' if devices == '1' else '2 GPUs') in line for line in single['not_applicable_cases']))
        alone_peers = self.cases('{kernel: peers, kind: transfer, ops: [peer], sites: [{bytes: 67108864, peer: 1}]}')
        self.refused(self.benchmark(alone_peers, '--gpu', '0', '--fresh', STANDIN_DEVICES='1'), 3, 'no case of the suite applies', 'one GPU')
        peers = self.cases('{kernel: transfer, kind: transfer, ops: [peer], sites: [{bytes: 67108864, peer: [0, 1]}]}')
        alone = self.benchmark(peers, '--fresh', STANDIN_DEVICES='2', STANDIN_NO_PEER='1').json()
        self.assertIn('GPU 0 has no peer access to GPU 1', json.dumps(alone['failures']))
        self.refused(self.benchmark(peers, '--gpu', '3', STANDIN_DEVICES='2'), 3, 'no GPU 3', '--gpu 0 to 1')

    def test_kernels_assemble(self):
        """The driver's assembler is not here; NVIDIA's own, where it is installed, takes the same text."""
        kernels = self.folder / 'kernels.ptx'
        outcome = self.benchmark(self.suite, registry='assembled', STANDIN_KERNELS=str(kernels)).json()
        self.assertEqual(outcome['failures'], [])
        modules = kernels.read_text().split('.version')[1:]
        self.assertGreater(len(modules), 50)
        assembler = shutil.which('ptxas') or '/usr/local/cuda/bin/ptxas'
        if not os.path.exists(assembler):
            self.skipTest('skipped, ptxas is not installed')
        for module in set(modules):
            for target in ('sm_80', 'sm_90'):
                self.write('one.ptx', '.version' + module)
                ran = subprocess.run([assembler, '-arch=' + target, '-o', '/dev/null', self.folder / 'one.ptx'], capture_output=True,
                                     text=True, check=False)
                self.assertEqual(ran.returncode, 0, ran.stderr + module)


class Refuses(GpuTest):
    def test_absent_runtime_and_libraries(self):
        self.refused(self.benchmark(self.suite, stands='nothing'), 3, 'libcuda.so.1 not found', 'install its driver')
        self.refused(self.benchmark(self.suite, backend='hip', stands='nothing'), 3, 'libamdhip64.so.6', 'ROCm')
        self.refused(self.benchmark(self.suite, STANDIN_INIT='100'), 3, 'does not initialize', '/dev/nvidia*')
        self.refused(self.benchmark(self.suite, STANDIN_DEVICES='0'), 3, 'finds no GPU')
        self.refused(self.benchmark('workloads'), 2, 'models', '--suite gpu')
        alone = self.benchmark(self.suite, stands='old', registry='alone').json()  # a driver without graphs, and no library
        self.assertRegex(' '.join(alone['absent']), r'cuBLASLt: .*not found.*install cuBLAS.*cuDNN: .*not found.*install cuDNN')
        reasons = ' '.join(alone['failures'])
        self.assertIn('libcublasLt.so.12', reasons)
        self.assertGreater(alone['visits'] - alone['failed'], 0)
        self.assertEqual(len(self.rows(alone, 'elementwise_float16.csv')), 19)
        graphs = self.benchmark(self.cases('{kernel: launch, kind: vector, ops: [graph_launch], sites: [{rows: 1, cols: 64}]}'),
                                stands='old', registry='graphs').json()
        self.assertIn('has no graphs', graphs['failures'][0])

    def test_unknown_gpu_is_named(self):
        self.refused(self.benchmark(self.suite, STANDIN_NAME='Acme Turbo 9', STANDIN_MEMORY='17179869184'), 3, 'Acme Turbo 9',
                     'aaco hardware probe --backend cuda')
        self.refused(self.benchmark(self.suite, '--hardware', 'mi300x'), 2, 'measures this machine', H100)

    def test_what_a_library_refuses_fails_its_case_only(self):
        cases = self.cases('{kernel: gemm, kind: gemm, dtypes: [int8, float16], sites: [{m: 8, n: 8, k: 8}]}',
                           '{kernel: attention, kind: attention, dtypes: [float16], sites: [{tokens: 16, heads: 2, head_dim: 16}]}')
        outcome = self.benchmark(cases, registry='refused').json()
        reasons = ' '.join(outcome['failures'])
        self.assertIn('cuBLASLt has no algorithm for int8', reasons)
        self.assertIn('attention is not measured', reasons)
        self.assertEqual((outcome['visits'], outcome['failed']), (3, 2))
        failing = self.benchmark(cases, '--fresh', registry='refused', STANDIN_PRODUCT='13').json()
        self.assertIn('multiplying failed with status 13', ' '.join(failing['failures']))
        older = self.benchmark(self.cases('{kernel: gemm, kind: gemm, dtypes: [float8], sites: [{m: 16, n: 16, k: 16}]}'), backend='hip',
                               registry='refused', STANDIN_NO_FLOAT8='1').json()
        self.assertEqual(older['failures'], [], 'the older format of AMD is tried')

    def test_out_of_memory_fails_its_case_only(self):
        cases = self.cases('{kernel: gemm, kind: gemm, dtypes: [float32], sites: [{m: [16, 65536], n: 65536, k: 16384}]}')
        outcome = self.benchmark(cases, registry='memory', STANDIN_MEMORY=str(8 << 30), STANDIN_NAME='NVIDIA H100 80GB HBM3').json()
        self.assertEqual((outcome['visits'], outcome['failed']), (2, 1))
        self.assertRegex(outcome['failures'][0], r'm=65536.*GiB.* do not fit|do not fit')

    def test_lost_device_is_said_and_the_next_case_gets_a_new_process(self):
        cases = self.cases('{kernel: elementwise, kind: vector, ops: [add, mul, relu], sites: [{rows: 1, cols: [64, 128]}]}')
        outcome = self.benchmark(cases, registry='lost', STANDIN_LOST_AFTER='400').json()
        self.assertEqual(outcome['visits'], 6)
        self.assertEqual(outcome['failed'], 6)  # each process loses its device within its first case
        for line in outcome['failures']:
            self.assertIn('the device is lost: launching a kernel failed: unspecified launch failure (719)', line)

    def test_hanging_kernel_ends_the_worker(self):
        worker = [program.PROGRAM, 'gpu-worker', '--backend', 'cuda', '--patience', '0.2']
        case = {'id': 'x', 'kernel': 'elementwise', 'kind': 'vector', 'dtype': 'float32', 'op': 'add', 'sizes': {'rows': 1, 'cols': 64}}
        ran = subprocess.run(worker, input=(json.dumps({'make': case}) + '\n') * 2, capture_output=True, text=True, check=False, timeout=60,
                             env=os.environ | {'AACO_GPU_LIBRARIES': str(STANDS / 'cuda'), 'STANDIN_HANG_AFTER': '0'})
        lines = [json.loads(line) for line in ran.stdout.splitlines()]
        self.assertEqual(len(lines), 2, 'no answer after the device is lost')
        self.assertRegex(lines[1]['error'], r'the device is lost: its work did not end within 200(\.0+)? ms')
        self.assertTrue(lines[1]['ends'])
        self.assertEqual(ran.returncode, 3)

    def test_hostile_requests_are_answered(self):
        worker = [program.PROGRAM, 'gpu-worker', '--backend', 'cuda']
        case = {'id': 'x', 'kernel': 'elementwise', 'kind': 'vector', 'dtype': 'float32', 'op': 'add', 'sizes': {'rows': 1 << 62, 'cols': 1 << 62}}
        requests = ['{', '[]', '{"time": 1}', '{"make": {}}', '{"make": {"kind": 7}}', json.dumps({'make': case})]
        ran = subprocess.run(worker, input='\n'.join(requests), capture_output=True, text=True, check=False, timeout=60,
                             env=os.environ | {'AACO_GPU_LIBRARIES': str(STANDS / 'cuda')})
        lines = [json.loads(line) for line in ran.stdout.splitlines()]
        self.assertEqual(len(lines), 1 + len(requests))
        for line in lines[1:]:
            self.assertIn('error', line)
        self.assertEqual(ran.returncode, 0)


class Proof(GpuTest):
    """scripts/gpu_proof.sh, which runs everything that needs a GPU on a machine without a compiler."""

    def proof(self, out, **variables):
        script = pathlib.Path(__file__).resolve().parents[2] / 'scripts/gpu_proof.sh'
        ran = subprocess.run([script, '--out', self.folder / out, '--seconds', '240'], capture_output=True, text=True, check=False, timeout=300,
                             env=os.environ | {'AACO_PROGRAM': program.PROGRAM, 'AACO_PYTHON': '/bin/false'} | variables)
        return ran, json.loads((self.folder / out / 'gpu_proof.json').read_text())

    def test_without_a_gpu_every_part_says_what_is_missing(self):
        ran, document = self.proof('none', AACO_GPU_LIBRARIES=str(STANDS / 'nothing'))
        self.assertEqual(ran.returncode, 77, ran.stdout + ran.stderr)
        parts = {part['part']: part for part in document['parts']}
        self.assertEqual(len(parts), 8)
        for name in ('probe', 'benchmark', 'calibrate', 'validate', 'hooks', 'pytorch'):
            self.assertEqual(parts[name]['state'], 'absent')
            self.assertIn('libcuda.so.1 not found', parts[name]['reason'])

    def test_lost_device_fails_its_parts(self):
        ran, document = self.proof('lost', AACO_GPU_LIBRARIES=str(STANDS / 'cuda'), STANDIN_LOST_AFTER='0')
        self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)
        self.assertIn('failed', {part['state'] for part in document['parts'] if part['part'] == 'benchmark'})


if __name__ == '__main__':
    unittest.main()
