#!/usr/bin/env python3
"""25 cases of a user of `aaco analyze|compare --serve`, beside sizes computed here by hand from the configuration files.

  scripts/proofs/serving_cases.py   prints a line a case; fails where one is not as computed

Weights, cache, capacity, operations and bytes of one decode step and of one prompt follow from the configuration alone: nothing here
is taken from the program. Times are checked for their direction only.
"""
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

DESCRIPTION = 'served language models: 25 cases of a user beside sizes computed by hand, and ladders (1 min)'
TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get('AACO_PROGRAM', str(TOP / 'build/release/bin/aaco'))
NEAR = 0.002

LLAMA_8B = {'model_type': 'llama', 'num_hidden_layers': 32, 'hidden_size': 4096, 'num_attention_heads': 32, 'num_key_value_heads': 8,
            'intermediate_size': 14336, 'vocab_size': 128256, 'torch_dtype': 'bfloat16', 'max_position_embeddings': 8192}
QWEN_MOE = {'model_type': 'qwen3_moe', 'num_hidden_layers': 48, 'hidden_size': 2048, 'num_attention_heads': 32, 'num_key_value_heads': 4,
            'head_dim': 128, 'intermediate_size': 6144, 'moe_intermediate_size': 768, 'num_experts': 128, 'num_experts_per_tok': 8,
            'vocab_size': 151936, 'torch_dtype': 'bfloat16', 'decoder_sparse_step': 1, 'mlp_only_layers': []}
DEEPSEEK = {'model_type': 'deepseek_v3', 'num_hidden_layers': 61, 'hidden_size': 7168, 'num_attention_heads': 128, 'num_key_value_heads': 128,
            'intermediate_size': 18432, 'moe_intermediate_size': 2048, 'n_routed_experts': 256, 'n_shared_experts': 1,
            'num_experts_per_tok': 8, 'first_k_dense_replace': 3, 'q_lora_rank': 1536, 'kv_lora_rank': 512, 'qk_rope_head_dim': 64,
            'qk_nope_head_dim': 128, 'v_head_dim': 128, 'vocab_size': 129280, 'quantization_config': {'quant_method': 'fp8'}}
GPT_OSS = {'model_type': 'gpt_oss', 'num_hidden_layers': 24, 'hidden_size': 2880, 'num_attention_heads': 64, 'num_key_value_heads': 8,
           'head_dim': 64, 'intermediate_size': 2880, 'num_local_experts': 32, 'num_experts_per_tok': 4, 'vocab_size': 201088,
           'sliding_window': 128, 'layer_types': ['sliding_attention', 'full_attention'] * 12, 'quantization_config': {'quant_method': 'mxfp4'}}
GEMMA_2 = {'model_type': 'gemma2', 'num_hidden_layers': 42, 'hidden_size': 3584, 'num_attention_heads': 16, 'num_key_value_heads': 8,
           'head_dim': 256, 'intermediate_size': 14336, 'vocab_size': 256000, 'sliding_window': 4096, 'torch_dtype': 'bfloat16'}
PHI_3 = {'model_type': 'phi3', 'num_hidden_layers': 32, 'hidden_size': 3072, 'num_attention_heads': 32, 'num_key_value_heads': 32,
         'intermediate_size': 8192, 'vocab_size': 32064, 'sliding_window': None, 'torch_dtype': 'bfloat16'}
MIXTRAL = LLAMA_8B | {'model_type': 'mixtral', 'vocab_size': 32000, 'num_local_experts': 8, 'num_experts_per_tok': 2, 'sliding_window': None}
FALCON = {'model_type': 'falcon', 'num_hidden_layers': 32, 'hidden_size': 4544, 'num_attention_heads': 71, 'multi_query': True,
          'new_decoder_architecture': False, 'vocab_size': 65024, 'torch_dtype': 'bfloat16'}
QWEN_2 = {'model_type': 'qwen2', 'num_hidden_layers': 28, 'hidden_size': 3584, 'num_attention_heads': 28, 'num_key_value_heads': 4,
          'intermediate_size': 18944, 'vocab_size': 152064, 'sliding_window': 131072, 'max_window_layers': 28, 'torch_dtype': 'bfloat16'}
GPT_2 = {'model_type': 'gpt2', 'n_layer': 12, 'n_embd': 768, 'n_head': 12, 'n_positions': 1024, 'vocab_size': 50257}
MEMORY = {'H100': 80 * 2**30, 'H200': 141e9, 'MI300X': 192 * 2**30}


class By:
    """By hand: bytes and operations of a model of these sizes on one GPU."""

    def __init__(self, layers, hidden, heads, kv, dim, inner, vocabulary, tied=False, gated=True, window=0, windowed=0, experts=None,
                 latent=None, weight=2.0, expert_weight=None, other=0):
        self.__dict__.update(locals())
        self.expert_weight = expert_weight or weight

    def attention(self, tp):
        """Parameters of a layer on one GPU: whole key and value heads, and the whole projections down to a latent vector."""
        if self.latent:
            q, c, rope, nope, v = self.latent
            return self.hidden * (q + c + rope) + (q * self.heads * (nope + rope) + c * self.heads * (nope + v)
                                                   + self.heads * v * self.hidden) / tp
        return self.hidden * self.dim * (2 * self.heads / tp + 2 * max(1, self.kv / tp))

    def matrices(self):
        return 3 if self.gated else 2

    def weights(self, tp=1, ep=1):
        """Of one GPU: norms are left out, biases and positions are in `other`, every GPU has the routers in 16 bits."""
        count, _, inner, shared, dense = self.experts or (0, 0, 0, 0, self.layers)
        plain = dense * self.matrices() * self.hidden * self.inner + (self.layers - dense) * self.matrices() * self.hidden * shared
        routed = (self.layers - dense) * count * self.matrices() * self.hidden * inner
        tables = (1 if self.tied else 2) * self.vocabulary * self.hidden * 2
        whole = 2 * ((self.layers - dense) * count * self.hidden + self.other)
        return self.layers * self.attention(tp) * self.weight + (plain * self.weight + tables) / tp + routed * self.expert_weight / max(tp, ep) + whole

    def cache(self, mean, tp=1, value=2):
        """Of one token at a mean length of a sequence."""
        values = self.latent[1] + self.latent[2] if self.latent else 2 * max(1, self.kv / tp) * self.dim
        layers = self.layers - self.windowed + self.windowed * min(1, self.window / mean) if self.windowed else self.layers
        return values * layers * value

    def product_flops(self, rows, sampled, tp=1):
        count, chosen, inner, shared, dense = self.experts or (0, 0, 0, 0, self.layers)
        per_token = dense * self.matrices() * self.hidden * self.inner + (self.layers - dense) * self.matrices() * self.hidden * shared
        return 2 * rows * self.layers * self.attention(tp) + 2 * (rows * per_token + sampled * self.vocabulary * self.hidden) / tp

    def expert_flops(self, rows, tp=1):
        _, chosen, inner, _, dense = self.experts
        return 2 * rows * chosen * (self.layers - dense) * self.matrices() * self.hidden * inner / tp

    def decode_attention_flops(self, rows, cached, tp=1):
        dims = 2 * self.latent[1] + self.latent[2] if self.latent else 2 * self.dim
        seen = (self.layers - self.windowed) * cached + self.windowed * min(cached, self.window or cached)
        return rows * seen * self.heads / tp * 2 * dims

    def prompt_attention_flops(self, tokens, tp=1):
        dims = self.latent[2] + self.latent[3] + self.latent[4] if self.latent else 2 * self.dim
        triangle = tokens * tokens / 2
        pairs = (self.layers - self.windowed) * triangle + self.windowed * min(tokens * self.window, triangle)
        return pairs * self.heads / tp * 2 * dims


LLAMA = By(32, 4096, 32, 8, 128, 14336, 128256)
MODELS = {
    'llama 8B': (LLAMA_8B, LLAMA),
    'llama 8B, int4 (AWQ)': (LLAMA_8B | {'quantization_config': {'quant_method': 'awq', 'bits': 4}},
                             By(32, 4096, 32, 8, 128, 14336, 128256, weight=0.5 + 2.5 / 128)),  # a scale of 16 bits and a zero point of 4
    'qwen3 mixture': (QWEN_MOE, By(48, 2048, 32, 4, 128, 6144, 151936, experts=(128, 8, 768, 0, 0))),
    'deepseek v3': (DEEPSEEK, By(61, 7168, 128, 128, 192, 18432, 129280, experts=(256, 8, 2048, 2048, 3),
                                 latent=(1536, 512, 64, 128, 128), weight=1)),
    'gpt-oss 20b': (GPT_OSS, By(24, 2880, 64, 8, 64, 0, 201088, window=128, windowed=12, experts=(32, 4, 2880, 0, 0),
                                expert_weight=0.5 + 1 / 32)),
    'gemma 2 9b': (GEMMA_2, By(42, 3584, 16, 8, 256, 14336, 256000, tied=True, window=4096, windowed=21)),
    'phi 3 mini': (PHI_3, By(32, 3072, 32, 32, 96, 8192, 32064)),
    'mixtral 8x7b': (MIXTRAL, By(32, 4096, 32, 8, 128, 0, 32000, experts=(8, 2, 14336, 0, 0))),
    'falcon 7b': (FALCON, By(32, 4544, 71, 1, 64, 4 * 4544, 65024, tied=True, gated=False)),
    'qwen 2.5 7b': (QWEN_2, By(28, 3584, 28, 4, 128, 18944, 152064)),
    'gpt-2': (GPT_2, By(12, 768, 12, 12, 64, 3072, 50257, tied=True, gated=False,
                           other=12 * 13 * 768 + 2 * 768 + 1024 * 768)),
}


class Cases:
    def __init__(self, folder):
        self.folder, self.count, self.wrong = folder, 0, []

    def run(self, *arguments, verb='analyze'):
        return subprocess.run([PROGRAM, verb, *map(str, arguments)], capture_output=True, text=True, timeout=60,
                              env=os.environ | {'AACO_REGISTRY': str(self.folder / 'registry')})

    def config(self, text):
        path = self.folder / 'config.json'
        path.write_text(text if isinstance(text, str) else json.dumps(text))
        return path

    def point(self, config, *options, hardware='H200'):
        done = self.run(self.config(config), '--hardware', hardware, '--serve', '--json', *options)
        if done.returncode:
            raise AssertionError(done.stderr.strip())
        return json.loads(done.stdout)['points'][0]['estimate']

    def check(self, name, problems):
        self.count += 1
        print(f"{self.count:3} {name}: {'as computed' if not problems else 'WRONG: ' + '; '.join(problems)}")
        self.wrong += [f'{name}: {one}' for one in problems]

    def refused(self, name, code, text, *arguments, verb='analyze'):
        done = self.run(*arguments, verb=verb)
        said = done.stderr + done.stdout
        problems = []
        if done.returncode != code:
            problems.append(f'exit code {done.returncode}, expected {code}')
        if text not in said:
            problems.append(f'expected "{text}" in: {said.strip()[:200]}')
        self.check(name, problems)


def near(problems, name, seen, expected, within=NEAR):
    if not math.isclose(seen, expected, rel_tol=within):
        problems.append(f'{name} {seen:.6g}, by hand {expected:.6g}')


def sizes(cases, name, tp=1, ep=1, batch=16, isl=1024, osl=256, cache=2, options=()):
    """One configuration on one H200 per rank, against the hand's sizes."""
    config, by = MODELS[name]
    more = ('--tp', tp, '--ep', ep, '--batch', batch, '--isl', isl, '--osl', osl, *options)
    try:
        e = cases.point(config, *(more + (() if by.experts and ep > 1 else ())))
    except AssertionError as error:
        return cases.check(name, [str(error)])
    problems, mean = [], isl + osl / 2
    step, prompt = e['decode_work'], e['prefill_work']
    near(problems, 'weights', e['memory']['weight_bytes'], by.weights(tp, ep))
    near(problems, 'cache per token', e['memory']['cache_bytes_per_token'], by.cache(mean, tp, cache))
    room = 0.9 * e['memory']['device_bytes'] - 2e9 - by.weights(tp, ep)
    near(problems, 'capacity', e['memory']['serve.kv_capacity_count'], room / by.cache(mean, tp, cache))
    near(problems, 'memory in use', e['memory']['requested_bytes'], by.weights(tp, ep) + 2e9 + batch * mean * by.cache(mean, tp, cache))
    near(problems, 'FLOP of products, step', step['products']['flops'], by.product_flops(batch, batch, tp))
    near(problems, 'FLOP of products, prompt', prompt['products']['flops'], by.product_flops(isl, 1, tp))
    near(problems, 'FLOP of attention, step', step['attention']['flops'], by.decode_attention_flops(batch, mean, tp))
    near(problems, 'bytes of attention, step', step['attention']['bytes'], batch * mean * by.cache(mean, tp, cache))
    near(problems, 'FLOP of attention, prompt', prompt['attention']['flops'], by.prompt_attention_flops(isl, tp))
    if by.experts:
        load = e['expert_load']
        near(problems, 'FLOP of experts, step', step['experts']['flops'],
             by.expert_flops(batch, tp) * load['serve.expert_imbalance_ratio'])
        near(problems, 'FLOP of experts, prompt', prompt['experts']['flops'], by.expert_flops(isl, tp) * load['prefill_imbalance_ratio'])
    if step['products']['bytes'] < by.product_flops(1, 1, tp) / 2 * min(by.weight, 2):
        problems.append('a step reads less than the weights')
    return cases.check(f'{name}, tp {tp}' + (f', ep {ep}' if ep > 1 else ''), problems)


def tpot(e):
    return e['metrics']['serve.tpot_ns']['value']


def throughput(e):
    return e['serve.output_tokens_per_second']


def ladder(cases, name, config, option, values, figure, rises, hardware='H200', options=()):
    seen = [figure(cases.point(config, option, value, *options, hardware=hardware)) for value in values]
    steps = list(zip(seen, seen[1:]))
    bad = [f'{a:.5g} to {b:.5g}' for a, b in steps if (b < a * (1 - 1e-6) if rises else b > a * (1 + 1e-6))]
    cases.check(name, bad)


def models(cases):
    sizes(cases, 'llama 8B')
    sizes(cases, 'llama 8B', tp=4, batch=64)
    sizes(cases, 'llama 8B', cache=1, options=('--kv-dtype', 'fp8'))
    sizes(cases, 'llama 8B, int4 (AWQ)')
    sizes(cases, 'mixtral 8x7b', tp=2)
    sizes(cases, 'qwen3 mixture', tp=4, ep=4)
    sizes(cases, 'qwen3 mixture', tp=8, ep=2, batch=300)
    sizes(cases, 'deepseek v3', tp=8, ep=8)
    sizes(cases, 'gpt-oss 20b', isl=4096)
    sizes(cases, 'gemma 2 9b', isl=6000)
    for name in ('phi 3 mini', 'falcon 7b', 'qwen 2.5 7b'):
        sizes(cases, name)
    sizes(cases, 'gpt-2', isl=512)


def refusals(cases):
    config = cases.config
    serve = ('--hardware', 'H100', '--serve')
    cases.refused('encoder-decoder', 3, 'encoder-decoder', config({'model_type': 't5', 'num_layers': 12, 'd_model': 768}), *serve)
    cases.refused('broken JSON', 3, 'config.json', config('{"model_type": "llama", '), *serve)
    for value in (10**18, -1, '4096', 1e300, 0, None, [1]):
        cases.refused(f'hidden size {value!r:.20}', 3, 'hidden', config(LLAMA_8B | {'hidden_size': value}), *serve)
    cases.refused('unknown stack', 3, 'known stacks', config(LLAMA_8B), *serve, '--stack', 'nosuch')
    cases.refused('heads that tp does not divide', 2, 'heads cannot be split', config(LLAMA_8B), *serve, '--tp', 3)
    cases.refused('batch 0', 2, '--batch', config(LLAMA_8B), *serve, '--batch', 0)
    cases.refused('limit that no plan keeps', 3, 'meets the SLO', config(LLAMA_8B), *serve, '--gpus', 4, '--slo', 'tpot=1us')
    cases.refused('does not fit', 3, 'does not fit', config(DEEPSEEK), *serve)


def loads(cases):
    long = cases.point(LLAMA_8B, '--isl', 100000)
    cases.check('requests beyond the context', [] if any('exceed the model' in one for one in long['notes']) else ['no note'])
    fast = cases.point(LLAMA_8B, '--rate', 1e5)
    cases.check('rate above what is sustained', [] if any('exceeds what' in one for one in fast['notes']) else ['no note'])
    one, four = cases.point(LLAMA_8B, '--concurrency', 8), cases.point(LLAMA_8B, '--concurrency', 32, '--replicas', 4)
    problems = []
    near(problems, 'tokens/s of four replicas', throughput(four), 4 * throughput(one), 1e-6)
    near(problems, 'TPOT of four replicas', tpot(four), tpot(one), 1e-6)
    cases.check('replicas', problems)
    mixed, apart = cases.point(LLAMA_8B, '--batch', 64), cases.point(LLAMA_8B, '--batch', 64, '--disaggregated')
    cases.check('disaggregated', [] if tpot(apart) < tpot(mixed) and apart['prefill_gpus_per_decode_gpu'] > 0 else ['TPOT not lower'])
    done = cases.run(cases.config(LLAMA_8B), '--hardware', 'H100,MI300X,B200,MI355X', '--serve', '--json', verb='compare')
    ranked = [throughput(point['estimate']) for point in json.loads(done.stdout)['points']]
    cases.check('several devices', [] if len(ranked) == 4 and ranked == sorted(ranked, reverse=True) else [f'{ranked}'])
    slowest = cases.point(LLAMA_8B, '--batch', 1)
    least = LLAMA.weights() - LLAMA.vocabulary * LLAMA.hidden * 2
    cases.check('TPOT is above reading the weights', [] if tpot(slowest) / 1e9 > least / 4.8e12 else ['faster than the memory'])
    rate = cases.point(LLAMA_8B, '--rate', 3)
    problems = []
    near(problems, "requests in flight by Little's law", rate['load']['concurrency'], 3 * rate['metrics']['serve.request_ns']['value'] / 1e9, 0.02)
    cases.check('a rate', problems)


def ladders(cases):
    for name, tp in (('llama 8B', 1), ('qwen3 mixture', 1), ('gpt-oss 20b', 1), ('deepseek v3', 8)):
        config = MODELS[name][0]
        options = ('--tp', tp)
        ladder(cases, f'{name}: TPOT over the batch', config, '--batch', (1, 2, 3, 5, 8, 16, 17, 31, 64, 100, 128), tpot, True, options=options)
        ladder(cases, f'{name}: tokens/s over the batch', config, '--batch', (1, 2, 4, 8, 16, 32, 64, 128, 256), throughput, True, options=options)
        ladder(cases, f'{name}: TPOT over the context', config, '--isl', (128, 512, 1000, 2048, 4096, 16384, 65536), tpot, True,
               options=(*options, '--batch', 4))
    ladder(cases, 'llama 8B: TPOT over tp', LLAMA_8B, '--tp', (1, 2, 4, 8), tpot, False, options=('--batch', 64))
    ladder(cases, 'qwen3 mixture: prefill over uneven loads', QWEN_MOE, '--expert-load', ('even', 'uniform', 'power_law_1.01', 'power_law_1.2', 4),
           lambda e: e['prefill_ns'], True, options=('--tp', 8, '--ep', 8, '--batch', 256))


def main():
    if '--describe' in sys.argv:
        print(DESCRIPTION)
        return 0
    if '-h' in sys.argv or '--help' in sys.argv:
        print(__doc__.strip())
        return 0
    with tempfile.TemporaryDirectory() as folder:
        cases = Cases(pathlib.Path(folder))
        for part in (models, refusals, loads, ladders):
            part(cases)
    print(f'{cases.count} checks, {len(cases.wrong)} wrong')
    for one in cases.wrong:
        print('  ' + one)
    return 1 if cases.wrong else 0


if __name__ == '__main__':
    sys.exit(main())
