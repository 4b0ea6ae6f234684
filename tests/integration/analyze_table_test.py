"""`aaco analyze`: the table of nodes, and the memory of a processor's runtime."""
import csv
import io
import pathlib

import program


class AnalyzeTables(program.ProgramTest):
    def estimate(self, *arguments):
        outcome = self.aaco('analyze', *arguments, '--json')
        self.assertEqual(outcome.code, 0, outcome.errors)
        return outcome.json()['estimate']

    def test_similar_nodes_share_one_row(self):
        text = self.aaco('analyze', 'bert-base', '--hardware', 'MI300X', '--nodes', 100).output
        lines = text[text.index('identical ones merged'):].splitlines()
        table = lines[2:lines.index('')]
        counts = [int(line.split()[1]) for line in table]
        total = len(self.estimate('bert-base', '--hardware', 'MI300X')['nodes'])
        self.assertEqual(sum(counts), total, 'every node is in one of the lines')
        self.assertLess(len(table), total / 4)
        self.assertIn(12, counts, 'one a layer')
        self.assertNotIn('ALIKE', self.aaco('analyze', 'bert-base', '--hardware', 'MI300X', '--nodes', 0).output)
        self.assertNotIn('ALIKE', self.aaco('analyze', 'mlp', '--hardware', 'MI300X').output)

    def test_cpu_memory_is_the_runtimes(self):
        """Without a calibration, too: runs of the zoo hold two to three times what is live, and are inside the bound."""
        fixture = pathlib.Path(__file__).resolve().parents[1] / 'fixtures' / 'whole_models' / 'models_float32.csv'
        inside, errors = 0, []
        for row in csv.DictReader(io.StringIO(fixture.read_text())):
            sizes = ['--dim', row['profile'].replace(' ', ',')] if row['profile'] else []
            memory = self.estimate(row['model'], '--hardware', 'xeon 8490h', '--batch', row['batch'], *sizes)['memory']
            self.assertEqual(memory['confidence'], 'THEORETICAL')
            inside += memory['lower'] < float(row['memory_bytes']) < memory['upper']
            errors.append(abs(memory['value'] / float(row['memory_bytes']) - 1))
        self.assertGreaterEqual(inside, 0.87 * len(errors))
        self.assertLess(sum(errors) / len(errors), 0.25)

    def test_calibrated_machine_uses_its_runtimes_memory(self):
        """What `aaco validate` judges is what `aaco analyze` prints: peaks fitted to runs of the zoo (tests/fixtures/whole_models)."""
        fixtures = pathlib.Path(__file__).resolve().parents[1] / 'fixtures' / 'whole_models'
        registry = self.folder / 'fitted'
        (registry / 'hardware').mkdir(parents=True)
        (registry / 'hardware' / 'intel_xeon_2c_24gb.yaml').write_text((fixtures / 'intel_xeon_2c_24gb.yaml').read_text())
        own = {'AACO_REGISTRY': str(registry)}
        plain = self.aaco('analyze', 'resnet50', '--hardware', 'intel_xeon_2c_24gb', '--json', **own).json()['estimate']['memory']
        self.assertEqual(plain['confidence'], 'THEORETICAL')
        fitted = self.aaco('calibrate', '--hardware', 'intel_xeon_2c_24gb', '--measurements', fixtures / 'models_float32.csv', '--json', **own)
        self.assertEqual(fitted.code, 0, fitted.errors)
        self.assertLess(fitted.json()['memory']['onnxruntime network fp32']['quality']['mean_ape'], 0.1)
        rows = [row for row in csv.DictReader(io.StringIO((fixtures / 'models_float32.csv').read_text())) if row['model'] == 'resnet50']
        self.assertGreater(len(rows), 1)
        for row in rows:
            estimate = self.aaco('analyze', 'resnet50', '--hardware', 'intel_xeon_2c_24gb', '--batch', row['batch'], '--json', **own).json()['estimate']
            memory = estimate['memory']
            self.assertEqual((memory['confidence'], memory['unit']), ('CALIBRATED', 'bytes'))
            self.assertLess(abs(memory['value'] / float(row['memory_bytes']) - 1), 0.2)
            self.assertTrue(memory['lower'] < float(row['memory_bytes']) < memory['upper'])
        judged = self.aaco('validate', '--hardware', 'intel_xeon_2c_24gb', '--measurements', fixtures / 'models_float32.csv', '--json', **own).json()
        self.assertLess(judged['memory']['mean_ape'], 0.1)

    def test_rejects_an_empty_list_item(self):
        for names in ('H100,,T4', 'H100,', ',H100', 'H100, ,T4'):
            self.refused(self.aaco('compare', 'mlp', '--hardware', names), 2, 'empty entry')
        self.refused(self.aaco('compare', 'mlp', '--hardware', 'H100', '--dtypes', 'fp16,,fp32'), 2, "empty entry in 'fp16,,fp32' for '--dtypes'")
        self.assertEqual(self.aaco('compare', 'mlp', '--hardware', 'H100,', 'T4', '--format', 'csv').code, 0)  # as "H100, T4" comes
