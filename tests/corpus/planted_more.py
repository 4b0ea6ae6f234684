"""Further programs with one planted cause: what the host waits for, what the device does, and ranges that say nothing."""

from planted_scenarios import ADD, GEMM, WRONG_OF_HOST, held_up, layers, scenario, steps

BUSY = ["compute", "memory", "cannot-tell", "matrix-products"]
NOT_OF_BUSY = ["host", "launch", "communication", "transfer", "data-loading", "throttling"]


@scenario("host", "host-code", "postprocess", frame="postprocess", must_not=[*WRONG_OF_HOST, "data-loading"])
def boxes_after_inference(host):
    def body(host):
        layers(host)
        host.copy("DtoH (Device -> Pageable)", 40_000, 8, wait=True)
        held_up("detector/postprocess.py(88): merge_boxes", time=2600)(host, 0)
    steps(host, lambda *_: None, body=body)


@scenario("host", "host-code", "detokeniz", frame="detokeniz", device="MI300X", must_not=[*WRONG_OF_HOST, "data-loading"])
def detokeniser(host):
    steps(host, held_up("engine/output_processor.py(310): process_outputs", "transformers_utils/detokenizer_utils.py(120): detokenize_incrementally"))


@scenario("host", "host-code", "recv", seconds=["lock", "synchronisation", "sleep", "unknown"], frame="recv", must_not=[*WRONG_OF_HOST, "launch", "data-loading"])
def worker_without_orders(host):
    steps(host, held_up("worker.py(70): loop", "multiprocessing/connection.py(250): recv", "<built-in function read>"))


@scenario("host", "unknown", "$^", seconds=["cannot-tell", "python"], python=False, device="MI300X", form="rocprofv3", must_not=[*WRONG_OF_HOST, "launch", "host-code"])
def range_around_everything(host):
    with host.inside("user_annotation", "time_loop"):
        for _ in range(10):
            with host.inside("user_annotation", "advance"):
                for _ in range(4):
                    host.launch("flux_kernel(double const*, double*, int)", 120)
                host.synchronise()
                host.now += host.varied(3000)


@scenario("host", "python", "$^", seconds=["unknown", "host-code", "framework"], python=False, must_not=[*WRONG_OF_HOST, "data-loading", "launch"])
def no_python_stack(host):
    steps(host, lambda host, _: setattr(host, "now", host.now + host.varied(2500)))


@scenario("mixed", "device-busy", "nvjet", seconds=BUSY, must_not=[*NOT_OF_BUSY, "synchronisation"])
def host_waits_for_a_busy_device(host):
    for _ in range(8):
        layers(host, 8, gemm=160, rest=20)
        host.synchronise("EventSynchronize")


@scenario("mixed", "device-busy", "Cijk", seconds=BUSY, device="MI300X", must_not=NOT_OF_BUSY)
def replayed_small_kernels(host):
    for _ in range(10):
        host.launch(GEMM["MI300X"], 6, api="GraphLaunch", call=30)
        for number in range(150):
            host.replayed(GEMM["MI300X"] if number % 3 == 0 else ADD, 6)


@scenario("mixed", "device-busy", "nvjet", seconds=BUSY, must_not=NOT_OF_BUSY)
def kernels_that_grow(host):
    for number in range(120):
        host.operator("aten::addmm", GEMM["H100"], 60 + number, 14)


@scenario("transfer", "host-copies", "Memcpy", seconds=["synchronous-copy", "data-loading"], must_not=["compute", "memory", "communication", "throttling", "launch"])
def pinned_but_exposed(host):
    for _ in range(8):
        host.copy("HtoD (Pinned -> Device)", 60_000_000, 24)
        layers(host, 6)


@scenario("transfer", "peer-copies", "Memcpy", seconds=["communication"], device="A100", must_not=["compute", "memory", "host", "launch", "data-loading"])
def pipeline_peer_copies(host):
    for _ in range(8):
        host.copy("PtoP (Device -> Device)", 200_000_000, 180)
        layers(host, 4)


@scenario("communication", "collective", "nccl", seconds=["exposed-collectives", "straggler"], must_not=["host", "launch", "memory", "compute", "transfer"])
def expert_all_to_all(host):
    for _ in range(8):
        layers(host, 2)
        for _ in range(2):
            with host.inside("cpu_op", "c10d::alltoall_base_"):
                host.launch("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", 420)


@scenario("communication", "collective", "cross_device", seconds=["exposed-collectives", "straggler"], device="MI300X", must_not=["host", "launch", "memory", "compute", "transfer"])
def tensor_parallel_reduce(host):
    for _ in range(6):
        host.launch(GEMM["MI300X"], 20, api="GraphLaunch", call=30)
        for number in range(60):
            host.replayed(GEMM["MI300X"] if number % 2 else "void vllm::cross_device_reduce_2stage<__hip_bfloat16, 8>(vllm::RankData*, vllm::RankSignals, vllm::Signal*, "
                          "__hip_bfloat16*, int, int)", 16 if number % 2 else 48)


@scenario("warmup", "first-use", "LaunchKernel", seconds=["host", "launch"], device="MI300X", must_not=["compute", "memory", "communication", "transfer", "data-loading"])
def first_launches(host):
    for number in range(8):
        with host.inside("cpu_op", "aten::mul"):
            host.launch(f"void at::native::vectorized_elementwise_kernel<{number}, at::native::MulFunctor<float> >(int)", 9, call=9000)
    for _ in range(4):
        layers(host, 4)


@scenario("host", "logging", "matplotlib|savefig", seconds=["host-code"], frame="savefig", device="A100", must_not=[*WRONG_OF_HOST, "data-loading"])
def plots_in_loop(host):
    steps(host, held_up("report.py(31): draw", "matplotlib/pyplot.py(1100): savefig", "matplotlib/backends/backend_agg.py(380): draw", time=6000), count=6)
