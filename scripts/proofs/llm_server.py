#!/usr/bin/env python3
"""aaco llm against a real llama.cpp server: its own timings, the knee at its slots, hogs on either side, equal runs, fewer slots."""
import os
import pathlib
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / 'lib'))
import llama_server  # noqa: E402
import llm_load  # noqa: E402

DESCRIPTION = 'aaco llm against a llama.cpp server with four slots on one core: knee, server\'s timings, hogs, A/A, -np 4 against -np 1 (8 min)'
LEVELS = [1, 2, 4, 8, 16]
SLOTS, SIDES, TRIES = 4, 4, 5
LOAD = ['--prompt-tokens', 8, '--output-tokens', 32]


class Hog:
    """Two busy loops on one CPU."""

    def __init__(self, cpu):
        self.command = ['taskset', '-c', cpu, sys.executable, '-c', 'while True: pass']

    def __enter__(self):
        self.processes = [subprocess.Popen(self.command) for _ in range(2)]

    def __exit__(self, *unused):
        for process in self.processes:
            process.kill()
            process.wait()


class Machine:
    def __init__(self, server_cpu, client_cpu):
        self.server_cpu, self.client_cpu, self.lake = server_cpu, client_cpu, llm_load.Lake()

    def server(self, slots=SLOTS):
        return llama_server.LlamaServer(slots=slots, threads=1, cpus=self.server_cpu)

    def llm(self, server, *options):
        return self.lake.llm(server.url, *LOAD, *options, pin=self.client_cpu)


def timings(machine, server, checks):
    session = machine.llm(server, '--concurrency', 1, '--requests', 60)
    rows = session.rows('(first_token_ns - sent_ns) / 1e6, server_prompt_ns / 1e6, (last_token_ns - first_token_ns) / 1e6, server_decode_ns / 1e6')
    prompt = statistics.median(row[0] - row[1] for row in rows)
    decode = statistics.median(row[2] / row[3] for row in rows)
    checks.add('server\'s prompt time', -0.5 < prompt < 20, f'TTFT is {prompt:.2f} ms longer in the median (network, tokenizer, first token)')
    checks.add('server\'s decode time', 0.85 < decode < 1.05, f'first to last token is {decode:.3f} of it in the median')


def knee(machine, server, checks):
    session = machine.llm(server, '--concurrency', ','.join(map(str, LEVELS)), '--requests', 64)
    found = session.summary().get('knee', 'none')
    place = LEVELS.index(int(found.split()[-1])) if found != 'none' else -9
    medians = [f"{level['load'].split()[-1]}: {level['metrics']['llm.ttft_p50_ns']['value'] / 1e6:.0f} ms"
               for level in session.summary()['levels']]
    checks.add('knee', abs(place - LEVELS.index(SLOTS)) <= 1, f"{found} of {SLOTS} slots; median TTFT {', '.join(medians)}")


def hogs(machine, server, checks):
    for _ in range(TRIES):  # on a machine with other work the client may be the bottleneck itself, and then names no cause
        with Hog(machine.server_cpu):
            session = machine.llm(server, '--concurrency', 2, '--requests', 40)
        level = session.summary()['levels'][0]
        if not level['client']['limited']:
            break
    causes = level['server']['causes']
    checks.add('hog on the server\'s core', any('waited for a CPU' in cause for cause in causes),
               '; '.join(causes) or f"no cause; client: {'; '.join(level['client']['reasons'])}; server: {level['server']}")
    with Hog(machine.client_cpu):
        session = machine.llm(server, '--concurrency', 2, '--requests', 40)
    level = session.summary()['levels'][0]
    checks.add('hog on the client\'s core', 'llm.client_limit' in session.warnings and not level['server']['causes'],
               f"client is the bottleneck: {level['client']['limited']} ({'; '.join(level['client']['reasons'])[:120]}); causes at the server: {len(level['server']['causes'])}")


def sides(machine, checks):
    """Blocks in turn, so that the machine's own drift is on both sides."""
    for tag, slots in (('four', SLOTS), ('again', SLOTS), ('one', 1)) * SIDES:
        with machine.server(slots) as server:
            machine.llm(server, '--concurrency', 4, '--requests', 48, '--tag', tag)
    for other, codes, name in (('again', (0, 4), 'A/A'), ('one', (1,), 'four slots against one')):
        ran = machine.lake.aaco('diff', 'tag:four', f'tag:{other}', '--json')
        verdict = [line for line in machine.lake.aaco('diff', 'tag:four', f'tag:{other}').stdout.splitlines() if line.startswith(('verdict', 'llm.ttft_p50_ns '))]
        checks.add(name, ran.returncode in codes, f"exit code {ran.returncode}; {' | '.join(verdict)[:160]}")


def main():
    llm_load.begin(DESCRIPTION)
    why = llama_server.missing()
    if why:
        llm_load.skip(why)
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        llm_load.skip('two CPUs are needed, one for the server and one for the client')
    machine, checks = Machine(str(cpus[-2]), str(cpus[-1])), llm_load.Checks()
    print(f'llama.cpp-tools {llama_server.version()}')
    with machine.server() as server:
        timings(machine, server, checks)
        knee(machine, server, checks)
        hogs(machine, server, checks)
    sides(machine, checks)
    checks.finish()


if __name__ == '__main__':
    main()
