"""The fits that are shipped are the ones that were judged: their hashes, their size, their notices."""
import hashlib
import os
import pathlib
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / 'data/calibration'
MAX_BYTES = 300_000


class ShippedCalibrations(unittest.TestCase):
    def sums(self):
        return dict(reversed(line.split()) for line in (FOLDER / 'SHA256SUMS').read_text().splitlines())

    def test_hashes_are_those_of_the_files(self):
        files = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in FOLDER.glob('*.calibration')}
        self.assertTrue(files)
        self.assertEqual(files, self.sums(), 'scripts/make_calibrations.sh writes both')

    def test_files_are_small(self):
        for path in FOLDER.glob('*.calibration'):
            self.assertLessEqual(path.stat().st_size, MAX_BYTES, path.name)

    def test_every_origin_has_its_notice(self):
        notice = (FOLDER / 'NOTICE').read_text()
        for path in FOLDER.glob('*.calibration'):
            head = path.read_bytes()[:64 << 10].decode(errors='replace')
            for origin in ('aiconfigurator', 'aiter', 'MIOpen', 'NeuSight', 'vidur'):
                if f'/{origin}' in head:
                    self.assertIn(f'/{origin}', notice, path.name)
            self.assertIn('"licences"', head, path.name)

    def test_the_script_skips_without_the_rows(self):
        ran = subprocess.run(['scripts/make_calibrations.sh'], cwd=ROOT, env=os.environ | {'AACO_REAL_DATA': '/nonexistent'},
                             capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn('skipped, no real data', ran.stdout)

    def test_the_script_refuses_unknown_options(self):
        ran = subprocess.run(['scripts/make_calibrations.sh', '--wrong'], cwd=ROOT, capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 2)


if __name__ == '__main__':
    unittest.main()
