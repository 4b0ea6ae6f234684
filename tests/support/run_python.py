"""Runs the Python tests of a folder and writes their results in GoogleTest's form.

  run_python.py FOLDER [--xml FILE] [--part K/N] [NAME...]

AACO_TESTS_AGAIN=N: only those that failed by the FILE of the last run, N times or until one fails; their results are replaced in it.
--part: the K-th of N parts, divided by class, so that parts can run at the same time.
"""
import argparse
import os
import pathlib
import sys
import time
import unittest
import xml.etree.ElementTree as ElementTree


class Recorder(unittest.TextTestResult):
    """Keeps one XML element a test."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.suite = ElementTree.Element('testsuite', name='python')
        self.began = time.monotonic()  # what fails before a class's first test starts no test

    def startTest(self, test):
        super().startTest(test)
        self.began = time.monotonic()

    def record(self, test, tag=None, message=''):
        names = test.id().rsplit('.', 2)
        case = ElementTree.SubElement(self.suite, 'testcase', classname=names[-2], name=names[-1], status='run',
                                      time=f'{time.monotonic() - self.began:.3f}')
        if tag:
            ElementTree.SubElement(case, tag, message=message)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.record(test)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.record(test, 'failure', str(err[1]))

    def addError(self, test, err):
        super().addError(test, err)
        self.record(test, 'error', repr(err[1]))

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.record(test, 'skipped', reason)


def cases(suite):
    """The test cases of a suite and of the suites in it, in order."""
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from cases(test)
        else:
            yield test


def part_of(suite, part):
    """Every N-th class, beginning with the K-th, for a part "K/N"."""
    which, count = (int(number) for number in part.split('/'))
    classes = {}
    for test in cases(suite):
        classes.setdefault(type(test), []).append(test)
    chosen = list(classes.values())[which - 1::count]
    return unittest.TestSuite(test for tests in chosen for test in tests)


def failed_before(suite, path):
    """The tests of a suite that failed by the file of an earlier run, and the file's other elements. Of a class that failed while it was
    set up or taken down: all its tests."""
    elements = {f'{case.get("classname")}.{case.get("name")}': case for case in ElementTree.parse(path).getroot().iter('testcase')}
    failed = {name for name, case in elements.items() if has_failed(case)}
    chosen, again = [], set()
    for test in cases(suite):
        module, group, name = test.id().rsplit('.', 2)
        of_class = {f'{step} ({module}.{group})' for step in ('setUpClass', 'tearDownClass')} & failed
        if of_class or f'{group}.{name}' in failed:
            chosen.append(test)
            again |= of_class | {f'{group}.{name}'}
    return chosen, [case for name, case in elements.items() if name not in again]


def has_failed(case):
    return case.find('failure') is not None or case.find('error') is not None


def main():
    options = argparse.ArgumentParser()
    options.add_argument('folder', type=pathlib.Path)
    options.add_argument('--xml', type=pathlib.Path)
    options.add_argument('--part', default='1/1')
    options.add_argument('names', nargs='*')
    asked = options.parse_args()
    here = asked.folder.resolve()
    sys.path.insert(0, str(here))
    loader = unittest.TestLoader()
    tests = loader.loadTestsFromNames(asked.names) if asked.names else loader.discover(str(here), pattern='*_test.py')
    chosen, kept, times = part_of(tests, asked.part), [], 1
    if os.environ.get('AACO_TESTS_AGAIN') and asked.xml and asked.xml.is_file():
        times = int(os.environ['AACO_TESTS_AGAIN'])
        chosen, kept = failed_before(chosen, asked.xml)
    for _ in range(times):
        result = unittest.TextTestRunner(resultclass=Recorder, verbosity=0).run(unittest.TestSuite(chosen))
        if not result.wasSuccessful():
            break
    result.suite.extend(kept)
    if asked.xml:
        asked.xml.parent.mkdir(parents=True, exist_ok=True)
        suites = ElementTree.Element('testsuites')
        suites.append(result.suite)
        ElementTree.ElementTree(suites).write(asked.xml)
    return 0 if result.wasSuccessful() and not any(has_failed(case) for case in kept) else 1


if __name__ == '__main__':
    sys.exit(main())
