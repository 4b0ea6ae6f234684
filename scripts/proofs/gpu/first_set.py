"""PyTorch programs for a GPU, each written to be slow for a known cause; with `better` they do without it."""
import gc
import os
import tempfile
import time

from gpu.case import Cases, captured, half

CASES = Cases()
case = CASES.case


@case('compute', 'matrix-products', ['matrix-rate', 'device-busy'], [('gemm|nvjet', 'compute', 'matrix-rate')])
def large_products(torch):
    a, b = half(torch, 8192, 8192), half(torch, 8192, 8192)

    def step():
        for _ in range(6):
            a @ b
    return step


@case('compute', 'matrix-products', ['matrix-rate', 'device-busy'], [('gemm', 'compute', 'matrix-rate')], advice=['precision', 'compute_bound'])
def products_without_tensor_cores(torch, better=False):
    a, b = (torch.randn(4096, 4096, device='cuda') for _ in range(2))

    def step():
        torch.backends.cuda.matmul.allow_tf32 = better
        for _ in range(4):
            a @ b
    return step


@case('memory', 'memory-bandwidth', ['device-busy'], [('elementwise', 'memory', 'memory-bandwidth')])
def large_elementwise(torch):
    a, b = half(torch, 1 << 29), half(torch, 1 << 29)

    def step():
        c = a + b
        c = torch.nn.functional.gelu(c)
        c * a
    return step


@case('memory', 'memory-bandwidth', ['device-busy'], [('softmax', 'memory', 'memory-bandwidth'), ('layer_norm', 'memory', 'memory-bandwidth')])
def rows_normalised(torch):
    x = half(torch, 65536, 8192)

    def step():
        torch.softmax(x, -1)
        torch.nn.functional.layer_norm(x, (8192,))
    return step


@case('memory', 'memory-bandwidth', ['device-busy', 'matrix-products', 'weights'], [('gemv|gemm|nvjet|splitK', 'memory', 'memory-bandwidth')])
def one_token(torch):
    weights = [half(torch, 16384, 16384) for _ in range(8)]
    x = half(torch, 1, 16384)

    def step():
        y = x
        for w in weights:
            y = y @ w
    return step


@case('launch', 'launch', ['framework', 'small-kernels'], advice=['launch_bound', 'host_waiting'])
def many_small_kernels(torch, better=False):
    x = torch.zeros(64, device='cuda')

    def step():
        y = x
        for _ in range(500):
            y = y + 1
    return captured(torch, step) if better else step


@case('host', 'data-loading', ['python'], stack=True, advice=['data-loading'])
def slow_loader(torch, better=False):
    import numpy

    class Pictures(torch.utils.data.Dataset):
        def __len__(self):
            return 1 << 20

        def __getitem__(self, index):
            made = numpy.random.default_rng(index).standard_normal((3, 64, 64))
            return torch.from_numpy((made - made.mean()) / made.std()).float()

    model = torch.nn.Sequential(torch.nn.Conv2d(3, 64, 3), torch.nn.ReLU(), torch.nn.Conv2d(64, 64, 3)).cuda()
    batches = iter(torch.utils.data.DataLoader(Pictures(), batch_size=64, num_workers=12 if better else 0, prefetch_factor=4 if better else None))

    def step():
        with torch.no_grad():
            model(next(batches).cuda())
    return step


@case('host', 'synchronisation', ['launch', 'framework', 'host-copies', 'synchronous-copy'], advice=['synchronous-copy', 'synchronisation', 'read_back'])
def a_value_after_each_kernel(torch, better=False):
    x = torch.randn(4096, device='cuda')

    def step():
        total = 0.0
        for _ in range(200):
            value = (x * 1.5).sum()
            total += value if better else value.item()
        return float(total)
    return step


@case('transfer', 'host-copies', ['synchronous-copy', 'copies-only'], advice=['copy_bound'])
def pageable_copies(torch, better=False):
    made = [torch.randn(1 << 25, pin_memory=better) for _ in range(2)]
    results = [torch.empty(1 << 25, pin_memory=True) for _ in range(2)]

    def step():
        for one in made:
            one.cuda().mul_(2).cpu()

    def step_from_pinned():
        for one, result in zip(made, results):
            result.copy_(one.to('cuda', non_blocking=True).mul_(2), non_blocking=True)
    return step_from_pinned if better else step


@case('host', 'sleep', ['python', 'host-code'], stack=True, advice=['sleep'])
def a_host_that_sleeps(torch, better=False):
    a = half(torch, 4096, 4096)

    def step():
        for _ in range(4):
            a @ a
        torch.cuda.synchronize()
        if not better:
            time.sleep(0.02)
    return step


@case('host', 'allocation', ['framework'], stack=True, advice=['allocation'])
def memory_given_back_each_step(torch, better=False):
    a = half(torch, 1024, 1024)

    def step():
        for _ in range(10):
            blocks = [torch.empty(1 << 27, dtype=torch.uint8, device='cuda') for _ in range(4)]
            a @ a
            del blocks
            if not better:
                torch.cuda.empty_cache()
    return step


@case('host', 'gc', ['python'], stack=True, advice=['gc'])
def garbage_collection(torch, better=False):
    a = half(torch, 2048, 2048)
    kept = [[i] for i in range(600_000)]

    def step():
        for _ in range(3):
            a @ a
            torch.cuda.synchronize()
            if not better:
                gc.collect()
        kept[0] = [1]
    return step


@case('host', 'optimiser-host', ['launch', 'framework', 'small-kernels'], advice=['optimiser-host', 'launch_bound', 'host_waiting'])
def an_optimiser_of_single_kernels(torch, better=False):
    model = torch.nn.Sequential(*(torch.nn.Linear(64, 64) for _ in range(120))).cuda()
    optimiser = torch.optim.AdamW(model.parameters(), foreach=False, fused=better)
    for parameter in model.parameters():
        parameter.grad = torch.randn_like(parameter)
    return optimiser.step


@case('compute', 'convolutions', ['matrix-rate', 'device-busy'], [('conv|implicit|xmma|fprop|cutlass', 'compute', 'matrix-rate')])
def large_convolutions(torch):
    convolution = torch.nn.Conv2d(256, 256, 3, padding=1, bias=False, device='cuda', dtype=torch.bfloat16).to(memory_format=torch.channels_last)
    x = half(torch, 128, 256, 56, 56).to(memory_format=torch.channels_last)

    def step():
        with torch.no_grad():
            for _ in range(6):
                convolution(x)
    return step


@case('launch', 'launch', ['framework', 'host-operator', 'small-kernels'], advice=['launch_bound', 'host_waiting'])
def a_small_batch(torch, better=False):
    layers = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(256, 4, 512, batch_first=True), 6).cuda()
    x = torch.randn(1, 16, 256, device='cuda')

    def step():
        layers(x).sum().backward()
    return captured(torch, step) if better else step


@case('host', 'logging', ['python', 'host-code'], stack=True, advice=['logging', 'host_waiting', 'python'])
def logging_each_step(torch, better=False):
    import logging
    log = logging.getLogger('training' + str(better))
    log.setLevel(logging.WARNING if better else logging.INFO)
    log.addHandler(logging.FileHandler(os.devnull))
    log.propagate = False
    a = half(torch, 1024, 1024)

    def step():
        a @ a
        torch.cuda.synchronize()
        for number in range(600):
            log.info('step %d of %s', number, a.shape)
    return step


@case('host', 'checkpoint', ['disk', 'python'], stack=True, advice=['checkpoint'])
def a_checkpoint_each_step(torch, better=False):
    model = torch.nn.Linear(2048, 2048, device='cuda')
    x = torch.randn(64, 2048, device='cuda')

    def step():
        model(x)
        if better:
            return
        with tempfile.NamedTemporaryFile() as file:
            torch.save(model.state_dict(), file.name)
    return step
