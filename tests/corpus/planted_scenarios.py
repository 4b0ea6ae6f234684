"""Programs with one planted cause each. The truth is stated here, before any rule sees the trace; names of events are those of real libraries."""

GEMM = {"H100": "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNN", "A100": "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn",
        "MI300X": "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x128x64_MI16x16x1_SN_LDSB1_AFC0_AFEM1_AFEM1_ASEM1_CLR1_CADS0"}
ADD = ("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >"
       "(int, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)")
CAST = ("void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#12}"
        "::operator()() const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul>, 4, TrivialOffsetCalculator<1, unsigned int>, "
        "TrivialOffsetCalculator<1, unsigned int>, at::native::memory::LoadWithCast<1>, at::native::memory::StoreWithCast<1> >(int)")
NORM = "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float, false>(int, float, c10::BFloat16 const*, c10::BFloat16 const*)"
ALLREDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
WRONG_OF_HOST = ["compute", "memory", "communication", "transfer", "throttling"]
SCENARIOS = {}


def scenario(class_id, cause, pattern, seconds=(), must_not=(), frame="", device="H100", python=True, form="kineto"):
    def register(make):
        SCENARIOS[make.__name__] = {"make": make, "class": class_id, "cause": cause, "pattern": pattern, "seconds": list(seconds), "must_not": list(must_not),
                                    "frame": frame, "device": device, "python": python, "form": form}
        return make
    return register


def layers(host, count=6, gemm=90, rest=12, cost=14):
    """The forward pass of a block; on this host it runs ahead of the device unless kernels are short."""
    for layer in range(count):
        with host.inside("python_function", f"nn.Module: Block_{layer}"):
            host.operator("aten::addmm", GEMM[host.device], gemm, cost)
            host.operator("aten::add", ADD, rest, cost)
            host.operator("aten::layer_norm", NORM, rest, cost)


def steps(host, before, count=8, body=layers):
    """Steps that wait for the device, then do `before` on the host, then launch."""
    with host.inside("python_function", "train.py(88): main"):
        for step in range(count):
            with host.inside("user_annotation", f"ProfilerStep#{step}"):
                before(host, step)
                body(host)
                host.synchronise()


def held_up(*frames, time=2500, category="python_function"):
    def before(host, _):
        def nest(rest):
            if not rest:
                host.now += host.varied(time)
                return
            with host.inside(category, rest[0]):
                nest(rest[1:])
        nest(frames)
    return before


# Host work with names that no list has to know.
@scenario("host", "host-code", "scheduler.py", frame="scheduler.py", must_not=[*WRONG_OF_HOST, "data-loading"])
def engine_scheduler(host):
    def decode(host):
        host.launch("attention_decode_graph", 60, api="GraphLaunch", call=18)
        for _ in range(12):
            host.replayed(GEMM[host.device], 45)
    steps(host, held_up("vllm/v1/engine/core.py(190): step", "vllm/v1/core/sched/scheduler.py(140): schedule"), body=decode)


@scenario("host", "data-loading", "tokeniz", seconds=["host-code"], frame="encode_batch", must_not=WRONG_OF_HOST)
def cpu_tokeniser(host):
    steps(host, held_up("collate.py(30): __call__", "<built-in method encode_batch of tokenizers.Tokenizer object at 0x7f10>"))


@scenario("host", "data-loading", "soundfile", seconds=["host-code"], frame="soundfile.py", must_not=WRONG_OF_HOST)
def audio_reader(host):
    steps(host, held_up("audio_set.py(41): __getitem__", "soundfile.py(285): read"))


@scenario("host", "host-code", "roc_auc_score", frame="sklearn/metrics", must_not=[*WRONG_OF_HOST, "data-loading"])
def metric_on_cpu(host):
    steps(host, held_up("evaluate.py(77): epoch_metrics", "sklearn/metrics/_ranking.py(570): roc_auc_score", "numpy/lib/arraysetops.py(138): unique"))


@scenario("host", "host-code", "rollout", frame="env.py", must_not=[*WRONG_OF_HOST, "checkpoint"])
def simulator_step(host):
    steps(host, held_up("rl/rollout.py(60): collect", "gymnasium/core.py(322): step", "game/env.py(210): physics"))


@scenario("host", "host-code", "beam_search", frame="beam_search.py", device="MI300X", must_not=WRONG_OF_HOST)
def beam_bookkeeping(host):
    steps(host, held_up("generate.py(12): generate", "beam_search.py(204): process"), count=12)


@scenario("host", "checkpoint", "_write_fragments|savez|format.py", seconds=["host-code", "disk"], frame="savez", must_not=[*WRONG_OF_HOST, "data-loading"])
def checkpoint_numpy(host):
    steps(host, lambda host, step: step % 3 == 2 and held_up("trainer.py(301): snapshot", "numpy/lib/npyio.py(600): savez", "numpy/lib/format.py(640): write_array",
                                                             time=12000)(host, step))


@scenario("host", "checkpoint", "state_dict_saver", seconds=["host-code"], frame="checkpoint", device="A100", must_not=WRONG_OF_HOST)
def checkpoint_distributed(host):
    steps(host, lambda host, step: step % 4 == 3 and held_up("torch/distributed/checkpoint/state_dict_saver.py(170): save",
                                                             "torch/distributed/checkpoint/filesystem.py(300): _write_files_from_queue", time=20000)(host, step))


@scenario("host", "logging", "print|flush|write", seconds=["host-code"], frame="write", must_not=[*WRONG_OF_HOST, "data-loading"])
def text_log(host):
    steps(host, held_up("train.py(120): report", "<built-in method write of _io.TextIOWrapper object at 0x7ff0>"))


@scenario("host", "host-code", "requests", seconds=["logging"], frame="requests", must_not=[*WRONG_OF_HOST, "data-loading"])
def report_to_server(host):
    steps(host, held_up("monitor.py(55): push_heartbeat", "requests/sessions.py(502): request", "urllib3/connectionpool.py(594): urlopen"))


@scenario("host", "host-code", "selectors.py", seconds=["sleep", "lock", "synchronisation", "unknown"], frame="select", must_not=WRONG_OF_HOST)
def server_without_requests(host):
    steps(host, held_up("asyncio/base_events.py(1910): _run_once", "selectors.py(451): select", "<built-in method poll of select.epoll object at 0x7f22>"))


@scenario("host", "sleep", "sleep", seconds=["host-code"], frame="sleep", must_not=[*WRONG_OF_HOST, "data-loading"])
def rate_limiter(host):
    steps(host, held_up("client.py(19): throttle", "<built-in function sleep>"))


@scenario("host", "optimiser-host", "torch/optim", must_not=[*WRONG_OF_HOST, "data-loading"])
def optimiser_loop(host):
    def update(host, _):
        with host.inside("user_annotation", "Optimizer.step#AdamW.step"), host.inside("python_function", "torch/optim/adamw.py(410): _single_tensor_adamw"):
            for _ in range(40):
                host.now += host.varied(30)
                host.operator("aten::addcdiv_", ADD, 2.2, 12)
    steps(host, update, count=5)


@scenario("host", "gc", "collect|Garbage", seconds=["host-code"], frame="collect", must_not=[*WRONG_OF_HOST, "data-loading"])
def collector(host):
    steps(host, held_up("train.py(90): clean", "<built-in function collect>"))


@scenario("host", "lock", "acquire", seconds=["synchronisation", "python"], must_not=[*WRONG_OF_HOST, "launch", "data-loading"])
def interpreter_lock(host):
    steps(host, held_up("threading.py(320): wait", "<built-in method acquire of _thread.lock object at 0x7f77>"))


@scenario("host", "data-loading", "queue.py", seconds=["lock"], must_not=[*WRONG_OF_HOST, "launch"])
def starved_queue(host):
    steps(host, held_up("torch/utils/data/dataloader.py(1300): _get_data", "queue.py(154): get", "threading.py(320): wait",
                        "<built-in method acquire of _thread.lock object at 0x7f78>"))


@scenario("host", "host-operator", "aten::sort", seconds=["host-code", "framework"], frame="aten::sort", must_not=[*WRONG_OF_HOST, "data-loading"])
def operator_on_cpu(host):
    def sort(host, _):
        host.copy("DtoH (Device -> Pageable)", 400_000, 12, wait=True)
        with host.inside("python_function", "nms.py(14): rank"):
            host.call("cpu_op", "aten::sort", 1800, **{"Input type": ["float", "", ""], "Input Dims": [[100000], [], []]})
        host.copy("HtoD (Pageable -> Device)", 400_000, 12)
    steps(host, sort)


@scenario("host", "host-code", "assemble", frame="assemble_matrix", python=False, device="MI300X", form="rocprofv3", must_not=WRONG_OF_HOST)
def solver_assembly(host):
    for _ in range(10):
        host.call("user_annotation", "assemble_matrix", 900)
        for _ in range(4):
            host.launch("void spmv_csr_kernel<double, 256>(int, int const*, int const*, double const*, double const*, double*)", 60)
        host.synchronise()


@scenario("host", "unknown", "$^", seconds=["cannot-tell", "host-code"], python=False, device="MI300X", form="rocprofv3", must_not=[*WRONG_OF_HOST, "launch", "data-loading"])
def silent_host(host):
    for _ in range(10):
        host.now += host.varied(3000)
        for _ in range(4):
            host.launch("lattice_update(double*, double*, int)", 120)
        host.synchronise()


@scenario("host", "synchronisation", "Synchronize", seconds=["launch", "launch-latency", "small-kernels"], python=False, device="MI300X", form="rocprofv3",
          must_not=["compute", "memory", "communication", "data-loading"])
def wait_after_every_kernel(host):
    for _ in range(120):
        host.launch("step_kernel(float*, int)", 9)
        host.synchronise("StreamSynchronize")


@scenario("host", "allocation", "Malloc|Free", python=False, device="MI300X", form="rocprofv3", must_not=[*WRONG_OF_HOST, "launch", "data-loading"])
def workspace_in_loop(host):
    for _ in range(20):
        host.api("Malloc", 300)
        host.launch("transpose_tiles(float const*, float*, int)", 80)
        host.api("Free", 260)


@scenario("host", "allocation", "empty_cache|Free", must_not=[*WRONG_OF_HOST, "launch", "data-loading"])
def empty_cache(host):
    def clear(host, _):
        with host.inside("python_function", "torch/cuda/memory.py(178): empty_cache"):
            for _ in range(12):
                host.api("Free", 140)
    steps(host, clear, body=lambda host: (host.api("Malloc", 500), layers(host)))


@scenario("host", "allocation", "HostAlloc|HostRegister", seconds=["data-loading"], must_not=["compute", "memory", "communication", "throttling", "launch"])
def pin_in_loop(host):
    def pin(host, _):
        with host.inside("cpu_op", "aten::pin_memory"):
            host.api("HostAlloc", 2200)
        host.copy("HtoD (Pinned -> Device)", 1_000_000, 24)
    steps(host, pin)


# Launching.
@scenario("host", "framework", "aten::|nn.Module", seconds=["launch", "python", "small-kernels"], must_not=["compute", "memory", "communication", "transfer", "data-loading"])
def tiny_batch(host):
    steps(host, lambda *_: None, count=5, body=lambda host: layers(host, 8, gemm=4, rest=2, cost=40))


@scenario("launch", "launch", "LaunchKernel", seconds=["host", "framework", "small-kernels", "python"], python=False, device="MI300X", form="rocprofv3",
          must_not=["compute", "memory", "communication", "transfer", "data-loading"])
def short_kernels(host):
    for _ in range(400):
        host.launch("axpy(float, float const*, float*, int)", 2.0, call=6)
        host.now += 0.4
    host.synchronise()


@scenario("warmup", "jit-compilation", "BeginCapture|GraphInstantiate", seconds=["host", "graph-capture", "graph-launch"], device="MI300X",
          must_not=["compute", "memory", "communication", "transfer", "data-loading"])
def capture_in_loop(host):
    def body(host):
        with host.inside("python_function", "torch/cuda/graphs.py(180): __enter__"):
            host.api("StreamBeginCapture", 20)
            for _ in range(30):
                host.call("cpu_op", "aten::addmm", 25)
            host.api("StreamEndCapture", 60)
            host.api("GraphInstantiate", 1500)
        host.launch(GEMM[host.device], 90, api="GraphLaunch", call=20)
        for _ in range(8):
            host.replayed(GEMM[host.device], 60)
    steps(host, lambda *_: None, body=body)


@scenario("host", "profiler", "Buffer Flush|Activity Buffer", seconds=["launch", "unknown", "host-code", "cannot-tell"], must_not=["compute", "memory", "communication", "transfer", "data-loading"])
def profiler_flush(host):
    def flush(host, step):
        host.events.append({"ph": "X", "cat": "overhead", "name": "Buffer Flush", "pid": -1, "tid": 0, "ts": host.now, "dur": 6000.0, "args": {}})
        host.now += 6000
    steps(host, flush, count=6)


# Warm-up.
@scenario("warmup", "jit-compilation", "triton_heuristics|do_bench", seconds=["autotuning"], must_not=[*WRONG_OF_HOST, "data-loading"])
def triton_tuning(host):
    def tune(host, step):
        if step == 0:
            with host.inside("python_function", "torch/_inductor/runtime/triton_heuristics.py(950): autotune_to_one_config"):
                for _ in range(6):
                    host.api("ModuleLoadData", 9000)
                    host.launch("triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_0", 20, api="LaunchKernel")
                    host.synchronise()
    steps(host, tune, count=4)


@scenario("warmup", "jit-compilation", "backend_compile", device="A100", must_not=[*WRONG_OF_HOST, "launch", "data-loading"])
def jax_recompiles(host):
    def compile_(host, step):
        held_up("jax/_src/pjit.py(250): cache_miss", "jax/_src/compiler.py(290): backend_compile", time=9000)(host, step)
    def run(host):
        for number in range(20):
            host.launch(f"loop_add_multiply_fusion_{number}" if number % 3 else f"gemm_fusion_dot_{number}", 40)
    steps(host, compile_, body=run, count=5)


@scenario("host", "data-loading", "IteratorGetNext", seconds=["host-code", "host-operator"], frame="IteratorGetNext", device="A100", python=False, must_not=WRONG_OF_HOST)
def tensorflow_input(host):
    def body(host):
        for number in range(20):
            host.launch("void tensorflow::functor::ApplyAdamKernel<float>(int, float*, float*, float*, float const*)" if number > 15 else
                        "void cutlass__5x_cudnn::Kernel<cutlass_tensorop_s1688fprop_optimized_tf32_128x128_16x4>(Params)", 40)
    for _ in range(8):
        host.call("user_annotation", "IteratorGetNext", 2400)
        body(host)
        host.synchronise()


# Transfers and collectives.
@scenario("transfer", "synchronous-copy", "Memcpy", seconds=["host", "host-copies", "data-loading"], must_not=["compute", "memory", "communication", "throttling"])
def pageable_inputs(host):
    steps(host, lambda host, _: host.copy("HtoD (Pageable -> Device)", 12_000_000, 6, wait=True))


@scenario("transfer", "synchronous-copy", "Memcpy", seconds=["host"], python=False, device="MI300X", form="rocprofv3", must_not=["compute", "memory", "communication", "launch"])
def out_of_core(host):
    for _ in range(8):
        host.copy("HtoD", 24_000_000, 20, api="Memcpy", wait=True)
        host.launch("stencil3d(double const*, double*, int, int, int)", 300)
        host.copy("DtoH", 24_000_000, 20, api="Memcpy", wait=True)


@scenario("mixed", "device-busy", "gemm", seconds=["compute", "memory", "cannot-tell", "matrix-products"], must_not=["transfer", "host", "launch", "communication"])
def pinned_overlap(host):
    for _ in range(8):
        host.copy("HtoD (Pinned -> Device)", 12_000_000, 24, stream=20)
        layers(host, 8)
    host.synchronise()


@scenario("communication", "collective", "nccl", seconds=["straggler", "exposed-collectives"], must_not=["host", "launch", "memory", "compute", "transfer", "data-loading"])
def exposed_allreduce(host):
    for _ in range(6):
        layers(host, 4)
        done = host.streams[7]
        with host.inside("cpu_op", "c10d::allreduce_"):
            end = host.launch(ALLREDUCE, 1400, stream=20, after=done)
        host.streams[7] = end
    host.synchronise()


@scenario("mixed", "device-busy", "gemm", seconds=["compute", "memory", "cannot-tell", "matrix-products", "compute-and-communication"], device="A100",
          must_not=["communication", "host", "launch", "transfer"])
def hidden_allreduce(host):
    for _ in range(6):
        with host.inside("cpu_op", "c10d::allreduce_"):
            host.launch(ALLREDUCE, 500, stream=20, after=host.streams.get(7, 0))
        layers(host, 8)
    host.synchronise()


# Kernels with a limit that shapes prove.
@scenario("compute", "matrix-rate", "gemm|nvjet", seconds=["matrix-products"], must_not=["host", "memory", "launch", "communication", "transfer"])
def large_products(host):
    flops = 2 * 8192 * 8192 * 8192
    for _ in range(10):
        host.operator("aten::mm", GEMM["H100"], flops / 680e6, shapes=[[8192, 8192], [8192, 8192]])
    host.synchronise()


@scenario("memory", "memory-bandwidth", "nvjet|gemv", seconds=["weights", "matrix-products"], must_not=["host", "compute", "launch", "communication", "transfer"])
def decode_products(host):
    bytes_ = 2 * 16384 * 4096
    for _ in range(60):
        host.operator("aten::mm", "nvjet_tst_64x8_64x16_1x4_h_bz_TNT", bytes_ / 2.6e6, shapes=[[4, 4096], [4096, 16384]])
    host.synchronise()


@scenario("memory", "memory-bandwidth", "elementwise", seconds=["casts", "layout-changes", "elementwise"], device="A100", must_not=["host", "compute", "launch", "communication", "transfer"])
def casts_everywhere(host):
    elements = 64 * 1024 * 1024
    for _ in range(20):
        with host.inside("cpu_op", "aten::to"):
            host.operator("aten::copy_", CAST, elements * 6 / 1.5e6, shapes=[[64, 1024, 1024], [64, 1024, 1024], []], types=["float", "c10::BFloat16", ""])
        host.operator("aten::mm", GEMM["A100"], 2 * 2048**3 / 220e6, shapes=[[2048, 2048], [2048, 2048]])
    host.synchronise()


# What a file cannot tell.
@scenario("cannot-tell", "kernels-only", "$^", seconds=["host", "unknown"], python=False, device="MI300X", form="kernels", must_not=["compute", "memory", "communication", "data-loading", "launch"])
def kernels_alone(host):
    for _ in range(30):
        host.now += host.varied(400)
        host.launch("reduce_blocks(float const*, float*, int)", 120)
