"""A real llama.cpp server (scripts/bootstrap.sh --llama) with a small random model, as a process of tests and proofs."""
import os
import pathlib
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

FOLDER = pathlib.Path(os.environ.get('XDG_CACHE_HOME', pathlib.Path.home() / '.cache')) / 'aaco/llama'
READY_SECONDS = 60


def missing():
    """Why there is no server to start; empty where there is one."""
    if not (FOLDER / 'versions.txt').is_file():
        return 'no llama.cpp server (scripts/bootstrap.sh --llama fetches one)'
    ran = subprocess.run(command('--version'), cwd=backends(), capture_output=True, text=True, check=False)
    return '' if ran.returncode == 0 else 'the llama.cpp server does not start: ' + (ran.stderr.strip().splitlines() or ['no message'])[-1]


def version():
    versions = dict(line.split() for line in (FOLDER / 'versions.txt').read_text().splitlines())
    return versions.get('llama.cpp-tools', 'unknown')


def libraries():
    return FOLDER / 'usr/lib/x86_64-linux-gnu'


def backends():
    return libraries() / 'ggml/backends0'  # the server searches its working folder for them


def command(*arguments):
    found = [str(folder) for folder in (libraries(), libraries() / 'llama', libraries() / 'ggml')]
    return [str(libraries() / 'ld-linux-x86-64.so.2'), '--library-path', ':'.join(found), str(FOLDER / 'usr/bin/llama-server'), *map(str, arguments)]


def model(wide):
    file = FOLDER / ('random-llama-wide.gguf' if wide else 'random-llama.gguf')
    if not file.is_file():
        part = file.with_suffix(f'.{os.getpid()}')
        subprocess.run([sys.executable, pathlib.Path(__file__).with_name('make_llama.py'), *(['--wide'] if wide else []), part], check=True)
        part.rename(file)
    return file


class LlamaServer:
    """with LlamaServer(slots=4, cpus='0') as server: server.url"""

    def __init__(self, slots=4, threads=1, cpus=None, context=8192, wide=False):
        with socket.socket() as free:
            free.bind(('127.0.0.1', 0))
            self.port = free.getsockname()[1]
        pinned = ['taskset', '-c', cpus] if cpus else []
        self.command = pinned + command('-m', model(wide), '--alias', 'random-llama', '--host', '127.0.0.1', '--port', self.port, '-t', threads, '-np', slots, '-c', context,
                                        '--metrics', '--offline')
        self.url = f'http://127.0.0.1:{self.port}/v1'
        self.process = None

    def __enter__(self):
        self.process = subprocess.Popen(self.command, cwd=backends(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + READY_SECONDS
        while not self.ready():
            if self.process.poll() is not None or time.monotonic() > until:
                self.__exit__()
                raise RuntimeError(f'the llama.cpp server did not become ready (exit code {self.process.returncode})')
            time.sleep(0.05)
        return self

    def ready(self):
        try:
            with urllib.request.urlopen(f'http://127.0.0.1:{self.port}/health', timeout=2) as reply:
                return reply.status == 200
        except (urllib.error.URLError, OSError):
            return False

    def __exit__(self, *unused):
        self.process.terminate()
        self.process.wait(timeout=30)
