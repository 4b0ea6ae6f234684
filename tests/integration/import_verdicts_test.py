"""`aaco import`: what limits a trace, where a reader is easily misled: clocks that differ, tiny copies, gaps in the recording, lost ends."""
import json

import program

GEMM, ADD = 'Cijk_Ailk_Bljk_HHS_BH_MT128x128x32', 'void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>'


class Kineto:
    """A trace of PyTorch's profiler; times in microseconds."""

    def __init__(self):
        self.events, self.correlation = [], 0

    def host(self, category, name, start, duration, thread=1, **arguments):
        self.events.append({'ph': 'X', 'cat': category, 'name': name, 'pid': 10, 'tid': thread, 'ts': start, 'dur': duration, 'args': arguments})

    def device(self, category, name, start, duration, **arguments):
        self.events.append({'ph': 'X', 'cat': category, 'name': name, 'pid': 0, 'tid': 7, 'ts': start, 'dur': duration,
                            'args': {'device': 0, 'stream': 7, 'correlation': self.correlation, **arguments}})

    def call(self, name, start, duration, thread=1, category='cuda_runtime'):
        self.correlation += 1
        self.host(category, name, start, duration, thread, correlation=self.correlation)

    def kernel(self, name, called, start, duration, call='hipLaunchKernel', call_us=4, thread=1):
        self.call(call, called, call_us, thread)
        self.device('kernel', name, start, duration, grid=[256, 1, 1], block=[256, 1, 1])

    def text(self):
        return json.dumps({'schemaVersion': 1, 'traceEvents': self.events})


def training(kernels=40, every=100, first_use_us=6500, device_early_us=0):
    """Operators one by one; the launch of one kernel that never ran before takes long."""
    trace, at = Kineto(), 1000.0
    for i in range(kernels):
        slow = i == kernels // 2
        trace.host('cpu_op', 'aten::add', at, 30 + (first_use_us if slow else 0))
        took = first_use_us if slow else 5
        trace.kernel('first_of_its_kind' if slow else ADD, at + 10, at + 18 + (took if slow else 0) - device_early_us, 12, call_us=took)
        at += every + (first_use_us if slow else 0)
    return trace


def issuing(kind, count=400):
    """Copies or fills of some kilobytes, and a large product now and then."""
    trace, at = Kineto(), 1000.0
    name, call = {'copy': ('Memcpy HtoD (Pinned -> Device)', 'cudaMemcpyAsync'), 'fill': ('Memset (Device)', 'cudaMemsetAsync')}[kind]
    for i in range(count):
        trace.host('cpu_op', 'aten::copy_' if kind == 'copy' else 'aten::zero_', at, 9)
        trace.call(call, at + 1, 6)
        trace.device('gpu_memcpy' if kind == 'copy' else 'gpu_memset', name, at + 7, 1.2, bytes=8192)
        at += 10
        if i % 100 == 99:
            trace.kernel(GEMM, at, at + 6, 150)
            at += 160
    return trace


def compiling():
    """The first step compiles before it launches anything; the backward pass has a thread and most launches of its own."""
    trace, at = Kineto(), 1000.0
    for step in range(6):
        compile_us = 30_000 if step == 0 else 0
        trace.host('user_annotation', f'ProfilerStep#{step}', at, 1200 + compile_us)
        if step == 0:
            trace.host('cpu_op', 'aten::randn', at + 10, compile_us + 50)
            trace.host('user_annotation', '_compile.compile_inner (dynamo_timed)', at + 20, compile_us)
        at += compile_us
        for i in range(4):
            trace.kernel(ADD, at + 60 + 60 * i, at + 70 + 60 * i, 10)
        for i in range(9):
            trace.kernel(ADD, at + 400 + 60 * i, at + 410 + 60 * i, 10, thread=2)
        at += 1250
    return trace


def windows(first_after=45, python=False):
    """Two windows of a schedule that repeats, 5 s apart; the device is busy within them."""
    trace = Kineto()
    for begin, number in ((0, 1), (5_000_000, first_after)):
        if python:
            trace.host('python_function', 'train.py(1): main', begin, 4000)
        for step in range(4):
            at = begin + 1000.0 * step
            trace.host('user_annotation', f'ProfilerStep#{number + step}', at, 990)
            for i in range(9):
                trace.kernel(GEMM, at + 20 + 10 * i, at + 30 + 105 * i, 104)
    return trace


def draining(steps=60):
    """Each product is followed by .item()."""
    trace, at = Kineto(), 1000.0
    for _ in range(steps):
        trace.host('cpu_op', 'aten::mm', at, 9)
        trace.kernel(GEMM, at + 3, at + 9, 14)
        trace.host('cpu_op', 'aten::item', at + 12, 18)
        trace.host('cpu_op', 'aten::_local_scalar_dense', at + 13, 16)
        trace.call('hipMemcpyWithStream', at + 14, 14)
        trace.device('gpu_memcpy', 'Memcpy DtoH (Device -> Host)', at + 25, 1, bytes=4)
        at += 44
    return trace


def replaying():
    """A graph of short kernels whose launch call takes longer than the graph."""
    trace, at = Kineto(), 1000.0
    for _ in range(12):
        trace.call('cudaGraphLaunch', at, 1600)
        for i in range(64):
            trace.device('kernel', ADD, at + 1500 + 6.5 * i, 6)
        at += 2000
    return trace


def pinning():
    trace, at = Kineto(), 1000.0
    for _ in range(6):
        trace.call('cudaHostAlloc', at, 9000)
        trace.kernel(GEMM, at + 9010, at + 9020, 900)
        at += 10_000
    return trace


def unknown_kernel():
    trace = Kineto()
    for i in range(60):
        trace.kernel('rnn_cell_kernel(float*, int)', 1000 + 5 * i, 1400 + 100 * i, 99)
    return trace


def searching():
    """The first step tries algorithms; the others take the best."""
    trace, at = Kineto(), 1000.0
    for step, count in enumerate([160, 4, 4, 4, 4, 4]):
        trace.host('user_annotation', f'ProfilerStep#{step}', at, 1000 * count + 40)
        for i in range(count):
            name = f'implicit_convolve_sgemm_{1 + i % 40}' if count > 4 and i < count - 4 else 'implicit_convolve_sgemm_0'
            trace.kernel(name, at + 5 * i, at + 12 + 1000 * i, 999)
        trace.call('cudaDeviceSynchronize', at + 5 * count, 1000 * count + 20 - 5 * count)
        at += 1000 * count + 50
    return trace


MARKERS = '"Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp","End_Timestamp"\n'
KERNELS = '"Kind","Agent_Id","Queue_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp"\n'


class ImportVerdicts(program.ProgramTest):
    def judged(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        return self.judged_path(path if path.parent == self.folder else path.parent)

    def judged_path(self, path):
        ran = self.aaco('import', path, '--no-report', '--json')
        self.assertEqual(ran.code, 0, ran.errors)
        outcome = ran.json()
        self.metrics = {name: one['value'] for name, one in outcome['metrics'].items() if isinstance(one, dict)}
        self.warnings = {one['id']: one['message'] for one in outcome['warnings']}
        found = self.aaco('explain', 'latest', '--json').json()['bottleneck']
        self.advice = [one['title'] for one in found.get('recommendations', [])]
        cause = found.get('cause') or {}
        return found['bottleneck_class'], cause.get('id'), cause.get('title', '')

    def test_device_times_that_are_early_change_no_verdict(self):
        straight = self.judged('straight.json', training().text())
        self.assertEqual(straight[:2], ('warmup', 'first-use'))
        early = self.judged('early.json', training(device_early_us=4000).text())
        self.assertEqual(early, straight)
        self.assertIn('moved by +', self.warnings['gpu.kernels_before_launch'])

    def test_many_small_copies_and_fills_are_named(self):
        for kind, cause in (('copy', 'small-copies'), ('fill', 'small-fills')):
            found = self.judged(f'{kind}.json', issuing(kind).text())
            self.assertEqual(found[:2], ('launch_bound', cause))
            self.assertIn('400 small', found[2])
            self.assertTrue(self.advice[0].startswith('idle: issuing 400 small'), self.advice)

    def test_compiling_before_the_first_launch_is_warm_up(self):
        self.assertEqual(self.judged('compiling.json', compiling().text())[:2], ('warmup', 'jit-compilation'))

    def test_windows_of_recording_give_no_verdict_and_no_step_of_the_hole(self):
        for name, trace in (('steps', windows()), ('python', windows(5, python=True))):
            self.assertEqual(self.judged(f'{name}.json', trace.text())[:2], ('inconclusive', 'separate-windows'))
            self.assertNotIn('launch.rate_per_second', self.metrics)
            self.assertGreater(self.metrics['throughput.items_per_second'], 900)

    def test_a_pause_between_steps_in_order_remains_idle_time(self):
        self.assertEqual(self.judged('pause.json', windows(5).text())[0], 'host_waiting')

    def test_a_cut_that_loses_device_work_gives_no_verdict(self):
        trace = training()
        trace.events.sort(key=lambda event: event['cat'] == 'kernel')
        text = trace.text()
        cut = text[:text.rindex('"cat": "kernel"') - 2500]
        self.assertEqual(self.judged('cut.json', cut)[:2], ('inconclusive', 'cut-file'))
        halves = [event for event in trace.events if event['cat'] != 'cpu_op']
        trace.events = [event for event in trace.events if event['cat'] == 'cpu_op'] + halves
        text_of_halves = trace.text()  # operators first, then launches and kernels together
        self.assertEqual(self.judged('halves.json', text_of_halves[:len(text_of_halves) * 6 // 10])[:2], ('inconclusive', 'cut-file'))
        host_only = text[:text.index('"cat": "kernel"')]
        self.assertNotEqual(self.judged('host_only.json', host_only)[0], 'compute_bound')

    def test_a_cut_in_order_of_time_keeps_its_verdict(self):
        trace = training()
        trace.events.sort(key=lambda event: event['ts'])
        text = trace.text()
        self.assertEqual(self.judged('in_order.json', text[:len(text) * 9 // 10])[0], 'warmup')

    def test_reading_values_goes_before_graphs(self):
        self.assertEqual(self.judged('item.json', draining().text())[1], 'synchronisation')
        self.assertEqual(self.advice[0], 'remove what waits for the device between launches')
        self.assertFalse([one for one in self.advice if 'graph' in one], self.advice)

    def test_a_program_that_replays_graphs_should_launch_larger_ones(self):
        found = self.judged('graphs.json', replaying().text())
        self.assertEqual(found[1], 'graph-launch')
        self.assertEqual(self.advice[0], 'launch fewer, larger graphs')
        self.assertFalse([one for one in self.advice if 'replay' in one], self.advice)

    def test_pinned_and_device_memory_are_distinguished(self):
        self.assertEqual(self.judged('pinned.json', pinning().text()),
                         ('host_waiting', 'pinned-allocation', 'allocating and freeing pinned host memory'))

    def test_one_kernel_of_unknown_family_is_named(self):
        found = self.judged('unknown.json', unknown_kernel().text())
        self.assertEqual(found[:2], ('device_busy', 'unknown-kernel'))
        self.assertIn('rnn_cell_kernel', found[2])

    def test_a_first_step_that_takes_most_of_the_time_is_reported(self):
        self.assertEqual(self.judged('search.json', searching().text())[:2], ('warmup', 'autotuning'))
        self.assertIn('step 1 of 6', self.warnings['gpu.uneven_steps'])

    def test_ranges_of_the_host_alone_are_rejected_as_steps(self):
        markers, kernels, at = MARKERS, KERNELS, 1_000_000_000
        for i in range(8):
            markers += f'"MARKER_CORE_API","load_mesh",1,1,{2 * i},{at},{at + 20_000_000}\n'
            markers += f'"MARKER_CORE_API","solve",1,1,{2 * i + 1},{at + 20_000_000},{at + 29_000_000}\n'
            for k in range(3):
                kernels += f'"KERNEL_DISPATCH",1,1,1,"jacobi",{3 * i + k + 1},{at + 20_100_000 + 2_900_000 * k},{at + 22_900_000 + 2_900_000 * k}\n'
            at += 29_000_000
        (self.folder / 'mesh').mkdir()
        (self.folder / 'mesh/1_kernel_trace.csv').write_text(kernels)
        (self.folder / 'mesh/1_marker_api_trace.csv').write_text(markers)
        self.judged_path(self.folder / 'mesh')
        self.assertAlmostEqual(self.metrics.get('throughput.items_per_second', 1e3 / 29), 1e3 / 29, delta=0.5)
