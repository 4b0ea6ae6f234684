"""A third set, written after the advice on shorter types, graphs and fusion was tuned on the first two; with `better` they do without their fault."""
from gpu.case import Cases, captured, half

CASES = Cases()
case = CASES.case


@case('compute', 'matrix-products', ['matrix-rate', 'device-busy', 'attention'])
def a_large_language_model(torch):
    layer = torch.nn.TransformerEncoderLayer(4096, 32, 16384, batch_first=True, dropout=0, device='cuda', dtype=torch.bfloat16)
    x = half(torch, 8, 2048, 4096)

    def step():
        layer(x).sum().backward()
        layer.zero_grad()
    return step


@case('launch', 'launch', ['framework', 'host-operator', 'small-kernels', 'python'], advice=['launch_bound', 'host_waiting'])
def a_recurrent_cell(torch, better=False):
    cell = torch.nn.GRUCell(256, 256).cuda()
    inputs, start = torch.randn(64, 16, 256, device='cuda'), torch.zeros(16, 256, device='cuda')

    def step():
        state = start
        with torch.no_grad():
            for one in inputs:
                state = cell(one, state)
    return captured(torch, step) if better else step


@case('memory', 'memory-bandwidth', ['device-busy'])
def rows_of_a_table(torch):
    table = half(torch, 1 << 22, 512)
    places = torch.randint(0, 1 << 22, (1 << 20,), device='cuda')

    def step():
        for _ in range(4):
            table.index_select(0, places)
    return step


@case('host', 'python', ['host-code', 'data-loading'], stack=True, advice=['python', 'host-code', 'host_waiting', 'data-loading'])
def words_of_a_text(torch, better=False):
    text = ' '.join(str(number * 7919 % 10007) for number in range(60000))
    model = torch.nn.EmbeddingBag(10007, 64).cuda()

    def counted():
        counts = {}
        for word in text.split():
            counts[word] = counts.get(word, 0) + len(word)
        return torch.tensor([int(word) for word in counts], device='cuda')[None]
    ready = counted()

    def step():
        with torch.no_grad():
            model(ready if better else counted())
    return step


@case('transfer', 'host-copies', ['copies-only', 'synchronous-copy'], advice=['copy_bound'])
def all_scores_to_the_host(torch, better=False):
    hidden, output = half(torch, 512, 1024), half(torch, 1024, 128256)

    def step():
        scores = hidden @ output
        return scores.argmax(-1).cpu() if better else scores.cpu().argmax(-1)
    return step


@case('compute', 'matrix-products', ['matrix-rate', 'device-busy'], advice=['precision'])
def batched_products_in_float32(torch, better=False):
    a, b = (torch.randn(64, 1024, 1024, device='cuda') for _ in range(2))

    def step():
        torch.backends.cuda.matmul.allow_tf32 = better
        for _ in range(4):
            torch.bmm(a, b)
    return step


@case('host', 'synchronous-copy', ['host-copies', 'launch', 'framework', 'synchronisation'], advice=['synchronous-copy', 'copy_bound', 'launch_bound', 'host_waiting'])
def many_small_copies(torch, better=False):
    made = [torch.randn(256) for _ in range(300)]

    def step():
        if better:
            return torch.stack(made).cuda()
        return [one.cuda() for one in made]
    return step


@case('warmup', 'jit-compilation', ['first-use'], stack=True)
def a_shape_that_is_new_each_step(torch):
    compiled = torch.compile(lambda x: torch.nn.functional.gelu(x * 2 + 1).sum(), dynamic=False)
    sizes = iter(range(1000, 100000, 97))

    def step():
        compiled(torch.randn(next(sizes), device='cuda'))
    return step


@case('memory', 'memory-bandwidth', ['device-busy'], advice=['elementwise_fusion'])
def a_chain_of_elementwise(torch, better=False):
    x, y = half(torch, 1 << 28), half(torch, 1 << 28)

    def chain(a, b):
        return torch.sigmoid(a * b + a) * torch.tanh(b) - a

    chosen = torch.compile(chain) if better else chain

    def step():
        chosen(x, y)
    return step


@case('host', 'data-loading', ['python'], stack=True, advice=['data-loading'])
def too_few_workers(torch, better=False):
    import numpy

    class Pictures(torch.utils.data.Dataset):
        def __len__(self):
            return 1 << 20

        def __getitem__(self, index):
            return torch.from_numpy(numpy.random.default_rng(index).standard_normal((3, 96, 96)).astype(numpy.float32))

    model = torch.nn.Sequential(torch.nn.Conv2d(3, 32, 3), torch.nn.ReLU()).cuda()
    batches = iter(torch.utils.data.DataLoader(Pictures(), batch_size=64, num_workers=12 if better else 1, pin_memory=True))

    def step():
        with torch.no_grad():
            model(next(batches).cuda(non_blocking=True))
    return step


@case('compute', 'matrix-products', ['matrix-rate', 'device-busy'])
def a_synchronisation_after_much_work(torch):
    a = half(torch, 8192, 8192)

    def step():
        for _ in range(6):
            a @ a
            torch.cuda.synchronize()
    return step
