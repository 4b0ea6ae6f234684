"""The kernel module: its sources build without a warning, and its proof says why it is skipped."""
import importlib.util
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
HEADERS = sorted(pathlib.Path('/usr/src').glob('linux-headers-*-amd64'))

specification = importlib.util.spec_from_file_location('kernel_module', TOP / 'scripts/proofs/kernel_module.py')
proof = importlib.util.module_from_spec(specification)
specification.loader.exec_module(proof)


class KernelModule(unittest.TestCase):
    @unittest.skipUnless(HEADERS and shutil.which('sparse'), 'needs linux-headers-amd64 and sparse')
    def test_builds_with_w1_and_sparse_without_a_warning(self):
        with tempfile.TemporaryDirectory() as folder:
            proof.build(HEADERS[0], pathlib.Path(folder) / 'kernel')
            self.assertTrue((pathlib.Path(folder) / 'kernel/aaco.ko').exists())

    def test_missing_headers_skip_the_proof(self):
        with self.assertRaisesRegex(proof.Skipped, 'linux-headers'):
            proof.header_folders('/nowhere')

    def test_missing_image_skips_the_proof(self):
        with tempfile.TemporaryDirectory() as folder, self.assertRaisesRegex(proof.Skipped, 'no image'):
            proof.image('/nowhere', '0.0.0', pathlib.Path(folder))

    def test_archive_has_the_form_of_cpio(self):
        made = proof.archive({'init': b'abcde'})
        self.assertEqual(len(made) % 4, 0)
        self.assertEqual(re.findall(rb'070701', made), [b'070701'] * 2)
        self.assertIn(b'TRAILER!!!\0', made)

    def test_abi_numbers_do_not_change(self):
        """A structure that grows changes its ioctl number: then raise AACO_KMOD_ABI_VERSION and these numbers."""
        program = ('#include <stdio.h>\n#include "aaco_kmod_abi.h"\nint main(void) { printf("%d %x %x %x %x %x %zu\\n", AACO_KMOD_ABI_VERSION, '
                   '(unsigned)AACO_KMOD_INFO, (unsigned)AACO_KMOD_CLOCK, (unsigned)AACO_KMOD_REGION_BEGIN, (unsigned)AACO_KMOD_REGION_END, '
                   '(unsigned)AACO_KMOD_GPU_MEMORY, sizeof(struct aaco_kmod_record)); return 0; }')
        with tempfile.TemporaryDirectory() as folder:
            source, binary = pathlib.Path(folder) / 'abi.c', pathlib.Path(folder) / 'abi'
            source.write_text(program)
            subprocess.run(['cc', '-I', TOP / 'kernel', '-o', binary, source], check=True)
            shown = subprocess.run([binary], capture_output=True, text=True, check=True).stdout
        self.assertEqual(shown.split()[0], '1')
        self.assertEqual(shown.strip(), ABI)

    @unittest.skipUnless(shutil.which('dpkg-deb'), 'needs dpkg-deb')
    def test_dkms_package_has_all_that_the_build_reads(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([TOP / 'kernel/make_package.sh', folder], check=True, capture_output=True)
            package = next(pathlib.Path(folder).glob('aaco-dkms_*_all.deb'))
            subprocess.run(['dpkg-deb', '-x', package, pathlib.Path(folder) / 'root'], check=True)
            sources = next((pathlib.Path(folder) / 'root/usr/src').glob('aaco-*'))
            self.assertTrue((pathlib.Path(folder) / 'root/lib/udev/rules.d/60-aaco.rules').exists())
            objects = re.search(r'aaco-y := (.*)', (sources / 'Kbuild').read_text()).group(1).split()
            for name in ['dkms.conf', 'Makefile', 'aaco.h', 'aaco_kmod_abi.h', *(name.replace('.o', '.c') for name in objects)]:
                self.assertTrue((sources / name).exists(), name)

    def test_package_refuses_unknown_options(self):
        ran = subprocess.run([TOP / 'kernel/make_package.sh', '--no-such'], capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 2)
        self.assertIn("unknown option '--no-such'", ran.stderr)


ABI = '1 8020ac00 8028ac01 c010ac02 c0a0ac03 c020ac04 152'

if __name__ == '__main__':
    unittest.main()
