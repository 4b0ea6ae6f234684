"""aaco analyze and compare: predictions in every form, explained, bounded, and what they refuse."""
import csv
import io
import json
import pathlib

import program

ESTIMATES = ('latency', 'memory', 'energy', 'power')


class Analyze(program.ProgramTest):
    def estimate(self, *arguments):
        outcome = self.aaco('analyze', *arguments, '--format', 'json')
        self.assertEqual(outcome.code, 0, outcome.errors)
        return outcome.json()['estimate']

    def test_every_estimate_has_unit_confidence_source_and_bounds(self):
        estimate = self.estimate('resnet50', '--hardware', 'MI300X', '--batch', 8)
        for name in ESTIMATES:
            one = estimate[name]
            self.assertIn(one['confidence'], ('CALIBRATED', 'INTERPOLATED', 'THEORETICAL'))
            self.assertTrue(one['source'] and one['unit'])
            self.assertLessEqual(one['lower'], one['value'])
            self.assertGreaterEqual(one['upper'], one['value'])

    def test_nodes_sum_to_the_total_and_state_reasons(self):
        estimate = self.estimate('resnet50', '--hardware', 'MI300X')
        total = sum(node['latency']['value'] * node['repeats'] for node in estimate['nodes'])
        self.assertAlmostEqual(total, estimate['latency_parts']['device_ns'], delta=total * 1e-6)
        for node in estimate['nodes']:
            self.assertIn(node['why']['limit'], ('compute', 'memory', 'floor'))
            self.assertGreaterEqual(node['latency']['value'], max(node['why']['compute_ns'], node['why']['memory_ns']) * 0.999)
        self.assertAlmostEqual(estimate['flops'] / 2e9, 4.1, delta=0.2)

    def test_fused_nodes_have_zero_time(self):
        for device in ('MI300X', 'epyc 9654'):
            estimate = self.estimate('resnet50', '--hardware', device)
            self.assertGreater(estimate['fused_nodes'], 50, device)
            first = next(node for node in estimate['nodes'] if node['op_type'] == 'Conv')
            self.assertIn('Relu', first['fused'])

    def test_every_output_format(self):
        arguments = ('analyze', 'mlp', '--hardware', 'H100')
        self.assertIn('THEORETICAL', self.aaco(*arguments).output)
        self.assertIn('aaco calibrate --hardware', self.aaco(*arguments).output, 'says how to do better')
        self.assertRegex(self.aaco(*arguments).output, r'NODE +OP +SHAPE +TIME +90 % +LEVEL')
        self.assertIn('# mlp on', self.aaco(*arguments, '--format', 'md').output)
        self.assertIn('</html>', self.aaco(*arguments, '--format', 'html').output)
        rows = list(csv.DictReader(io.StringIO(self.aaco(*arguments, '--format', 'csv').output)))
        self.assertEqual(len(rows), 3, 'three products with their epilogues')
        self.assertGreater(float(rows[0]['latency_ns']), 0)
        file = self.folder / 'out.json'
        self.assertEqual(self.aaco(*arguments, '--json', '-o', file).code, 0)
        self.assertEqual(json.loads(file.read_text())['model'], 'mlp')

    def test_narrower_type_is_faster_and_uses_less_memory(self):
        wide = self.estimate('bert-base', '--hardware', 'MI300X', '--batch', 32)
        half = self.estimate('bert-base', '--hardware', 'MI300X', '--batch', 32, '--dtype', 'fp16')
        self.assertLess(half['latency']['value'], wide['latency']['value'])
        self.assertLess(half['memory']['value'], wide['memory']['value'])

    def test_dimension_option_does_not_consume_the_model(self):
        self.assertEqual(self.aaco('analyze', '--dim', 'batch=8', 'mlp', '--hardware', 'H100', '--json').json()['batch'], 8)

    def test_low_rate_is_not_rounded_to_zero(self):
        outcome = self.aaco('analyze', 'mlp', '--hardware', 'H100', '--host-time', '100s')
        self.assertRegex(outcome.output, r'items/s +0\.00\d')

    def test_power_cap_increases_latency(self):
        free = self.estimate('vgg16', '--hardware', 'MI300X', '--batch', 256)
        held = self.estimate('vgg16', '--hardware', 'MI300X', '--batch', 256, '--power-cap', '350W')
        self.assertGreater(held['latency']['value'], free['latency']['value'])
        self.assertLess(held['power']['value'], 351)
        self.assertLess(held['least_clock_ratio'], 1)

    def test_every_kind_of_device(self):
        for device in ('epyc 9654', 'jetson_orin_agx_15w', 'tpu v5e', 'mi100', 'rx 7900 xtx', 'b200'):
            self.assertGreater(self.estimate('resnet18', '--hardware', device, '--dtype', 'bf16')['latency']['value'], 1e4, device)

    def test_integer_indices_on_a_device_without_fp32(self):
        self.assertGreater(self.estimate('distilbert', '--hardware', 'TPU v5e', '--dtype', 'bf16')['latency']['value'], 0)
        self.refused(self.aaco('analyze', 'distilbert', '--hardware', 'TPU v5e'), 3, 'does not support fp32', '--dtype')

    def test_large_decoder_without_weights(self):
        estimate = self.estimate('llama2-7b', '--hardware', 'H100', '--dtype', 'bf16', '--dim', 'sequence_length=1,past_sequence_length=512')
        self.assertGreater(estimate['weight_bytes'], 1e10)
        self.assertGreater(estimate['latency']['value'], 3e6, 'every weight is read once a token')

    def test_energy_and_rate_per_token(self):
        """Of a decoder the ids that come in; of images nothing is guessed."""
        sizes = ('--dim', 'batch_size=4,sequence_length=1,past_sequence_length=64')
        document = self.aaco('analyze', 'llama-tiny', '--hardware', 'H100', *sizes, '--json').json()
        self.assertEqual((document['batch'], document['batch_counted_by']), (4, "'batch_size'"))
        self.assertEqual(document['tokens'], {'count': 4, 'input': 'input_ids', 'shape': [4, 1], 'vocabulary': 512})
        energy, rates = document['estimate']['energy'], document['rates']
        for part in ('value', 'lower', 'upper'):
            self.assertAlmostEqual(rates['joules_per_token'][part], energy[part] / 4)
            self.assertEqual(rates['joules_per_item'][part], rates['joules_per_token'][part])
        self.assertAlmostEqual(rates['tokens_per_s']['value'], 4 / document['estimate']['latency']['value'] * 1e9)
        self.assertAlmostEqual(rates['tokens_per_s']['lower'], 4 / document['estimate']['latency']['upper'] * 1e9)
        prompt = self.aaco('analyze', 'llama-tiny', '--hardware', 'H100', '--dim', 'batch_size=4,sequence_length=16,past_sequence_length=0', '--json').json()
        self.assertEqual((prompt['tokens']['count'], prompt['tokens']['shape']), (64, [4, 16]))
        self.assertAlmostEqual(prompt['rates']['joules_per_item']['value'], 16 * prompt['rates']['joules_per_token']['value'])
        self.assertEqual(self.aaco('analyze', 'bert-base', '--hardware', 'H100', '--json').json()['tokens']['count'], 128)
        for model in ('resnet18', 'mlp', 'vit-b-16'):
            document = self.aaco('analyze', model, '--hardware', 'H100', '--json').json()
            self.assertNotIn('tokens', document, model)
            self.assertEqual(sorted(document['rates']), ['items_per_s', 'joules_per_item'])
        for form, word in (('text', 'energy per token'), ('md', '| energy per token |'), ('html', '<dt>energy per token</dt>')):
            self.assertIn(word, self.aaco('analyze', 'llama-tiny', '--hardware', 'H100', *sizes, '--format', form).output)

    def test_node_energies_have_bounds_and_sum_to_the_total(self):
        estimate = self.estimate('vgg16', '--hardware', 'MI300X', '--batch', 64)
        nodes = estimate['nodes']
        for node in nodes:
            energy = node['energy']
            self.assertEqual((energy['unit'], energy['confidence'], energy['source']), ('J', 'THEORETICAL', 'specification'))
            self.assertTrue(energy['lower'] < energy['value'] < energy['upper'])
            self.assertAlmostEqual(energy['value'], sum(energy[part] for part in ('compute_joules', 'movement_joules', 'static_joules')))
        total = sum(node['energy']['value'] * node['repeats'] for node in nodes)
        self.assertLessEqual(total, estimate['energy']['value'] * 1.000001)
        self.assertGreater(total, estimate['energy']['value'] * 0.9, 'the rest flows while the device waits for the host')
        self.assertLessEqual(sum(node['energy']['lower'] * node['repeats'] for node in nodes), estimate['energy']['lower'] * 1.000001)
        rows = list(csv.DictReader(io.StringIO(self.aaco('analyze', 'vgg16', '--hardware', 'MI300X', '--batch', 64, '--format', 'csv').output)))
        self.assertEqual({row['energy_level'] for row in rows}, {'THEORETICAL'})
        self.assertLess(float(rows[0]['energy_lower_joules']), float(rows[0]['energy_joules']))
        self.assertIn('Nodes by energy', self.aaco('analyze', 'vgg16', '--hardware', 'MI300X').output)

    def test_calibration_adds_node_energy(self):
        """Products of a table with power: what is calibrated, what is not, and how a cap changes that."""
        table = self.folder / 'power.csv'
        with open(table, 'w', encoding='ascii') as out:
            out.write('device,dtype,batch,m,n,k,latency_us,power_w,source\n')
            for n in (1024, 2048, 4096, 8192):
                for k in (1024, 4096, 12288, 25088):
                    for m in (1, 16, 64, 256, 1024):
                        seconds = 4e-6 + max(2 * m * n * k / 50e12, 4 * (m * k + k * n + m * n) / 3e12)
                        joules = 150 * seconds + 3e-12 * 2 * m * n * k + 40e-12 * 4 * (m * k + k * n + m * n)
                        out.write(f'MI300X,fp32,1,{m},{n},{k},{seconds * 1e6},{joules / seconds},made up\n')
        own = {'AACO_REGISTRY': str(self.folder / 'powered')}
        fitted = self.aaco('calibrate', '--hardware', 'MI300X', '--measurements', table, '--json', **own)
        if fitted.code == 3 and 'without XGBoost' in fitted.errors:
            self.skipTest('skipped, this program was built without XGBoost')
        self.assertEqual(fitted.code, 0, fitted.errors)

        def products(*options):
            estimate = self.aaco('analyze', 'vgg16', '--hardware', 'MI300X', '--batch', 64, '--json', *options, **own).json()['estimate']
            return estimate, [node for node in estimate['nodes'] if node['op_type'] == 'Gemm']
        estimate, nodes = products()
        self.assertEqual({node['energy']['confidence'] for node in nodes}, {'CALIBRATED'})
        self.assertEqual({node['energy']['source'] for node in nodes}, {'amd_instinct_mi300x_192gb'})
        self.assertEqual(estimate['energy']['confidence'], 'THEORETICAL', 'most of it is of convolutions')
        self.assertRegex(estimate['energy']['source'], r'^specification \(\d+ % of the energy\); amd_instinct_mi300x_192gb \(\d+ %\): board power 750 W')
        drawn = [node['energy']['value'] / node['latency']['value'] * 1e9 for node in nodes]
        cap = 0.95 * max(drawn)
        _, held = products('--power-cap', f'{cap:.0f}W')
        self.assertIn('THEORETICAL', {node['energy']['confidence'] for node in held})
        for free, node in zip(nodes, held):
            self.assertLessEqual(node['energy']['value'] / node['latency']['value'] * 1e9, cap * 1.01)
            self.assertEqual(node['energy']['confidence'], 'THEORETICAL' if 'clock_ratio' in node else 'CALIBRATED')
            self.assertGreaterEqual(node['energy']['value'] / node['energy']['lower'], free['energy']['value'] / free['energy']['lower'] * 0.999999)
            self.assertLessEqual(node['energy']['upper'], cap * 1.01 * node['latency']['upper'] * 1e-9)
        for level in ('interpolated', 'theoretical'):
            self.assertEqual({node['energy']['confidence'] for node in products('--level', level)[1]}, {'THEORETICAL'}, 'of power nothing is lent')

    def test_intervals_of_models_cover_measured_runs(self):
        """Of ONNX Runtime on this kind of machine: by specifications alone, and by fits that have not seen the family."""
        fixtures = pathlib.Path(__file__).resolve().parents[1] / 'fixtures' / 'whole_models'
        registry = self.folder / 'bounds'
        (registry / 'hardware').mkdir(parents=True)
        (registry / 'hardware' / 'intel_xeon_2c_24gb.yaml').write_text((fixtures / 'intel_xeon_2c_24gb.yaml').read_text())
        for options in (('--level', 'theoretical'), ('--split', 'model')):
            judged = self.aaco('validate', '--hardware', 'intel_xeon_2c_24gb', '--measurements', fixtures / 'models_float32.csv', *options, '--json',
                               AACO_REGISTRY=str(registry)).json()
            self.assertEqual(judged['count'], 39)
            self.assertGreater(judged['coverage90'], 0.87, options)

    def test_eager_mode_has_no_fusion_and_slow_launches(self):
        compiled, eager = (self.estimate('resnet18', '--hardware', 'jetson_orin_maxn', *options) for options in ((), ('--eager',)))
        self.assertEqual(eager['fused_nodes'], 0)
        self.assertGreater(eager['latency']['value'], 3 * compiled['latency']['value'])

    def test_unsupported_operators_run_on_the_host(self):
        arguments = ('analyze', 'mobilenetv3-large', '--hardware', 'Coral', '--fallback', 'i7-12700K')
        document = self.aaco(*arguments, '--dtype', 'int8', '--json').json()
        parts = document['partition']
        self.assertEqual([part['device'] for part in parts['parts']], ['google_coral_edge_tpu_8mb', 'intel_core_i7_12700k_12c'])
        self.assertTrue(any(one['op_type'] == 'HardSwish' and 'does not support HardSwish' in one['reason'] for one in parts['refusals']))
        self.assertEqual((parts['transfers']['count'], parts['parts'][0]['bytes_out']), (1, parts['transfers']['bytes']))
        self.assertGreater(parts['transfers']['latency_ns'], 1e6, '784 KiB over half a gigabyte a second')
        self.assertGreaterEqual(document['estimate']['latency']['value'], parts['critical_path_ns'] * 0.999)
        self.assertEqual({node['device'] for node in document['estimate']['nodes']}, {part['device'] for part in parts['parts']})
        for form, word in (('text', 'Placement'), ('md', '## Placement'), ('html', 'edgetpu does not support HardSwish'), ('csv', ',intel_core_i7_12700k_12c')):
            self.assertIn(word, self.aaco(*arguments, '--dtype', 'int8', '--format', form).output)
        whole = self.aaco(*arguments, '--json').json()
        self.assertEqual([part['device'] for part in whole['partition']['parts']], ['intel_core_i7_12700k_12c'], 'float32 is nothing for it')
        self.assertEqual(whole['estimate']['device'], 'google_coral_edge_tpu_8mb')
        self.assertTrue(any('supports no operator in this graph' in note for note in whole['estimate']['notes']))

    def test_provider_lists_supported_operators(self):
        arguments = ('analyze', 'bert-base', '--hardware', 'MI300X', '--fallback', 'epyc 9654')
        self.refused(self.aaco(*arguments), 3, '--provider', 'migraphx', 'tensorrt')
        self.refused(self.aaco(*arguments, '--provider', 'abacus'), 3, 'abacus', 'migraphx')
        self.refused(self.aaco(*arguments, '--provider', 'edgetpu'), 2, 'does not support')
        self.refused(self.aaco('analyze', 'bert-base', '--hardware', 'MI300X', '--provider', 'migraphx'), 2, '--fallback')
        self.refused(self.aaco('analyze', 'bert-base', '--hardware', 'MI300X', '--fallback', 'mi300x', '--provider', 'migraphx'), 2, 'same device')
        parts = self.aaco(*arguments, '--provider', 'migraphx', '--json').json()['partition']
        self.assertEqual((len(parts['parts']), parts['refusals']), (1, []), 'it has all of them')
        parts = self.aaco(*arguments, '--provider', 'tensorrt', '--json').json()['partition']
        self.assertGreater(len(parts['parts']), 20)
        self.assertEqual([one['op_type'] for one in parts['refusals']], ['LayerNormalization'], 'not in the list of TensorRT 8.4')

    def test_unrelated_calibrations_are_not_read(self):
        registry = self.folder / 'lenders'
        (registry / 'calibration').mkdir(parents=True)
        (registry / 'calibration' / 'amd_epyc_9654_96c.json').write_text('{}')
        own = {'AACO_REGISTRY': str(registry)}
        self.assertEqual(self.aaco('analyze', 'mlp', '--hardware', 'MI300X', **own).code, 0)
        for device in ('epyc 9654', 'epyc 9754'):
            self.refused(self.aaco('analyze', 'mlp', '--hardware', device, **own), 3, 'amd_epyc_9654_96c.json')

    def test_rejects_invalid_requests(self):
        self.refused(self.aaco('analyze', 'resnet50', '--hardware', 'mi300y'), 3, 'did you mean')
        self.refused(self.aaco('analyze', 'resnet51', '--hardware', 'MI300X'), 3, 'resnet51')
        self.refused(self.aaco('analyze', 'resnet50', '--hardware', 'MI300X', '--dtype', 'fp33'), 2, 'fp33')
        self.refused(self.aaco('analyze', 'resnet50', '--hardware', 'MI300X', '--batch', 0), 2)
        self.refused(self.aaco('analyze', 'resnet50', '--hardware', 'MI300X', '--dim', 'batch=-1'), 2, '--dim')
        self.refused(self.aaco('analyze', 'resnet50', '--hardware', 'MI300X', '--power-cap', 'low'), 2, '--power-cap')
        self.refused(self.aaco('analyze', 'resnet50', '--hardware', 'MI300X', '--power-cap', 1), 2, 'cannot be met')
        self.refused(self.aaco('analyze', 'resnet50', '--hardware', 'Coral'), 3, 'does not support')
        for option, values in {
            '--nodes': ('-1', 'x', '1.5', '', '99999999999999999999'),
            '--batch': ('-1', '1.5', '', '9223372036854775807', '010'),
            '--dtype': ('',),
            '--dim': ('batch=0', 'batch=x', 'batch=', '=3', '', 'batch=9223372036854775807', 'batch=1,batch=2'),
            '--power-cap': ('-5', '0', 'nan', 'inf', '', '500kW'),
            '--host-time': ('-5us', 'nan', '', '5'),
        }.items():
            for value in values:
                self.refused(self.aaco('analyze', 'mlp', '--hardware', 'MI300X', option, value), 2)
        self.refused(self.aaco('analyze', self.folder / 'a\x1b[31mb.onnx', '--hardware', 'MI300X'), 3, 'a [31mb.onnx')
        too_long = ('bert-base', '--hardware', 'MI300X', '--dim', 'sequence_length=513')
        self.refused(self.aaco('analyze', *too_long), 3, 'cannot run with these sizes', '/embeddings/Add_1', '512')
        self.refused(self.aaco('compare', *too_long), 3, 'cannot run with these sizes')
        cut = self.folder / 'cut.onnx'
        cut.write_bytes(b'\x08\x08\x12\x04abcd\x3a\xff\xff\x03')
        self.refused(self.aaco('analyze', cut, '--hardware', 'MI300X'), 3, 'cut.onnx')


class Compare(program.ProgramTest):
    def test_rejects_invalid_numbers(self):
        for option in ('--batches', '--devices', '--power-caps'):
            for value in ('0', '-1', 'x', '1,,x', ''):
                self.refused(self.aaco('compare', 'mlp', '--hardware', 'MI300X', option, value), 2, option)
        self.refused(self.aaco('compare', 'mlp', '--hardware', ''), 2, '--hardware')
        self.refused(self.aaco('compare', 'mlp', '--hardware', 'MI300X', '--dtypes', 'fp33'), 2, 'fp33')

    def test_ranks_every_combination(self):
        outcome = self.aaco('compare', 'resnet18', 'resnet50', '--hardware', 'MI300X,T4', '--batches', '1,8', '--dtypes', 'fp32,fp16', '--json')
        self.assertEqual(outcome.code, 0, outcome.errors)
        points = outcome.json()['points']
        self.assertEqual([point['rank'] for point in points], 2 * list(range(1, 9)), 'each model has its own ranking')
        for ranked in (points[:8], points[8:]):
            times = [point['estimate']['latency']['value'] for point in ranked]
            self.assertEqual((times, len({point['model'] for point in ranked})), (sorted(times), 1))

    def test_duplicate_combinations_are_reported_once(self):
        outcome = self.aaco('compare', 'mlp', 'mlp', '--hardware', 'H100,nvidia_h100_sxm5_80gb', '--batches', '1,2,1', '--dtypes', 'fp16,FP16', '--json')
        self.assertEqual([point['batch'] for point in outcome.json()['points']], [1, 2])
        states = self.aaco('compare', 'mlp', '--hardware', 'nvidia_jetson_agx_orin_64gb@15w,nvidia_jetson_agx_orin_64gb@30w', '--json')
        self.assertEqual(len(states.json()['points']), 2)

    def test_ranks_by_throughput_and_energy(self):
        arguments = ('compare', 'resnet50', '--hardware', 'MI300X,T4,H100', '--batch', 8, '--json')
        rates = [point['items_per_s'] for point in self.aaco(*arguments, '--rank', 'throughput').json()['points']]
        self.assertEqual(rates, sorted(rates, reverse=True))
        joules = [point['joules_per_item'] for point in self.aaco(*arguments, '--rank', 'energy').json()['points']]
        self.assertEqual(joules, sorted(joules))

    def test_every_row_has_all_cells(self):
        """A combination without a prediction, too; why it has none stands below."""
        arguments = ('compare', 'llama-tiny', 'resnet18', '--hardware', 'MI300X,Coral', '--rank', 'energy')
        outcome = self.aaco(*arguments, '--format', 'md')
        self.assertEqual(outcome.code, 3)
        rows = [line for line in outcome.output.splitlines() if line.startswith('|')]
        self.assertEqual(len(rows), 8)
        self.assertEqual({line.count('|') for line in rows}, {rows[0].count('|')})
        self.assertIn('- No prediction for resnet18 on Coral (default batch): google_coral_edge_tpu_8mb does not support fp32', outcome.output)
        html = self.aaco(*arguments, '--format', 'html').output
        self.assertEqual({2 * row.count('<td') for row in html.split('<tr>') if '<td' in row}, {html.count('<th') - html.count('<thead')})
        self.assertIn('TOKENS/S', html)
        table = list(csv.DictReader(io.StringIO(self.aaco(*arguments, '--format', 'csv').output)))
        by_model = {row['model']: row for row in table if row['rank']}
        self.assertTrue(float(by_model['llama-tiny']['joules_per_token_lower']) < float(by_model['llama-tiny']['joules_per_token']) <
                        float(by_model['llama-tiny']['joules_per_token_upper']))
        self.assertEqual(by_model['resnet18']['joules_per_token'], '')
        self.assertEqual(by_model['resnet18']['energy_level'], 'THEORETICAL')
        self.assertTrue(all(row['error'] for row in table if not row['rank']))

    def test_token_rate_does_not_depend_on_batch_sharing(self):
        points = self.aaco('compare', 'llama-tiny', '--hardware', 'MI300X', '--batches', 8, '--devices', '1,2', '--rank', 'energy', '--json').json()['points']
        for point in points:
            whole = point['estimate']['energy']['value'] * point['devices']
            self.assertAlmostEqual(point['joules_per_token'], whole / 8)
            self.assertAlmostEqual(point['rates']['joules_per_item']['upper'], point['estimate']['energy']['upper'] * point['devices'] / 8)
        self.assertEqual([point['joules_per_item'] for point in points], sorted(point['joules_per_item'] for point in points))

    def test_larger_batch_is_never_faster_on_cpus(self):
        cpus = 'epyc 9654,epyc 9754,intel_xeon_8280_28c,intel_xeon_8490h_60c,intel_xeon_w9_3595x_60c,i7-12700K,ryzen_9_8945hs'
        batches = [*range(1, 20), 24, 31, 32, 48, 64, 100, 128]
        for model in ('mlp', 'resnet18', 'mobilenetv2', 'llama-tiny', 'distilbert'):
            outcome = self.aaco('compare', model, '--hardware', cpus, '--batches', ','.join(map(str, batches)), '--format', 'csv')
            by_device = {}
            for row in csv.DictReader(io.StringIO(outcome.output)):
                by_device.setdefault(row['hardware'], []).append((int(row['batch']), float(row['latency_ns'])))
            self.assertEqual({len(points) for points in by_device.values()}, {len(batches)}, model)
            self.assertEqual(len(by_device), 7)
            for device, points in by_device.items():
                times = [time for _, time in sorted(points)]
                self.assertTrue(all(after >= before for before, after in zip(times, times[1:])), (model, device))

    def test_multiple_devices_share_a_batch(self):
        points = self.aaco('compare', 'resnet50', '--hardware', 'MI300X', '--batches', 64, '--devices', '1,8', '--json').json()['points']
        self.assertEqual([point['devices'] for point in points], [8, 1])
        self.assertGreater(points[0]['items_per_s'], points[1]['items_per_s'])

    def test_unpredictable_models_are_listed_and_others_ranked(self):
        outcome = self.aaco('compare', 'resnet50', '--hardware', 'MI300X,Coral')
        self.assertEqual(outcome.code, 3)
        self.assertIn('does not support', outcome.output)
        self.assertIn('amd_instinct_mi300x_192gb', outcome.output)

    def test_csv_has_plain_numbers_and_equal_row_lengths(self):
        outcome = self.aaco('compare', 'mlp', '--hardware', 'MI300X,Coral', '--batches', '1,4096', '--format', 'csv')
        self.assertEqual(outcome.code, 3)
        rows = list(csv.DictReader(io.StringIO(outcome.output)))
        self.assertEqual([row['rank'] for row in rows], ['1', '2', '', ''])
        for row in rows:
            self.assertNotIn(None, row.values())
            self.assertNotIn(None, row)
        for row in rows[:2]:
            self.assertLessEqual(float(row['lower_ns']), float(row['latency_ns']))
            self.assertLessEqual(float(row['latency_ns']), float(row['upper_ns']))
            self.assertGreater(float(row['items_per_s']), 0)
            self.assertEqual(row['error'], '')
        for row in rows[2:]:
            self.assertEqual(row['latency_ns'], '')
            self.assertIn('does not support', row['error'])

    def test_models_that_do_not_fit_are_ranked_last(self):
        points = self.aaco('compare', 'llama2-7b', '--hardware', 'T4,MI300X', '--dtype', 'fp32', '--json').json()['points']
        self.assertEqual([point['fits'] for point in points], [True, False])

    def test_rejects_invalid_requests(self):
        self.refused(self.aaco('compare', 'resnet50'), 2, '--hardware')
        self.refused(self.aaco('compare', 'resnet50', '--hardware', 'MI300X', '--batches', '1,x'), 2, '--batches')
        broken = self.folder / 'broken.onnx'
        broken.write_bytes(b'\x08')
        partly = self.aaco('compare', 'mlp', broken, '--hardware', 'MI300X', '--json')
        self.assertEqual((partly.code, ['batch' in point for point in partly.json()['points']]), (3, [True, False]), 'no batch is made up')
        for one, many in (('batch', '4'), ('dtype', 'fp16'), ('power-cap', '300')):
            self.refused(self.aaco('compare', 'mlp', '--hardware', 'H100', '--' + one, many, f'--{one}s', many), 2, f'--{one}s')
        self.refused(self.aaco('compare', 'mlp', '--hardware', 'H100', '--dtypes', ''), 2, '--dtypes')
        self.refused(self.aaco('compare', 'nothing', '--hardware', 'MI300X'), 3, 'nothing')


class Attainable(program.ProgramTest):
    """A session beside its prediction."""

    def test_each_node_has_its_attainable_time_gap_and_reason(self):
        registry = {'AACO_REGISTRY': str(self.folder / 'registry')}
        self.aaco('hardware', 'probe', '--memory', '32MiB', **registry)
        outcome = self.aaco('run', '--model', 'squeezenet', '--warmup', 2, '-n', 10, '--profile', '--no-report', '--tag', 'd', '--json', **registry)
        if outcome.code == 3 and 'ONNX Runtime' in outcome.errors:
            self.skipTest('skipped, no ONNX Runtime on this machine')
        section = self.aaco('report', 'tag:d', '--json', **registry).json()['extra']['attainable']
        self.assertGreater(len(section['nodes']), 20)
        matched = section['measured_ns'] / (section['measured_ns'] + section['unmatched_ns'])
        self.assertGreater(matched, 0.7, 'most of the time has a counterpart in the graph')
        for node in section['nodes']:
            self.assertTrue(node['reason'])
            self.assertAlmostEqual(node['gap_ns'], node['measured_ns'] - node['attainable_ns'], delta=1)
            self.assertEqual(node['surprise'], not node['predicted_lower_ns'] <= node['measured_ns'] <= node['predicted_upper_ns'])
        self.assertIn('Attainable time per node', self.aaco('report', 'tag:d', **registry).output)
        self.assertIn('predicted', section['whole'])
        stored = self.aaco('query', 'SELECT node_name, attainable_ns, theoretical_ns, predicted_ns, predicted_lower_ns, predicted_upper_ns, level FROM estimates', '--json', **registry)
        self.assertEqual(stored.code, 0, stored.errors)
        names = {node['graph_node'] for node in section['nodes']}
        self.assertLessEqual(names, {row['node_name'] for row in stored.json()})
        for row in stored.json():
            self.assertTrue(row['predicted_lower_ns'] <= row['predicted_ns'] <= row['predicted_upper_ns'])
            self.assertIn(row['level'], ('CALIBRATED', 'INTERPOLATED', 'THEORETICAL'))

    def test_unprobed_machine_is_reported_without_an_error(self):
        registry = {'AACO_REGISTRY': str(self.folder / 'empty')}
        outcome = self.run_small('--profile', '--tag', 'n')
        self.assertEqual(outcome.code, 0)
        report = self.aaco('report', 'tag:n', '--json', **registry).json()
        self.assertTrue('attainable' in report.get('extra', {}) or any('hardware probe' in w.get('remedy', '') for w in report['warnings']))
