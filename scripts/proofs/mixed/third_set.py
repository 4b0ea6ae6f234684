"""The third set: causes that the first two lack (autotuning, guards, grammars, paging, compression, stores, peers), and kernels with shapes; written before it was judged."""
from mixed.timeline import Rank

GEMM = 'Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x128x64_MI16x16x1_SN_LDSB1'
GEMV = 'void wvSplitKrc_<__hip_bfloat16, 64, 2, 16, 8, 2, 1>(int, int, __hip_bfloat16 const*, __hip_bfloat16 const*, __hip_bfloat16*, int)'
NORM = 'void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, c10::BFloat16*, c10::BFloat16 const*, float, int, int)'
ACT = 'void vllm::act_and_mul_kernel<c10::BFloat16, &vllm::silu_kernel<c10::BFloat16>, true>(c10::BFloat16*, c10::BFloat16 const*, int)'
PAGED = 'void paged_attention_ll4mi_QKV_mfma16_kernel<__hip_bfloat16, __hip_bfloat16, (vllm::Fp8KVCacheDataType)0, 16, 128, 256>(int)'
MUL = 'void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul> >(int)'
CONV = 'sm80_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x32_stage4_warpsize2x2x1_g1_tensor16x8x16_execute_kernel__5x_cudnn'
REDUCE = 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)'
H100 = 'NVIDIA H100 80GB HBM3'


def cuda(seed, number=0, world=1, **more):
    return Rank(seed, number, world, api='cuda', device=H100, **more)


def block(thread, count, us=180.0):
    """`count` decoder blocks; the host runs ahead of them."""
    rank = thread.rank
    for _ in range(count):
        with thread.op('aten::linear'):
            thread.launch(GEMM, rank.around(us))
        with thread.op('_C::fused_add_rms_norm'):
            thread.launch(NORM, rank.around(us / 9))
        with thread.op('_C::silu_and_mul'):
            thread.launch(ACT, rank.around(us / 7))


def tuner(seed):
    """Triton times eight configurations of a kernel in the second iteration; the rest is steady."""
    rank = Rank(seed)
    host = rank.thread(21)
    with host.frame('serve_moe.py(17): <module>'):
        for i in range(8):
            block(host, 6)
            if i == 1:
                with host.frame('triton/runtime/autotuner.py(218): run'), host.frame('triton/runtime/autotuner.py(158): _bench'):
                    for _ in range(8):
                        with host.frame('triton/compiler/compiler.py(301): compile', 'jit-compilation'):
                            host.spend(rank.around(21000))
                        host.launch('fused_moe_kernel', rank.around(300), name='hipModuleLaunchKernel')
                        host.synchronise()
            host.launch('fused_moe_kernel', rank.around(280), name='hipModuleLaunchKernel')
            host.synchronise()
    return [rank], ('warmup', 'jit-compilation', [])


def recompiled(seed):
    """Sequence lengths vary, so the graph is traced and compiled again for each of them."""
    rank = cuda(seed)
    host = rank.thread(400)
    with host.frame('finetune.py(88): <module>'):
        for _ in range(6):
            with host.frame('torch/_dynamo/convert_frame.py(1272): __call__'), host.frame('torch/_dynamo/convert_frame.py(680): _compile', 'jit-compilation'):
                host.spend(rank.around(14000))
                with host.frame('torch/_inductor/graph.py(2093): compile_to_module', 'jit-compilation'):
                    host.spend(rank.around(23000))
            block(host, 10)
            host.synchronise()
    return [rank], ('warmup', 'jit-compilation', ['host'])


def grammar(seed):
    """Each token's mask comes from a grammar on the host; sampling follows."""
    rank = cuda(seed)
    host = rank.thread(55)
    with host.frame('engine/core.py(602): run_busy_loop'):
        for _ in range(26):
            host.replay([(GEMM, 55.0), (NORM, 6.0), (ACT, 9.0)] * 12)
            with host.frame('structured/backend_xgrammar.py(150): fill_bitmask', 'host-code', 'fill_bitmask'):
                host.spend(rank.around(3400))
            with host.op('aten::to'), host.op('aten::copy_'):
                host.copy('HtoD (Pinned -> Device)', 32_768, 6, blocking=False)
            with host.op('aten::softmax'):
                host.launch(MUL, 14)
            with host.op('aten::to'), host.op('aten::copy_'):
                host.copy('DtoH (Device -> Pageable)', 128, 4)
            with host.frame('engine/detok.py(77): update', 'host-code', 'detok'):
                host.spend(rank.around(380))
    return [rank], ('host', 'host-code', [], 'fill_bitmask')


def swapped(seed):
    """Blocks of the cache go to the host and come back by blocking copies when requests are preempted."""
    rank = Rank(seed)
    host = rank.thread(61)
    with host.frame('engine/core.py(602): run_busy_loop'):
        for i in range(14):
            with host.frame('cache/swap.py(40): swap_out'), host.op('_C_cache_ops::swap_blocks'):
                host.copy('DtoH (Device -> Pageable)', 67_108_864, rank.around(5200))
            with host.frame('cache/swap.py(71): swap_in'), host.op('_C_cache_ops::swap_blocks'):
                host.copy('HtoD (Pageable -> Device)', 67_108_864, rank.around(5600))
            with host.frame('engine/preempt.py(19): choose_victims', 'host-code', 'choose_victims'):
                host.spend(rank.around(240))
            block(host, 8, 200)
            host.synchronise()
    return [rank], ('transfer', 'synchronous-copy', ['host-copies'])


def streamed_weights(seed):
    """Layers do not fit: each is read from disk before it is copied and used."""
    rank = Rank(seed)
    host = rank.thread(3)
    with host.frame('offload_infer.py(33): <module>'):
        for _ in range(12):
            with host.frame('safetensors/stream.py(58): next_layer'), host.frame("<method 'readinto' of '_io.BufferedReader' objects>", 'disk'):
                host.spend(rank.around(8800))
            with host.op('aten::to'), host.op('aten::copy_'):
                host.copy('HtoD (Pageable -> Device)', 33_554_432, rank.around(1500))
            block(host, 4, 260)
            host.synchronise()
    return [rank], ('host', 'disk', ['data-loading', 'model-loading', 'library-initialisation'])


def outside_tool(seed):
    """Every generated file is scored by another program that the trainer starts and waits for."""
    rank = cuda(seed)
    host = rank.thread(700)
    with host.frame('rlhf/train_code.py(12): <module>'):
        for i in range(9):
            block(host, 12)
            host.synchronise()
            with host.frame('rlhf/reward.py(91): run_tests'), host.frame('subprocess.py(506): run'):
                with host.frame('<built-in function fork_exec>', 'host-code', 'fork_exec'):
                    host.spend(rank.around(1300))
                with host.frame('<built-in function waitpid>', 'host-code', 'waitpid'):
                    host.spend(rank.around(9100))
    return [rank], ('host', 'host-code', ['synchronisation', 'lock', 'sleep'], 'waitpid')


def encoder(seed):
    """A tokenizer written in Rust encodes each prompt on the launching thread."""
    rank = cuda(seed)
    host = rank.thread(31)
    with host.frame('embed_corpus.py(28): <module>'):
        for i in range(16):
            with host.frame('transformers/tokenization_utils_fast.py(553): _batch_encode_plus'):
                with host.frame('<built-in method encode_batch of tokenizers.Tokenizer object at 0x55>', 'data-loading', 'encode_batch'):
                    host.spend(rank.around(4700))
            with host.op('aten::to'), host.op('aten::copy_'):
                host.copy('HtoD (Pageable -> Device)', 131_072, 20)
            block(host, 9, 150)
            with host.op('aten::copy_'):
                host.copy('DtoH (Device -> Pageable)', 1_048_576, rank.around(180))
            if i % 5 == 4:
                with host.frame("<method 'executemany' of 'sqlite3.Cursor' objects>", 'host-code', 'executemany'):
                    host.spend(rank.around(2600))
    return [rank], ('host', 'data-loading', ['host-code'])


def scaler(seed):
    """Overflow is looked for on the host in every step, and the batch is so small that its kernels end before it looks."""
    rank = Rank(seed)
    host = rank.thread(9)
    with host.frame('amp_train.py(20): <module>'):
        for step in range(9):
            with host.range(f'ProfilerStep#{step}'):
                for _ in range(70):
                    with host.op('aten::mul', before=rank.around(21), after=8):
                        host.launch(MUL, rank.around(5))
                with host.frame('torch/amp/grad_scaler.py(349): _maybe_opt_step'):
                    for _ in range(12):
                        with host.frame('<built-in method item of Tensor object at 0x7f2>'), host.op('aten::item'):
                            host.copy('DtoH (Device -> Pageable)', 4, 3)
    return [rank], ('host', 'framework', ['launch', 'small-kernels', 'python', 'synchronous-copy', 'transfer'])


def graph_calls(seed):
    """Replays of a draft model's graph: the call takes longer than the graph runs."""
    rank = Rank(seed)
    host = rank.thread(12)
    for _ in range(60):
        host.replay([(GEMV, 9.0), (NORM, 3.0)] * 9, call_us=rank.around(620))
    host.synchronise()
    return [rank], ('launch', 'graph-launch', ['launch', 'small-kernels'])


def pinned(seed):
    """Page-locked memory is allocated and released for each batch."""
    rank = cuda(seed)
    host = rank.thread(88)
    with host.frame('video/worker.py(19): loop'):
        for _ in range(11):
            host.call('cudaHostAlloc', rank.around(3900), 'allocation')
            with host.op('aten::copy_'):
                host.copy('HtoD (Pinned -> Device)', 16_777_216, rank.around(640))
            block(host, 5)
            host.synchronise()
            host.call('cudaFreeHost', rank.around(2100), 'allocation')
    return [rank], ('host', 'allocation', [])


def compressor(seed):
    """Results are compressed and written; a digest of each is logged."""
    rank = cuda(seed)
    host = rank.thread(17)
    with host.frame('tile_server.py(50): <module>'):
        for i in range(13):
            block(host, 6)
            with host.op('aten::copy_'):
                host.copy('DtoH (Device -> Pinned)', 8_388_608, rank.around(380))
            with host.frame('tiles/encode.py(66): to_png'), host.frame('<built-in function compress>', 'host-code', 'compress'):
                host.spend(rank.around(5900))
            with host.frame('logging/__init__.py(1529): info'), host.frame('logging/__init__.py(1114): emit', 'logging'):
                host.spend(rank.around(320))
    return [rank], ('host', 'host-code', ['disk'], 'compress')


def store(seed):
    """Ranks exchange sizes through a key-value store before each step."""
    rank = Rank(seed, 0, 4)
    host = rank.thread(600)
    with host.frame('megascale/train.py(90): main'):
        for i in range(9):
            with host.frame('megascale/sizes.py(44): agree_on_sizes', 'host-code', 'agree_on_sizes'), host.frame('<built-in method get of PyCapsule object at 0x7f8>', 'host-code', 'agree_on_sizes'):
                host.spend(rank.around(6300))
            block(host, 9)
            begin = rank.free[7] + 3
            with host.op('c10d::allreduce_'), host.op('record_param_comms'):
                host.launch(REDUCE, rank.around(700), 22, not_before=begin, **{'Collective name': 'allreduce', 'In msg nelems': 8388608, 'Out msg nelems': 8388608, 'Group size': 4,
                            'dtype': 'BFloat16', 'Process Group Name': '0', 'Process Group Ranks': '[0, 1, 2, 3]'})
            host.synchronise()
    return [rank], ('host', 'host-code', ['synchronisation', 'network', 'communication'], 'agree_on_sizes')


def tensor_parallel(seed):
    """Half of the time a layer waits for its all-reduce on the same stream of dependencies."""
    rank = cuda(seed, 1, 8, with_stack=False)
    host = rank.thread(5)
    for _ in range(5):
        for _ in range(24):
            with host.op('aten::linear'):
                host.launch(GEMM, rank.around(140), not_before=rank.free.get(20, 0) + 2)
            begin = rank.free[7] + 2
            with host.op('c10d::allreduce_'), host.op('record_param_comms'):
                host.launch(REDUCE, rank.around(260), 20, not_before=begin, **{'Collective name': 'allreduce', 'In msg nelems': 4194304, 'Out msg nelems': 4194304, 'Group size': 8,
                            'dtype': 'BFloat16', 'Process Group Name': 'tp', 'Process Group Ranks': '[0, 1, 2, 3, 4, 5, 6, 7]'})
        host.synchronise()
        host.spend(rank.around(400))
    return [rank], ('communication', 'collective', [])


def slow_kernels_rank(seed):
    """The third of three ranks computes 45 % longer; the others wait for it inside the all-reduce."""
    ranks = [cuda(seed, i, 3) for i in range(3)]
    hosts = [rank.thread(10) for rank in ranks]
    for step in range(7):
        for host in hosts:
            with host.frame('fsdp/run.py(31): main'):
                block(host, 14, 290 if host.rank.number == 2 else 200)
        ready = max(rank.free[7] for rank in ranks)
        for host in hosts:
            begin = host.rank.free[7] + 3
            with host.frame('fsdp/run.py(31): main'), host.op('c10d::allreduce_'), host.op('record_param_comms'):
                host.launch(REDUCE, max(0, ready - begin) + 500, 25, not_before=begin, **{'Collective name': 'allreduce', 'In msg nelems': 16777216, 'Out msg nelems': 16777216,
                            'Group size': 3, 'dtype': 'BFloat16', 'Process Group Name': '0', 'Process Group Ranks': '[0, 1, 2]'})
            host.synchronise()
    return ranks, ('communication', 'straggler', ['mixed', 'device-busy', 'device', 'compute'])


def one_token(seed):
    """A product of one row: it reads 134 MB of weights in 36 us, 3.7 TB/s of 5.3."""
    rank = Rank(seed, with_stack=False)
    host = rank.thread(2)
    for _ in range(4):
        for _ in range(90):
            with host.op('aten::mm', shapes=[[1, 8192], [8192, 8192]]):
                host.launch(GEMV, rank.around(36, 0.03))
        host.synchronise()
    kernels = [('wvSplitKrc', 36_000, {'class': 'memory', 'cause': 'memory-bandwidth', 'must_not': ['compute', 'launch']})]
    return [rank], ('memory', 'memory-bandwidth', ['weights', 'matrix-products', 'device-busy']), kernels


def mixed_kernels(seed):
    """Long prompts: products with 8,192 rows at 640 TFLOP/s take four fifths, additions at 2.4 TB/s the rest."""
    rank = cuda(seed)
    host = rank.thread(70)
    with host.frame('prefill.py(5): <module>'):
        for _ in range(3):
            for _ in range(14):
                with host.op('aten::mm', shapes=[[8192, 8192], [8192, 8192]]):
                    host.launch('nvjet_tst_128x256_64x4_1x2_h_bz_coopA_NNT', rank.around(1718, 0.02))
                with host.op('aten::mul', shapes=[[8192, 32768], [8192, 32768]]):
                    host.launch('void at::native::vectorized_elementwise_kernel<8, at::native::BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, at::native::MulFunctor<float> >, std::array<char*, 3ul> >(int)',
                                rank.around(671, 0.02))
            host.synchronise()
    kernels = [('nvjet', 1_718_000, {'class': 'compute', 'cause': 'matrix-rate', 'must_not': ['memory', 'launch']}),
               ('MulFunctor', 671_000, {'class': 'memory', 'cause': 'memory-bandwidth', 'must_not': ['compute', 'launch']})]
    return [rank], ('compute', 'matrix-products', ['device-busy', 'mixed', 'matrix-rate']), kernels


def slow_products(seed):
    """Products of 4,096 by 4,096 at 40 TFLOP/s of 1,307 and 30 GB/s: far from both roofs."""
    rank = Rank(seed, with_stack=False)
    host = rank.thread(70)
    for _ in range(5):
        for _ in range(20):
            with host.op('aten::mm', shapes=[[4096, 4096], [4096, 4096]]):
                host.launch(GEMM, rank.around(3436, 0.02))
        host.synchronise()
    kernels = [('Cijk_', 3_436_000, {'class': 'cannot-tell', 'cause': 'far-from-both', 'seconds': ['compute'], 'must_not': ['memory', 'launch']})]
    return [rank], ('mixed', 'device-busy', ['cannot-tell', 'compute', 'matrix-products']), kernels


def peers(seed):
    """Activations go to a neighbour by copies between devices, which nothing overlaps."""
    rank = cuda(seed, with_stack=False)
    host = rank.thread(14)
    for _ in range(12):
        block(host, 6, 150)
        begin = rank.free[7] + 2
        rank.correlation += 1
        with host.op('aten::copy_'), host.scope('cuda_runtime', 'cudaMemcpyPeerAsync', ('launch', 'cudaMemcpyPeerAsync'), {'cid': 51, 'correlation': rank.correlation}):
            host.spend(5)
            rank.work('gpu_memcpy', 'Memcpy PtoP (Device -> Device)', rank.around(3300), 31, begin, host, 4.0, rank.correlation, {'bytes': 134_217_728, 'kind': 'PtoP', 'not_before': begin})
        rank.free[7] = rank.free[31] + 1
        host.synchronise()
    return [rank], ('transfer', 'peer-copies', ['device-copies', 'synchronous-copy', 'host-copies', 'communication'])


def slower_later(seed):
    """Products take 35 % longer from the middle on; nothing in the file says why."""
    rank = cuda(seed, with_stack=False)
    host = rank.thread(14)
    for i in range(8):
        for _ in range(25):
            with host.op('aten::linear'):
                host.launch(GEMM, rank.around(300 if i < 4 else 405, 0.02))
        host.synchronise()
    return [rank], ('mixed', 'device-busy', ['matrix-products', 'compute', 'memory', 'cannot-tell'])


def simulator_threads(seed):
    """The launching thread waits for a pool whose workers run a game engine."""
    rank = cuda(seed)
    host, worker = rank.thread(50), rank.thread(51)
    with host.frame('rl/actor.py(20): <module>'):
        for _ in range(9):
            worker.now = host.now
            with worker.frame('threading.py(1038): _bootstrap'), worker.frame('concurrent/futures/thread.py(58): run'), worker.frame('game/engine.py(402): advance_world', 'host-code', 'advance_world'):
                worker.spend(rank.around(6600))
            with host.frame('concurrent/futures/_base.py(428): result'), host.frame('threading.py(327): wait'):
                with host.frame("<method 'acquire' of '_thread.lock' objects>", 'lock'):
                    host.wait_until(worker.now)
            block(host, 7)
            with host.op('aten::copy_'):
                host.copy('DtoH (Device -> Pageable)', 64, 3)
    return [rank], ('host', 'lock', ['host-code', 'synchronisation'])


SCENARIOS = [tuner, recompiled, grammar, swapped, streamed_weights, outside_tool, encoder, scaler, graph_calls, pinned, compressor, store, tensor_parallel, slow_kernels_rank, one_token,
             mixed_kernels, slow_products, peers, slower_later, simulator_threads]


def trainer(seed, loader_us=900.0, gemm=1.0, exchange_us=800.0):
    rank = cuda(seed, 0, 4)
    host = rank.thread(40)
    with host.frame('vit/train.py(140): <module>'):
        for step in range(14):
            with host.range(f'ProfilerStep#{step}'):
                with host.frame('torch/utils/data/dataloader.py(708): __next__', 'data-loading'):
                    host.spend(rank.around(loader_us))
                for _ in range(10):
                    with host.op('aten::linear'):
                        host.launch(GEMM, rank.around(260 * gemm, 0.03), grid=[2048, 1, 1])
                    with host.op('_C::fused_add_rms_norm'):
                        host.launch(NORM, rank.around(40, 0.03), grid=[512, 1, 1])
                begin = rank.free[7] + 3
                with host.op('c10d::allreduce_'), host.op('record_param_comms'):
                    host.launch(REDUCE, rank.around(exchange_us, 0.03), 22, not_before=begin, **{'grid': [64, 1, 1], 'Collective name': 'allreduce', 'In msg nelems': 8388608, 'Out msg nelems': 8388608,
                                'Group size': 4, 'dtype': 'BFloat16', 'Process Group Name': '0', 'Process Group Ranks': '[0, 1, 2, 3]'})
                host.synchronise()
    return rank


def slower_loader(seed):
    """The loader takes 5.2 ms of each step instead of 0.9; kernels and collectives stay."""
    return trainer(seed), trainer(seed + ' b', loader_us=5200), ('host', 'data-loading', [])


def slower_products(seed):
    """Products take 25 % longer: 0.65 ms of each step; all else stays."""
    return trainer(seed), trainer(seed + ' b', gemm=1.25), ('memory', 'kernel-slower', ['compute', 'mixed', 'cannot-tell'])


def slower_exchange(seed):
    """The all-reduce takes 2.9 ms instead of 0.8."""
    return trainer(seed), trainer(seed + ' b', exchange_us=2900), ('communication', 'collective', [])


def the_same(seed):
    """Nothing differs but the seed."""
    return trainer(seed), trainer(seed + ' b'), ('cannot-tell', 'noise', [])


PAIRS = [slower_loader, slower_products, slower_exchange, the_same]
