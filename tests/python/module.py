"""What the tests of the Python module share: a lake of their own, a small run, a process apart."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve()
os.environ.setdefault('PYTHONPATH', str(HERE.parents[2] / 'build/release/python'))
if os.environ['PYTHONPATH'] not in sys.path:
    sys.path.insert(0, os.environ['PYTHONPATH'])

import aaco  # noqa: E402

try:
    import numpy
except ImportError:
    numpy = None
try:
    import pandas
except ImportError:
    pandas = None


class ModuleTest(unittest.TestCase):
    """Each class has a lake of its own, in a folder that goes with it; a class with RUN has one session of a small model in it."""
    RUN = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix='aaco-python-')
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.lake = cls.folder / 'sessions'
        before = dict(os.environ)
        cls.addClassCleanup(lambda: (os.environ.clear(), os.environ.update(before)))
        os.environ.update(AACO_SESSIONS=str(cls.lake), AACO_CALIBRATIONS=str(cls.folder / 'none'), AACO_REGISTRY=str(cls.folder / 'registry'))
        if cls.RUN is not None:
            cls.session = cls.small_run(**cls.RUN)

    @classmethod
    def small_run(cls, **options):
        """Skips the test where there is no ONNX Runtime."""
        try:
            return aaco.run('mlp', **{'warmup': 5, 'iterations': 60, **options})
        except aaco.errors.Unsupported as error:
            if 'ONNX Runtime library not found' in str(error):
                raise unittest.SkipTest('skipped, no ONNX Runtime on this machine') from error
            raise

    def refused(self, kind, words, function, *arguments, **named):
        """It raises the kind with all words in its text."""
        with self.assertRaises(kind) as raised:
            function(*arguments, **named)
        for word in words.split('|'):
            self.assertIn(word, str(raised.exception))

    @classmethod
    def python(cls, code, **popen):
        """Runs code in an interpreter of its own."""
        return subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=False, timeout=300, cwd=cls.folder, **popen)


needs_numpy = unittest.skipUnless(numpy, 'skipped, NumPy is missing')
needs_pandas = unittest.skipUnless(pandas, 'skipped, pandas is missing')
