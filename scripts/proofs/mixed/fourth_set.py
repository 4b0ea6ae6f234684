"""The fourth set: tables of rocprofv3 and ROCm traces with other causes (compilation of kernels, module loads, late events, streams, ranges only); written before the third was judged."""
import csv

from mixed.timeline import Rank

CONV = 'igemm_fwd_gtcx3_nhwc_bf16_bx0_ex0_bt128x128x32_wt32x32x8_ws1x1_wr2x2_ta1x8x2x1_1x4x1x64_tb1x8x2x1_1x4x1x64'
CK = 'void ck::kernel_gemm_xdl_cshuffle_v3<ck::GridwiseGemm_xdl_cshuffle_v3<ck::tensor_layout::gemm::RowMajor> >(ck::Argument)'
LN = 'void ck_tile::kentry<256, 1, ck_tile::Layernorm2dFwd<ck_tile::Layernorm2dFwdPipelineOnePass> >(ck_tile::Layernorm2dFwd::Kargs)'
COPY = 'void at::native::elementwise_kernel_manual_unroll<128, 4, at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda> >(int)'
SCAN = 'void rocprim::detail::lookback_scan_kernel<rocprim::default_config, float*, float*>(float*)'
GATHERS = 'ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)'


def chain(thread, count, us=170.0):
    rank = thread.rank
    for _ in range(count):
        with thread.op('aten::matmul'):
            thread.launch(CK, rank.around(us))
        with thread.op('aten::layer_norm'):
            thread.launch(LN, rank.around(us / 8))
        with thread.op('aten::contiguous'):
            thread.launch(COPY, rank.around(us / 6))


def tables_allocation(seed):
    """rocprofv3: memory is allocated and released around each kernel."""
    rank = Rank(seed, with_stack=False)
    host = rank.thread(910)
    for _ in range(25):
        host.call('hipMalloc', rank.around(1500), 'allocation')
        for _ in range(3):
            host.launch('laplace_step(double*, double const*, int)', rank.around(420))
        host.synchronise()
        host.call('hipFree', rank.around(800), 'allocation')
    rank.tables = True
    return [rank], ('host', 'allocation', [])


def tables_kernels_only(seed):
    """rocprofv3 with kernels alone, idle for two thirds: nobody can say why."""
    rank = Rank(seed, with_stack=False)
    host = rank.thread(911)
    for _ in range(40):
        host.launch('advect(float4*, float4 const*, int)', rank.around(500))
        host.spend(rank.around(1500, 0.4))
    rank.tables, rank.with_calls = True, False
    return [rank], ('cannot-tell', 'kernels-only', ['unknown'])


def tables_module(seed):
    """rocprofv3: modules are compiled by hiprtc and loaded before the first kernels."""
    rank = Rank(seed, with_stack=False)
    host = rank.thread(912)
    for i in range(3):
        host.launch('prepare(float*)', 200)
        host.call('hiprtcCompileProgram', rank.around(41_000), 'jit-compilation')
        host.call('hipModuleLoadData', rank.around(2600), 'jit-compilation')
        for _ in range(12):
            host.launch(f'stage_{i}(float*, int)', rank.around(310), name='hipModuleLaunchKernel')
        host.synchronise()
    rank.tables = True
    return [rank], ('warmup', 'jit-compilation', ['first-use'])


def tables_copies(seed):
    """rocprofv3: each product waits for its two operands, which come by hipMemcpy."""
    rank = Rank(seed, with_stack=False)
    host = rank.thread(913)
    for _ in range(20):
        for _ in range(2):
            host.copy('HtoD (Pageable -> Device)', 50_000_000, rank.around(2100))
        host.launch('dgemm_tiled(double const*, double const*, double*, int)', rank.around(1300))
        host.copy('DtoH (Device -> Pageable)', 25_000_000, rank.around(1100))
    rank.tables = True
    return [rank], ('transfer', 'synchronous-copy', ['host-copies'])


def beam(seed):
    """Beams are re-ordered in Python lists after each step, whose scores come by `tolist`."""
    rank = Rank(seed)
    host = rank.thread(44)
    with host.frame('asr/transcribe.py(31): <module>'), host.frame('asr/decoder.py(288): decode'):
        for _ in range(22):
            chain(host, 5, 110)
            with host.frame('<built-in method tolist of Tensor object at 0x7f1>'), host.op('aten::copy_'):
                host.copy('DtoH (Device -> Pageable)', 8192, 4)
            with host.frame('asr/beam.py(120): prune_and_extend', 'host-code', 'prune_and_extend'):
                host.spend(rank.around(2700))
            with host.frame('asr/lm_score.py(64): ngram_scores', 'host-code', 'ngram_scores'):
                host.spend(rank.around(900))
    return [rank], ('host', 'host-code', [], 'prune_and_extend')


def sharded(seed):
    """Parameters are gathered before each layer, and nothing hides that."""
    rank = Rank(seed, 3, 8)
    host = rank.thread(46)
    for step in range(4):
        with host.range(f'ProfilerStep#{step}'), host.frame('fsdp2/train.py(77): train_step'):
            for _ in range(16):
                begin = rank.free.get(7, 0) + 2
                with host.op('c10d::_allgather_base_'), host.op('record_param_comms'):
                    host.launch(GATHERS, rank.around(610), 19, not_before=begin, **{'Collective name': '_allgather_base', 'In msg nelems': 6291456, 'Out msg nelems': 50331648, 'Group size': 8,
                                'dtype': 'BFloat16', 'Process Group Name': 'fsdp', 'Process Group Ranks': '[0, 1, 2, 3, 4, 5, 6, 7]'})
                with host.op('aten::mm'):
                    host.launch(CK, rank.around(420), not_before=rank.free[19] + 2)
            host.synchronise()
            with host.frame('fsdp2/lr.py(9): set_learning_rate', 'python'):
                host.spend(rank.around(260))
    return [rank], ('communication', 'collective', [])


def augmenter(seed):
    """Images are augmented on the launching thread by OpenCV; labels come from a memory-mapped file."""
    rank = Rank(seed)
    host = rank.thread(47)
    with host.frame('detector/train.py(201): <module>'):
        for step in range(9):
            with host.range(f'ProfilerStep#{step}'):
                with host.frame('torch/utils/data/dataloader.py(757): _next_data'), host.frame('torch/utils/data/_utils/fetch.py(52): fetch'):
                    with host.frame('<built-in function warpAffine>', 'data-loading'):
                        host.spend(rank.around(5200))
                    with host.frame('numpy/memmap.py(352): __getitem__', 'data-loading'):
                        host.spend(rank.around(1500))
                with host.op('aten::to'), host.op('aten::copy_'):
                    host.copy('HtoD (Pageable -> Device)', 12_582_912, rank.around(800))
                chain(host, 11)
                host.synchronise()
    return [rank], ('host', 'data-loading', [])


def hyper(seed):
    """A Bayesian search on the host proposes parameters between short trainings."""
    rank = Rank(seed)
    host = rank.thread(48)
    with host.frame('search/run.py(18): <module>'):
        for i in range(10):
            with host.frame('search/gp.py(90): propose'), host.frame('scipy/linalg/_decomp_cholesky.py(20): _cholesky', 'host-code', 'cholesky'):
                host.spend(rank.around(7300))
            chain(host, 9)
            host.synchronise()
            with host.frame('search/store.py(12): append_result'), host.frame("<method 'write' of '_io.TextIOWrapper' objects>", 'disk'):
                host.spend(rank.around(310))
    return [rank], ('host', 'host-code', [], 'cholesky')


def garbage(seed):
    """Collections of garbage between micro-batches, by ranges alone."""
    rank = Rank(seed, with_stack=False)
    host = rank.thread(49)
    for step in range(11):
        with host.range(f'ProfilerStep#{step}'):
            chain(host, 8)
            with host.range('gc.collect', 'gc'):
                host.spend(rank.around(6100))
            chain(host, 8)
            host.synchronise()
    return [rank], ('host', 'gc', [])


def streams(seed):
    """Convolutions on two streams overlap; the host is far ahead: kernels take the time."""
    rank = Rank(seed, with_stack=False)
    host = rank.thread(52)
    for _ in range(4):
        for _ in range(45):
            with host.op('aten::convolution'):
                host.launch(CONV, rank.around(330), 7)
            with host.op('aten::cumsum'):
                host.launch(SCAN, rank.around(120), 8)
        host.synchronise()
    return [rank], ('mixed', 'device-busy', ['compute', 'memory', 'cannot-tell'])


def write_tables(rank, folder):
    """The tables of rocprofv3: calls, kernels, copies; without `with_calls` only kernels."""
    folder.mkdir(parents=True)

    def table(name, head, rows):
        with (folder / f'{rank.pid}_{name}.csv').open('w', newline='') as out:
            csv.writer(out, quoting=csv.QUOTE_NONNUMERIC).writerows([head] + rows)

    def times(event):
        return [int(event['ts'] * 1000), int((event['ts'] + event['dur']) * 1000)]
    of = {category: [event for event in rank.events if event.get('cat') == category] for category in ('cuda_runtime', 'kernel', 'gpu_memcpy')}
    table('kernel_trace', ['Kind', 'Agent_Id', 'Queue_Id', 'Stream_Id', 'Thread_Id', 'Dispatch_Id', 'Kernel_Id', 'Kernel_Name', 'Correlation_Id', 'Start_Timestamp', 'End_Timestamp',
                           'LDS_Block_Size', 'Scratch_Size', 'VGPR_Count', 'Accum_VGPR_Count', 'SGPR_Count', 'Workgroup_Size_X', 'Workgroup_Size_Y', 'Workgroup_Size_Z', 'Grid_Size_X',
                           'Grid_Size_Y', 'Grid_Size_Z'],
          [['KERNEL_DISPATCH', 'Agent 4', 1, 1, rank.threads[0].tid, i + 1, 7, event['name'], event['args']['correlation'], *times(event), 0, 0, 32, 0, 32, 256, 1, 1,
            256 * event['args']['grid'][0], 1, 1] for i, event in enumerate(of['kernel'])])
    if getattr(rank, 'with_calls', True):
        table('hip_api_trace', ['Domain', 'Function', 'Process_Id', 'Thread_Id', 'Correlation_Id', 'Start_Timestamp', 'End_Timestamp'],
              [['HIP_RUNTIME_API', event['name'], rank.pid, event['tid'], event['args']['correlation'], *times(event)] for event in of['cuda_runtime']])
    if of['gpu_memcpy']:
        table('memory_copy_trace', ['Kind', 'Direction', 'Stream_Id', 'Source_Agent_Id', 'Destination_Agent_Id', 'Correlation_Id', 'Start_Timestamp', 'End_Timestamp'],
              [['MEMORY_COPY', 'MEMORY_COPY_HOST_TO_DEVICE' if 'HtoD' in event['name'] else 'MEMORY_COPY_DEVICE_TO_HOST', 1, 'Agent 0', 'Agent 4', event['args']['correlation'], *times(event)]
               for event in of['gpu_memcpy']])


SCENARIOS = [tables_allocation, tables_kernels_only, tables_module, tables_copies, beam, sharded, augmenter, hyper, garbage, streams]
