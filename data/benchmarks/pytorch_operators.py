"""Single operators on PyTorch, for `aaco benchmark --backend pytorch`.

Speaks lines of JSON. Its first says what it is: {"ready": true, "version", "device", "name", "threads"}, or {"error"}.
Then it answers one line to each it reads:
  {"make": CASE}  makes the case's operator and its operands          -> {"repeats"}: operators a call runs, in a chain
  {"time": N}     calls it, and answers N times of a call in ns       -> {"ns": [...], "group"}: calls that each time is a mean of
or {"error": why}, and goes on. It ends with its input.

A processor's calls are timed one by one. A GPU's are timed by the device's own events, in groups of 0.2 ms and more, for an event
resolves about a microsecond: a kernel shorter than what issuing it costs takes as long as that.
"""
import argparse
import gc
import json
import math
import os
import sys
import time

GROUP_NS = 200_000   # of a GPU's calls between two events
MOST_GROUPED = 1000
CHAIN = 256          # of operators that only issuing costs
TABLE_ROWS = 4096    # of the table a gather reads


class Unsupported(Exception):
    """What this PyTorch, or this device, does not have."""


class Operators:
    """Makes the operator of a case, as a network's layer calls it, its operands on the device."""

    def __init__(self, torch, device):
        self.torch, self.device = torch, device
        self.functional = torch.nn.functional

    def make(self, case):
        """A function without arguments, and how many operators a call of it runs."""
        kind, sizes = case['kind'], case['sizes']
        dtype = getattr(self.torch, case['dtype'])
        if kind == 'gemm':
            return self.product(sizes, dtype), 1
        if case['dtype'] == 'int8':
            raise Unsupported('int8 is supported for gemm only')
        if kind == 'convolution':
            return self.convolution(sizes, dtype), 1
        if kind == 'attention':
            return self.attention(sizes, dtype), 1
        if kind == 'vector':
            return self.vector(case['op'], sizes['rows'], sizes['cols'], dtype)
        raise Unsupported(f"unknown operator '{kind}'")

    def filled(self, dtype, *shape):
        """Small values above zero, which every operator is defined for."""
        if dtype == self.torch.int8:
            return self.torch.randint(-128, 127, shape, dtype=dtype, device=self.device)
        return (self.torch.rand(shape, dtype=self.torch.float32, device=self.device) * 0.1 + 0.01).to(dtype)

    def product(self, sizes, dtype):
        batch, m, n, k = (sizes[name] for name in ('batch', 'm', 'n', 'k'))
        if dtype == self.torch.int8:
            if batch != 1:
                raise Unsupported('int8 gemm is supported for batch size 1 only')
            multiply = getattr(self.torch, '_int_mm', None)
            if multiply is None:
                raise Unsupported(f'PyTorch {self.torch.__version__} has no int8 matrix product')
            x, w = self.filled(dtype, m, k), self.filled(dtype, n, k).t()
            return lambda: multiply(x, w)
        if batch == 1:
            x, w = self.filled(dtype, m, k), self.filled(dtype, n, k)
            return lambda: self.functional.linear(x, w)
        x, y = self.filled(dtype, batch, m, k), self.filled(dtype, batch, k, n)
        return lambda: self.torch.bmm(x, y)

    def convolution(self, sizes, dtype):
        x = self.filled(dtype, *(sizes[name] for name in 'nchw'))
        w = self.filled(dtype, sizes['k'], sizes['c'] // sizes['groups'], sizes['r'], sizes['s'])
        b = self.filled(dtype, sizes['k'])
        how = {'stride': sizes['stride'], 'padding': sizes['pad'], 'dilation': sizes['dilation'], 'groups': sizes['groups']}
        return lambda: self.functional.conv2d(x, w, b, **how)

    def attention(self, sizes, dtype):
        attend = getattr(self.functional, 'scaled_dot_product_attention', None)
        if attend is None:
            raise Unsupported(f'PyTorch {self.torch.__version__} has no scaled_dot_product_attention')
        q, k, v = (self.filled(dtype, sizes['batch'], sizes['heads'], sizes['tokens'], sizes['head_dim']) for _ in range(3))
        return lambda: attend(q, k, v, is_causal=True)

    def vector(self, op, rows, cols, dtype):
        torch, functional = self.torch, self.functional
        x = self.filled(dtype, rows, cols)
        unary = {'relu': torch.relu, 'sigmoid': torch.sigmoid, 'tanh': torch.tanh, 'gelu': functional.gelu, 'exp': torch.exp,
                 'erf': torch.erf, 'sqrt': torch.sqrt, 'call': torch.tanh, 'transpose': lambda x: x.t().contiguous(),
                 'softmax': lambda x: torch.softmax(x, -1), 'reduce_sum': lambda x: torch.sum(x, 1, True),
                 'reduce_mean': lambda x: torch.mean(x, 1, True), 'reduce_max': lambda x: torch.amax(x, 1, True)}
        binary = {'add': torch.add, 'sub': torch.sub, 'mul': torch.mul, 'div': torch.div, 'concat': lambda x, y: torch.cat((x, y), 1)}
        if op in unary:
            function = unary[op]
            return (lambda: function(x)), 1
        if op in binary:
            function, y = binary[op], self.filled(dtype, rows, cols)
            return (lambda: function(x, y)), 1
        if op == 'ln':
            w, b = self.filled(dtype, cols), self.filled(dtype, cols)
            return (lambda: functional.layer_norm(x, (cols,), w, b)), 1
        if op == 'gather':
            table, which = self.filled(dtype, TABLE_ROWS, cols), torch.randint(0, TABLE_ROWS, (rows,), device=self.device)
            return (lambda: functional.embedding(which, table)), 1
        if op == 'launch':
            shift = self.filled(dtype, cols)

            def chain():
                at = x
                for _ in range(CHAIN // 2):
                    at = torch.tanh(torch.add(at, shift))
                return at
            return chain, CHAIN
        raise Unsupported(f"unknown vector operator '{op}'")


class ProcessorClock:
    """Times calls one by one."""

    group = 1

    def begin(self, call):
        """Of an operator that is new: once, so that what only the first call does is done."""
        call()

    def times(self, call, count):
        """`count` times of a call, in ns."""
        result, clock = [], time.perf_counter_ns
        for _ in range(count):
            start = clock()
            call()
            result.append(clock() - start)
        return result


class GpuClock:
    """Times groups of calls by the device's events."""

    def __init__(self, torch):
        self.torch, self.group = torch, 1

    def begin(self, call):
        """Chooses how many calls are a group."""
        self.group = 1
        call()
        self.torch.cuda.synchronize()
        one = min(self.times(call, 3))
        self.group = max(1, min(MOST_GROUPED, math.ceil(GROUP_NS / max(one, 1))))

    def times(self, call, count):
        """`count` means over a group, in ns of a call."""
        events = [[self.torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(count)]
        for first, last in events:
            first.record()
            for _ in range(self.group):
                call()
            last.record()
        self.torch.cuda.synchronize()
        return [max(1, round(first.elapsed_time(last) * 1e6 / self.group)) for first, last in events]


class Bench:
    """Answers requests about one operator at a time."""

    def __init__(self, torch, device, seed):
        self.torch, self.seed = torch, seed
        self.operators = Operators(torch, device)
        self.clock = ProcessorClock() if device == 'cpu' else GpuClock(torch)
        self.call = None

    def answer(self, request):
        """The answer to one request."""
        if 'make' in request:
            self.call = None  # its operands make room
            gc.collect()
            self.torch.manual_seed(self.seed)
            call, repeats = self.operators.make(request['make'])
            self.clock.begin(call)
            self.call = call
            return {'repeats': repeats}
        if self.call is None:
            raise Unsupported('no operator has been created')
        return {'ns': self.clock.times(self.call, int(request['time'])), 'group': self.clock.group}


def short(error):
    """An exception in one line that a person can read."""
    text = str(error).strip()
    return f'{type(error).__name__}: {text.splitlines()[0]}' if text and not isinstance(error, Unsupported) else text or type(error).__name__


def prepare(options):
    """The library, and what it runs on."""
    import torch  # its absence is an answer, not a traceback
    if options.threads > 0:
        torch.set_num_threads(options.threads)
    if options.device == 'cpu':
        return torch, 'cpu', 'processor'
    if not torch.cuda.is_available():
        raise Unsupported(f'PyTorch {torch.__version__} detects no GPU')
    return torch, 'cuda', torch.cuda.get_device_name(0)


def main():
    """Answers until the input ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument('--device', choices=('cpu', 'gpu'), required=True)
    parser.add_argument('--threads', type=int, default=0)
    parser.add_argument('--seed', type=int, default=1)
    options = parser.parse_args()
    # What the library prints must not stand between the answers.
    out = os.fdopen(os.dup(1), 'w', encoding='utf-8')
    os.dup2(2, 1)

    def say(answer):
        out.write(json.dumps(answer) + '\n')
        out.flush()

    try:
        torch, device, name = prepare(options)
    except Exception as error:  # whatever a broken installation raises
        say({'error': short(error)})
        return 1
    gc.disable()  # not in the middle of a call
    bench = Bench(torch, device, options.seed)
    say({'ready': True, 'version': str(torch.__version__), 'device': device, 'name': name, 'threads': torch.get_num_threads()})
    with torch.inference_mode():
        for line in sys.stdin:
            try:
                say(bench.answer(json.loads(line)))
            except Exception as error:  # out of memory, a missing kernel: the case's, not the end
                say({'error': short(error)})
    return 0


if __name__ == '__main__':
    sys.exit(main())
