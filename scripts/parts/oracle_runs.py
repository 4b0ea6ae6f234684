"""Runs of PyTorch on the CPU whose cause is known, for scripts/oracle.sh; writes a small Kineto trace of each into a folder.

Every run is a short loop of steps under torch.profiler; its name is its cause. What a run does is what a test of the verdicts may
claim, so keep names and causes together: CAUSES is printed as JSON beside the traces.
"""
import gc
import gzip
import json
import os
import pathlib
import sys
import threading
import time

import torch
import torch.multiprocessing
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function

STEPS = 4
FOLDER = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path('traces')
KEPT = {'ph', 'cat', 'name', 'pid', 'tid', 'ts', 'dur', 'args', 'id', 'bp', 's'}
KEPT_ARGS = {'External id', 'Ev Idx', 'Input Dims', 'Input type', 'Concrete Inputs', 'Record function id', 'Python id', 'Python parent id', 'Collective name'}


class Slow(torch.utils.data.Dataset):
    """Items that take a while to decode."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __len__(self):
        return 8 * (STEPS + 3)

    def __getitem__(self, index):
        end = time.perf_counter() + self.seconds
        while time.perf_counter() < end:
            pass
        return torch.randn(128), index % 10


def model(width=256, layers=3):
    sizes = [128] + [width] * (layers - 1)
    return nn.Sequential(*[part for a, b in zip(sizes, sizes[1:]) for part in (nn.Linear(a, b), nn.ReLU())], nn.Linear(sizes[-1], 10))


def train(net, optimiser, inputs, labels):
    optimiser.zero_grad()
    loss = nn.functional.cross_entropy(net(inputs), labels)
    loss.backward()
    optimiser.step()
    return loss


def data_loader(step, net, optimiser, state):
    if 'items' not in state:
        state['items'] = iter(torch.utils.data.DataLoader(Slow(0.002), batch_size=8, num_workers=0))
    train(net, optimiser, *next(state['items']))


def garbage_collection(step, net, optimiser, state):
    if 'garbage' not in state:
        state['garbage'] = [{str(i): [i]} for i in range(200_000)]
    with record_function('gc.collect'):
        gc.collect()
    train(net, optimiser, torch.randn(8, 128), torch.randint(0, 10, (8,)))


def checkpoint(step, net, optimiser, state):
    train(net, optimiser, torch.randn(8, 128), torch.randint(0, 10, (8,)))
    with record_function('save_checkpoint'):
        torch.save({'model': net.state_dict(), 'optimiser': optimiser.state_dict(), 'noise': torch.randn(2_000_000)}, '/tmp/oracle_checkpoint.pt')
        os.sync()


def logging_text(step, net, optimiser, state):
    loss = train(net, optimiser, torch.randn(8, 128), torch.randint(0, 10, (8,)))
    with record_function('log_metrics'), open('/tmp/oracle.log', 'a', encoding='utf-8') as log:
        value = float(loss)
        for name, parameter in net.named_parameters():
            for row in parameter.flatten()[:2000].tolist():
                log.write(f'{step} {name} {row:.9f} {value:.9f}\n')


def small_batch(step, net, optimiser, state):
    for _ in range(3):
        train(net, optimiser, torch.randn(1, 128), torch.randint(0, 10, (1,)))


def large_products(step, net, optimiser, state):
    if 'a' not in state:
        state['a'] = torch.randn(768, 768)
    for _ in range(4):
        state['a'] = torch.mm(state['a'], state['a']) / 768


def elementwise(step, net, optimiser, state):
    if 'a' not in state:
        state['a'] = torch.randn(4_000_000)
    for _ in range(6):
        state['a'] = torch.tanh(state['a'] + 1) * 0.5


def optimiser_host(step, net, optimiser, state):
    if 'net' not in state:
        state['net'] = nn.Sequential(*[nn.Linear(64, 64) for _ in range(16)])
        state['adam'] = torch.optim.Adam(state['net'].parameters(), foreach=False)
        for parameter in state['net'].parameters():
            parameter.grad = torch.randn_like(parameter)
    state['adam'].step()


def first_use(step, net, optimiser, state):
    if step == 0:
        with record_function('compile: load module'):
            import sympy  # noqa: F401
            exec(compile('\n'.join(f'def f{i}(x): return x + {i}' for i in range(3000)), 'generated', 'exec'), {})
    train(net, optimiser, torch.randn(8, 128), torch.randint(0, 10, (8,)))


def busy_core(step, net, optimiser, state):
    if 'busy' not in state:
        state['stop'] = threading.Event()
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        pid = os.fork()  # only to spin
        if pid == 0:
            while True:
                pass
        state['busy'] = pid
    train(net, optimiser, torch.randn(8, 128), torch.randint(0, 10, (8,)))
    if step == STEPS - 1:
        os.kill(state['busy'], 9)
        os.waitpid(state['busy'], 0)
        os.sched_setaffinity(0, range(os.cpu_count()))


def python_work(step, net, optimiser, state):
    with record_function('build_batch'):
        rows = [[(i * j) % 17 / 17 for j in range(128)] for i in range(600)]
        inputs = torch.tensor(rows[:8])
    train(net, optimiser, inputs, torch.randint(0, 10, (8,)))


def item_waits(step, net, optimiser, state):
    loss = train(net, optimiser, torch.randn(64, 128), torch.randint(0, 10, (64,)))
    with record_function('wait_for_peer'):
        time.sleep(0.02)
    state['loss'] = float(loss)


RUNS = {run.__name__: run for run in (data_loader, garbage_collection, checkpoint, logging_text, small_batch, large_products, elementwise, optimiser_host,
                                      first_use, python_work, item_waits, busy_core)}


def write(trace, path):
    """Keeps what a reader of such traces looks at, gzipped."""
    document = json.loads(pathlib.Path(trace).read_text())
    document['traceEvents'] = [{key: ({k: v for k, v in value.items() if k in KEPT_ARGS} if key == 'args' else value)
                                for key, value in event.items() if key in KEPT} if event.get('ph') != 'M' else event
                               for event in document['traceEvents']]
    for key in ('traceName', 'deviceProperties', 'host_name', 'trace_id'):
        document.pop(key, None)
    with gzip.GzipFile(path, 'wb', mtime=0) as stream:
        stream.write(json.dumps(document, separators=(',', ':')).encode())
    os.remove(trace)
    print(f'{path.name}: {path.stat().st_size} bytes, {len(document["traceEvents"])} events', flush=True)


def record(name, run, stack):
    torch.manual_seed(0)
    net = model()
    optimiser = torch.optim.SGD(net.parameters(), 0.01)
    state = {}
    if name != 'first_use':
        run(-1, net, optimiser, state)
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, with_stack=stack) as profiler:
        for step in range(STEPS):
            with record_function(f'ProfilerStep#{step}'):
                run(step, net, optimiser, state)
    temporary = f'/tmp/oracle_{name}.json'
    profiler.export_chrome_trace(temporary)
    write(temporary, FOLDER / f'oracle_{name}.json.gz')


def late_rank(rank, size, late):
    import torch.distributed as dist
    os.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT='29571', RANK=str(rank), WORLD_SIZE=str(size))
    dist.init_process_group('gloo', rank=rank, world_size=size)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    net = nn.parallel.DistributedDataParallel(model())
    optimiser = torch.optim.SGD(net.parameters(), 0.01)
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
        for step in range(STEPS):
            with record_function(f'ProfilerStep#{step}'):
                if rank == late:
                    with record_function('preprocess'):
                        end = time.perf_counter() + 0.03
                        while time.perf_counter() < end:
                            pass
                train(net, optimiser, torch.randn(16, 128), torch.randint(0, 10, (16,)))
                dist.barrier()
    temporary = f'/tmp/oracle_late_rank{rank}.json'
    profiler.export_chrome_trace(temporary)
    write(temporary, FOLDER / f'oracle_late_rank{rank}.json.gz')
    dist.destroy_process_group()


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    for name, run in RUNS.items():
        try:
            record(name, run, stack=name == 'python_work' and torch.__version__ >= '2.7')
        except Exception as problem:  # one run less, named
            print(f'{name}: {type(problem).__name__}: {problem}', file=sys.stderr, flush=True)
    torch.multiprocessing.spawn(late_rank, args=(2, 1), nprocs=2)


if __name__ == '__main__':
    main()
