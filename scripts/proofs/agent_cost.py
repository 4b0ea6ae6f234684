#!/usr/bin/env python3
"""CPU time and memory of the agent at 1 Hz, against a collector on loopback.

  scripts/proofs/agent_cost.py [--seconds 300]

Counts from the tenth second on, so that the start is not in it. Prints JSON: share of one core, resident bytes (largest), rows sent.
Exit code 0: at most 0.5 % of a core and 40 MB, 1: more.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TOP / 'tests/integration'))
import agent_test  # noqa: E402

MAX_SHARE, MAX_BYTES = 0.005, 40e6


def cpu_s(pid):
    fields = pathlib.Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def resident_peak(pid):
    line = next(one for one in pathlib.Path(f'/proc/{pid}/status').read_text().splitlines() if one.startswith('VmHWM'))
    return int(line.split()[1]) * 1024


def measure(seconds, folder):
    collector = agent_test.Collector()
    with subprocess.Popen([agent_test.AGENT, '--to', f'clickhouse://127.0.0.1:{collector.port}/x', '--spool', f'{folder}/spool']) as agent:
        time.sleep(10)
        begin, used = time.monotonic(), cpu_s(agent.pid)
        time.sleep(seconds)
        share, peak = (cpu_s(agent.pid) - used) / (time.monotonic() - begin), resident_peak(agent.pid)
        agent.terminate()
    return {'cpu_ratio': share, 'resident_bytes': peak, 'rows': len(collector.rows()), 'seconds': seconds, 'load': os.getloadavg()[0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--describe', action='store_true', help='print one line and exit')
    parser.add_argument('--seconds', type=int, default=300)
    options = parser.parse_args()
    if options.describe:
        print('cost of the agent at 1 Hz: at most 0.5 % of a core and 40 MB (5 min)')
        return 0
    with tempfile.TemporaryDirectory(prefix='aaco-agent-') as folder:
        result = measure(options.seconds, folder)
    print(json.dumps(result))
    return 0 if result['cpu_ratio'] <= MAX_SHARE and result['resident_bytes'] <= MAX_BYTES and result['rows'] > 0 else 1


if __name__ == '__main__':
    sys.exit(main())
