#!/usr/bin/env python3
"""Real PyTorch traces of an NVIDIA GPU whose bottleneck is known, since each program was written to have it.

  scripts/proofs/gpu_cases.py --write FOLDER     on a machine with PyTorch and a GPU: traces, and cases.yaml with the truth of each
  scripts/proofs/gpu_cases.py --judge FOLDER     anywhere: what `aaco lab score` says of them

Without an option both, in a temporary folder. Exit code 77: no PyTorch or no GPU.
"""
import argparse
import gc
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

DESCRIPTION = 'PyTorch on an NVIDIA GPU: verdicts on programs written to be slow for a known cause (2 min)'
TOP = pathlib.Path(__file__).resolve().parents[2]
CASES = []


def case(cause_class, cause, seconds=(), kernels=(), stack=False):
    """The truth of a program: class and cause of the headline, other true answers, and (pattern, class, cause) of its kernels."""
    def keep(program):
        CASES.append({'program': program, 'class': cause_class, 'cause': cause, 'seconds': list(seconds), 'kernels': list(kernels), 'stack': stack})
        return program
    return keep


def half(torch, *shape):
    return torch.randn(*shape, device='cuda', dtype=torch.bfloat16)


@case('compute', 'matrix-products', ['matrix-rate', 'device-busy'], [('gemm|nvjet', 'compute', 'matrix-rate')])
def large_products(torch):
    a, b = half(torch, 8192, 8192), half(torch, 8192, 8192)

    def step():
        for _ in range(6):
            a @ b
    return step


@case('compute', 'matrix-products', ['matrix-rate', 'device-busy'], [('gemm', 'compute', 'matrix-rate')])
def products_without_tensor_cores(torch):
    torch.backends.cuda.matmul.allow_tf32 = False
    a, b = (torch.randn(4096, 4096, device='cuda') for _ in range(2))

    def step():
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


@case('launch', 'launch', ['framework', 'small-kernels'])
def many_small_kernels(torch):
    x = torch.zeros(64, device='cuda')

    def step():
        y = x
        for _ in range(500):
            y = y + 1
    return step


@case('host', 'data-loading', ['python'], stack=True)
def slow_loader(torch):
    import numpy

    class Pictures(torch.utils.data.Dataset):
        def __len__(self):
            return 4096

        def __getitem__(self, index):
            made = numpy.random.default_rng(index).standard_normal((3, 64, 64))
            return torch.from_numpy((made - made.mean()) / made.std()).float()

    model = torch.nn.Sequential(torch.nn.Conv2d(3, 64, 3), torch.nn.ReLU(), torch.nn.Conv2d(64, 64, 3)).cuda()
    batches = iter(torch.utils.data.DataLoader(Pictures(), batch_size=64, num_workers=0))

    def step():
        with torch.no_grad():
            model(next(batches).cuda())
    return step


@case('host', 'synchronisation', ['launch', 'framework', 'host-copies', 'synchronous-copy'])
def a_value_after_each_kernel(torch):
    x = torch.randn(4096, device='cuda')

    def step():
        total = 0.0
        for _ in range(200):
            total += (x * 1.5).sum().item()
    return step


@case('transfer', 'host-copies', ['synchronous-copy', 'copies-only'])
def pageable_copies(torch):
    made = [torch.randn(1 << 25) for _ in range(2)]

    def step():
        for one in made:
            one.cuda().mul_(2).cpu()
    return step


@case('host', 'sleep', ['python', 'host-code'], stack=True)
def a_host_that_sleeps(torch):
    a = half(torch, 4096, 4096)

    def step():
        for _ in range(4):
            a @ a
        torch.cuda.synchronize()
        time.sleep(0.02)
    return step


@case('host', 'allocation', ['framework'], stack=True)
def memory_given_back_each_step(torch):
    a = half(torch, 1024, 1024)

    def step():
        for _ in range(10):
            blocks = [torch.empty(1 << 27, dtype=torch.uint8, device='cuda') for _ in range(4)]
            a @ a
            del blocks
            torch.cuda.empty_cache()
    return step


@case('host', 'gc', ['python'], stack=True)
def garbage_collection(torch):
    a = half(torch, 2048, 2048)
    kept = [[i] for i in range(600_000)]

    def step():
        for _ in range(3):
            a @ a
            torch.cuda.synchronize()
            gc.collect()
        kept[0] = [1]
    return step


@case('host', 'optimiser-host', ['launch', 'framework', 'small-kernels'])
def an_optimiser_of_single_kernels(torch):
    model = torch.nn.Sequential(*(torch.nn.Linear(64, 64) for _ in range(120))).cuda()
    optimiser = torch.optim.AdamW(model.parameters(), foreach=False, fused=False)
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


@case('launch', 'launch', ['framework', 'host-operator', 'small-kernels'])
def a_small_batch(torch):
    layers = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(256, 4, 512, batch_first=True), 6).cuda()
    x = torch.randn(1, 16, 256, device='cuda')

    def step():
        layers(x).sum().backward()
    return step


@case('host', 'logging', ['python', 'host-code'], stack=True)
def logging_each_step(torch):
    import logging
    log = logging.getLogger('training')
    log.setLevel(logging.INFO)
    log.addHandler(logging.FileHandler(os.devnull))
    log.propagate = False
    a = half(torch, 1024, 1024)

    def step():
        a @ a
        torch.cuda.synchronize()
        for number in range(600):
            log.info('step %d of %s', number, a.shape)
    return step


@case('host', 'checkpoint', ['disk', 'python'], stack=True)
def a_checkpoint_each_step(torch):
    model = torch.nn.Linear(2048, 2048, device='cuda')
    x = torch.randn(64, 2048, device='cuda')

    def step():
        model(x)
        with tempfile.NamedTemporaryFile() as file:
            torch.save(model.state_dict(), file.name)
    return step


def write(torch, one, folder):
    """Profiles four steps after three; returns the trace's path."""
    from torch.profiler import ProfilerActivity, profile, schedule
    step = one['program'](torch)
    path = folder / f"{one['program'].__name__}.pt.trace.json.gz"
    activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    with profile(activities=activities, record_shapes=True, with_stack=one['stack'], schedule=schedule(wait=1, warmup=2, active=4),
                 on_trace_ready=lambda ended: ended.export_chrome_trace(str(path))) as running:
        for _ in range(7):
            step()
            running.step()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    return path


def cases_of(one, file):
    name = one['program'].__name__
    told = {'class': one['class'], 'cause': one['cause'], 'seconds': one['seconds']}
    yield corpus_case(f'{name}.headline', file, 'headline', 'What limits it?', told, {})
    for pattern, cause_class, cause in one['kernels']:
        yield corpus_case(f'{name}.{pattern}', file, 'kernel', 'What limits this kernel?', {'class': cause_class, 'cause': cause}, {'kernel': pattern})


def corpus_case(name, file, kind, question, truth, arguments):
    return {'id': name, 'file': file, 'kind': kind, 'question': question, 'query': {'call': 'generated', 'args': arguments}, 'values': {'count': 1},
            'truth': truth, 'proof': 'The program was written so.', 'split': 'held', 'origin': 'own'}


def write_all(torch, folder, only=''):
    """Returns whether every program ran; what the others wrote is kept."""
    (folder / 'own').mkdir(parents=True, exist_ok=True)
    cases, ran = [], True
    for one in CASES:
        if only not in one['program'].__name__:
            continue
        try:
            path = write(torch, one, folder / 'own')
        except Exception as problem:  # noqa: BLE001 - whatever PyTorch raises: the next program may run
            print(f"{one['program'].__name__}: {type(problem).__name__}: {problem}", file=sys.stderr, flush=True)
            ran = False
            continue
        print(f'{path.name}: {path.stat().st_size} bytes', flush=True)
        cases += cases_of(one, f'own/{path.name}')
    (folder / 'cases.yaml').write_text(json.dumps({'schema': 1, 'cases': cases}, indent=1))
    (folder / 'machine.json').write_text(json.dumps({'device': torch.cuda.get_device_name(0), 'torch': torch.__version__}) + '\n')
    return ran


def judge(folder):
    program = os.environ.get('AACO_PROGRAM', str(TOP / 'build/release/bin/aaco'))
    words = [program, 'lab', 'score', '--corpus', str(folder), '--data', str(folder), '--json']
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(done.stderr, file=sys.stderr)
        return 1
    figures = json.loads(done.stdout)
    output = pathlib.Path(os.environ.get('AACO_PROOF_OUT', TOP / 'build/proofs/gpu_cases')).with_suffix('.json')
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(figures, indent=1) + '\n')
    scored = figures['held']
    for name in ('class_first', 'cause', 'unknown'):
        print(f"{name}: {scored[name]['right']} of {scored[name]['count']}")
    print(f"above 90 % and false: {scored['sure_and_wrong']}")
    return 0


def main():
    if '--describe' in sys.argv[1:]:
        print(DESCRIPTION)
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--write', type=pathlib.Path, metavar='FOLDER')
    parser.add_argument('--judge', type=pathlib.Path, metavar='FOLDER')
    parser.add_argument('--only', default='', help='only the programs whose name has this text')
    options = parser.parse_args()
    if options.judge:
        return judge(options.judge)
    try:
        import torch
    except ImportError:
        print('skipped, no PyTorch in this Python')
        return 77
    if not torch.cuda.is_available():
        print('skipped, PyTorch sees no GPU')
        return 77
    if options.write:
        return 0 if write_all(torch, options.write, options.only) else 1
    with tempfile.TemporaryDirectory(prefix='aaco-proof-') as temporary:
        ran = write_all(torch, pathlib.Path(temporary))
        return judge(pathlib.Path(temporary)) or (0 if ran else 1)


if __name__ == '__main__':
    sys.exit(main())
