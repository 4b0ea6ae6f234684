"""Runs the program as a user does, in a folder of its own."""
import json
import os
import pathlib
import subprocess
import tempfile
import time
import unittest

PROGRAM = os.environ.get('AACO_PROGRAM', str(pathlib.Path(__file__).resolve().parents[2] / 'build/release/bin/aaco'))
OURS = ('AACO_SHARE', 'AACO_SESSIONS', 'AACO_REGISTRY', 'AACO_CALIBRATIONS', 'AACO_ORT_LIBRARY', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME')


class Outcome:
    def __init__(self, ran):
        self.code, self.output, self.errors = ran.returncode, ran.stdout, ran.stderr

    def json(self):
        return json.loads(self.output)


def wait_for_processes(folder, most_s=60):
    """Until none of our processes works in `folder`, by its environment; one that stays fails the class."""
    end = time.monotonic() + most_s
    while left := [process for process in pathlib.Path('/proc').glob('[0-9]*') if works_in(process, folder)]:
        if time.monotonic() > end:
            raise TimeoutError(f'{folder}: still used by {", ".join(process.name for process in left)}')
        time.sleep(0.05)


def works_in(process, folder):
    try:
        return int(process.name) != os.getpid() and f'={folder}/'.encode() in (process / 'environ').read_bytes()
    except OSError:
        return False  # ended, or another user's


class ProgramTest(unittest.TestCase):
    """Each class has one lake of its own, in a folder that goes with it."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix='aaco-cli-')
        cls.addClassCleanup(folder.cleanup)
        cls.addClassCleanup(wait_for_processes, folder.name)  # first: jobs of a killed server still close their sessions
        cls.folder = pathlib.Path(folder.name)
        cls.lake = cls.folder / 'sessions'

    @classmethod
    def aaco(cls, *arguments, **variables):
        environment = {name: value for name, value in os.environ.items() if name not in OURS}
        # What is shipped would change with every fit; the tests of it name the folder.
        shipped = {'AACO_CALIBRATIONS': str(cls.folder / 'no_calibrations')}
        environment |= {'AACO_SESSIONS': str(cls.lake), 'NO_COLOR': '1'} | shipped | variables
        ran = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, errors='replace', check=False, timeout=300,
                             cwd=cls.folder, env=environment, stdin=subprocess.DEVNULL)
        return Outcome(ran)

    @classmethod
    def run_small(cls, *options, iterations=60):
        """A short run of a small model of the zoo; skips the test where there is no ONNX Runtime."""
        outcome = cls.aaco('run', '--model', 'mlp', '--warmup', 5, '--iterations', iterations, '--no-report', '--json', *options)
        if outcome.code == 3 and 'ONNX Runtime' in outcome.errors and 'unsupported' in outcome.errors:
            raise unittest.SkipTest('skipped, no ONNX Runtime on this machine')
        return outcome

    def refused(self, outcome, code, *words):
        """It ended with `code`, said each of the words on standard error, and nothing that looks like our own fault."""
        self.assertEqual(outcome.code, code, outcome.errors)
        for word in words:
            self.assertIn(word.lower(), outcome.errors.lower())
        self.assertNotIn('internal error', outcome.errors)
        self.assertNotIn('terminate called', outcome.errors)
