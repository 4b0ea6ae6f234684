"""Small source trees for the tests of tools/, made on the spot."""
import pathlib
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parent.parent.parent


class TreeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write(self, path, text=''):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        return target

    def run_tool(self, name, *arguments):
        """Exit code and output of tools/NAME over the tree."""
        ran = subprocess.run([TOP / 'tools' / name, '--root', self.root, *arguments], capture_output=True, text=True, check=False)
        return ran.returncode, ran.stdout + ran.stderr
