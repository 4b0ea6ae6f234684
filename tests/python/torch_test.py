"""PyTorch's profiler beside telemetry, with a stand-in that writes the form of its traces."""
import contextlib
import gzip
import json
import sys
import time
import types
import unittest

from module import ModuleTest, aaco

OFFSET_NS = 1_751_410_836_000_000_000  # of the trace's clock against CLOCK_MONOTONIC


class StandIn(types.ModuleType):
    """torch.profiler: record_function, and profile with export_chrome_trace."""

    def __init__(self):
        super().__init__('torch.profiler')
        self.events = []
        self.recording = True
        self.saved = False

    @contextlib.contextmanager
    def record_function(self, name):
        start = time.monotonic_ns()
        yield
        if self.recording:
            self.add('user_annotation', name, start, time.monotonic_ns(), 1)

    def add(self, kind, name, start, end, thread, **arguments):
        self.events.append({'ph': 'X', 'cat': kind, 'name': name, 'pid': 0 if kind == 'kernel' else 4711, 'tid': thread,
                            'ts': (start + OFFSET_NS) / 1000, 'dur': (end - start) / 1000, 'args': arguments})

    def profile(self, **options):
        stand_in = self

        class Profile:
            given = options

            def __enter__(self):
                stand_in.recording = 'schedule' not in options
                return self

            def step(self):
                stand_in.recording = next(options['schedule'])

            def __exit__(self, *_):
                return None

            def export_chrome_trace(self, path):
                if stand_in.saved:
                    raise RuntimeError('Trace is already saved.')
                stand_in.saved = True
                with (gzip.open if str(path).endswith('.gz') else open)(path, 'wt') as file:
                    json.dump({'schemaVersion': 1, 'deviceProperties': [{'id': 0, 'name': 'AMD Instinct MI250X'}],
                               'traceEvents': stand_in.events}, file)
        return Profile()


class TorchTest(ModuleTest):
    def setUp(self):
        self.torch = types.ModuleType('torch')
        self.torch.profiler = StandIn()
        sys.modules.update({'torch': self.torch, 'torch.profiler': self.torch.profiler})
        self.addCleanup(lambda: [sys.modules.pop(name, None) for name in ('torch', 'torch.profiler')])

    def step(self, correlation):
        start = time.monotonic_ns()
        self.torch.profiler.add('cuda_runtime', 'hipLaunchKernel', start, start + 5_000, 1, correlation=correlation)
        self.torch.profiler.add('kernel', 'gemm', start + 20_000, start + 900_000, 7, device=0, stream=7, correlation=correlation)
        time.sleep(0.02)
        return start

    def test_trace_and_telemetry_are_one_session_on_one_clock(self):
        with aaco.torch_profile('train', tag='torch', record_shapes=True) as profile:
            starts = [self.step(number) for number in range(1, 4)]
            with aaco.range('mine'):
                time.sleep(0.05)
        session = profile.session
        self.assertEqual((session.kind, session.tag), ('record', 'torch'))
        self.assertLessEqual({'rocprof_kernels', 'api_calls', 'system_events'}, set(session.tables))
        kernels = session.table('rocprof_kernels').head()
        self.assertEqual([row['kernel_name'] for row in kernels], ['gemm'] * 3)
        for row, start in zip(kernels, starts):
            self.assertLess(abs(row['start_ns'] - start - 20_000), 2_000_000)
        self.assertIn('mine', session.table('api_calls')['name'].texts())
        self.assertIn('gpu.busy_ns', session.metrics)
        self.assertEqual(profile.profiler.given, {'record_shapes': True})

    def test_an_exception_keeps_both(self):
        with self.assertRaises(ZeroDivisionError):
            with aaco.torch_profile() as profile:
                self.step(1)
                1 / 0
        self.assertEqual(profile.session.state, 'interrupted')
        self.assertIn('rocprof_kernels', profile.session.tables)

    def test_without_gpu_work_telemetry_remains(self):
        with aaco.torch_profile() as profile:
            time.sleep(1)  # for the first sample, also on a busy machine
        self.assertIn('system_events', profile.session.tables)

    def test_a_schedule_that_skips_both_ends_keeps_the_clock(self):
        with aaco.torch_profile(schedule=iter([False, True, False, False])) as profile:
            for _ in range(4):
                if self.torch.profiler.recording:
                    active = self.step(1)
                profile.profiler.step()
        kernel, = profile.session.table('rocprof_kernels').head()
        self.assertLess(abs(kernel['start_ns'] - active - 20_000), 2_000_000)

    def test_a_trace_without_marks_is_refused_and_the_telemetry_kept(self):
        def run():
            with aaco.torch_profile(tag='unmarked', schedule=iter([])):
                self.step(1)
        self.refused(aaco.errors.InvalidInput, 'no mark|hint: with a schedule, call profile.profiler.step()', run)
        self.assertNotIn('rocprof_kernels', aaco.open('tag:unmarked').tables)

    def test_a_trace_that_the_caller_saved_is_read(self):
        for name in ('saved.json', 'saved.json.gz'):
            with aaco.torch_profile() as profile:
                self.step(1)
                profile._mark()  # PyTorch calls its handler at the end
                profile.profiler.export_chrome_trace(self.folder / name)
            self.assertEqual(len(profile.session.table('rocprof_kernels')), 1)
            self.torch.profiler.saved, self.torch.profiler.events = False, []

    def test_a_trace_that_fails_is_an_error_and_keeps_the_telemetry(self):
        profile = aaco.torch_profile(tag='failed')
        with self.assertRaises(OSError):
            with profile:
                profile.profiler.export_chrome_trace = lambda path: open('/nonexistent/trace.json')
        self.assertEqual(aaco.open('tag:failed').state, 'interrupted')

    def test_pytorch_is_required(self):
        sys.modules['torch'] = None
        self.refused(aaco.errors.Unsupported, 'PyTorch is not installed|hint:', aaco.torch_profile().__enter__)
        self.assertEqual(aaco.recording._active, ())


if __name__ == '__main__':
    unittest.main()
