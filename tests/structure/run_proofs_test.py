"""scripts/run_proofs.sh: what is done for a commit is not repeated, what failed or was skipped is, and the table says so."""
import os
import shutil
import subprocess
import unittest

import trees

PROOF = '#!/usr/bin/env bash\ncase ${1:-} in --describe) echo "says %s"; exit ;; esac\necho ran >>"$AACO_PROOF_OUT.runs"\necho "%s"\nexit %d\n'


class RunProofs(trees.TreeTest):
    def setUp(self):
        super().setUp()
        (self.root / 'scripts').mkdir()
        shutil.copy(trees.TOP / 'scripts/run_proofs.sh', self.root / 'scripts')
        self.write('.gitignore', 'build/\n')
        self.proof('good', 'two figures', 0)
        self.commit()

    def proof(self, name, text, code):
        self.write(f'scripts/proofs/{name}.sh', PROOF % (text, text, code)).chmod(0o755)

    def commit(self):
        for words in (['init', '-q'], ['add', '.'], ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'x']):
            subprocess.run(['git', *words], cwd=self.root, check=True)

    def run_proofs(self, *words):
        environment = {name: value for name, value in os.environ.items() if not name.startswith('AACO_')}
        ran = subprocess.run([self.root / 'scripts/run_proofs.sh', *words], capture_output=True, text=True, check=False, env=environment)
        return ran.returncode, ran.stdout + ran.stderr

    def runs(self, name):
        file = self.root / f'build/proofs/{name}.runs'
        return len(file.read_text().splitlines()) if file.exists() else 0

    def test_writes_what_was_seen_and_a_table(self):
        code, output = self.run_proofs()
        self.assertEqual(code, 0, output)
        self.assertEqual((self.root / 'build/proofs/good.txt').read_text(), 'two figures\n')
        self.assertRegex(output.splitlines()[-1], r'^good +passed +\d+ +two figures$')

    def test_done_for_this_commit_is_not_repeated(self):
        self.run_proofs()
        code, output = self.run_proofs()
        self.assertEqual((code, self.runs('good')), (0, 1))
        self.assertIn('two figures', output)

    def test_again_repeats(self):
        self.run_proofs()
        self.run_proofs('--again')
        self.assertEqual(self.runs('good'), 2)

    def test_a_new_commit_is_measured_again(self):
        self.run_proofs()
        self.write('file', 'more')
        self.commit()
        self.run_proofs()
        self.assertEqual(self.runs('good'), 2)

    def test_a_changed_tree_is_never_done(self):
        self.write('.gitignore', 'build/\nmore\n')
        self.run_proofs()
        self.run_proofs()
        self.assertEqual(self.runs('good'), 2)

    def test_failure_is_named_and_repeated(self):
        self.proof('bad', 'one find', 1)
        self.commit()
        code, output = self.run_proofs()
        self.assertEqual(code, 1)
        self.assertRegex(output, r'bad +FAILED +\d+ +one find')
        self.run_proofs()
        self.assertEqual((self.runs('bad'), self.runs('good')), (2, 1))

    def test_skipped_has_its_reason(self):
        self.proof('absent', 'skipped, no GPU', 77)
        self.commit()
        code, output = self.run_proofs()
        self.assertEqual(code, 0)
        self.assertRegex(output, r'absent +skipped +\d+ +skipped, no GPU')

    def test_list_says_what_is_done_and_runs_nothing(self):
        self.proof('other', 'more figures', 0)
        self.commit()
        self.run_proofs('--filter', '^good$')
        code, output = self.run_proofs('--list')
        self.assertEqual((code, self.runs('other')), (0, 0))
        self.assertRegex(output, r'good +passed +says two figures\nother +to do +says more figures')

    def test_filter_that_matches_nothing(self):
        code, output = self.run_proofs('--filter', 'nothing')
        self.assertEqual(code, 2)
        self.assertIn("no proof matches 'nothing'", output)

    def test_every_proof_describes_itself(self):
        proofs = sorted(one for one in (trees.TOP / 'scripts/proofs').iterdir() if one.is_file())
        self.assertGreater(len(proofs), 5)
        for path in proofs:
            told = subprocess.run([path, '--describe'], capture_output=True, text=True, check=False)
            self.assertEqual((told.returncode, told.stderr, len(told.stdout.splitlines())), (0, '', 1), path)


if __name__ == '__main__':
    unittest.main()
