"""How far calibrated estimates are from real measurements that the fit has not seen (skipped without real data). One table here;
tests/accuracy/long_accuracy.py has the others (scripts/run_proofs.sh --filter accuracy)."""
import unittest

import real_rows


class Accuracy(real_rows.AccuracyTest):
    def test_held_sites_of_real_products(self):
        table = self.real('gemm.csv.gz', 'mi100.csv', lambda row: row['device'] == 'MI100' and row['batch'] == '1')
        self.judged_accurate(['--hardware', 'mi100', '--measurements', table, '--split', 'site'], (0.86, 0.97), mean_ape=0.09, median_ape=0.05, p90_ape=0.23)


if __name__ == '__main__':
    unittest.main()
