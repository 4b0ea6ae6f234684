"""tools/count_tests must count what happened, and never call a dead program passed."""
import subprocess
import unittest

import trees

PASSED = '<testcase name="a" status="run" classname="S" time="0"/>'
FAILED = '<testcase name="b" status="run" classname="S"><failure message="x.cc:1&#x0A;Expected: 1"/></testcase>'
SKIPPED = '<testcase name="c" status="run" classname="S"><skipped message="skipped, no real data"/></testcase>'
DISABLED = '<testcase name="d" status="notrun" classname="S"/>'


class CountTests(trees.TreeTest):
    def results(self, name, *cases):
        self.write(f'{name}.xml', '<testsuites><testsuite name="S">' + ''.join(cases) + '</testsuite></testsuites>')

    def ctest(self, name='ctest.xml', **states):
        cases = ''.join(f'<testcase name="{test}" classname="{test}" status="{state}"/>' for test, state in states.items())
        self.write(name, f'<testsuite name="all">{cases}</testsuite>')

    def count(self, ctest=False, again=False):
        arguments = ['--ctest', self.root / 'ctest.xml'] if ctest else []
        arguments += ['--again', self.root / 'again.xml'] if again else []
        ran = subprocess.run([trees.TOP / 'tools/count_tests', self.root, *arguments], capture_output=True, text=True, check=True)
        return ran.stdout.splitlines()

    def test_counts_each_kind(self):
        self.results('p', PASSED, FAILED, SKIPPED, DISABLED)
        self.assertEqual(self.count()[0], '1 1 2')

    def test_says_why_skipped(self):
        self.results('p', SKIPPED)
        self.assertIn('skip\tp: S.c\tskipped, no real data', self.count())

    def test_names_the_failed(self):
        self.results('p', FAILED)
        self.assertTrue(any(line.startswith('fail\tp: S.b\t') for line in self.count()))

    def test_program_that_died_without_results(self):
        self.ctest(p='fail')
        self.assertEqual(self.count(ctest=True)[0], '0 1 0')

    def test_program_that_died_after_passing_tests(self):
        self.results('p', PASSED)
        self.ctest(p='fail')
        self.assertEqual(self.count(ctest=True)[0], '1 1 0')

    def test_failure_counts_once(self):
        self.results('p', FAILED)
        self.ctest(p='fail')
        self.assertEqual(self.count(ctest=True)[0], '0 1 0')

    def test_cut_results_of_a_dead_program(self):
        self.write('p.xml', '<testsuites><testsuite><testcase')
        self.ctest(p='fail')
        self.assertEqual(self.count(ctest=True)[0], '0 1 0')

    def test_program_without_xml(self):
        self.ctest(p='run')
        self.assertEqual(self.count(ctest=True)[0], '1 0 0')

    def test_what_ran_again_counts_by_its_last_run(self):
        self.ctest(p='fail', q='fail', r='run')
        self.ctest('again.xml', p='run', q='fail')
        self.assertEqual(self.count(ctest=True, again=True)[0], '2 1 0')

    def test_nothing(self):
        self.assertEqual(self.count(), ['0 0 0'])


if __name__ == '__main__':
    unittest.main()
