#!/usr/bin/env python3
"""What aaco llm times, against the log of a server that stamps each token at its write."""
import bisect
import math
import os
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / 'lib'))
import llm_load  # noqa: E402

DESCRIPTION = 'aaco llm: queueing, token times, fidelity of an open loop and Poisson arrivals against a server\'s own log (4 min)'
SERVER_CPU, CLIENT_CPU = llm_load.two_cpus()
RATE, SECONDS, SEEDS = 2000, 30, 20
WINDOW_NS, STARVED = 20_000_000, 0.04  # of the client's own samples, and the share of one without a CPU that explains 1 ms


def allowed(value_ns):
    return 100_000 + 0.01 * value_ns


def omission(lake, checks):
    """50 ms each, one at a time, one due each 10 ms: request i waits 0.05 (i + 1) - 0.01 i s."""
    with llm_load.FaultServer(SERVER_CPU) as server:
        session = lake.llm(server.url('plain,first_ms=50'), '--rate', 100, '--arrivals', 'constant', '--requests', 400, '--max-open', 1, '--output-tokens', 1,
                           '--warmup', 0, '--no-telemetry', pin=CLIENT_CPU)
    truth = llm_load.quantile([0.05 * (i + 1) - 0.01 * i for i in range(400)], 0.99)
    seen, sent = session.metric('llm.e2el_p99_ns') / 1e9, session.metric('llm.e2el_sent_p99_ns') / 1e6
    checks.add('coordinated omission', abs(seen / truth - 1) < 0.03, f'E2EL P99 {seen:.3f} s, truth {truth:.3f} s; from the send {sent:.1f} ms')


def starved(session, metrics=('client.run_queue_ratio', 'client.loop_lag_ns', 'client.read_lag_ns')):
    """Ends of the client's own windows, and for how long it waited for a CPU, or by how much its loop was late, in each."""
    named = ', '.join(f"'{metric}'" for metric in metrics)
    rows = session.rows('time_ns, metric, value', table='system_events', where=f'metric IN ({named})', order='time_ns')
    lost = {}
    for time, metric, value in rows:
        lost[time] = max(lost.get(time, 0), value * WINDOW_NS if metric.endswith('ratio') else value)
    return sorted(lost.items())


def lost_at(windows, times, first, last):
    at = bisect.bisect_left(times, first)
    return max((lost for _, lost in windows[at:bisect.bisect_left(times, last + WINDOW_NS) + 1]), default=0)


def token_times(lake, checks):
    with llm_load.FaultServer(SERVER_CPU) as server:
        session = lake.llm(server.url('plain,first_ms=20,period_us=1000'), '--concurrency', 1, '--requests', 40, '--output-tokens', 200, '--warmup', 0,
                           '--no-telemetry', pin=CLIENT_CPU)
        log = server.log()[1:]  # the first one is the probe
    requests = session.rows('request, sent_ns, first_token_ns, last_token_ns, output_tokens')
    chunks = session.rows('request, time_ns', table='llm_chunks', where="kind = 'content'", order='request, time_ns')
    first_request = requests[0][0]
    seen_times = {}
    for request, time in chunks:
        seen_times.setdefault(request, []).append(time)
    own, seen, ttft, errors = [], [], [], []
    for index, served in enumerate(log):
        written = [time for time, tokens in served['events'] if tokens]
        got = seen_times[first_request + index]
        own += [b - a for a, b in zip(written, written[1:])]
        seen += [b - a for a, b in zip(got, got[1:])]
        ttft.append((requests[index][2] - requests[index][1], written[0] - served['received_ns']))
        errors += [(got[i] - written[i], written[i], got[i]) for i in range(len(written))]
    checks.add('counts', len(requests) == len(log) == 40 and len(seen) == len(own) == 40 * 199 and all(row[4] == 200 for row in requests),
               f'{len(requests)} requests, {len(chunks)} tokens')
    for name, probability in (('median', 0.5), ('P95', 0.95)):
        for what, mine, truth in (('ITL', seen, own), ('TTFT', [one for one, _ in ttft], [one for _, one in ttft])):
            a, b = llm_load.quantile(mine, probability), llm_load.quantile(truth, probability)
            checks.add(f'{what} {name}', abs(a - b) <= allowed(b), f'{a / 1e3:.1f} us, server {b / 1e3:.1f} us')
    tpot = statistics.median((row[3] - row[2]) / (row[4] - 1) for row in requests)
    checks.add('TPOT median', abs(session.metric('llm.tpot_p50_ns') - tpot) < 1, f'{tpot / 1e3:.1f} us')
    windows = starved(session)
    times = [time for time, _ in windows]
    large = [(error, lost_at(windows, times, first, last)) for error, first, last in errors if error > allowed(1e6)]
    unexplained = [error for error, lost in large if lost < error / 2]
    # A server that loses its CPU between the stamp and the write is late without lag of the client.
    checks.add('large errors', len(unexplained) <= 0.001 * len(errors),
               f'{len(large)} of {len(errors)} tokens were seen more than 110 us after the write; {len(unexplained)} without lag of the client, '
               f'largest {max(unexplained, default=0) / 1e3:.0f} us')


def late_timers():
    """How many of as many waits as sends end more than 1 ms late on the client's CPU, with nothing to do: the machine's own part."""
    allowed_cpus = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {int(CLIENT_CPU)} if CLIENT_CPU else allowed_cpus)
    late, due = 0, time.monotonic_ns()
    for _ in range(RATE * SECONDS):
        due += 1_000_000_000 // RATE
        time.sleep(max(0, due - time.monotonic_ns()) / 1e9)
        late += time.monotonic_ns() - due > 1_000_000
    os.sched_setaffinity(0, allowed_cpus)
    return late


def fidelity(lake, checks):
    with llm_load.FaultServer(SERVER_CPU) as server:
        session = lake.llm(server.url('plain'), '--rate', RATE, '--duration', f'{SECONDS}s', '--output-tokens', 1, '--prompt-tokens', 8, '--warmup', 0,
                           '--no-telemetry', '--no-chunks', pin=CLIENT_CPU)
    rows = session.rows('scheduled_ns, sent_ns, admitted_ns')
    windows = starved(session, ['client.run_queue_ratio'])
    ends, starved_ns = [time for time, _ in windows], 0
    late = considered = excluded = 0
    for scheduled, sent, _ in rows:
        place = bisect.bisect_left(ends, scheduled)
        # From the one before, which may end late, to that of the send: a wait may begin in the next one.
        near = windows[max(0, place - 1):bisect.bisect_left(ends, sent or scheduled) + 1]
        if any(lost > STARVED * WINDOW_NS for _, lost in near):
            excluded += 1
            continue
        considered += 1
        late += sent is None or sent - scheduled > 1_000_000
    starved_ns = sum(lost > STARVED * WINDOW_NS for _, lost in windows) * WINDOW_NS
    checks.add('open loop', considered > 0 and late <= 0.001 * considered,
               f'{considered - late} of {considered} sends within 1 ms of the schedule; {excluded} in {starved_ns / 1e9:.1f} s in which the client had no CPU; '
               f'afterwards {late_timers()} of {RATE * SECONDS} bare waits on its CPU ended more than 1 ms late')
    checks.add('open loop, count', abs(len(rows) / (RATE * SECONDS) - 1) < 0.05, f'{len(rows)} requests in {SECONDS} s at {RATE}/s')


def poisson_p(times, rate):
    """Kolmogorov-Smirnov against the exponential distribution (Stephens, 1970)."""
    values = sorted(1 - math.exp(-(b - a) * 1e-9 * rate) for a, b in zip(times, times[1:]))
    n = len(values)
    distance = max(max((i + 1) / n - one, one - i / n) for i, one in enumerate(values))
    x = distance * (math.sqrt(n) + 0.12 + 0.11 / math.sqrt(n))
    return min(1.0, 2 * sum((1 if k % 2 else -1) * math.exp(-2 * k * k * x * x) for k in range(1, 100)))


def poisson(lake, checks):
    passed = []
    with llm_load.FaultServer(SERVER_CPU) as server:
        for seed in range(1, SEEDS + 1):
            session = lake.llm(server.url('plain'), '--rate', 200, '--duration', '2s', '--output-tokens', 1, '--prompt-tokens', 8, '--warmup', 0,
                               '--no-telemetry', '--no-chunks', '--seed', seed, pin=CLIENT_CPU)
            passed.append(poisson_p([sent for sent, in session.rows('sent_ns', order='sent_ns')], 200))
    good = sum(p > 0.01 for p in passed)
    checks.add('Poisson', good >= 0.9 * SEEDS, f'{good} of {SEEDS} seeds pass on the times of sending (p > 0.01); smallest p {min(passed):.3f}')


def main():
    llm_load.begin(DESCRIPTION)
    if not llm_load.FAULT_SERVER.is_file():
        llm_load.skip('the fault server is not built (ninja -C build/release aaco_fault_server)')
    lake, checks = llm_load.Lake(), llm_load.Checks()
    omission(lake, checks)
    token_times(lake, checks)
    fidelity(lake, checks)
    poisson(lake, checks)
    checks.finish()


if __name__ == '__main__':
    main()
