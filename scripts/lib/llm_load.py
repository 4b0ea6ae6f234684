"""What the proofs of `aaco llm` share: the program, the fault server of tests/serving, and figures from a session's tables."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get('AACO_PROGRAM', str(TOP / 'build/release/bin/aaco'))
FAULT_SERVER = TOP / 'build/release/tests/aaco_fault_server'


def begin(description):
    """--describe, and the reasons to skip."""
    if sys.argv[1:] == ['--describe']:
        print(description)
        sys.exit(0)
    if sys.argv[1:] in (['-h'], ['--help']):
        print(f'{pathlib.Path(sys.argv[0]).name}: {description}\nRun by scripts/run_proofs.sh; writes to $AACO_PROOF_OUT.json.')
        sys.exit(0)
    if sys.argv[1:]:
        sys.exit(f'{pathlib.Path(sys.argv[0]).name}: unknown option {sys.argv[1]!r}')
    if not os.access(PROGRAM, os.X_OK):
        print(f'{PROGRAM} is missing; hint: scripts/run_demo.sh builds it')
        sys.exit(3)


def skip(why):
    print(f'skipped, {why}')
    sys.exit(77)


def two_cpus():
    """One for the server and one for the client; none of their own where the machine has one only."""
    cpus = sorted(os.sched_getaffinity(0))
    return (str(cpus[-2]), str(cpus[-1])) if len(cpus) > 1 else (None, None)


class Lake:
    """Sessions in a folder of their own."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix='aaco-llm-')

    def aaco(self, *arguments, pin=None):
        command = [*(['taskset', '-c', pin] if pin else []), PROGRAM, *map(str, arguments)]
        environment = os.environ | {'AACO_SESSIONS': self.folder.name, 'AACO_REGISTRY': self.folder.name + '/registry', 'NO_COLOR': '1'}
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, stdin=subprocess.DEVNULL, timeout=1800)

    def llm(self, url, *options, pin=None):
        ran = self.aaco('llm', '--url', url, '--no-report', '--json', *options, pin=pin)
        if ran.returncode != 0:
            raise RuntimeError(f'aaco llm ended with {ran.returncode}: {ran.stderr.strip()}')
        return Session(self, json.loads(ran.stdout))


class Session:
    def __init__(self, lake, document):
        self.lake, self.document = lake, document
        self.id, self.path = document['session']['id'], pathlib.Path(document['session']['path'])
        self.warnings = [warning['id'] for warning in document['warnings']]

    def metric(self, name):
        return self.document['metrics'][name]['value']

    def summary(self):
        return json.loads((self.path / 'metrics/llm_summary.json').read_text())

    def rows(self, columns, table='llm_requests', where="phase = 'measure'", order='request'):
        text = f"SELECT {columns} FROM {table} WHERE session_id = '{self.id}' AND {where} ORDER BY {order}"
        ran = self.lake.aaco('query', '--json', text)
        if ran.returncode != 0:
            raise RuntimeError(ran.stderr.strip())
        return [tuple(row.values()) for row in json.loads(ran.stdout)]


class ServerProcess:
    """A server that prints its port and ends when its standard input does."""

    def __init__(self, command):
        self.command = command

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())
        return self

    def __exit__(self, *unused):
        self.process.stdin.close()
        self.process.wait(timeout=60)
        self.process.stdout.close()

    def url(self, scenario):
        return f'http://127.0.0.1:{self.port}/{scenario}/v1'


class FaultServer(ServerProcess):
    """with FaultServer() as server: server.url('plain'), server.log()"""

    def __init__(self, pin=None):
        super().__init__([*(['taskset', '-c', pin] if pin else []), FAULT_SERVER])

    def log(self):
        self.process.stdin.write('log\n')
        self.process.stdin.flush()
        return [json.loads(line) for line in iter(self.process.stdout.readline, '\n')]


def quantile(values, probability):
    """Linear between the neighbours (R type 7), as AACO states it."""
    ordered = sorted(values)
    place = probability * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


class Checks:
    """Prints each check; the exit code says whether all held."""

    def __init__(self):
        self.rows = []

    def add(self, name, held, text):
        self.rows.append({'check': name, 'held': bool(held), 'text': text})
        print(f"{'ok    ' if held else 'FAILED'} {name}: {text}", flush=True)

    def finish(self):
        out = os.environ.get('AACO_PROOF_OUT')
        if out:
            pathlib.Path(out + '.json').write_text(json.dumps(self.rows, indent=1) + '\n')
        failed = [row['check'] for row in self.rows if not row['held']]
        print(f'{len(self.rows) - len(failed)} of {len(self.rows)} checks hold' + (f"; failed: {', '.join(failed)}" if failed else ''))
        sys.exit(1 if failed else 0)
