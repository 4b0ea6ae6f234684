"""aaco calibrate and aaco validate on a small table of a device whose times follow a known law (above 400 lines: the table serves all)."""
import csv
import gzip
import json
import math
import os
import pathlib
import random
import re
import signal
import subprocess
import time
import unittest

import program

HEADER = ['device', 'dtype', 'batch', 'm', 'n', 'k', 'latency_us', 'power_w', 'source']


def rows(seed=1):
    """An H100 that reaches 70 % of its peak and bandwidth, with 4 us for a launch and 3 % of noise."""
    noise = random.Random(seed)
    for n in (128, 256, 512, 1024, 2048, 4096):
        for k in (128, 256, 512, 1024, 2048, 4096):
            for m in (1, 16, 128, 1024):
                flops, moved = 2 * m * n * k, 2 * (m * n + m * k + n * k)
                seconds = (max(flops / 0.7e15, moved / 2.3e12) + 4e-6) * math.exp(noise.gauss(0, 0.03))
                watts = 150 + (flops * 0.4e-12 + moved * 30e-12) / seconds
                yield ['H100-SXM-80GB', 'bfloat16', 1, m, n, k, f'{seconds * 1e6:.4f}', f'{watts:.2f}', 'made']


class Calibrate(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.table = cls.folder / 'gemm.csv.gz'
        with gzip.open(cls.table, 'wt', newline='') as file:
            csv.writer(file, lineterminator='\n').writerows([HEADER, *rows()])

    def with_registry(self, *arguments):
        outcome = self.aaco(*arguments, AACO_REGISTRY=str(self.folder / self.id()))
        if outcome.code == 3 and 'without XGBoost' in outcome.errors:
            self.skipTest('skipped, this program was built without XGBoost')
        return outcome

    def registry_files(self):
        return sorted(path.name for path in (self.folder / self.id()).rglob('*') if path.is_file())

    def refused_table(self, text, *words):
        (self.folder / 'bad.csv').write_bytes(text if isinstance(text, bytes) else text.encode())
        for verb in (['calibrate'], ['validate', '--split', 'site']):
            self.refused(self.with_registry(*verb, '--hardware', 'h100', '--measurements', 'bad.csv'), 3, *words)
        self.assertEqual(self.registry_files(), [])

    def test_calibrated_then_validated(self):
        fitted = self.with_registry('calibrate', '--hardware', 'h100', '--measurements', self.table, '--json')
        self.assertEqual(fitted.code, 0, fitted.errors)
        document = fitted.json()
        self.assertEqual(document['latency'][0]['quality']['rows'], 144)
        self.assertAlmostEqual(document['energy']['gemm bf16']['static_watts'] / 150, 1, delta=0.2)
        self.assertEqual(self.registry_files(), [document['device'] + '.calibration'])
        judged = self.with_registry('validate', '--hardware', 'h100', '--measurements', self.table, '--json').json()
        self.assertEqual((judged['level'], judged['count'], judged['without_estimate']), ('CALIBRATED', 144, 0))
        self.assertLess(judged['mean_ape'], 0.1)
        self.assertIn('gemm bf16', judged['classes'])

    def test_held_sites_with_intervals_and_baselines(self):
        judged = self.with_registry('validate', '--hardware', 'h100', '--measurements', self.table, '--split', 'site', '--folds', 3,
                                    '--residuals', 'residuals.csv', '--json').json()
        self.assertEqual((judged['count'], judged['sites']), (144, 36))
        low, high = judged['ci95']['mean_ape']
        self.assertLessEqual(low, judged['mean_ape'])
        self.assertGreaterEqual(high, judged['mean_ape'])
        self.assertLess(judged['mean_ape'], judged['baselines']['spec_roofline']['mean_ape'])
        self.assertGreater(judged['coverage90'], 0.7)
        self.assertLess(judged['energy']['mean_ape'], 0.2)
        self.assertEqual(len((self.folder / 'residuals.csv').read_text().splitlines()), 145)
        self.assertEqual(self.registry_files(), [])

    def test_similar_devices_are_used(self):
        self.with_registry('calibrate', '--hardware', 'h100', '--measurements', self.table)
        other = self.folder / 'h200.csv'
        other.write_text('\n'.join(','.join(map(str, line)) for line in [HEADER, *rows(2)]).replace('H100-SXM-80GB', 'H200-SXM-141GB'))
        judged = self.with_registry('validate', '--hardware', 'h200', '--measurements', other, '--level', 'interpolated',
                                    '--calibration-from', 'h100', '--json').json()
        self.assertEqual((judged['level'], judged['levels']), ('INTERPOLATED', {'INTERPOLATED': 144}))

    def test_a_few_rows_with_power_are_too_few_for_energy(self):
        lines = gzip.decompress(self.table.read_bytes()).decode().splitlines()
        (self.folder / 'power.csv').write_text('\n'.join([lines[0], *(re.sub(r',[0-9.]+,made$', ',,made', line) if i > 1 else line for i, line in enumerate(lines[1:]))]) + '\n')
        fitted = self.with_registry('calibrate', '--hardware', 'h100', '--measurements', 'power.csv', '--json').json()
        self.assertEqual((fitted['latency'][0]['quality']['rows'], fitted['energy']), (144, {}))
        self.assertIn('gemm bf16 (2 rows with power_w)', ' '.join(fitted['notes']))
        judged = self.with_registry('validate', '--hardware', 'h100', '--measurements', 'power.csv', '--split', 'site', '--folds', 2, '--json').json()
        self.assertEqual((judged['count'], judged['energy']['without_estimate']), (144, 2))

    def test_a_board_of_two_devices_is_measured_on_one(self):
        """Rows of an MI250X are of one die, as its runtime shows it: the same times as an MI210 of its own."""
        text = '\n'.join(','.join(map(str, line)) for line in [HEADER, *rows()])
        judged = []
        for device in ('MI210', 'MI250X'):
            (self.folder / 'die.csv').write_text(text.replace('H100-SXM-80GB', device))
            judged.append(self.with_registry('validate', '--hardware', device, '--measurements', 'die.csv', '--level', 'theoretical', '--json').json())
        self.assertEqual(judged[1]['device'], 'amd_instinct_mi250x_128gb@one_die')
        self.assertAlmostEqual(judged[0]['median_ape'], judged[1]['median_ape'], delta=0.05)

    def test_one_signal_stops_calibration(self):
        self.write('many.csv', [line for seed in range(40) for line in rows(seed)])
        for number in (signal.SIGINT, signal.SIGTERM):
            running = subprocess.Popen([program.PROGRAM, 'validate', '--hardware', 'h100', '--measurements', self.folder / 'many.csv', '--split', 'site', '--folds', '36'],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(1)
            running.send_signal(number)
            self.assertEqual(running.wait(timeout=5), -number)

    def write(self, name, lines): (self.folder / name).write_text('\n'.join(','.join(map(str, line)) for line in [HEADER, *lines]) + '\n')

    def test_single_site_is_untested(self):
        self.write('one.csv', [line for line in rows() if line[4] == 128 and line[5] == 128])
        arguments = ('calibrate', '--hardware', 'h100', '--measurements', 'one.csv')
        self.assertEqual(self.with_registry(*arguments, '--json').json()['latency'][0]['quality'], {'rows': 4, 'sites': 1})
        program_text = self.with_registry(*arguments).output
        self.assertIn('untested', program_text)
        self.assertNotIn('Largest errors on held-out sites', program_text)
        self.assertIn('untested', self.with_registry('calibrate', 'show', 'h100').output)
        # Of a kind whose classes are finer than its fits, too: prompts and single tokens are fitted together.
        (self.folder / 'heads.csv').write_text('device,phase,dtype,kv_dtype,batch,isl,step,heads,kv_heads,head_dim,latency_us\n' + ''.join(
            f'h100,prefill,bf16,bf16,1,{tokens},0,32,8,128,{50 + tokens * tokens / 4e4:.3f}\n' for tokens in range(1024, 9000, 1024)))
        program_text = self.with_registry('calibrate', '--hardware', 'h100', '--measurements', 'heads.csv').output
        self.assertIn('1 sites; not validated', program_text)
        self.assertNotIn('Largest errors on held-out sites', program_text)

    def test_no_more_folds_than_sites(self):
        self.write('few.csv', few := [line for line in rows() if line[4] == 128 and line[5] <= 512])
        arguments = ('validate', '--hardware', 'h100', '--measurements', 'few.csv', '--split', 'site', '--json')
        self.assertEqual(*(self.with_registry(*arguments, '--folds', folds).json() for folds in (1000000, 3)))
        self.write('few.csv', few[:4])
        self.refused(self.with_registry(*arguments), 3, 'one site')

    def test_the_headline_names_the_levels_of_the_estimates(self):
        self.write('range.csv', rows())
        arguments = ('validate', '--hardware', 'h100', '--measurements', 'range.csv', '--split', 'site', '--folds', 3)
        levels = self.with_registry(*arguments, '--json').json()['levels']
        self.assertGreater(len(levels), 1)  # the largest shapes are beyond the range of the other folds
        names = ' and '.join(f'{name} ({count})' for name, count in levels.items())
        self.assertTrue(self.with_registry(*arguments).output.startswith(f'{names} estimates for '), names)

    def test_no_calibrated_estimate_without_a_calibration(self):
        judged = self.with_registry('validate', '--hardware', 'b200', '--measurements', self.renamed('B200'), '--json').json()
        self.assertEqual((judged['count'], judged['without_estimate']), (0, 144))
        self.assertNotIn('mean_ape', judged)
        self.assertIn('no calibration for nvidia_b200', ' '.join(judged['notes']))

    def renamed(self, device):
        path = self.folder / f'{device}.csv'
        path.write_text('\n'.join(','.join(map(str, line)) for line in [HEADER, *rows()]).replace('H100-SXM-80GB', device))
        return path

    def test_too_fast_rows_are_skipped_and_reported(self):
        """A product of 1.1 PFLOP in a microsecond: of 145 rows one is no measurement, and nothing else changes."""
        lines = gzip.decompress(self.table.read_bytes()).decode().splitlines()
        columns = dict(device='H100-SXM-80GB', dtype='bfloat16', batch=1, m=8192, n=8192, k=8192, latency_us=1, power_w=300)
        (self.folder / 'fast.csv').write_text('\n'.join([*lines, ','.join(str(columns.get(name, '')) for name in lines[0].split(','))]) + '\n')
        arguments = ['--hardware', 'h100', '--split', 'site', '--folds', 3, '--json']
        clean = self.with_registry('validate', *arguments, '--measurements', self.table).json()
        self.assertEqual(clean['rejected'], 0)
        self.assertNotIn('with_rejected', clean)
        judged = self.with_registry('validate', *arguments, '--measurements', 'fast.csv', '--residuals', 'fast_residuals.csv').json()
        self.assertEqual((judged['count'], judged['rejected'], judged['with_rejected']['count']), (144, 1, 145))
        self.assertEqual(judged['energy']['count'], 144)
        self.assertLess(judged['mean_ape'], 0.1)
        self.assertGreater(judged['with_rejected']['mean_ape'], 1)
        self.assertIn('fast.csv:146', ' '.join(judged['notes']))
        self.assertTrue((self.folder / 'fast_residuals.csv').read_text().splitlines()[-1].endswith(',1'))
        fitted = self.with_registry('calibrate', '--hardware', 'h100', '--measurements', 'fast.csv', '--json').json()
        self.assertEqual((fitted['rejected'], fitted['latency'][0]['quality']['rows']), (1, 144))
        self.assertIn('fast.csv:146', ' '.join(fitted['notes']))

    def test_types_without_a_peak_are_skipped_and_reported(self):
        lines = gzip.decompress(self.table.read_bytes()).decode().splitlines()
        (self.folder / 'mixed.csv').write_text('\n'.join([*lines, 'H100-SXM-80GB,int4,1,64,64,64,10,,x', 'H100-SXM-80GB,int4,1,64,128,64,10,,x']) + '\n')
        fitted = self.with_registry('calibrate', '--hardware', 'h100', '--measurements', 'mixed.csv', '--json').json()
        self.assertEqual((fitted['without_peak'], [model['type'] for model in fitted['latency']]), (2, ['bf16']))
        self.assertIn('gemm int4 (2 rows); rows skipped, first: mixed.csv:146', ' '.join(fitted['notes']))
        judged = self.with_registry('validate', '--hardware', 'h100', '--measurements', 'mixed.csv', '--split', 'site', '--folds', 2, '--json').json()
        self.assertEqual((judged['count'], judged['without_estimate']), (144, 2))
        self.assertIn('gemm int4', ' '.join(judged['notes']))

    def test_only_types_without_a_peak(self):
        self.refused_table('device,dtype,m,n,k,latency_us\nh100,int4,64,64,64,10\nh100,int4,64,128,64,10\n', 'bad.csv:', 'int4')

    def test_both_baselines_for_a_held_out_device(self):
        text = '\n'.join(','.join(map(str, line)) for line in rows())
        (self.folder / 'two.csv').write_text('\n'.join([','.join(HEADER), text, text.replace('H100-SXM-80GB', 'H200')]) + '\n')
        judged = self.with_registry('validate', '--hardware', 'h200', '--measurements', 'two.csv', '--split', 'device', '--json').json()
        self.assertEqual(judged['baselines']['one_factor']['count'], 144)
        self.assertIn('gemm bf16', judged['baselines']['one_factor']['classes'])

    def test_residuals_of_a_table_whose_name_has_a_comma(self):
        (self.folder / 'a, b.csv.gz').write_bytes(self.table.read_bytes())
        program = self.with_registry('validate', '--hardware', 'h100', '--measurements', 'a, b.csv.gz', '--level', 'theoretical', '--residuals', 'out.csv')
        self.assertEqual(program.code, 0, program.errors)
        with open(self.folder / 'out.csv') as file:
            kept = list(csv.DictReader(file))
        self.assertEqual((len(kept), kept[0]['where'], kept[0]['rejected']), (144, 'a, b.csv.gz:2', '0'))
        self.refused(self.with_registry('validate', '--hardware', 'h100', '--measurements', 'a, b.csv.gz', '--residuals', 'none/out.csv'), 3, 'none')

    def test_only_impossible_rows(self):
        self.refused_table('device,dtype,m,n,k,latency_us\nh100,bf16,8192,8192,8192,1\nh100,bf16,8192,4096,8192,1\n', 'bad.csv:2', 'faster')

    def test_convolutions_without_output_are_skipped_and_counted(self):
        head = 'device,dtype,layout,n,c,h,w,k,r,s,pad,stride,dilation,groups,latency_us'
        lines = [f'MI100,FP32,NCHW,{n},{c},14,14,{k},3,3,1x1,1x1,1x1,1,{n * c * k / 1e4}' for n in (1, 8, 64) for c in (64, 128, 256) for k in (64, 256)]
        (self.folder / 'conv.csv').write_text('\n'.join([head, *lines, 'MI100,FP32,NCHW,128,256,1,1,1024,7,7,0x0,1x1,1x1,1,285.76']) + '\n')
        judged = self.with_registry('validate', '--hardware', 'MI100', '--measurements', 'conv.csv', '--level', 'theoretical', '--json').json()
        self.assertEqual(judged['count'], 18)
        self.assertIn('conv.csv:20', judged['notes'][0])

    E2E = 'device,model,seqlen,batch,mode,option,latency_ms'

    def transformers(self):
        """Models whose time is four times their width times their batch, in nearly everything."""
        lines = [self.E2E]
        for model, layers, hidden in (('bert', 12, 768), ('bert_large', 24, 1024), ('gpt2', 12, 768), ('gpt2_med', 24, 1024), ('gpt2_large', 36, 1280), ('opt_13', 24, 2048)):
            for batch in (1, 4, 16):
                lines.append(f'MI210,{model},512,{batch},inf,,{batch * 512 * 24 * layers * hidden * hidden / 24e9:.4f}')
        (self.folder / 'e2e.csv').write_text('\n'.join(lines) + '\n')
        return self.folder / 'e2e.csv'

    def test_whole_models_held_out(self):
        judged = self.with_registry('validate', '--hardware', 'mi210', '--measurements', self.transformers(), '--split', 'model', '--json').json()
        self.assertEqual((judged['level'], judged['count'], judged['sites'], judged['without_estimate']), ('CALIBRATED', 18, 6, 0))
        self.assertIn('inference fp32', judged['classes'])
        low, high = judged['ci95']['mean_ape']
        self.assertTrue(low <= judged['mean_ape'] <= high)
        self.assertLess(judged['mean_ape'], 0.3)
        self.assertLess(judged['mean_ape'], judged['baselines']['spec_roofline']['mean_ape'])
        self.assertIn('one_factor', judged['baselines'])

    def test_too_fast_models_are_skipped_and_reported(self):
        text = self.transformers().read_text()
        (self.folder / 'fast_models.csv').write_text(text + 'MI210,bert,512,8,inf,,0.001\n')
        arguments = ('validate', '--hardware', 'mi210', '--split', 'model', '--json', '--measurements')
        clean, fast = (self.with_registry(*arguments, name).json() for name in ('e2e.csv', 'fast_models.csv'))
        self.assertEqual((fast['count'], fast['mean_ape']), (clean['count'], clean['mean_ape']))
        self.assertIn('fast_models.csv:20', ' '.join(fast['notes']))

    def test_whole_models_held_out_in_folds(self):
        arguments = ('validate', '--hardware', 'mi210', '--measurements', self.transformers(), '--split', 'model', '--json')
        held = lambda *more: next(note.split('cross-validated, holding out ')[1].split('; fitted')[0] for note in self.with_registry(*arguments, *more).json()['notes']
                                  if 'cross-validated, holding out' in note)
        self.assertEqual(held('--folds', 3).count(';'), 2, 'three folds of two models')
        self.assertEqual(held('--folds', 6), held(), 'as many folds as models: each by itself')
        self.assertEqual(held('--folds', 3, '--seed', 7), held('--folds', 3, '--seed', 7))
        alone, two = (self.with_registry(*arguments, *more).json() for more in ((), ('--folds', 2)))
        self.assertEqual(two['count'], 18)
        self.assertNotEqual(alone['mean_ape'], two['mean_ape'], 'fits without three models differ from fits without one')
        for value in ('1', '0', '-1', 'x', '2.5', ''):
            self.refused(self.with_registry(*arguments, '--folds', value), 2, '--folds')
        for value in ('-1', 'x', '1.5', '', '99999999999999999999'):
            for verb in ('validate', 'calibrate'):
                self.refused(self.with_registry(verb, *arguments[1:5], '--seed', value), 2, '--seed')
        device = self.with_registry('validate', '--hardware', 'h100', '--measurements', self.table, '--folds', 3, '--level', 'theoretical', '--json').json()
        self.assertTrue(any('--folds' in note for note in device['notes']))

    def test_whole_models_from_specifications_only(self):
        judged = self.with_registry('validate', '--hardware', 'mi210', '--measurements', self.transformers(), '--level', 'theoretical', '--json').json()
        self.assertEqual((judged['level'], judged['levels']), ('THEORETICAL', {'THEORETICAL': judged['count']}))
        self.assertEqual(judged['without_estimate'], 0)
        for figure in ('mean_ape', 'median_ape', 'p90_ape', 'bias', 'coverage90'):
            self.assertIn(figure, judged)
        self.assertGreater(judged['bias'], judged['baselines']['spec_roofline']['bias'], 'nothing is estimated to reach its roofline')

    def test_whole_models_from_calibrations_of_similar_devices(self):
        """Of the relatives that are named, never its own; of another maker where there is no other, with a wider bound."""
        text, table, widths = self.transformers().read_text(), self.folder / 'lent.csv', {}
        for lender in ('MI100', 'V100', 'i7-12700K'):
            table.write_text(text.replace('MI210', lender))
            self.assertEqual(self.with_registry('calibrate', '--hardware', lender, '--measurements', table).code, 0)
        self.with_registry('calibrate', '--hardware', 'mi210', '--measurements', self.transformers())
        for lenders in ('mi100', 'mi100,v100', 'v100'):
            judged = self.with_registry('validate', '--hardware', 'mi210', '--measurements', self.transformers(), '--level', 'interpolated',
                                        '--calibration-from', lenders, '--residuals', 'lent_residuals.csv', '--json').json()
            self.assertEqual((judged['level'], judged['levels'], judged['without_estimate']), ('INTERPOLATED', {'INTERPOLATED': 18}, 0))
            with open(self.folder / 'lent_residuals.csv') as file:
                first = next(csv.DictReader(file))
            widths[lenders] = float(first['upper_us']) / float(first['lower_us'])
        self.assertEqual(widths['mi100'], widths['mi100,v100'], 'the nearest lends')
        self.assertGreater(widths['v100'], widths['mi100'])
        for lenders in ('mi210', 'i7-12700K', 'h200'):
            self.refused(self.with_registry('validate', '--hardware', 'mi210', '--measurements', self.transformers(), '--level', 'interpolated',
                                            '--calibration-from', lenders), 3, 'no calibration available', 'aaco calibrate')

    def test_whole_models_from_similar_devices_in_the_files(self):
        arguments = ('validate', '--hardware', 'mi210', '--measurements', self.transformers())
        self.refused(self.with_registry(*arguments, '--level', 'interpolated'), 3, '--split device')
        self.refused(self.with_registry(*arguments, '--split', 'device'), 3, 'another gpu of the same vendor', '--level theoretical')
        relatives = self.folder / 'relatives.csv'
        text = self.transformers().read_text()
        relatives.write_text(text + ''.join(line.replace('MI210', 'MI100') + '\n' for line in text.splitlines()[1:]))
        judged = self.with_registry('validate', '--hardware', 'mi210', '--measurements', relatives, '--split', 'device', '--json').json()
        self.assertEqual(judged['levels'], {'INTERPOLATED': judged['count']})

    def test_whole_models_calibrated_then_validated(self):
        fitted = self.with_registry('calibrate', '--hardware', 'mi210', '--measurements', self.transformers(), '--json').json()
        self.assertEqual(fitted['models']['transformer fp32']['quality']['models'], 6)
        judged = self.with_registry('validate', '--hardware', 'mi210', '--measurements', self.transformers(), '--json').json()
        self.assertEqual((judged['level'], judged['count']), ('CALIBRATED', 18))
        self.assertLess(judged['mean_ape'], 0.3)

    def test_models_from_similar_devices(self):
        text = self.transformers().read_text()
        (self.folder / 'two.csv').write_text(text + text.replace('MI210', 'MI100').split('\n', 1)[1])
        judged = self.with_registry('validate', '--hardware', 'mi100', '--measurements', 'two.csv', '--split', 'device', '--json').json()
        self.assertEqual((judged['level'], judged['levels']), ('INTERPOLATED', {'INTERPOLATED': 18}))

    def test_unknown_models_are_counted(self):
        text = self.transformers().read_text() + 'MI210,never_heard_of,512,1,inf,,5\nMI210,bert,512,2,inf,tp4,5\n'
        (self.folder / 'more.csv').write_text(text)
        judged = self.with_registry('validate', '--hardware', 'mi210', '--measurements', 'more.csv', '--split', 'model', '--json').json()
        self.assertEqual((judged['count'], judged['without_estimate']), (18, 2))
        self.assertIn("'never_heard_of'", ' '.join(judged['notes']))
        self.assertIn("'tp4'", ' '.join(judged['notes']))

    def test_peak_memory_held_out_by_family(self):
        head = 'device,model,precision,batch,profile,flops,bytes,latency_ms,memory_bytes,loaded_bytes,runtime,source'
        weights = {'resnet18': 47e6, 'resnet50': 102e6, 'squeezenet1.0': 5e6, 'squeezenet1.1': 5e6, 'densenet121': 32e6, 'mobilenetv2': 14e6}
        lines = [f'i7-12700k,{model},FP32,{batch},,1e9,1e8,{batch * 5},{3.5 * size + 8e6 + batch * 1e7:.0f},,onnxruntime,made'
                 for model, size in weights.items() for batch in (1, 4)]
        (self.folder / 'runs.csv').write_text('\n'.join([head, *lines]) + '\n')
        judged = self.with_registry('validate', '--hardware', 'i7-12700k', '--measurements', 'runs.csv', '--split', 'model', '--json').json()
        self.assertEqual((judged['count'], judged['sites'], judged['memory']['count']), (12, 4, 12))
        self.assertLess(judged['memory']['mean_ape'], 0.35)

    def test_models_of_a_two_core_machine(self):
        """78 runs of the zoo on ONNX Runtime 1.30 by `aaco benchmark --suite all`, twice, on the machine AACO was written on; limits
        are what its estimates are held to."""
        fixtures = pathlib.Path(__file__).resolve().parents[1] / 'fixtures' / 'whole_models'
        hardware = self.folder / self.id() / 'hardware'
        hardware.mkdir(parents=True)
        (hardware / 'intel_xeon_2c_24gb.yaml').write_text((fixtures / 'intel_xeon_2c_24gb.yaml').read_text())
        judged = self.with_registry('validate', '--hardware', 'intel_xeon_2c_24gb', '--measurements', fixtures / 'models_float32.csv', '--split', 'model',
                                    '--json').json()
        self.assertEqual((judged['count'], judged['sites'], judged['without_estimate']), (39, 13, 0))
        self.assertLess(judged['mean_ape'], 0.1)
        self.assertLess(judged['p90_ape'], 0.2)
        self.assertGreater(judged['coverage90'], 0.87)
        self.assertLess(judged['memory']['mean_ape'], 0.1)
        self.with_registry('calibrate', '--hardware', 'intel_xeon_2c_24gb', '--measurements', fixtures / 'models_float32.csv')
        estimate = self.with_registry('analyze', 'zoo:resnet50', '--batch', 1, '--hardware', 'intel_xeon_2c_24gb', '--json').json()['estimate']
        latency = estimate['latency']
        self.assertEqual(latency['confidence'], 'CALIBRATED')
        self.assertTrue(latency['lower'] < latency['value'] < latency['upper'])
        self.assertAlmostEqual(latency['value'] / 29.8e6, 1, delta=0.15)
        self.assertIn('whole models', ' '.join(estimate['notes']))

    def test_negative_peak(self):
        self.refused_table('device,model,precision,batch,flops,bytes,latency_ms,memory_bytes\nh100,resnet18,FP32,1,1,1,5,-3\n', 'bad.csv:2', 'memory_bytes')

    def test_split_model_needs_models(self):
        self.refused(self.with_registry('validate', '--hardware', 'h100', '--measurements', self.table, '--split', 'model'), 3, 'no rows for')

    def test_split_site_needs_kernels(self):
        self.refused(self.with_registry('validate', '--hardware', 'mi210', '--measurements', self.transformers(), '--split', 'site'), 3, 'no rows for')

    def test_model_rows_with_a_wrong_batch(self):
        self.refused_table(self.E2E + '\nh100,bert,512,0,inf,,5\n', 'bad.csv:2', 'batch')

    def test_real_whole_models_held_out(self):
        """Limits above what is seen (docs/results.md)."""
        root = pathlib.Path(__file__).resolve().parents[2]
        folder = pathlib.Path(os.environ.get('AACO_REAL_DATA', root.parent / 'shared' / 'data')) / 'estimation'
        if not folder.is_dir():
            self.skipTest(f'skipped, no real data at {folder}')
        for device, limit in (('mi100', 0.035), ('mi210', 0.05)):
            judged = self.with_registry('validate', '--hardware', device, '--measurements', folder / 'e2e.csv.gz', '--split', 'model', '--json').json()
            self.assertLess(judged['classes']['inference fp32']['mean_ape'], limit, device)
        judged = self.with_registry('validate', '--hardware', 'i7-12700k', '--measurements', folder / 'models.csv.gz', '--split', 'model', '--json').json()
        self.assertLess(judged['classes']['cnn fp32']['mean_ape'], 0.13)

    def test_missing_column(self): self.refused_table('device,dtype,m,n,latency_us\nh100,bf16,1,2,3\n', 'bad.csv:1', 'missing columns', 'k')
    def test_missing_columns_that_identify_the_kind(self):
        for text, column in (('device,dtype,n,k,latency_us\nh100,bf16,2,3,5\n', 'missing columns for a table of gemm: m'),
                             ('device,dtype,n,c,h,w,k,r,s,pad,dilation,groups,latency_us\nh100,fp16,1,1,1,1,1,1,1,0x0,1x1,1,5\n', 'missing columns for a table of conv2d: stride'),
                             ('device,model,batch,mode,latency_ms\nh100,bert,1,inf,5\n', 'missing columns for a table of e2e: seqlen'),
                             ('device,op,cols,latency_us\nh100,add,1,5\n', 'missing columns for a table of vector: rows')):
            self.refused_table(text, 'bad.csv:1', column)

    def test_unknown_kind(self): self.refused_table('a,b\n1,2\n', 'bad.csv:1', 'columns')
    def test_empty(self): self.refused_table('', 'bad.csv')
    def test_non_utf8_text(self):
        self.refused_table('device,dtype,m,n,k,latency_us\nh100,bf16,1,2,3,5\n'.encode('utf-16'), 'bad.csv', 'UTF-16')
        self.refused_table('device,dtype,m,n,k,latency_us\rh100,bf16,1,2,3,5\r', 'bad.csv', '(CR)')
    def test_zero_latency(self): self.refused_table('device,dtype,m,n,k,latency_us\nh100,bf16,1,2,3,0\n', 'bad.csv:2', 'latency_us')
    def test_negative_latency(self): self.refused_table('device,dtype,m,n,k,latency_us\nh100,bf16,1,2,3,5\nh100,bf16,1,2,3,-1\n', 'bad.csv:3')
    def test_impossible_latency(self):
        for time in ('1e300', '1e-30', '4e9'):
            self.refused_table(f'device,dtype,m,n,k,latency_us\nh100,bf16,1,2,3,5\nh100,bf16,1,2,3,{time}\n', 'bad.csv:3', time, 'expected 1 ')
        self.refused_table(f'{self.E2E}\nh100,bert,512,1,inf,,1e9\n', 'bad.csv:2', '1e9', 'expected 1 ')
        self.refused_table('device,dtype,m,n,k,latency_us,power_w\nh100,bf16,1,2,3,5,1e300\n', 'bad.csv:2', 'power_w', 'expected 1 ')
        self.refused_table('device,dtype,m,n,k,latency_us,power_w\nh100,bf16,1,2,3,5,inf\n', 'bad.csv:2', 'power_w')
    def test_text_for_latency(self): self.refused_table('device,dtype,m,n,k,latency_us\nh100,bf16,1,2,3,fast\n', 'bad.csv:2', 'fast')
    def test_unknown_device(self): self.refused_table('device,dtype,m,n,k,latency_us\nq9000,bf16,1,2,3,5\n', 'bad.csv:2', 'q9000')
    def test_unknown_devices_are_skipped_and_reported(self):
        lines = [','.join(map(str, line)) for line in [HEADER, *rows()]]
        (self.folder / 'mixed.csv').write_text('\n'.join(lines + [lines[1].replace('H100-SXM-80GB', 'q9000')] * 3) + '\n')
        judged = [self.with_registry('validate', '--hardware', 'h100', '--measurements', table, '--level', 'theoretical', '--json').json() for table in (self.table, 'mixed.csv')]
        self.assertEqual(judged[0]['count'], judged[1]['count'])
        self.assertTrue(any("'q9000' (3 rows, first: mixed.csv:" in note for note in judged[1]['notes']), judged[1]['notes'])
        self.refused_table('device,dtype,m,n,k,latency_us\ngfx942,bf16,1,2,3,5\n', 'bad.csv:2', 'several devices')
        self.refused_table('device,dtype,m,n,k,latency_us\n,bf16,1,2,3,5\n', 'bad.csv:2')
    def test_power_profile_is_a_device_state(self):
        head = 'device,model,precision,batch,profile,flops,bytes,latency_ms'
        row = 'jetson_orin_nano,resnet18,FP16,1,{},3628899328,55202800,{}'
        (self.folder / 'states.csv').write_text('\n'.join([head, row.format('7W', 40), row.format('MAXN', 20), row.format('', 21)]) + '\n')
        for device, count in (('jetson_orin_nano_7w', 1), ('jetson_orin_nano', 2)):
            judged = self.with_registry('validate', '--hardware', device, '--measurements', 'states.csv', '--level', 'theoretical', '--json', '--residuals', 'states_out.csv').json()
            self.assertEqual(len((self.folder / 'states_out.csv').read_text().splitlines()) - 1, count, judged)
    def test_unknown_type(self): self.refused_table('device,dtype,m,n,k,latency_us\nh100,wide,1,2,3,5\n', 'bad.csv:2', 'wide')
    def test_negative_dimension(self): self.refused_table('device,dtype,m,n,k,latency_us\nh100,bf16,-1,2,3,5\n', 'bad.csv:2', '-1')
    def test_short_row(self): self.refused_table('device,dtype,m,n,k,latency_us\nh100,bf16,1,2\n', 'bad.csv:2', 'fields')
    def test_other_device(self): self.refused_table('device,dtype,m,n,k,latency_us\na100,bf16,1,2,3,5\n', 'no measure')
    def test_no_file(self): self.refused(self.with_registry('calibrate', '--hardware', 'h100', '--measurements', 'none.csv'), 3, 'none.csv')

    def test_truncated_file(self):
        (self.folder / 'cut.csv.gz').write_bytes(self.table.read_bytes()[:800])
        self.refused(self.with_registry('calibrate', '--hardware', 'h100', '--measurements', 'cut.csv.gz'), 3, 'cut.csv.gz')
        self.assertEqual(self.registry_files(), [])

    def calibration(self):
        self.with_registry('calibrate', '--hardware', 'h100', '--measurements', self.table)
        return self.folder / self.id() / 'calibration' / 'nvidia_h100_sxm5_80gb.calibration'

    def refused_everywhere(self, *words):
        """Where it is the device's own calibration, and where it is one that lends."""
        for arguments in (('validate', '--hardware', 'h100', '--measurements', self.table), ('analyze', 'zoo:llama-tiny', '--hardware', 'h100', '--dtype', 'bf16'),
                          ('analyze', 'zoo:llama-tiny', '--hardware', 'h200', '--dtype', 'bf16')):
            self.refused(self.with_registry(*arguments), 3, 'nvidia_h100_sxm5_80gb', 'aaco calibrate', *words)

    def test_calibration_of_an_earlier_release(self):
        folder = self.folder / self.id() / 'calibration'
        folder.mkdir(parents=True)
        (folder / 'nvidia_h100_sxm5_80gb.json').write_text(json.dumps({'schema_version': 1}))
        self.refused_everywhere('earlier release')
        self.calibration()
        self.assertEqual(self.registry_files(), ['nvidia_h100_sxm5_80gb.calibration'], 'what is fitted anew replaces it')

    def test_listed_shown_and_removed(self):
        self.assertIn('no calibrations', self.with_registry('calibrate', 'ls').output)
        self.assertEqual(self.with_registry('calibrate', 'ls', '--json').json()['calibrations'], [])
        path = self.calibration()
        listed = self.with_registry('calibrate', 'ls', '--json').json()['calibrations']
        self.assertEqual([(one['device'], one['own'], one['bytes']) for one in listed], [('nvidia_h100_sxm5_80gb', True, path.stat().st_size)])
        self.assertIn('144 rows', self.with_registry('calibrate', 'ls').output)
        shown = self.with_registry('calibrate', 'show', 'h100', '--json').json()
        self.assertEqual(shown['calibration']['latency'][0]['quality']['rows'], 144)
        self.assertIn('gemm.csv.gz sha256:', shown['calibration']['provenance']['measurements'][0])
        self.assertEqual(sum(section['bytes'] for section in shown['sections']) + int(path.read_bytes()[19:30]) + 40, path.stat().st_size)
        text = self.with_registry('calibrate', 'show', 'h100').output
        for words in ('gemm bf16', 'energy of gemm bf16', 'held-out sites', 'gemm.csv.gz sha256:', str(path)):
            self.assertIn(words, text)
        self.assertEqual(self.with_registry('calibrate', 'rm', 'h100').code, 0)
        self.assertEqual(self.registry_files(), [])
        self.refused(self.with_registry('calibrate', 'rm', 'h100'), 3, 'no calibration')
        self.refused(self.with_registry('calibrate', 'show', 'h100'), 3, 'no calibration', 'aaco calibrate --hardware')
        self.refused(self.with_registry('calibrate', 'show', 'q9000'), 3, 'q9000')

    def test_missing_device(self):
        self.refused(self.with_registry('calibrate', '--measurements', self.table), 2, '--hardware')

    def test_truncated_calibration(self):
        path = self.calibration()
        path.write_bytes(path.read_bytes()[:-100])
        self.refused_everywhere('truncated')
        self.assertIn('truncated', self.with_registry('calibrate', 'ls').output)
        self.assertIn('truncated', self.with_registry('calibrate', 'ls', '--json').json()['calibrations'][0]['problem'])

    def test_damaged_section(self):
        path = self.calibration()
        whole = bytearray(path.read_bytes())
        head = json.loads(whole[40:40 + int(whole[19:30])])
        whole[len(whole) - head['data_bytes'] + head['latency'][0]['learnt']['offset'] + 100] ^= 1
        path.write_bytes(whole)
        self.refused_everywhere('checksum')
        self.refused(self.with_registry('calibrate', 'show', 'h100'), 3, 'checksum')
        self.assertEqual(self.with_registry('calibrate', 'rm', 'h100').code, 0, 'what cannot be read can be removed')


if __name__ == '__main__':
    unittest.main()
