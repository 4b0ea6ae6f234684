"""Estimates of language models as they are served: `analyze --serve` and `compare --serve`."""
import csv
import gzip
import json
import math
import os
import pathlib
import tempfile
import time
import unittest

import program

LLAMA = {'model_type': 'llama', 'num_hidden_layers': 32, 'hidden_size': 4096, 'num_attention_heads': 32, 'num_key_value_heads': 8,
         'intermediate_size': 14336, 'vocab_size': 128256, 'torch_dtype': 'bfloat16'}


class Serve(program.ProgramTest):
    def estimate(self, *options, model='llama3-8b', hardware='H100'):
        done = self.aaco('analyze', model, '--hardware', hardware, '--serve', '--json', *options)
        self.assertEqual(done.code, 0, done.output)
        return done.json()['points'][0]['estimate']

    def refusal(self, *options, model='llama3-8b'):
        done = self.aaco('analyze', model, '--hardware', 'H100', *options)
        self.assertNotEqual(done.code, 0, done.output)
        return done.output + done.errors

    def test_a_configuration_is_enough(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / 'config.json'
            path.write_text(json.dumps(LLAMA))
            by_file = self.estimate(model=str(path))
            by_folder = self.estimate(model=folder)
            path.write_text(json.dumps({key: value for key, value in LLAMA.items() if key != 'hidden_size'}))
            self.assertIn('missing key "hidden_size"', self.refusal('--serve', model=str(path)))
        named = self.estimate()
        self.assertEqual(by_file['metrics']['serve.tpot_ns'], named['metrics']['serve.tpot_ns'])
        self.assertEqual(by_file['metrics'], by_folder['metrics'])

    def from_config(self, *options, hardware='H100', **members):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / 'config.json'
            path.write_text(json.dumps(LLAMA | members))
            return self.aaco('analyze', path, '--hardware', hardware, '--serve', *options)

    def test_what_a_configuration_leaves_open_is_said(self):
        unknown = self.from_config(model_type='frobnicator').output
        self.assertIn("unknown family 'frobnicator': costed as a decoder with a gated MLP and untied embeddings", ' '.join(unknown.split()))
        self.assertIn('has no bfloat16 units', self.from_config(hardware='V100', model_type='qwen2', hidden_size=896, num_attention_heads=14,
                                                                num_key_value_heads=2, num_hidden_layers=24, intermediate_size=4864).output)
        self.refused(self.from_config(model_type='mamba'), 3, 'state-space models are not supported')
        self.refused(self.from_config(torch_dtype='floaty16'), 3, "unknown data type 'floaty16'")
        stretched = {'rope_scaling': {'type': 'yarn', 'factor': 4.0, 'original_max_position_embeddings': 8192}, 'max_position_embeddings': 8192}
        self.assertNotIn('exceed the model', self.from_config('--isl', 30000, **stretched).output)
        self.assertIn('context of 32768', ' '.join(self.from_config('--isl', 40000, **stretched).output.split()))

    def test_memory_adds_up(self):
        refused = self.from_config(hardware='T4', torch_dtype='float16')
        self.assertEqual(refused.code, 3, refused.output)
        for part in ('runtime 1.9 GiB', 'GiB per GPU are 17', 'of 13.5 GiB usable'):
            self.assertIn(part, refused.output + refused.errors)
        self.assertNotIn('fp8', refused.output + refused.errors)
        crowded = self.from_config('--concurrency', 4096, '--isl', 8000).output
        self.assertIn('all requests at once would take', crowded)
        windows = self.from_config(sliding_window=1024, sliding_window_pattern=4).output
        self.assertIn('mean at this length', ' '.join(windows.split()))

    def test_text_has_the_figures_with_their_bounds(self):
        printed = self.aaco('analyze', 'llama3-70b', '--hardware', 'H100', '--serve', '--gpus', 4, '--tp', 4, '--dtype', 'fp8').output
        for word in ('TTFT', 'TPOT', 'tokens/s per GPU', 'KV cache', '90 %', 'CALIBRATED', 'collectives'):
            self.assertIn(word, printed)

    def test_search_finds_a_plan_within_the_limits_in_two_seconds(self):
        began = time.process_time()
        done = self.aaco('analyze', 'qwen3-235b-a22b', '--hardware', 'H100', '--serve', '--gpus', 8, '--dtype', 'fp8', '--slo', 'ttft=1s,tpot=40ms',
                         '--json').json()
        self.assertLess(time.process_time() - began, 2)
        front = done['points'][0]['search']['front']
        self.assertGreater(len(front), 2)
        for one in front:
            self.assertLessEqual(one['metrics']['serve.tpot_ns']['value'], 40e6)

    def test_rows_between_aligned_sizes_take_no_longer_than_the_next(self):
        """Tables have multiples of 256 rows and one row beyond, which takes up to twice as long: stacks pad."""
        steps = [self.estimate('--tp', 2, '--dtype', 'fp8', '--concurrency', count, model='llama2-70b')['decode_step_ns'] for count in (513, 700, 768)]
        self.assertEqual(steps, sorted(steps))

    def test_experts_are_loaded_as_asked(self):
        options = ('--tp', 8, '--ep', 8, '--dtype', 'fp8', '--concurrency', 64)
        loads = {name: self.estimate(*options, '--expert-load', name, model='qwen3-235b-a22b') for name in ('even', 'uniform', 'power_law_1.2', '3')}
        ratios = [one['expert_load']['serve.expert_imbalance_ratio'] for one in loads.values()]
        self.assertEqual(ratios, sorted(ratios))
        self.assertEqual((ratios[0], ratios[-1]), (1, 3))
        prompts = [one['prefill_ns'] for one in loads.values()]
        self.assertEqual(prompts, sorted(prompts))
        self.assertEqual(self.estimate(*options, model='qwen3-235b-a22b')['expert_load'], loads['uniform']['expert_load'])
        printed = self.aaco('analyze', 'qwen3-235b-a22b', '--hardware', 'H100', '--serve', *options).output
        self.assertIn('times the mean in a step', printed)
        self.assertIn('has no experts', self.aaco('analyze', 'llama3-8b', '--hardware', 'H100', '--serve', '--expert-load', '2').output)
        self.assertIn("invalid expert load 'skewed'", self.refusal('--serve', '--expert-load', 'skewed'))
        self.assertIn('--expert-load requires --serve', self.refusal('--expert-load', 'even'))

    def test_no_line_is_wider_than_the_terminal(self):
        shipped = str(pathlib.Path(__file__).resolve().parents[2] / 'data/calibration')
        long = 'nvidia_h100_sxm5_80gb,amd_instinct_mi300x_192gb,amd_instinct_mi325x_256gb,nvidia_rtx_6000_ada_pcie_48gb'
        for arguments in (('analyze', 'llama3-8b', '--hardware', 'MI325X'), ('analyze', 'bert-base', '--hardware', 'H100', '--nodes', 40),
                          ('analyze', 'gpt2', '--hardware', 'H100', '--batch', 4), ('analyze', 'mobilenetv3-large', '--hardware', 'Coral', '--dtype', 'int8', '--fallback', 'i7-12700K'),
                          ('analyze', 'deepseek-r1', '--hardware', 'MI300X', '--serve', '--tp', 8, '--ep', 8, '--rate', 1000, '--stack', 'vllm@0.1'),
                          ('analyze', 'llama3-70b', '--hardware', 'H100', '--serve', '--gpus', 8), ('compare', 'gpt2', 'bert-base', '--hardware', long),
                          ('compare', 'deepseek-r1', 'llama3-8b', '--hardware', long, '--serve', '--tp', 8)):
            for width in (100, 72, 160):
                columns = '' if width == 100 else str(width)  # piped: 100
                output = self.aaco(*arguments, COLUMNS=columns, AACO_CALIBRATIONS=shipped).output
                widest = max(output.splitlines(), key=len)
                self.assertLessEqual(len(widest), width, (arguments, widest))

    def test_compare_ranks_devices_and_names_those_that_do_not_fit(self):
        done = self.aaco('compare', 'llama2-70b', '--hardware', 'H100,MI300X', '--serve', '--concurrency', 64)
        self.assertEqual(done.code, 3)
        self.assertIn('amd_instinct_mi300x_192gb', done.output)
        self.assertIn('does not fit nvidia_h100', done.output)
        several = self.aaco('compare', 'llama3-8b', 'deepseek-r1', '--hardware', 'H100,H200', '--serve', '--tp', 8).output
        self.assertEqual(several.splitlines().count('DeepSeek-V3'), 1, 'what does not fit is in its model\'s part')
        self.assertEqual(sum(line.startswith('nvidia_h200_sxm5_141gb') for line in several.splitlines()), 4, 'two tables, each continued')

    def test_a_decoder_graph_is_costed_as_served(self):
        """Cache in place, grouped queries shared; --as-written has the graph's own operators."""
        arguments = ('zoo:llama3-8b', '--hardware', 'H100', '--dtype', 'bf16', '--batch', 128, '--dim', 'sequence_length=1,past_sequence_length=2047', '--json')
        served = self.aaco('analyze', *arguments).json()['estimate']
        written = self.aaco('analyze', *arguments, '--as-written').json()['estimate']
        self.assertTrue(any('recognised as a decoder of 32 layers (8.03 billion parameters)' in note for note in served['notes']))
        self.assertTrue(any('costed as written' in note for note in written['notes']))
        cache = 128 * 2048 * 2 * 8 * 128 * 2 * 32
        self.assertAlmostEqual(served['memory_parts']['kv_cache_bytes'] / cache, 1, delta=0.01)
        self.assertAlmostEqual(served['memory']['value'] / (cache + 16.06e9), 1, delta=0.05)
        self.assertGreater(written['memory']['value'], 1.5 * served['memory']['value'])
        self.assertLess(abs(served['bytes'] / (cache + 15e9) - 1), 0.1)
        self.assertGreater(written['latency']['value'], 5 * served['latency']['value'])
        eager = self.aaco('analyze', *arguments, '--eager').json()['estimate']
        self.assertTrue(any('costed as written' in note for note in eager['notes']))

    def test_every_layout_of_a_cache_is_recognised(self):
        """None, Optimum, merged sizes, ONNX Runtime GenAI: the same step takes the same time."""
        times = set()
        for cache in range(4):
            done = self.aaco('analyze', f'zoo:llama-15m,cache={cache}', '--hardware', 'H100', '--dim', 'sequence_length=64', '--json').json()
            self.assertTrue(any('recognised as a decoder of 6 layers' in note for note in done['estimate']['notes']), cache)
            times.add(done['estimate']['latency']['value'])
        self.assertEqual(len(times), 1)

    def test_narrow_weights_of_a_graph_take_less_time_and_memory(self):
        at = {dtype: self.aaco('analyze', 'llama3-8b', '--hardware', 'H100', '--dtype', dtype, '--json').json()['estimate']
              for dtype in ('bf16', 'fp8', 'int4')}
        for dtype, ratio in (('fp8', 0.75), ('int4', 0.7)):
            self.assertLess(at[dtype]['memory']['value'], ratio * at['bf16']['memory']['value'])
            self.assertLess(at[dtype]['latency']['value'], at['bf16']['latency']['value'])

    def test_graphs_of_other_models_are_costed_as_written(self):
        for model in ('bert-base', 'resnet18'):
            notes = self.aaco('analyze', model, '--hardware', 'H100', '--json').json()['estimate']['notes']
            self.assertFalse(any('decoder' in note or 'serving' in note for note in notes), notes)
        cpu = self.aaco('analyze', 'gpt2', '--hardware', 'epyc 9654', '--json').json()['estimate']
        self.assertTrue(any('costed as written' in note for note in cpu['notes']))

    def test_a_graph_is_enough_to_serve(self):
        """The sizes of an ONNX decoder that is written out are those of its configuration."""
        config = {'model_type': 'llama', 'num_hidden_layers': 6, 'hidden_size': 288, 'num_attention_heads': 6, 'num_key_value_heads': 6,
                  'intermediate_size': 768, 'vocab_size': 32000, 'tie_word_embeddings': True, 'torch_dtype': 'bfloat16'}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / 'config.json'
            path.write_text(json.dumps(config))
            named, graph = self.estimate(model=str(path)), self.estimate(model='llama-15m')
        self.assertEqual(graph['metrics']['serve.tpot_ns'], named['metrics']['serve.tpot_ns'])
        self.assertEqual(graph['memory']['weight_bytes'], named['memory']['weight_bytes'])
        self.assertLess(self.estimate(model='zoo:llama3-8b,layers=2')['memory']['weight_bytes'], 4e9)
        self.assertIn('an encoder', self.refusal('--serve', model='bert-base'))
        self.assertIn('no input of token ids', self.refusal('--serve', model='resnet18'))
        self.assertIn('unknown language model', self.refusal('--serve', model='nothing'))
        self.assertIn('--as-written and --serve cannot be used together', self.refusal('--serve', '--as-written'))
        self.refused(self.aaco('compare', 'llama3-8b', '--hardware', 'H100', '--serve', '--as-written'), 2, 'cannot be used together')

    def archives(self):
        root = pathlib.Path(os.environ.get('AACO_REAL_DATA', pathlib.Path(__file__).resolve().parents[3] / 'shared/data')) / 'pytorch'
        if not root.is_dir():
            self.skipTest(f'no archives at {root} (AACO_REAL_DATA)')
        return root

    def test_archives_have_the_shapes_that_pytorch_ran(self):
        """PyTorch's execution trace of the same model, at a batch of four, says what its operators worked on."""
        root = self.archives()
        for version in ('torch26', 'torch214'):
            with gzip.open(root / version / 'tinygpt.et.json.gz') as file:
                nodes = json.load(file)['nodes']
            ran = [node for node in nodes if node['name'] in ('aten::linear', 'aten::scaled_dot_product_attention')]
            expected, macs = [], 0
            for node in ran:
                first, second = node['inputs']['shapes'][:2]
                if node['name'] == 'aten::linear':
                    rows = math.prod(first[:-1])
                    expected.append(f'{rows}x{second[0]}, k {second[1]}')
                    macs += rows * math.prod(second)
                else:
                    expected.append(f'{first[0]} x {first[1]} heads of {first[3]}, {first[2]} on {second[2]}, causal')
                    macs += 2 * math.prod(first) * second[2]
            self.assertEqual(len(expected), 11)
            path = root / version / 'tinygpt_dyn.pt2'
            table = self.aaco('analyze', path, '--batch', 4, '--as-written', '--hardware', 'H100', '--format', 'csv').output
            rows = [row for row in csv.DictReader(table.splitlines()) if row['op_type'] in ('linear', 'scaled_dot_product_attention')]
            self.assertEqual([row['shape'] for row in rows], expected)
            self.assertEqual(self.aaco('inspect', path, '--batch', 4, '--json').json()['macs'], macs)

    def test_archives_without_a_decoder_are_costed_as_written(self):
        """Products by hand: layers of 64 x 128 and 128 x 10 at batch 4; four gates of 64 on 32 inputs and 64 states, 16 steps."""
        root = self.archives()
        macs = {'mlp': 4 * (64 * 128 + 128 * 10), 'lstm': 16 * 4 * 64 * (32 + 64)}
        for version in ('torch26', 'torch214'):
            for name in ('mlp', 'mlp_dynbatch', 'lstm', 'cond'):
                path = root / version / (name + '.pt2')
                told = self.aaco('analyze', path, '--hardware', 'H100', '--json')
                self.assertEqual(told.code, 0, told.errors)
                self.assertFalse(any('serving' in note for note in told.json()['estimate']['notes']), name)
                if name in macs:
                    counted = self.aaco('inspect', path, '--json').json()['macs']  # of the LSTM with its activations
                    self.assertAlmostEqual(counted / macs[name], 1, delta=0.03 if name == 'lstm' else 0, msg=name)
        net = self.aaco('inspect', root / 'torch214/mobilenet_v3_small.pt2', '--json').json()
        self.assertAlmostEqual(net['macs'] / 56.5e6, 1, delta=0.01)  # as torchvision publishes it
        self.assertAlmostEqual(net['parameters']['count'] / 2.543e6, 1, delta=0.01)
        written = self.aaco('analyze', root / 'torch214/tinygpt.pt2', '--hardware', 'H100', '--as-written', '--json').json()['estimate']
        self.assertTrue(any('not made for serving' in note for note in written['notes']), written['notes'])

    def test_archives_of_torch_export_are_recognised(self):
        root = self.archives()
        for version in ('torch26', 'torch214'):
            for name in ('tinygpt', 'tinygpt_dyn', 'tinygpt_bf16', 'tinygpt_fp16'):
                printed = self.aaco('analyze', root / version / (name + '.pt2'), '--hardware', 'H100', '--json')
                self.assertEqual(printed.code, 0, printed.errors)
                notes = printed.json()['estimate']['notes']
                self.assertTrue(any('recognised as a decoder of 2 layers' in note for note in notes), (name, notes))

    def test_products_of_mi300x_in_bf16_are_not_taken_from_one_untuned_site(self):
        served = self.aaco('analyze', 'llama3-8b', '--hardware', 'MI300X', '--dtype', 'bf16', '--json').json()['estimate']
        self.assertLess(served['latency']['value'], 20e6)
        self.assertNotIn('not made for serving', self.aaco('analyze', 'zoo:mlp', '--hardware', 'H100').output)

    def test_refuses_options_without_serve_and_plans_that_do_not_match(self):
        self.assertIn('--tp requires --serve', self.refusal('--tp', 2))
        self.assertIn('--gpus 8 does not match', self.refusal('--serve', '--gpus', 8, '--tp', 3))
        self.assertIn("invalid value 'x=1ms'", self.refusal('--serve', '--slo', 'x=1ms'))
        self.assertIn('cannot be used together', self.refusal('--serve', '--batch', 1, '--concurrency', 2))
        self.assertIn("unknown serving stack 'nosuch'", self.refusal('--serve', '--stack', 'nosuch'))
        self.assertIn('unknown language model', self.refusal('--serve', model='nosuch'))
        self.assertIn('none of', self.refusal('--serve', '--gpus', 2, '--slo', 'tpot=1us'))


if __name__ == '__main__':
    unittest.main()
