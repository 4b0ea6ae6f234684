"""docs/reference/cli.md is what the program prints."""
import pathlib
import subprocess
import unittest

import program

TOP = pathlib.Path(__file__).resolve().parents[2]


class Reference(unittest.TestCase):
    def test_is_current(self):
        told = subprocess.run([TOP / 'tools/make_reference', '--check', program.PROGRAM, TOP / 'docs/reference/cli.md'], capture_output=True, text=True,
                              check=False)
        self.assertEqual(told.returncode, 0, told.stdout + told.stderr)


if __name__ == '__main__':
    unittest.main()
