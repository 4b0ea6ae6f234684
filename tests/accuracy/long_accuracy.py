"""How far calibrated and carried-over estimates are from real measurements that the fit has not seen: the long part, run by
scripts/run_proofs.sh --filter accuracy."""
import unittest

import real_rows


class LongAccuracy(real_rows.AccuracyTest):
    def test_held_sites_of_real_matrix_cores(self):
        """A twelfth of the widths of an H200, with its energy."""
        table = self.real('gemm.csv.gz', 'h200_part.csv', lambda row: row['device'] == 'H200-SXM-141GB' and row['dtype'] == 'bfloat16' and
                          (int(row['n']) + int(row['k'])) // 64 % 12 == 0)
        judged = self.judged_accurate(['--hardware', 'h200', '--measurements', table, '--split', 'site', '--folds', 2], (0.84, 0.96), mean_ape=0.06, median_ape=0.04,
                                      p90_ape=0.13)
        self.assertLess(judged['energy']['mean_ape'], 0.15)
        predicted = judged['energy_of_predicted_time']
        self.assertEqual(predicted['count'], judged['energy']['count'])
        self.assertLess(predicted['mean_ape'], 0.15)
        self.assertTrue(0.84 < predicted['coverage90'] < 0.97, predicted['coverage90'])

    def covered(self, device, table, *options):
        """How many whole models were judged, and how many of them lie inside the 90 % bound."""
        judged = self.with_registry('validate', '--hardware', device, '--measurements', table, *options, '--json').json()
        self.assertGreater(judged['count'], 0, device)
        return judged['count'], round(judged['count'] * judged['coverage90'])

    def test_bounds_of_whole_graphs_hold(self):
        """Seven devices in eleven states, 360 conditions; with the types a device emulates (docs/results.md)."""
        models, transformers = self.real('models.csv.gz', 'models.csv', lambda row: True), self.real('e2e.csv.gz', 'e2e.csv', lambda row: True)
        modules = ['jetson_orin_15w', 'jetson_orin_30w', 'jetson_orin_50w', 'jetson_orin_maxn']
        every = [self.covered(device, models, '--level', 'theoretical') for device in modules + ['i7-12700K', 'ryzen_9_8945hs']]
        every += [self.covered(device, transformers, '--level', 'theoretical') for device in ('mi100', 'mi210', 'NVIDIA_A100-PCIE-40GB', 'NVIDIA_A100_80GB_PCIe', 't4')]
        count, inside = (sum(column) for column in zip(*every))
        self.assertGreater(count, 350)
        self.assertGreater(inside / count, 0.87)
        for counted, held in every:
            self.assertGreater(held / counted, 0.8)
        for device, table, split in ((modules[0], models, 'model'), (modules[3], models, 'device'), ('i7-12700K', models, 'model'), ('mi210', transformers, 'device')):
            counted, held = self.covered(device, table, '--split', split)
            self.assertGreater(held / counted, 0.87, (device, split))

    def test_held_filters_of_real_convolutions(self):
        """A sixth of the channels that an MI100 ran."""
        table = self.real('conv2d.csv.gz', 'conv.csv', lambda row: row['device'] == 'MI100' and row['dtype'] == 'FP32' and (int(row['c']) + int(row['k'])) // 8 % 6 == 0)
        self.judged_accurate(['--hardware', 'mi100', '--measurements', table, '--split', 'site', '--folds', 2], (0.84, 0.96), mean_ape=0.17, median_ape=0.11)

    def test_real_products_carried_over(self):
        """An H200 from an H100, of a twelfth of the widths of either."""
        table = self.real('gemm.csv.gz', 'hopper.csv', lambda row: row['device'] in ('H100-SXM-80GB', 'H200-SXM-141GB') and row['dtype'] == 'bfloat16' and
                          (int(row['n']) + int(row['k'])) // 64 % 12 == 0)
        judged = self.judged_accurate(['--hardware', 'h200', '--measurements', table, '--split', 'device'], (0.85, 0.96), mean_ape=0.09, p90_ape=0.18)
        self.assertEqual(judged['level'], 'INTERPOLATED')


if __name__ == '__main__':
    unittest.main()
