#!/usr/bin/env python3
"""The client's own ceiling (aaco llm --self-test), and whether it says that it is the limit: above the ceiling always, below it never."""
import json
import os
import pathlib
import resource
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / 'lib'))
import llm_load  # noqa: E402

DESCRIPTION = 'aaco llm --self-test: chunks/s on one core, memory of 5,000 streams; the client says that it is the limit at 120 % of its ceiling, not at 70 % (10 min)'
RUNS = int(os.environ.get('AACO_PROOF_RUNS', '50'))
AIM_PER_SECOND, AIM_BYTES = 100_000, 500e6
STREAMS, TOKENS, ROUNDS = 1000, 128, 2  # 2.5 s at 100,000 chunks/s


class TokenServer(llm_load.ServerProcess):
    """The built-in server on a CPU: with TokenServer(cpu) as server: server.streaming(chunks_per_second)"""

    def __init__(self, cpu):
        super().__init__([llm_load.PROGRAM, 'llm-server', '--cpu', str(cpu)])

    def streaming(self, chunks_per_second):
        return self.url(f'period_us={round(1e6 * STREAMS / chunks_per_second)}')


def self_test(lake, checks):
    ran = lake.aaco('llm', '--self-test', '--json')
    if ran.returncode != 0:
        raise RuntimeError(ran.stderr.strip())
    found = json.loads(ran.stdout)
    rate, streams = found.get('chunks_per_second', 0), found['open_streams']
    checks.add('ceiling', rate >= AIM_PER_SECOND, f"{rate:,.0f} chunks/s over {found['streams']} streams{', limited by the server' if found.get('server_limited') else ''}; "
               f"{found.get('cpu_ns_per_chunk', 0):,.0f} ns of CPU per chunk")
    checks.add('memory', streams['streams'] == 5000 and streams['peak_resident_bytes'] < AIM_BYTES and streams['received_ratio'] > 0.97,
               f"{streams['peak_resident_bytes'] / 1e6:.0f} MB, {streams['streams']} streams of {streams['tokens_per_second']} tokens/s, {streams['received_ratio']:.1%} on time")
    return rate


def says_limit(lake, server, rate, cpu):
    session = lake.llm(server.streaming(rate), '--concurrency', STREAMS, '--requests', STREAMS * ROUNDS, '--output-tokens', TOKENS, '--prompt-tokens', 8,
                       '--warmup', STREAMS, '--no-telemetry', '--server-metrics', 'off', pin=str(cpu))
    level = session.summary()['levels'][0]
    subprocess.run(['rm', '-rf', session.path], check=True)
    return level['client']['limited'], level['client']


def rule(lake, checks, ceiling, server_cpu, client_cpu):
    with TokenServer(server_cpu) as server:
        for share, wanted in ((1.2, RUNS), (0.7, 0)):
            said, notes = 0, []
            for _ in range(RUNS):
                limited, client = says_limit(lake, server, share * ceiling, client_cpu)
                said += limited
                if limited != (wanted > 0):
                    notes.append(f"cpu {client.get('cpu_ratio', 0):.2f}, waiting {client.get('run_queue_ratio', 0):.2f}, lag P50 {client.get('loop_lag_p50_ns', 0) / 1e6:.2f} ms: {client['reasons']}")
            for note in notes[:5]:
                print('       ' + note)
            checks.add(f'{share:.0%} of the ceiling', said == wanted, f'the client says that it is the limit in {said} of {RUNS} runs')


def main():
    llm_load.begin(DESCRIPTION)
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        llm_load.skip('two CPUs are needed, one for the server and one for the client')
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    lake, checks = llm_load.Lake(), llm_load.Checks()
    ceiling = self_test(lake, checks)
    if ceiling > 0:
        rule(lake, checks, ceiling, cpus[-2], cpus[-1])
    checks.finish()


if __name__ == '__main__':
    main()
