"""The first set of mixed traces: trainers, samplers and ranks, each with two or more causes; written before the program saw any of them."""
from mixed.timeline import Rank

GEMM = 'Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x160x64_MI16x16x1_SN_LDSB1'
SOFTMAX = 'void at::native::(anonymous namespace)::cunn_SoftMaxForwardSmem<8, c10::BFloat16, float, c10::BFloat16>(c10::BFloat16*, c10::BFloat16 const*, int)'
ADD = 'void at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>)'
NORM = 'void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, float, c10::BFloat16 const*)'
REDUCE = 'ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)'


def layers(thread, count, us=220.0, host=9.0):
    """A forward pass whose host runs ahead: `count` blocks of three kernels."""
    rank = thread.rank
    for i in range(count):
        with thread.frame(f'nn.Module: Block_{i}'):
            thread.spend(host)
            with thread.op('aten::addmm'):
                thread.launch(GEMM, rank.around(us))
            with thread.op('aten::_softmax'):
                thread.launch(SOFTMAX, rank.around(us / 4))
            with thread.op('aten::add'):
                thread.launch(ADD, rank.around(us / 8))


def steps(thread, count, body):
    with thread.frame('recipes/pretrain.py(412): <module>'), thread.frame('recipes/pretrain.py(233): fit_epoch'):
        for step in range(count):
            with thread.range(f'ProfilerStep#{step + 3}'):
                body(step)


def speech(seed):
    """Buckets of audio are decoded on the launching thread; every third step collects garbage."""
    rank = Rank(seed)
    host = rank.thread(901)

    def body(step):
        with host.frame('torch/utils/data/dataloader.py(708): __next__'), host.frame('lhotse/dataset/sampling/dynamic_bucketing.py(214): __next__'):
            with host.frame('lhotse/audio/backend.py(481): read_audio', 'data-loading'):
                host.spend(rank.around(9500))
        if step % 3 == 2:
            with host.frame('<built-in function collect>', 'gc'):
                host.spend(rank.around(5200))
        layers(host, 6)
        with host.frame('torch/optim/lr_scheduler.py(156): step', 'python'):
            host.spend(rank.around(420))
        layers(host, 6)
        host.synchronise()
    steps(host, 8, body)
    return [rank], ('host', 'data-loading', [])


def denoiser(seed):
    """The scheduler of a diffusion model computes in NumPy between steps; its input comes by a blocking copy."""
    rank = Rank(seed)
    host = rank.thread(77)
    with host.frame('generate.py(61): <module>'), host.frame('pipelines/video_pipeline.py(908): __call__'):
        for _ in range(14):
            layers(host, 9, 160)
            with host.op('aten::to'), host.op('aten::_to_copy'), host.op('aten::copy_'):
                host.copy('DtoH (Device -> Pinned)', 4_194_304, rank.around(700))
            with host.frame('schedulers/unipc_multistep.py(733): multistep_uni_c_bh_update', 'host-code', 'multistep_uni_c_bh_update'):
                host.spend(rank.around(6100))
            with host.op('aten::to'), host.op('aten::copy_'):
                host.copy('HtoD (Pinned -> Device)', 4_194_304, rank.around(900))
        host.synchronise()
    return [rank], ('host', 'host-code', [], 'multistep_uni_c_bh_update')


def experts(seed):
    """Tokens go to experts and back on a second stream; the products wait for them."""
    rank = Rank(seed, 0, 8)
    host = rank.thread(1300)

    def body(_):
        for i in range(10):
            with host.frame(f'nn.Module: MoELayer_{i}'):
                with host.op('aten::mm'):
                    host.launch(GEMM, rank.around(330))
                for _ in range(2):
                    begin = rank.free[7]
                    with host.op('c10d::alltoall_base_'), host.op('record_param_comms'):
                        host.launch(REDUCE, rank.around(520), 21, not_before=begin, **{'Collective name': 'all_to_allv', 'In msg nelems': 8388608,
                                    'Out msg nelems': 8388608, 'Group size': 8, 'dtype': 'BFloat16', 'Process Group Name': 'ep', 'Process Group Ranks': '[0, 1, 2, 3, 4, 5, 6, 7]'})
                    with host.op('aten::bmm'):
                        host.launch(GEMM, rank.around(210), not_before=rank.free[21] + 2)
        host.synchronise()
        with host.frame('<built-in method item of Tensor object at 0x7f11d4>', 'python'):
            host.spend(rank.around(300))
    steps(host, 4, body)
    return [rank], ('communication', 'collective', [])


def retries(seed):
    """The caching allocator frees and allocates in each step, because lengths vary."""
    rank = Rank(seed)
    host = rank.thread(5)

    def body(step):
        layers(host, 4, 300)
        for _ in range(3):
            with host.op('aten::empty'):
                host.synchronise()
                for _ in range(4):
                    host.call('hipFree', rank.around(700), 'allocation')
                host.call('hipMalloc', rank.around(1500), 'allocation')
            layers(host, 2, 250)
        with host.frame('recipes/metrics.py(31): update_running_mean', 'host-code', 'update_running_mean'):
            host.spend(rank.around(1300))
    steps(host, 7, body)
    return [rank], ('host', 'allocation', [])


def simulator(seed):
    """An agent: physics on the host, a small policy on the device."""
    rank = Rank(seed)
    host = rank.thread(31)
    with host.frame('play.py(19): <module>'), host.frame('rl/collector.py(144): rollout'):
        for i in range(40):
            with host.frame('envs/vector/sync_vector_env.py(176): step'), host.frame('mujoco/bindings.py(88): mj_step', 'host-code', 'mj_step'):
                host.spend(rank.around(2100))
            with host.frame('numpy/core/shape_base.py(459): stack', 'host-code', 'stack'):
                host.spend(rank.around(150))
            with host.op('aten::to'), host.op('aten::copy_'):
                host.copy('HtoD (Pageable -> Device)', 65536, 12)
            layers(host, 2, 60)
            with host.op('aten::argmax'):
                host.launch(SOFTMAX, 8)
            with host.op('aten::to'), host.op('aten::copy_'):
                host.copy('DtoH (Device -> Pageable)', 512, 5)
            if i % 10 == 9:
                with host.frame('<built-in function sleep>', 'sleep'):
                    host.spend(rank.around(3000))
    return [rank], ('host', 'host-code', [], 'mj_step')


def eager(seed):
    """Tiny kernels of an eager model: the dispatch of operators takes longer than they run."""
    rank = Rank(seed)
    host = rank.thread(2)

    def body(_):
        for i in range(60):
            with host.frame(f'nn.Module: TinyCell_{i}'):
                host.spend(6)
                for name, kernel in (('aten::mul', ADD), ('aten::sigmoid', ADD), ('aten::native_layer_norm', NORM)):
                    with host.op(name, before=rank.around(16), after=5):
                        host.launch(kernel, rank.around(4))
        with host.frame('torch/nn/utils/clip_grad.py(98): clip_grad_norm_', 'python'):
            host.spend(rank.around(900))
    steps(host, 5, body)
    return [rank], ('host', 'framework', ['launch', 'small-kernels', 'python'])


def saver(seed):
    """Each epoch of three steps writes the model, and a progress line goes to a terminal."""
    rank = Rank(seed)
    host = rank.thread(8)

    def body(step):
        layers(host, 8, 260)
        host.synchronise()
        with host.frame('rich/progress.py(1424): advance'), host.frame('rich/console.py(1992): print', 'logging'):
            host.spend(rank.around(800))
        if step % 3 == 2:
            with host.frame('torch/distributed/checkpoint/state_dict_saver.py(87): save'), host.frame('torch/distributed/checkpoint/filesystem.py(301): _write_item'):
                for _ in range(6):
                    with host.op('aten::copy_'):
                        host.copy('DtoH (Device -> Pageable)', 33_554_432, rank.around(900))
                    with host.frame("<method 'write' of '_io.BufferedWriter' objects>", 'checkpoint'):
                        host.spend(rank.around(6500))
    steps(host, 6, body)
    return [rank], ('host', 'checkpoint', ['disk'])


def compiled(seed):
    """A Triton kernel is compiled in the first step and two others in the second; the rest is steady."""
    rank = Rank(seed)
    host = rank.thread(66)

    def body(step):
        layers(host, 5, 180)
        for _ in range({0: 1, 1: 2}.get(step, 0)):
            with host.frame('triton/runtime/jit.py(569): run'), host.frame('triton/compiler/compiler.py(226): compile'):
                with host.frame('triton/backends/amd/compiler.py(288): make_llir', 'jit-compilation'):
                    host.spend(rank.around(41000))
                with host.frame('<built-in method load_binary of module>', 'jit-compilation'):
                    host.spend(rank.around(900))
            with host.op('fused_rope_kernel'):
                host.launch('_fused_rope_fwd_kernel_0d1d2de', 35, name='hipModuleLaunchKernel')
        with host.frame('data/synthetic.py(12): next_batch', 'data-loading'):
            host.spend(rank.around(700))
        layers(host, 5, 180)
    steps(host, 9, body)
    return [rank], ('warmup', 'jit-compilation', [])


def products(seed):
    """Large products back to back with shapes; the host runs ahead."""
    rank = Rank(seed)
    host = rank.thread(14)

    def body(_):
        for _ in range(24):
            with host.op('aten::mm', shapes=[[8192, 8192], [8192, 8192]]):
                host.launch(GEMM, rank.around(1750, 0.02))
        host.synchronise()
        with host.frame('torch/optim/lr_scheduler.py(156): step', 'python'):
            host.spend(rank.around(300))
    steps(host, 3, body)
    return [rank], ('compute', 'matrix-products', ['matrix-rate'])


def triad(seed):
    """Additions over large tensors at 3.9 TB/s."""
    rank = Rank(seed)
    host = rank.thread(14)

    def body(_):
        for _ in range(30):
            with host.op('aten::add', shapes=[[16384, 16384], [16384, 16384], []]):
                host.launch(ADD, rank.around(413, 0.02))
        host.synchronise()
        with host.frame('bench/report.py(40): format_row', 'host-code', 'format_row'):
            host.spend(rank.around(250))
    steps(host, 3, body)
    return [rank], ('memory', 'memory-bandwidth', ['elementwise'])


def offload(seed):
    """Gradients go to the host, the optimizer runs there, parameters come back."""
    rank = Rank(seed)
    host = rank.thread(40)

    def body(_):
        layers(host, 8, 200)
        with host.op('aten::copy_'):
            host.copy('DtoH (Device -> Pinned)', 134_217_728, rank.around(2600))
        with host.range('Optimizer.step#DeepSpeedCPUAdam.step'), host.frame('deepspeed/ops/adam/cpu_adam.py(146): step', 'optimiser-host'):
            host.spend(rank.around(11000))
        with host.op('aten::copy_'):
            host.copy('HtoD (Pinned -> Device)', 134_217_728, rank.around(2600))
    steps(host, 6, body)
    return [rank], ('host', 'optimiser-host', [])


def metrics_over_network(seed):
    """Every step sends its metrics to a tracking server and waits for the answer."""
    rank = Rank(seed)
    host = rank.thread(23)

    def body(_):
        layers(host, 7, 240)
        host.synchronise()
        with host.frame('mlflow/tracking/client.py(1480): log_metric'), host.frame('requests/sessions.py(589): request'):
            with host.frame('<built-in function dumps>', 'host-code', 'dumps'):
                host.spend(rank.around(600))
            with host.frame("<method 'recv_into' of '_socket.socket' objects>", 'host-code', 'recv_into'):
                host.spend(rank.around(5600))
    steps(host, 8, body)
    return [rank], ('host', 'host-code', ['logging', 'network'], 'recv_into')


def prefetcher(seed):
    """The launching thread waits for a queue that a decoding thread fills."""
    rank = Rank(seed)
    host, worker = rank.thread(50), rank.thread(51)

    def body(_):
        worker.now = host.now
        with worker.frame('threading.py(1038): _bootstrap'), worker.frame('loader/decode_pool.py(77): fill'), worker.frame('PIL/ImageFile.py(280): load', 'data-loading'):
            worker.spend(rank.around(7000))
        with host.frame('loader/decode_pool.py(103): __next__'), host.frame('queue.py(154): get'), host.frame('threading.py(327): wait'):
            with host.frame("<method 'acquire' of '_thread.lock' objects>", 'lock'):
                host.wait_until(worker.now)
        layers(host, 8, 230)
        with host.op('aten::copy_'):
            host.copy('DtoH (Device -> Pageable)', 4, 3)
    steps(host, 7, body)
    return [rank], ('host', 'lock', ['data-loading', 'synchronisation'])


def ranks_late(seed):
    """Two ranks; the second tokenises on its launching thread, so the first waits inside the all-reduce."""
    ranks = [Rank(seed, i, 2, start=5_000_000.0) for i in range(2)]
    hosts = [rank.thread(600) for rank in ranks]
    stacks = [host.frame('launch/ddp_main.py(77): <module>') for host in hosts]
    for stack in stacks:
        stack.__enter__()
    for step in range(6):
        ranges = [host.range(f'ProfilerStep#{step}') for host in hosts]
        for one in ranges:
            one.__enter__()
        with hosts[1].frame('text/pipeline.py(58): collate'), hosts[1].frame('sentencepiece/__init__.py(311): EncodeAsIds', 'data-loading'):
            hosts[1].spend(ranks[1].around(8000))
        for host in hosts:
            layers(host, 8, 230)
        ready = max(rank.free[7] for rank in ranks)
        for host in hosts:
            begin = host.rank.free[7] + 3
            with host.op('c10d::allreduce_'), host.op('record_param_comms'):
                host.launch(REDUCE, max(0, ready - begin) + 900, 19, not_before=begin, **{'Collective name': 'allreduce', 'In msg nelems': 25557032, 'Out msg nelems': 25557032,
                            'Group size': 2, 'dtype': 'Float', 'Process Group Name': '0', 'Process Group Ranks': '[0, 1]'})
            with host.op('aten::_foreach_add_'):
                host.launch(ADD, 300, not_before=host.rank.free[19] + 2)
            host.synchronise()
        for one in ranges:
            one.__exit__(None, None, None)
    for stack in stacks:
        stack.__exit__(None, None, None)
    return ranks, ('host', 'data-loading', ['communication', 'straggler', 'mixed'])


SCENARIOS = [speech, denoiser, experts, retries, simulator, eager, saver, compiled, products, triad, offload, metrics_over_network, prefetcher, ranks_late]
