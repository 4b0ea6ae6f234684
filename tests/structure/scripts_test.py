"""Every script answers --help and -h, and does nothing else then."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import trees

# What a script needs to print its own header. Anything that would do work (cmake, apt-get, npm, ninja, git) is out of reach.
TOOLS = ('bash', 'sed', 'dirname', 'env', 'python3', 'cat', 'basename')


def scripts():
    return sorted(path for path in (trees.TOP / 'scripts').rglob('*') if path.is_file() and path.suffix in ('.sh', '.py') and os.access(path, os.X_OK))


class Scripts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in ('bin', 'home', 'here'):
            (self.root / name).mkdir()
        for tool in TOOLS:
            os.symlink(shutil.which(tool), self.root / 'bin' / tool)

    def ask(self, script, *words):
        return subprocess.run([script, *words], cwd=self.root / 'here', capture_output=True, text=True, check=False, timeout=30, stdin=subprocess.DEVNULL,
                              env={'PATH': str(self.root / 'bin'), 'HOME': str(self.root / 'home'), 'PYTHONDONTWRITEBYTECODE': '1'})

    def test_help_is_printed_and_nothing_done(self):
        self.assertGreater(len(scripts()), 10)
        for script in scripts():
            for word in ('--help', '-h'):
                with self.subTest(script=script.name, word=word):
                    told = self.ask(script, word)
                    self.assertEqual((told.returncode, told.stderr), (0, ''))
                    self.assertIn(script.name, told.stdout)
                    self.assertGreater(len(told.stdout.splitlines()), 1)
                    self.assertEqual([*(self.root / 'home').iterdir(), *(self.root / 'here').iterdir()], [])

    def test_unknown_options_are_refused(self):
        for name in ('run_demo.sh', 'run_tests.sh', 'run_proofs.sh', 'bootstrap.sh', 'rebaseline.sh'):
            with self.subTest(name):
                told = self.ask(trees.TOP / 'scripts' / name, '--no-such-option')
                self.assertIn(told.returncode, (2, 3))
                self.assertIn('--no-such-option', told.stderr)


if __name__ == '__main__':
    unittest.main()
