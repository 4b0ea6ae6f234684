"""The proof of GPU events by eBPF: what it takes as wrong, and the archive that it boots."""
import importlib.util
import pathlib
import re
import sys
import tempfile
import unittest

PROOFS = pathlib.Path(__file__).resolve().parents[2] / 'scripts/proofs'
sys.path.append(str(PROOFS))
specification = importlib.util.spec_from_file_location('drm_events', PROOFS / 'drm_events.py')
proof = importlib.util.module_from_spec(specification)
specification.loader.exec_module(proof)

GOOD = """STATUS record 0
mark,kind,detail,n,bytes,longest
ROW,gpu_buffer,created,20,16384,0
ROW,gpu_buffer,freed,20,16384,0
ROW,gpu_fence,pending,40,,6000000
ROW,gpu_fence,waited,20,,6000000
ROW,gpu_job,running,20,,5000000
ROW,gpu_memory,allocated: system,20,16384,316120
ROW,gpu_memory,freed: system,20,16384,0
ACCOUNT GPU job by tracepoint
ACCOUNT GPU fence by tracepoint
ACCOUNT GPU buffer by kprobe
ACCOUNT GPU memory by kprobe
"""


class DrmEvents(unittest.TestCase):
    def wrong(self, log):
        return proof.judge(log)[1]

    def test_every_event_once(self):
        self.assertEqual(self.wrong(GOOD), [])

    def test_no_output_is_wrong(self):
        self.assertEqual(len(self.wrong('')), 12)

    def test_failed_recording(self):
        self.assertEqual(self.wrong(GOOD.replace('record 0', 'record 256')), ['aaco record failed'])

    def test_lost_buffer(self):
        self.assertEqual(self.wrong(GOOD.replace('freed,20,16384', 'freed,19,16384')), ['gpu_buffer freed: 19 rows of 20'])

    def test_other_size(self):
        self.assertEqual(self.wrong(GOOD.replace('system,20,16384,3', 'system,20,4096,3')), ['gpu_memory allocated: system: 4096 bytes instead of 16384'])

    def test_job_that_takes_no_time(self):
        self.assertEqual(self.wrong(GOOD.replace('20,,5000000', '20,,500')), ['gpu_job running: at most 500 ns'])

    def test_missing_probe(self):
        self.assertEqual(self.wrong(GOOD.replace('memory by', 'memory is not traced: ')), ['GPU memory by kprobe is not attached'])

    def test_lost_events(self):
        self.assertEqual(len(self.wrong(GOOD + 'ACCOUNT 3 lost events of kind GPU fence\n')), 1)

    def test_modules_come_after_what_they_need(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, needs in (('a-b', 'c'), ('c', 'd'), ('d', '')):
                (pathlib.Path(folder) / f'{name}.ko').write_bytes(b'\0depends=' + needs.encode() + b'\0')
            self.assertEqual([path.stem for path in proof.with_needs(pathlib.Path(folder), ['a_b', 'd'])], ['d', 'c', 'a-b'])
            with self.assertRaisesRegex(proof.Skipped, 'no module x'):
                proof.with_needs(pathlib.Path(folder), ['x'])

    def test_archive_has_its_folders_first(self):
        names = re.findall(rb'(?:lib|init|lib/x)\0', proof.archive({'lib/x': b'1', 'init': b'2'}))
        self.assertEqual(names[0], b'lib\0')


if __name__ == '__main__':
    unittest.main()
