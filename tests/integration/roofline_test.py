"""`aaco roofline`: the envelope that many runs reached, beside the data sheet and a calibration."""
import json
import random
import unittest

import program

PEAK, BANDWIDTH = 600e12, 3e12  # that the made-up runs reach; the registry's MI300X has 1307e12 and 5.3e12


def trace(seed, kernels=40, peak=PEAK, bandwidth=BANDWIDTH, device='AMD Instinct MI300X'):
    """A PyTorch trace of products in bfloat16 whose operands do not fit a cache, each in a kernel of its own."""
    source = random.Random(seed)
    events, at = [], 10.0
    for i in range(kernels):
        if i % 2:  # few rows: the weights' traffic
            m, k, n = source.choice((16, 32, 64)), 16384, 8192 * source.choice((3, 4, 6))
        else:
            m, k, n = (4096 * source.choice((3, 4)) for _ in range(3))
        flops, size = 2 * m * k * n, 2 * (m * k + k * n + m * n)
        us = 1e6 * max(flops / peak, size / bandwidth) * (1 + source.expovariate(8))
        events += [
            {'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::mm', 'pid': 1, 'tid': 1, 'ts': at, 'dur': 4,
             'args': {'External id': i, 'Input Dims': [[m, k], [k, n]], 'Input type': ['c10::BFloat16', 'c10::BFloat16']}},
            {'ph': 'X', 'cat': 'cuda_runtime', 'name': 'hipLaunchKernel', 'pid': 1, 'tid': 1, 'ts': at + 1, 'dur': 1, 'args': {'correlation': i + 1}},
            {'ph': 'X', 'cat': 'kernel', 'name': f'Cijk_Ailk_Bljk_BBS_BH_MT{64 + i}x64x8_SE', 'pid': 0, 'tid': 7, 'ts': at + 5, 'dur': round(us, 3),
             'args': {'device': 0, 'stream': 7, 'correlation': i + 1}}]
        at += us + 10
    return {'schemaVersion': 1, 'deviceProperties': [{'id': 0, 'name': device}], 'traceEvents': events}


AGENTS = '''"Node_Id","Logical_Node_Id","Agent_Type","Cu_Count","Name","Product_Name"
0,0,"CPU",0,"AMD EPYC 9654","AMD EPYC 9654"
1,1,"GPU",304,"gfx942","AMD Instinct MI300X"
'''


def counted(folder, seed, kernels=24):
    """rocprofv3's tables of matrix kernels of which operations and bytes were counted."""
    folder.mkdir()
    source = random.Random(seed)
    (folder / 'agent_info.csv').write_text(AGENTS)
    dispatches = ['"Kind","Agent_Id","Queue_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp"']
    counters = ['"Dispatch_Id","Agent_Id","Kernel_Name","Counter_Name","Counter_Value","Start_Timestamp","End_Timestamp"']
    at = 1_000_000
    for i in range(1, kernels + 1):
        name = f'Cijk_Ailk_Bljk_BBS_BH_MT{64 + i}x64x8_SE'
        flops, size = source.uniform(0.5, 2) * 1e12, source.uniform(0.5, 2) * (1e9 if i % 2 else 2e10)
        end = at + round(1e9 * max(flops / PEAK, size / BANDWIDTH) * (1 + source.expovariate(8)))
        dispatches.append(f'"KERNEL_DISPATCH","Agent 1",1,{i},{i},"{name}",{i},{at},{end}')
        for counter, value in (('SQ_INSTS_VALU_MFMA_MOPS_BF16', flops / 512), ('FETCH_SIZE', 0.75 * size / 1024), ('WRITE_SIZE', 0.25 * size / 1024)):
            counters.append(f'{i},"Agent 1","{name}","{counter}",{value:.3f},{at},{end}')
        at = end + 5000
    (folder / 'kernel_trace.csv').write_text('\n'.join(dispatches) + '\n')
    (folder / 'counter_collection.csv').write_text('\n'.join(counters) + '\n')
    return folder


class Roofline(program.ProgramTest):
    def lake_of(self, name, count, **options):
        lake = self.folder / name
        for seed in range(count):
            path = self.folder / f'{name}{seed}.json'
            path.write_text(json.dumps(trace(seed, **options)))
            self.assertEqual(self.aaco('import', path, '--no-report', '--tag', f'run{seed}', AACO_SESSIONS=str(lake)).code, 0)
        return {'AACO_SESSIONS': str(lake), 'AACO_REGISTRY': str(self.folder / 'registry')}

    @staticmethod
    def roofs(answer, device=0):
        return {roof['name']: roof for roof in answer['devices'][device]['roofs']}

    def test_known_roofs_are_listed_with_the_others(self):
        where = self.lake_of('known', 8)
        outcome = self.aaco('roofline', '--json', **where)
        self.assertEqual(outcome.code, 0, outcome.errors)
        answer = outcome.json()
        device = answer['devices'][0]
        self.assertEqual((device['device'], len(device['sessions']), device['point_count'], device['points_from_counters']),
                         ('amd_instinct_mi300x_192gb', 8, 320, 0))
        roofs = self.roofs(answer)
        for name, truth, stated in (('bfloat16', PEAK, 1307.4e12), ('main memory', BANDWIDTH, 5.325e12)):
            roof = roofs[name]
            self.assertAlmostEqual(roof['reached']['value'] / truth, 1, delta=0.05)
            self.assertLessEqual(roof['reached']['ci95']['low'], roof['reached']['value'])
            self.assertGreaterEqual(roof['reached']['ci95']['high'], roof['reached']['value'])
            self.assertAlmostEqual(roof['stated'] / stated, 1, delta=0.01)
            self.assertAlmostEqual(roof['of_stated_ratio'], roof['reached']['value'] / roof['stated'], places=6)
            self.assertNotIn('measured', roof)
            self.assertGreaterEqual(roof['highest'], roof['reached']['value'] * 0.999)
        corners = device['upper_hull']['bfloat16']
        self.assertEqual(corners, sorted(corners, key=lambda corner: corner['flops_per_byte']))
        self.assertAlmostEqual(device['above_ratio'], 0.05, delta=0.03)
        self.assertEqual(outcome.output, self.aaco('roofline', '--json', **where).output, 'the same seed, the same answer')

        text = self.aaco('roofline', **where)
        self.assertEqual(text.code, 0)
        for word in ('8 runs of 8 workloads', 'bfloat16', 'main memory', 'REACHED', '0 from counters'):
            self.assertIn(word, ' '.join(text.output.split()))
        for columns in ('', '70', '120'):  # piped: 100
            for line in self.aaco('roofline', COLUMNS=columns, **where).output.splitlines():
                self.assertLessEqual(len(line), int(columns or 100))

        picture = self.folder / 'envelope.svg'
        self.assertEqual(self.aaco('roofline', '--svg', picture, **where).code, 0)
        self.assertIn('bfloat16, reached', picture.read_text())
        page = self.folder / 'envelope.html'
        self.assertEqual(self.aaco('roofline', '--html', page, **where).code, 0)
        self.assertRegex(page.read_text(), 'The runs reached 4[0-9.]+ % of the stated bfloat16 peak, 5[0-9.]+ % of the stated main memory bandwidth')

        few = self.aaco('roofline', 'tag:run0', 'tag:run1', 'tag:run1', '--json', **where)
        self.assertEqual(few.code, 4)
        answer = few.json()
        self.assertFalse(answer['fitted'])
        self.assertEqual(len(answer['devices'][0]['sessions']), 2, 'a run that is named twice is one run')
        for roof in self.roofs(answer).values():
            self.assertTrue(roof['reason'])
            self.assertNotIn('reached', roof)
        self.assertEqual(self.aaco('roofline', '--last', 5, **where).code, 4)
        self.assertEqual(self.aaco('roofline', '--device', 'mi300x', **where).code, 0)
        self.refused(self.aaco('roofline', '--device', 'h100', **where), 3, 'another device')
        self.refused(self.aaco('roofline', '--where', 'tag=none', **where), 3, 'known FLOPs and bytes')

    def test_calibration_is_shown_with_the_reached_roofs(self):
        where = self.lake_of('calibrated', 6)
        source, rows = random.Random(3), ['device,dtype,batch,m,n,k,latency_us']
        for m in (16, 64, 512, 4096, 8192):
            for n in (4096, 8192, 16384, 28672):
                for k in (4096, 8192, 16384):
                    seconds = max(2 * m * n * k / 700e12, 2 * (m * k + k * n + m * n) / 4e12) * (1 + source.expovariate(20)) + 4e-6
                    rows.append(f'mi300x,bf16,1,{m},{n},{k},{1e6 * seconds:.3f}')
        table = self.folder / 'gemm.csv'
        table.write_text('\n'.join(rows) + '\n')
        fitted = self.aaco('calibrate', '--hardware', 'mi300x', '--measurements', table, **where)
        if fitted.code == 3 and 'unsupported' in fitted.errors:
            self.skipTest('skipped, no XGBoost in this build')
        self.assertEqual(fitted.code, 0, fitted.errors)
        answer = self.aaco('roofline', '--json', **where).json()
        roof = self.roofs(answer)['bfloat16']
        self.assertEqual(roof['measured']['class'], 'gemm bf16')
        self.assertAlmostEqual(roof['measured']['value'] / 700e12, 1, delta=0.05)
        self.assertAlmostEqual(roof['of_measured_ratio'], roof['reached']['value'] / roof['measured']['value'], places=6)
        self.assertIn('calibration of amd_instinct_mi300x_192gb', answer['devices'][0]['calibration'])

        line = self.aaco('report', '--json', **where).json()['roofline']
        bases = {(roof['name'], roof['basis']) for roof in line['roofs']}
        for expected in (('bfloat16', 'stated'), ('bfloat16, measured', 'measured'), ('main memory', 'stated'), ('main memory, measured', 'measured')):
            self.assertIn(expected, bases)
        self.assertTrue(any(roof['kind'] == 'memory' and 'l2' in roof['name'] for roof in line['roofs']), 'caches are roofs')
        self.assertTrue(all(point['work_from'] == 'shapes' for point in line['points']))
        self.assertGreater(line['measured_ratio'], line['reached_ratio'], 'what was measured is below what is stated')
        self.assertIn('of the ceilings measured by the calibration of amd_instinct_mi300x_192gb', line['text'])
        self.assertIn('shapes', line['text'])

        damaged = self.folder / 'registry/calibration/amd_instinct_mi300x_192gb.calibration'
        damaged.write_bytes(damaged.read_bytes()[:100])
        report = self.aaco('report', '--json', **where)
        self.assertEqual(report.code, 0, report.errors)
        self.assertIn('calibration not readable', report.json()['roofline']['text'])

    def test_points_from_counters_are_marked(self):
        where = {'AACO_SESSIONS': str(self.folder / 'counted')}
        for seed in range(7):
            imported = self.aaco('import', counted(self.folder / f'counted{seed}', seed), '--no-report', **where)
            self.assertEqual(imported.code, 0, imported.errors)
        outcome = self.aaco('roofline', '--json', **where)
        self.assertEqual(outcome.code, 0, outcome.errors)
        device = outcome.json()['devices'][0]
        self.assertEqual((device['device'], device['point_count'], device['points_from_counters']), ('amd_instinct_mi300x_192gb', 168, 168))
        roofs = self.roofs(outcome.json())
        self.assertNotIn('cached', roofs, "counters count the memory's side")
        self.assertAlmostEqual(roofs['bfloat16']['reached']['value'] / PEAK, 1, delta=0.05)
        self.assertAlmostEqual(roofs['main memory']['reached']['value'] / BANDWIDTH, 1, delta=0.05)
        line = self.aaco('report', '--json', **where).json()['roofline']
        self.assertEqual({point['work_from'] for point in line['points']}, {'counters'})
        self.assertIn('hardware counters', line['text'])
        rows = self.aaco('report', '--format', 'csv', '--table', 'roofline', **where).output.splitlines()
        self.assertEqual((rows[0].split(',')[3], len(rows), rows[1].split(',')[3]), ('work_from', 25, 'counters'))
        self.assertEqual({roof['type'] for roof in line['roofs'] if roof['kind'] == 'compute'}, {'bfloat16'})
        self.assertIn('hardware counters', self.aaco('report', **where).output.replace('\n', ' ').replace('  ', ' '))

    def test_runs_on_a_cpu(self):
        where = {'AACO_SESSIONS': str(self.folder / 'processor'), 'AACO_REGISTRY': str(self.folder / 'probed')}
        self.assertEqual(self.aaco('hardware', 'probe', '--memory', '32MiB', **where).code, 0)
        if self.run_small('--no-report').code != 0:
            self.skipTest('skipped, no ONNX Runtime on this machine')
        for _ in range(6):
            ran = self.aaco('run', '--model', 'mlp', '--batch', 64, '--warmup', 5, '--iterations', 20, '--profile', '--no-report', **where)
            self.assertEqual(ran.code, 0, ran.errors)
        answer = self.aaco('roofline', '--device', 'this', '--json', **where)
        self.assertIn(answer.code, (0, 4), answer.errors)
        device = answer.json()['devices'][0]
        self.assertEqual((len(device['sessions']), device['workload_count']), (6, 1))
        roof = self.roofs(answer.json())['float32']
        self.assertTrue('reached' in roof or roof['reason'])
        self.assertGreater(roof['stated'], 0)
        line = self.aaco('report', '--json', **where).json()['roofline']
        self.assertTrue(all(point['type'] == 'float32' and point['work_from'] == 'shapes' for point in line['points']))
        self.assertTrue(any(roof['basis'] == 'stated' and roof['kind'] == 'memory' for roof in line['roofs']))
        # Without the profiled pass there are no points.
        self.run_unprofiled(where)

    def run_unprofiled(self, where):
        lake = {'AACO_SESSIONS': str(self.folder / 'unprofiled'), 'AACO_REGISTRY': where['AACO_REGISTRY']}
        self.aaco('run', '--model', 'mlp', '--warmup', 5, '--iterations', 20, '--no-report', **lake)
        self.refused(self.aaco('roofline', **lake), 3, '--profile')

    def test_rejects_invalid_requests(self):
        where = {'AACO_SESSIONS': str(self.folder / 'empty')}
        self.refused(self.aaco('roofline', **where), 3, 'no session')
        self.refused(self.aaco('roofline', 'nowhere', **where), 3, 'nowhere')
        self.refused(self.aaco('roofline', '--where', 'colour=red', **where), 2, 'colour')
        self.refused(self.aaco('roofline', '--where', 'tag', **where), 2, 'NAME=VALUE')
        self.refused(self.aaco('roofline', 'latest', '--where', 'tag=a', **where), 2, '--where')
        self.refused(self.aaco('roofline', '--device', 'no such device', **where), 3, 'no such device')
        for wrong in ('0.2', '1', 'nan', 'much'):
            self.assertEqual(self.aaco('roofline', '--quantile', wrong, **where).code, 2, wrong)


if __name__ == '__main__':
    unittest.main()
