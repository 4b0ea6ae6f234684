"""The second set: servers, pipelines and evaluations; no steps of a profiler, other threads that launch, CUDA names, ranges or stacks left out."""
import sqlite3

from mixed.timeline import Rank

CUTLASS = 'sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas'
FLASH = 'void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, cutlass::bfloat16_t>, false, true>(Flash_fwd_params)'
SAMPLE = 'void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::ArgMaxOps<float>, unsigned int, long, 4> >(at::native::ReduceOp)'
GATHER = 'void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*, int, long, long, long, long, bool)'
SENDRECV = 'ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)'
ALLREDUCE = 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)'
H100 = 'NVIDIA H100 80GB HBM3'


def cuda(seed, number=0, world=1, **more):
    return Rank(seed, number, world, api='cuda', device=H100, **more)


def tower(thread, count, us=150.0):
    rank = thread.rank
    for _ in range(count):
        with thread.op('aten::linear', before=3):
            thread.launch(CUTLASS, rank.around(us))
        with thread.op('flash_attn::_flash_attn_forward', before=3):
            thread.launch(FLASH, rank.around(us / 2))
        with thread.op('aten::gather', before=3):
            thread.launch(GATHER, rank.around(us / 10))


def server(seed):
    """Decoding of a server: a graph per token, the scheduler and the detokeniser between."""
    rank = cuda(seed)
    host = rank.thread(3001)
    decode = [(CUTLASS, 60.0), (FLASH, 25.0), (CUTLASS, 90.0)] * 8
    with host.frame('tokenserve/worker.py(31): <module>'), host.frame('tokenserve/worker.py(188): busy_loop'):
        for i in range(30):
            with host.frame('tokenserve/batching.py(402): pick_requests', 'host-code', 'pick_requests'):
                host.spend(rank.around(2600))
            with host.frame('tokenserve/blocks.py(90): grow_tables', 'host-code', 'grow_tables'):
                host.spend(rank.around(450))
            host.replay(decode)
            with host.op('aten::argmax'):
                host.launch(SAMPLE, 9)
            with host.op('aten::to'), host.op('aten::copy_'):
                host.copy('DtoH (Device -> Pageable)', 256, 4)
            if i % 6 == 5:
                with host.frame('asyncio/base_events.py(1910): _run_once'), host.frame('<built-in function dumps>', 'host-code', 'dumps'):
                    host.spend(rank.around(1900))
    return [rank], ('host', 'host-code', [], 'pick_requests')


def pipeline(seed):
    """A stage of a pipeline: it waits for activations in receive kernels."""
    rank = cuda(seed, 2, 4, with_stack=False)
    host = rank.thread(12)
    for _ in range(9):
        with host.op('c10d::recv_'), host.op('record_param_comms'):
            host.launch(SENDRECV, rank.around(3300), 33, not_before=rank.free.get(7, 0), **{'Collective name': 'recv', 'In msg nelems': 2097152, 'Out msg nelems': 2097152, 'Group size': 4,
                        'dtype': 'BFloat16', 'Process Group Name': 'pp', 'Process Group Ranks': '[0, 1, 2, 3]', 'Src Rank': 1})
        with host.op('aten::linear'):
            host.launch(CUTLASS, rank.around(900), not_before=rank.free[33] + 2)
        tower(host, 4, 220)
        with host.op('c10d::send'), host.op('record_param_comms'):
            host.launch(SENDRECV, rank.around(200), 34, not_before=rank.free[7] + 2, **{'Collective name': 'send', 'In msg nelems': 2097152, 'Out msg nelems': 2097152, 'Group size': 4,
                        'dtype': 'BFloat16', 'Process Group Name': 'pp', 'Process Group Ranks': '[0, 1, 2, 3]', 'Dst Rank': 3})
        host.synchronise()
        host.spend(rank.around(250))
    return [rank], ('communication', 'collective', [])


def hooks(seed):
    """Gradient hooks in Python run on the thread of the backward pass."""
    rank = cuda(seed)
    front, back = rank.thread(1), rank.thread(2)
    for _ in range(8):
        with front.frame('fit.py(20): loop'):
            tower(front, 5, 200)
            back.now = front.now + 30
            for _ in range(3):
                with back.op('autograd::engine::evaluate_function: MmBackward0'), back.frame('compress/topk.py(66): select_largest', 'host-code', 'select_largest'):
                    back.spend(rank.around(1700))
                tower(back, 2, 180)
            with front.op('autograd_wait', 'synchronisation'):
                front.wait_until(back.now + 10)
            with front.range('Optimizer.step#Lion.step'), front.op('aten::_foreach_sign_'):
                front.launch(GATHER, 300)
            front.synchronise()
    return [rank], ('mixed', 'device-busy', ['host', 'host-code', 'compute', 'memory'], 'select_largest')  # kernels take 59 % of the span, the hooks 40 %


def annotated_loader(seed):
    """No stack is recorded; the loader is known by its range alone."""
    rank = Rank(seed, with_stack=False)
    host = rank.thread(44)
    for _ in range(9):
        with host.range('enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__', 'data-loading'):
            host.spend(rank.around(6200))
        with host.op('aten::to'), host.op('aten::copy_'):
            host.copy('HtoD (Pageable -> Device)', 25_165_824, rank.around(1900))
        for _ in range(16):
            with host.op('aten::convolution'), host.op('aten::miopen_convolution'):
                host.launch('miopenSp3AsmConv_v30_3_1_gfx94_fp32_f2x3_stride1', rank.around(210))
            with host.op('aten::relu'):
                host.launch('void at::native::vectorized_elementwise_kernel<4, at::native::clamp_min_scalar_kernel_impl>(int)', 20)
        host.synchronise()
    return [rank], ('host', 'data-loading', [])


def modules(seed):
    """Code is loaded inside the first launches of each library; afterwards all is steady."""
    rank = Rank(seed)
    host = rank.thread(9)
    with host.frame('infer.py(9): <module>'):
        for i in range(10):
            with host.op('aten::linear'):
                host.launch('Cijk_Ailk_Bjlk_HHS_BH_MT64x64x32_MI16x16x16x1', rank.around(300), call_us=rank.around(62000) if i == 0 else 4, cause='first-use' if i == 0 else 'launch')
            with host.op('aten::sort'):
                host.launch('void rocprim::detail::trampoline_kernel<rocprim::detail::wrapped_radix_sort_onesweep_config>', rank.around(90), call_us=rank.around(28000) if i == 0 else 4,
                            cause='first-use' if i == 0 else 'launch')
            with host.op('aten::embedding'):
                host.launch('void at::native::indexFuncLargeIndex<c10::Half, long, unsigned int>()', rank.around(40), call_us=rank.around(9000) if i == 1 else 4,
                            cause='first-use' if i == 1 else 'launch')
            with host.frame('infer.py(41): postprocess', 'host-code', 'postprocess'):
                host.spend(rank.around(900))
    return [rank], ('warmup', 'first-use', [])


def evaluation(seed):
    """Boxes are matched on the host after each image; a bar is drawn."""
    rank = cuda(seed)
    host = rank.thread(71)
    with host.frame('evaluate_detector.py(55): <module>'):
        for _ in range(15):
            tower(host, 5, 170)
            with host.op('aten::to'), host.op('aten::copy_'):
                host.copy('DtoH (Device -> Pageable)', 120_000, 14)
            with host.frame('detbench/matching.py(143): hungarian', 'host-code', 'hungarian'):
                host.spend(rank.around(3100))
            with host.frame('tqdm/std.py(1150): __iter__'), host.frame("<method 'write' of '_io.TextIOWrapper' objects>", 'logging'):
                host.spend(rank.around(260))
    return [rank], ('host', 'host-code', [], 'hungarian')


def on_the_host(seed):
    """One operator has no kernel on the device and runs on the host, between two blocking copies."""
    rank = Rank(seed, with_stack=False)
    host = rank.thread(18)
    for _ in range(12):
        for _ in range(6):
            with host.op('aten::bmm'):
                host.launch('Cijk_Ailk_Bljk_SB_MT64x96x16_MI32x32x1x2', rank.around(190))
        with host.op('aten::to'), host.op('aten::copy_'):
            host.copy('DtoH (Device -> Pageable)', 1_048_576, rank.around(70))
        with host.op('aten::linalg_eigh', 'host-operator', part='linalg_eigh'), host.op('aten::_linalg_eigh', 'host-operator', part='linalg_eigh'):
            host.spend(rank.around(4600))
        with host.op('aten::to'), host.op('aten::copy_'):
            host.copy('HtoD (Pageable -> Device)', 1_048_576, rank.around(60))
    return [rank], ('host', 'host-operator', [], 'linalg_eigh')


def barrier(seed):
    """Ranks meet in a barrier of gloo before each step, and one frame polls a file."""
    rank = cuda(seed, 0, 2)
    host = rank.thread(6)
    with host.frame('elastic/run.py(14): <module>'):
        for i in range(10):
            with host.frame('torch/distributed/distributed_c10d.py(4159): barrier'), host.op('gloo:barrier', 'synchronisation'):
                host.spend(rank.around(2900))
            tower(host, 6, 200)
            if i % 3 == 2:
                with host.frame('elastic/lease.py(70): renew'), host.frame('<built-in function sleep>', 'sleep'):
                    host.spend(rank.around(5000))
            host.synchronise()
    return [rank], ('host', 'synchronisation', ['communication', 'lock'])


def busy(seed):
    """Products and attention of unknown sizes fill the device; nothing of the host matters."""
    rank = cuda(seed, with_stack=False)
    host = rank.thread(100)
    for _ in range(3):
        tower(host, 40, 260)
        host.synchronise()
        with host.op('aten::item'), host.op('aten::_local_scalar_dense'):
            host.copy('DtoH (Device -> Pageable)', 4, 3)
    return [rank], ('mixed', 'device-busy', ['compute', 'memory', 'cannot-tell'])


def remote_features(seed):
    """Features of each batch come from another machine."""
    rank = cuda(seed)
    host = rank.thread(65)
    with host.frame('rank_ads.py(30): <module>'), host.frame('rank_ads.py(72): score_all'):
        for _ in range(14):
            with host.frame('featurestore/client.py(118): fetch'), host.frame('grpc/_channel.py(1178): __call__', 'host-code', 'grpc'):
                host.spend(rank.around(3300))
            with host.frame('featurestore/codec.py(51): decode_columns', 'host-code', 'decode_columns'):
                host.spend(rank.around(1100))
            with host.op('aten::to'), host.op('aten::copy_'):
                host.copy('HtoD (Pageable -> Device)', 8_388_608, rank.around(650))
            tower(host, 4, 150)
            host.synchronise()
    return [rank], ('host', 'host-code', ['network', 'data-loading'], 'grpc')


def collected(seed):
    """Three ranks; one of them collects garbage in each step, so the others wait in the all-reduce."""
    ranks = [cuda(seed, i, 3) for i in range(3)]
    hosts = [rank.thread(40 + rank.number) for rank in ranks]
    for _ in range(7):
        for host in hosts:
            with host.frame('zero/run.py(5): main'):
                tower(host, 6, 200)
                if host.rank.number == 1:
                    with host.frame('zero/memory.py(22): tidy'), host.frame('<built-in function collect>', 'gc'):
                        host.spend(host.rank.around(9000))
                    tower(host, 1, 100)
        ready = max(rank.free[7] for rank in ranks)
        for host in hosts:
            begin = host.rank.free[7] + 3
            with host.frame('zero/run.py(5): main'), host.op('c10d::allreduce_'), host.op('record_param_comms'):
                host.launch(ALLREDUCE, max(0, ready - begin) + 600, 25, not_before=begin, **{'Collective name': 'allreduce', 'In msg nelems': 16777216, 'Out msg nelems': 16777216,
                            'Group size': 3, 'dtype': 'BFloat16', 'Process Group Name': '0', 'Process Group Ranks': '[0, 1, 2]'})
            host.synchronise()
    return ranks, ('host', 'gc', ['communication', 'straggler', 'mixed'])


def table(seed):
    """Rows of an embedding are fetched by blocking copies from pageable memory."""
    rank = cuda(seed)
    host = rank.thread(81)
    with host.frame('recsys/lookup.py(12): <module>'):
        for _ in range(20):
            with host.frame('recsys/cache.py(45): evict', 'host-code', 'evict'):
                host.spend(rank.around(350))
            with host.op('aten::to'), host.op('aten::copy_'):
                host.copy('HtoD (Pageable -> Device)', 50_331_648, rank.around(3900))
            tower(host, 3, 150)
            host.synchronise()
    return [rank], ('transfer', 'synchronous-copy', ['host-copies'])


def roc_database(seed):
    """rocmProfileData: an API whose device allocations keep it, without any stack."""
    rank = Rank(seed, with_stack=False)
    host = rank.thread(7000)
    for _ in range(10):
        for _ in range(4):
            host.launch('void conv_fwd_tile<64, 8>(float const*, float*)', rank.around(240))
        for _ in range(2):
            host.call('hipFree', rank.around(900), 'allocation')
            host.call('hipMalloc', rank.around(1400), 'allocation')
        host.launch('void bias_act<float>(float*)', 60)
        host.synchronise()
    return [rank], ('host', 'allocation', [])


def write_rpd(rank, path):
    """The tables of rocmProfileData; a row of rocpd_api_ops joins a call and its work."""
    base = sqlite3.connect(path)
    base.executescript('''create table rocpd_string(id integer primary key, string text);
        create table rocpd_api(id integer primary key, pid integer, tid integer, start integer, end integer, apiName_id integer, args_id integer);
        create table rocpd_op(id integer primary key, gpuId integer, queueId integer, sequenceId integer, completionSignal text, start integer, end integer,
                              description_id integer, opType_id integer);
        create table rocpd_api_ops(id integer primary key, api_id integer, op_id integer);
        create table rocpd_metadata(id integer primary key, tag text, value text);
        insert into rocpd_metadata values(1, 'schema_version', '2');
        create table rocpd_monitor(id integer primary key, deviceType text, deviceId integer, monitorType text, start integer, end integer, value text);''')
    strings = {}

    def text(value):
        if value not in strings:
            strings[value] = len(strings) + 1
            base.execute('insert into rocpd_string values(?, ?)', (strings[value], value))
        return strings[value]
    calls = {event['args']['correlation']: event for event in rank.events if event.get('cat') == 'cuda_runtime'}
    for number, event in calls.items():
        base.execute('insert into rocpd_api values(?, ?, ?, ?, ?, ?, ?)', (number, rank.pid, event['tid'], int(event['ts'] * 1000), int((event['ts'] + event['dur']) * 1000),
                                                                           text(event['name']), text('')))
    for i, event in enumerate(event for event in rank.events if event.get('cat') == 'kernel'):
        base.execute('insert into rocpd_op values(?, 0, 0, 0, "", ?, ?, ?, ?)', (i + 1, int(event['ts'] * 1000), int((event['ts'] + event['dur']) * 1000), text(event['name']),
                                                                               text('KernelExecution')))
        base.execute('insert into rocpd_api_ops values(?, ?, ?)', (i + 1, event['args']['correlation'], i + 1))
    base.commit()
    base.close()


SCENARIOS = [server, pipeline, hooks, annotated_loader, modules, evaluation, on_the_host, barrier, busy, remote_features, collected, table, roc_database]
