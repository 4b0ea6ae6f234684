"""What the tests of accuracy share: the program with a registry of its own, and rows of the real tables."""
import csv
import gzip
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'integration'))
import program


class AccuracyTest(program.ProgramTest):
    def with_registry(self, *arguments):
        outcome = self.aaco(*arguments, AACO_REGISTRY=str(self.folder / self.id()))
        if outcome.code == 3 and 'without XGBoost' in outcome.errors:
            self.skipTest('skipped, this program was built without XGBoost')
        return outcome

    def real(self, table, name, keep):
        """A file of those rows of the real table that are wanted, by dictionary; without real data the test is skipped."""
        root = pathlib.Path(__file__).resolve().parents[2]
        path = pathlib.Path(os.environ.get('AACO_REAL_DATA', root.parent / 'shared' / 'data')) / 'estimation' / table
        if not path.is_file():
            self.skipTest(f'skipped, no real data at {path}')
        with gzip.open(path, 'rt', newline='') as file:
            every = csv.DictReader(file)
            kept = [row for row in every if keep(row)]
            with open(self.folder / name, 'w', newline='') as out:
                writer = csv.DictWriter(out, every.fieldnames)
                writer.writeheader()
                writer.writerows(kept)
        return self.folder / name

    def judged_accurate(self, arguments, coverage, **limits):
        """Limits leave a seventh and more beside what is seen (docs/results.md): they catch a fit that got worse, not another seed."""
        judged = self.with_registry('validate', *arguments, '--json').json()
        self.assertGreater(judged['count'], 500)
        for figure, most in limits.items():
            self.assertLess(judged[figure], most, figure)
        self.assertGreater(judged['coverage90'], coverage[0])
        self.assertLess(judged['coverage90'], coverage[1])
        for name, scores in judged['classes'].items():
            if scores['sites'] >= 100:
                self.assertGreater(scores['coverage90'], 0.8, name)
        return judged
