#!/usr/bin/env python3
"""Trains a small network below aaco.torch_profile() with a real PyTorch and checks the session: its steps, its operators, its clock,
also with a schedule.

  profile_torch.py    prints what it saw; exits 1 where something is missing or out of place
"""
import sys
import time


def main():
    if len(sys.argv) > 1:
        print(__doc__.strip())
        return 0 if sys.argv[1] in ('-h', '--help') else 2
    import torch

    import aaco
    model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    starts = []
    with aaco.torch_profile('train', tag='torch', record_shapes=True) as profile:
        for _ in range(5):
            starts.append(time.monotonic_ns())
            with aaco.range('step'):
                optimizer.zero_grad()
                model(torch.randn(64, 256)).square().mean().backward()
                optimizer.step()
            time.sleep(0.02)
    session = profile.session
    calls = session.table('api_calls').to_pandas()
    operators = {name for name in calls['name'] if name.startswith('aten::')}
    missing = {'aten::linear', 'aten::addmm', 'aten::relu'} - operators
    assert not missing, f'operators that the trace does not have: {missing}'
    forward = sorted(calls[calls['name'] == 'aten::randn']['start_ns'])
    assert len(forward) == len(starts), f'{len(forward)} of {len(starts)} steps have an input'
    apart = max(abs(seen - start) for seen, start in zip(forward, starts))
    assert apart < 20_000_000, f'the clocks are {apart / 1e6:.1f} ms apart'
    assert (calls['name'] == 'step').sum() == len(starts), 'a marked step is missing'
    assert 'system_events' in session.tables, 'the session has no telemetry'
    assert_schedule(torch, aaco, model)
    print(session.explain().bottleneck_class)
    print(f'PyTorch {torch.__version__}: {len(operators)} operators in {len(starts)} steps, at most {apart / 1e6:.2f} ms from the program\'s own clock')
    return 0


def assert_schedule(torch, aaco, model):
    """A schedule that records neither the first nor the last step keeps the clock."""
    with aaco.torch_profile(schedule=torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=1)) as profile:
        began = time.monotonic_ns()
        for _ in range(6):
            model(torch.randn(64, 256))
            profile.profiler.step()
            time.sleep(0.01)
    calls = profile.session.table('api_calls').to_pandas()
    found = calls[calls['name'] == 'aten::randn']['start_ns']
    assert len(found) == 2, f'{len(found)} of 2 recorded steps have an input'
    assert began < found.min() and found.max() < time.monotonic_ns(), 'the steps of a schedule are not where they were'


if __name__ == '__main__':
    sys.exit(main())
