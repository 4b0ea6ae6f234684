"""More PyTorch programs for a GPU, written after the first set was judged and before the program saw them; with `better` they do without their fault."""
from gpu.case import Cases, captured, half

CASES = Cases()
case = CASES.case


@case('compute', 'matrix-products', ['matrix-rate', 'device-busy'], [('gemm|ffma', 'compute', 'matrix-rate')], advice=['precision'])
def training_in_float32(torch, better=False):
    model = torch.nn.Sequential(*(torch.nn.Linear(4096, 4096, bias=False) for _ in range(4))).cuda()
    optimiser = torch.optim.SGD(model.parameters(), 1e-6)
    x = torch.randn(4096, 4096, device='cuda')

    def step():
        torch.backends.cuda.matmul.allow_tf32 = better
        model(x).square().mean().backward()
        optimiser.step()
        optimiser.zero_grad()
    return step


@case('compute', 'convolutions', ['matrix-rate', 'device-busy'], advice=['precision'])
def convolutions_in_float32(torch, better=False):
    convolution = torch.nn.Conv2d(256, 256, 3, padding=1, bias=False).cuda()
    x = torch.randn(64, 256, 56, 56, device='cuda')

    def step():
        torch.backends.cudnn.allow_tf32 = better
        with torch.no_grad():
            for _ in range(3):
                convolution(x)
    return step


@case('launch', 'launch', ['framework', 'host-operator', 'small-kernels'], advice=['launch_bound', 'host_waiting'])
def inference_of_one_picture(torch, better=False):
    from torchvision.models import resnet18
    model = resnet18(weights=None).cuda().eval()
    x = torch.randn(1, 3, 224, 224, device='cuda')

    def step():
        with torch.no_grad():
            model(x)
    return captured(torch, step) if better else step


@case('launch', 'launch', ['framework', 'host-operator', 'small-kernels', 'python'], advice=['launch_bound', 'host_waiting'])
def a_loop_over_rows(torch, better=False):
    x = torch.randn(512, 1024, device='cuda')

    def step():
        if better:
            return x.sum(1)
        out = torch.empty(512, device='cuda')
        for row in range(512):
            out[row] = x[row].sum()
        return out
    return step


@case('memory', 'memory-bandwidth', ['device-busy', 'matrix-products'], [('softmax', 'memory', 'memory-bandwidth')])
def attention_by_its_parts(torch):
    q, k, v = (half(torch, 16, 16, 4096, 64) for _ in range(3))

    def step():
        torch.softmax(q @ k.transpose(-1, -2) * 0.125, -1) @ v
    return step


@case('memory', 'memory-bandwidth', ['device-busy'])
def conversions(torch):
    x = half(torch, 1 << 29)

    def step():
        for _ in range(3):
            x.float().half()
    return step


@case('transfer', 'host-copies', ['copies-only', 'weights'], advice=['copy_bound'])
def weights_from_the_host(torch, better=False):
    layers = [torch.randn(8192, 4096).to(torch.bfloat16).pin_memory() for _ in range(6)]
    on_device = [layer.cuda() for layer in layers]
    x = half(torch, 64, 8192)

    def step():
        for layer in on_device if better else layers:
            x @ layer.to('cuda', non_blocking=True)
    return step


@case('host', 'host-code', ['python', 'data-loading'], stack=True, advice=['host-code', 'python', 'host_waiting', 'data-loading'])
def numpy_before_each_step(torch, better=False):
    import numpy
    made = numpy.random.default_rng(1).standard_normal(1_500_000)
    ready = torch.from_numpy(numpy.sort(made)).cuda()

    def sorted_input():
        return ready if better else torch.from_numpy(numpy.sort(made)).cuda()

    def step():
        sorted_input().mul_(0.5).sum()
    return step


@case('compute', 'matrix-products', ['matrix-rate', 'device-busy'])
def a_value_after_much_work(torch):
    a = half(torch, 8192, 8192)

    def step():
        for _ in range(5):
            b = a @ a
        b.sum().item()
    return step


@case('host', 'synchronisation', ['launch', 'framework', 'small-kernels', 'python'], stack=True, advice=['synchronisation', 'launch_bound'])
def a_synchronisation_after_each_kernel(torch, better=False):
    x = torch.randn(1024, device='cuda')

    def step():
        for _ in range(200):
            x.mul_(1.0001)
            if not better:
                torch.cuda.synchronize()
    return step


@case('memory', 'memory-bandwidth', ['device-busy'], advice=['elementwise_fusion', 'memory_bound', 'costliest_kernel', 'microkernels'])
def an_optimiser_of_large_tensors(torch, better=False):
    parameters = [torch.randn(8192, 8192, device='cuda', requires_grad=True) for _ in range(4)]
    for parameter in parameters:
        parameter.grad = torch.randn_like(parameter)
    optimiser = torch.optim.AdamW(parameters, foreach=False, fused=better)
    return optimiser.step
