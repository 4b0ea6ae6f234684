"""Tests that failed run once more by AACO_TESTS_AGAIN, and only what holds then has passed."""
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import trees

TESTS = """
import pathlib
import unittest

class Unsteady(unittest.TestCase):
    def test_once(self):
        mark = pathlib.Path(__file__).with_name('ran')
        if not mark.exists():
            mark.touch()
            self.fail('busy')

class Others(unittest.TestCase):
    def test_good(self):
        with open(pathlib.Path(__file__).with_name('good'), 'a') as file:
            file.write('x')

    def test_bad(self):
        self.assertTrue(pathlib.Path(__file__).with_name('mended').exists())
"""

SECOND = """
import pathlib
import unittest

class Second(unittest.TestCase):
    def test_second(self):
        with open(pathlib.Path(__file__).with_name('runs'), 'a+') as file:
            file.write('x')
            file.seek(0)
            self.assertEqual(len(file.read()), 2)
"""

CLASS = """
import pathlib
import unittest

class Busy(unittest.TestCase):
    @classmethod
    def STEP(cls):
        mark = pathlib.Path(__file__).with_name('ran')
        if not mark.exists():
            mark.touch()
            raise OSError('busy')

    def test_it(self):
        pass

class Others(unittest.TestCase):
    def test_good(self):
        with open(pathlib.Path(__file__).with_name('good'), 'a') as file:
            file.write('x')
"""


class RunPython(trees.TreeTest):
    def run_tests(self, again=''):
        environment = {**os.environ, 'AACO_TESTS_AGAIN': again}
        ran = subprocess.run([sys.executable, trees.TOP / 'tests/support/run_python.py', self.root, '--xml', self.root / 'out.xml'], env=environment,
                             capture_output=True, check=False)
        cases = {case.get('name'): case.find('failure') is None and case.find('error') is None
                 for case in ElementTree.parse(self.root / 'out.xml').getroot().iter('testcase')}
        return ran.returncode, cases

    def test_only_the_failed_run_again(self):
        self.write('any_test.py', TESTS)
        self.assertEqual(self.run_tests(), (1, {'test_once': False, 'test_good': True, 'test_bad': False}))
        self.assertEqual(self.run_tests('1'), (1, {'test_once': True, 'test_good': True, 'test_bad': False}))
        self.write('mended', '')
        self.assertEqual(self.run_tests('1'), (0, {'test_once': True, 'test_good': True, 'test_bad': True}))
        self.assertEqual((self.root / 'good').read_text(), 'x')

    def test_each_of_several_runs_must_pass(self):
        self.write('any_test.py', SECOND)
        self.assertEqual(self.run_tests(), (1, {'test_second': False}))
        self.assertEqual(self.run_tests('3'), (1, {'test_second': False}))
        self.assertEqual((self.root / 'runs').read_text(), 'xxx')  # the first, then until it failed

    def test_a_class_that_failed_around_its_tests_runs_again(self):
        for step in ('setUpClass', 'tearDownClass'):
            with self.subTest(step):
                (self.root / 'ran').unlink(missing_ok=True)
                (self.root / 'good').unlink(missing_ok=True)
                self.write('any_test.py', CLASS.replace('STEP', step))
                code, first = self.run_tests()
                self.assertEqual((code, list(first.values()).count(False)), (1, 1))
                self.assertEqual(self.run_tests('3'), (0, {'test_it': True, 'test_good': True}))
                self.assertEqual((self.root / 'good').read_text(), 'x')
