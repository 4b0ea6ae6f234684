"""Recordings of this process, other programs, and imports."""
import asyncio
import functools
import pathlib
import sys
import threading
import time
import unittest

from module import ModuleTest, aaco

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / 'fixtures'


class RecordingTest(ModuleTest):
    def markers(self, session):
        rows = session.table('api_calls').head(1000)
        return [(row['name'], row['end_ns'] - row['start_ns'], row['thread_id']) for row in rows if row['domain'] == 'marker']

    def test_a_block_becomes_a_session(self):
        with aaco.record('block', tag='b') as recording:
            time.sleep(0.1)
        session = recording.session
        self.assertEqual((session.kind, session.tag, session.state, session.outcome['model']), ('record', 'b', 'complete', 'block'))
        self.assertGreaterEqual(session.outcome['wall_ns'], 100_000_000)
        self.assertIn('system_events', session.tables)
        self.assertEqual(session, aaco.open('tag:b'))

    def test_what_nothing_stops_ends_with_the_interpreter(self):
        ran = self.python("import aaco; open_ended = aaco.record('open', tag='unstopped').start()")
        self.assertEqual((ran.returncode, ran.stderr), (0, ''))
        session = aaco.open('tag:unstopped')
        self.assertEqual((session.state, session.outcome['model']), ('interrupted', 'open'))

    def test_a_range_ends_only_once(self): self.refused(aaco.Error, 'has not begun', aaco.range('x').__exit__, None, None, None)

    def test_a_subinterpreter_is_refused(self):
        tried = 'try:\n    import aaco\nexcept ImportError as error:\n    print(error)\n'
        ran = self.python(f"""
import importlib.util
module = importlib.import_module('_interpreters' if importlib.util.find_spec('_interpreters') else '_xxsubinterpreters')
module.run_string(module.create(), {tried!r})
""")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn('does not work in a subinterpreter', ran.stdout)

    def test_ranges_of_an_observed_program_land_on_its_timeline(self):
        program = self.folder / 'marking.py'
        program.write_text("""
import os, sys, threading, aaco
def work(name):
    with aaco.range(name):
        pass
work('main')
other = threading.Thread(target=work, args=('of a thread',)); other.start(); other.join()
child = os.fork()
if child == 0:
    work('of a\\nchild'); os._exit(0)
os.waitpid(child, 0)
""")
        session = aaco.observe([sys.executable, str(program)])
        self.assertEqual(session.outcome['exit_code'], 0)
        rows = [row for row in session.table('api_calls').head(100) if row['domain'] == 'marker']
        self.assertEqual(sorted(row['name'] for row in rows), ['main', 'of a child', 'of a thread'])
        self.assertEqual(len({row['process_id'] for row in rows}), 2)
        self.assertEqual(len({row['thread_id'] for row in rows}), 3)

    def test_ranges_land_on_the_timeline(self):
        with aaco.record() as recording:
            with aaco.range('outer'):
                for _ in range(3):
                    with aaco.range('inner'):
                        time.sleep(0.01)
        found = self.markers(recording.session)
        self.assertEqual(sorted(name for name, _, _ in found), ['inner'] * 3 + ['outer'])
        lengths = {name: length for name, length, _ in found}
        self.assertGreaterEqual(lengths['outer'], 30_000_000)
        self.assertGreaterEqual(lengths['inner'], 10_000_000)
        timeline = recording.session.export('chrome', self.folder / 'ranges.json').read_text()
        self.assertIn('outer', timeline)

    def test_ranges_keep_their_thread(self):
        def work():
            for number in range(200):
                with aaco.range(f'step {number}'):
                    pass
        with aaco.record() as recording:
            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        found = self.markers(recording.session)
        self.assertEqual(len(found), 800)
        self.assertEqual(len({thread for _, _, thread in found}), 4)

    def test_ranges_without_a_recording_leave_nothing(self):
        with aaco.range('nothing'):
            pass
        with aaco.record() as recording:
            pass
        self.assertNotIn('api_calls', recording.session.tables)

    def test_recordings_may_overlap(self):
        with aaco.record('a') as a, aaco.record('b') as b:
            with aaco.range('both'):
                pass
        self.assertEqual([name for name, _, _ in self.markers(a.session)], ['both'])
        self.assertEqual([name for name, _, _ in self.markers(b.session)], ['both'])

    def test_each_call_of_a_function_becomes_a_session(self):
        @aaco.record(tag='step')
        def step(value):
            """Adds one."""
            return value + 1
        self.assertEqual((step(1), step.__name__, step.__doc__), (2, 'step', 'Adds one.'))
        first = step.session
        step(2)
        self.assertNotEqual(first, step.session)
        self.assertTrue(first.outcome['model'].endswith('step'))
        self.assertEqual(len(self.markers(first)), 1)

    def test_a_plain_decorator_records(self):
        @aaco.record
        def step():
            return 7
        self.assertEqual(step(), 7)
        self.assertEqual(step.session.state, 'complete')

    def test_a_range_decorates(self):
        @aaco.range('inside')
        def inside():
            return 3
        with aaco.record() as recording:
            self.assertEqual(inside(), 3)
        self.assertEqual([name for name, _, _ in self.markers(recording.session)], ['inside'])

    def test_an_exception_keeps_the_data(self):
        with self.assertRaises(ZeroDivisionError):
            with aaco.record() as recording:
                1 / 0
        self.assertEqual(recording.session.state, 'interrupted')

    def test_a_manager_creates_sessions_in_its_folder(self):
        manager = aaco.SessionManager(self.folder / 'elsewhere')
        with manager.create_session('managed', tag='m') as recording:
            pass
        self.assertEqual(recording.session.path.parents[1], self.folder / 'elsewhere')
        self.assertEqual([line['tag'] for line in manager.list()], ['m'])
        manager.remove('tag:m')
        self.assertEqual(manager.list(), [])

    def test_misuse_is_refused(self):
        recording = aaco.record()
        self.refused(RuntimeError, 'has not begun|hint:', recording.stop)
        self.refused(aaco.Error, 'has not begun', recording.stop)
        self.refused(RuntimeError, 'has not ended', lambda: recording.session)
        with recording:
            self.refused(RuntimeError, 'under way', recording.start)
        self.refused(ValueError, "'telemetry_period'", aaco.record(telemetry_period=-1).start)

    def test_an_object_without_a_name_is_recorded(self):
        seven = aaco.record(functools.partial(int, '7'))
        self.assertEqual((seven(), seven.session.outcome['model']), (7, 'int'))

    def test_a_coroutine_is_recorded_to_its_end(self):
        @aaco.record
        async def work():
            await asyncio.sleep(0.05)
            return 3

        @aaco.range('awaited')
        async def inside():
            await asyncio.sleep(0.05)
        self.assertEqual(asyncio.run(work()), 3)
        self.assertGreaterEqual(work.session.outcome['wall_ns'], 50_000_000)
        with aaco.record() as recording:
            asyncio.run(inside())
        (_, length, _), = self.markers(recording.session)
        self.assertGreaterEqual(length, 50_000_000)

    def test_generators_are_refused(self):
        def numbers():
            yield 1
        self.refused(ValueError, 'numbers() is a generator|hint:', aaco.record, numbers)
        self.refused(ValueError, 'numbers() is a generator|hint:', aaco.range('x'), numbers)

    def test_names_that_are_not_unicode_are_kept_as_far_as_they_go(self):
        with aaco.record() as recording:
            with aaco.range('a\udcffb'):
                pass
        self.assertEqual([name for name, _, _ in self.markers(recording.session)], ['a?b'])

    def test_a_child_of_fork_leaves_the_recording_to_its_parent(self):
        ran = self.python("""
import os, sys, aaco
with aaco.record(tag='forked') as recording:
    child = os.fork()
    if child == 0:
        try:
            recording.stop()
        except RuntimeError as error:
            print(error, flush=True)
        sys.exit(7)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), recording.of_parent)
print(recording.session.state, recording.session.verify())
""")
        self.assertEqual((ran.returncode, ran.stderr), (0, ''))
        lines = ran.stdout.splitlines()
        self.assertIn('that of the parent process', lines[0])
        self.assertEqual(lines[-2:], ['7 False', 'complete []'])

    def test_a_recording_that_is_dropped_stays_incomplete(self):
        ran = self.python('import aaco; recording = aaco.record("dropped").start()')
        self.assertEqual((ran.returncode, ran.stderr), (0, ''))


class ObserveTest(ModuleTest):
    def test_a_program_is_observed(self):
        session = aaco.observe([sys.executable, '-c', 'sum(range(10**6)); raise SystemExit(3)'], tag='program')
        self.assertEqual((session.kind, session.outcome['exit_code']), ('record', 3))

    def test_missing_programs_are_refused(self):
        self.refused(aaco.errors.NotFound, 'nonsense', aaco.observe, 'nonsense-program')

    def test_either_a_command_or_a_process(self):
        self.refused(ValueError, 'either a command or a pid', aaco.observe)
        self.refused(ValueError, 'either a command or a pid', aaco.observe, ['true'], pid=1)


class ImportTest(ModuleTest):
    def test_a_trace_becomes_a_session(self):
        trace = self.folder / 'trace.json'
        trace.write_text('{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10, "dur": 5}, '
                         '{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 12, "dur": 4, '
                         '"args": {"device": 0, "stream": 7, "correlation": 1}}], "schemaVersion": 1}')
        session = aaco.import_(trace, tag='trace')
        self.assertEqual((session.kind, session.tag), ('import', 'trace'))
        self.assertIn('gemm', session.table('rocprof_kernels')['kernel_name'].texts())

    def test_unknown_files_are_refused(self):
        (self.folder / 'odd.bin').write_bytes(b'\0\1\2')
        self.refused(aaco.Error, 'odd.bin', aaco.import_, self.folder / 'odd.bin')
        self.refused(aaco.Error, 'missing', aaco.import_, self.folder / 'missing')
        self.refused(ValueError, 'no files to import', aaco.import_)


if __name__ == '__main__':
    unittest.main()
