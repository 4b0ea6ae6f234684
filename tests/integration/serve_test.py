"""Estimates of language models as they are served: `analyze --serve` and `compare --serve`."""
import json
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

    def test_compare_ranks_devices_and_names_those_that_do_not_fit(self):
        done = self.aaco('compare', 'llama2-70b', '--hardware', 'H100,MI300X', '--serve', '--concurrency', 64)
        self.assertEqual(done.code, 3)
        self.assertIn('amd_instinct_mi300x_192gb', done.output)
        self.assertIn('does not fit nvidia_h100', done.output)

    def test_a_decoder_graph_is_marked_as_not_made_for_serving(self):
        printed = self.aaco('analyze', 'zoo:llama-tiny', '--hardware', 'H100').output
        self.assertIn('this graph was not made for serving', printed)
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
