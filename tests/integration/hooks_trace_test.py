"""`record --hooks --trace`: kernels of a profiler's trace joined to the hooked calls, each pair checked against what the stand-in
runtime's profiler knows (src/hooks/standin/profiler.h, written in real formats by profiler_formats.py)."""
import glob
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

import profiler_formats
import program

STANDS = pathlib.Path(program.PROGRAM).resolve().parents[1] / 'tests/hooks'
PROFILED = STANDS / 'aaco_hooks_profiled'
WRITER = pathlib.Path(profiler_formats.__file__).resolve()


# Launches through the driver alone, which a profiler also sees as calls of a runtime around them, as of one that is linked statically.
STATIC_RUNTIME = """
import ctypes, os, random, sys, time
sys.path.insert(0, sys.argv[1])
import profiler_formats
driver, runtime = ctypes.CDLL('libcuda.so.1'), ctypes.CDLL('libcudart.so.13')
launch, copy, now = driver.cuLaunchKernel, runtime.cudaMemcpy, time.monotonic_ns
buffers = [ctypes.create_string_buffer(4 << 20) for _ in range(2)]
launch.argtypes = [ctypes.c_void_p] + [ctypes.c_uint] * 7 + [ctypes.c_void_p] * 3
before, wall, after = min(((now(), time.time_ns(), now()) for _ in range(200)), key=lambda one: one[2] - one[0])
lines, thread = [f'clocks,{(before + after) // 2},{wall},0'], os.getpid()
for number in range(1, 61):
    begin = now()
    assert launch(None, 3, 5, 7, 64, 2, 1, 0, None, None, None) == 0
    end = now()
    lines.append(f'call,{2 * number},cudaLaunchKernelExC,{thread},{thread},{begin},{end}')
    lines.append(f'kernel,{2 * number},a_kernel,0,7,{end},{end + 2000000},{thread},{number}')
    begin = now()
    assert copy(*buffers, ctypes.c_size_t(4 << 20), 3) == 0
    end, third = now(), (now() - begin) // 3
    lines.append(f'call,{2 * number + 1},cudaMemcpy,{thread},{thread},{begin + third},{end - third}')
    time.sleep(random.random() / 200)
with open(f'{sys.argv[2]}.{thread}', 'w') as file:
    file.write(chr(10).join(lines) + chr(10))
profiler_formats.kineto([profiler_formats.Raw(f'{sys.argv[2]}.{thread}', 0)], sys.argv[3])
"""


@unittest.skipUnless(PROFILED.exists(), 'skipped, the stand-in runtimes are not built')
class HooksTrace(program.ProgramTest):
    def words(self, tag, form, arguments, shift_ns=0):
        out = self.folder / f'{tag}.out{dict(kineto=".json", rpd=".rpd", nsys=".sqlite").get(form, "")}'
        script = f'STANDIN_TRACE={self.folder}/{tag}.raw {PROFILED} {arguments} && {sys.executable} {WRITER} {form} {self.folder}/{tag}.raw {out} {shift_ns}'
        return ['record', '--hooks', '--trace', out, '--tag', tag, '--no-report', '--', 'sh', '-c', script]

    def record(self, tag, form, arguments, shift_ns=0):
        outcome = self.aaco(*self.words(tag, form, arguments, shift_ns), LD_LIBRARY_PATH=str(STANDS))
        self.assertEqual(outcome.code, 0, outcome.errors)
        return outcome

    def raws(self, tag):
        return [profiler_formats.Raw(path, 0) for path in sorted(glob.glob(str(self.folder / f'{tag}.raw.*')))]

    def manifest(self, tag):
        shown = self.aaco('show', f'tag:{tag}', '--json').json()
        return json.loads((self.folder / shown['session']['path'] / 'session.json').read_text())

    def joined(self, tag):
        return self.manifest(tag)['outcome']['gpu_calls']['joined']

    def warnings(self, tag):
        return {one['id']: one['message'] for one in self.manifest(tag)['warnings']}

    def query(self, tag, text):
        outcome = self.aaco('query', text.replace('SESSION', f"session_id = '{self.manifest(tag)['session_id']}'"), '--json')
        self.assertEqual(outcome.code, 0, outcome.errors)
        return outcome.json()

    def check_pairs(self, tag, table='rocprof_kernels'):
        """Every joined pair is of the call that the runtime itself launched from; returns how many there are."""
        truth = {}
        for raw in self.raws(tag):
            calls = {correlation: (pid, tid, start, end) for correlation, _, pid, tid, start, end in raw.calls}
            if table == 'rocprof_kernels':
                truth |= {(number, tid): calls[correlation] for correlation, _, _, _, _, _, tid, number in raw.kernels}
            else:
                truth |= {profiler_formats.copied(size, tid, number): calls[correlation] for correlation, size, _, _, _, _, tid, number in raw.copies}
        own = 'w.grid_x AS number, w.grid_y AS tid' if table == 'rocprof_kernels' else 'w.bytes AS number'
        rows = self.query(tag, f"""SELECT {own}, c.process_id, c.thread_id, c.start_ns, c.end_ns FROM {table} w
            JOIN api_calls c USING (session_id, rank, correlation_id) WHERE w.SESSION AND w.correlation_id > 0
            AND w.correlation_id <= {self.manifest(tag)['outcome']['gpu_calls']['joined']['hooked_calls']}""")
        for row in rows:
            key = (int(row['number']), int(row['tid'])) if table == 'rocprof_kernels' else int(row['number'])
            pid, tid, start, end = truth[key]
            self.assertEqual((int(row['process_id']), int(row['thread_id'])), (pid, tid))
            self.assertLessEqual(int(row['start_ns']) - 500, start)  # the hooks' clock is within a fraction of a microsecond
            self.assertGreaterEqual(int(row['end_ns']) + 500, end)
        return len(rows)

    def test_every_kernel_by_correlation(self):
        for form in ('kineto', 'rocprofv3', 'rpd', 'nsys'):
            with self.subTest(form):
                self.record(form, form, '3 300 2 7 cfgo')
                kernels = sum(len(raw.kernels) for raw in self.raws(form))
                self.assertGreater(kernels, 900)
                self.assertEqual(self.check_pairs(form), kernels)
                joined = self.joined(form)
                self.assertEqual((joined['kernels']['by_correlation'], joined['kernels']['not_joined']), (kernels, 0))
                if form != 'rocprofv3':  # whose copies are another table
                    self.assertEqual(self.check_pairs(form, 'copies'), sum(len(raw.copies) for raw in self.raws(form)))
                # No call stands twice: a launch outside of the profiler's time is there once, too.
                calls = self.query(form, "SELECT count(*) AS calls FROM api_calls WHERE name = 'hipLaunchKernel' AND SESSION")[0]['calls']
                self.assertEqual(int(calls), 3 * 3 * (300 + len([i for i in range(300) if i % 13 == 5])))
                self.assertEqual(self.aaco('show', f'tag:{form}', '--json').json()['metrics']['calls.joined_kernel_ratio']['value'], 1)

    def test_numbers_of_the_thread_are_those_of_its_calls(self):
        """Independent of times: the n-th launch of a thread launched the kernel that carries n."""
        self.record('numbers', 'kineto', '2 400 3 3')
        rows = self.query('numbers', """WITH calls AS (SELECT *, row_number() OVER (PARTITION BY thread_id ORDER BY start_ns) AS number FROM api_calls
            WHERE name = 'hipLaunchKernel' AND SESSION) SELECT count(*) AS pairs, count(*) FILTER (k.grid_x <> c.number OR k.grid_y <> c.thread_id) AS wrong
            FROM rocprof_kernels k JOIN calls c USING (session_id, rank, correlation_id)""")[0]
        self.assertEqual((int(rows['pairs']), int(rows['wrong'])), (800, 0))

    def test_a_clock_that_is_a_little_wrong(self):
        self.record('late', 'kineto', '2 400 2 5', shift_ns=300_000)
        self.assertEqual(self.check_pairs('late'), 800)
        self.assertAlmostEqual(self.joined('late')['kernels']['by_correlation'], 800)

    def test_a_clock_that_is_another_one(self):
        self.record('hour', 'kineto', '2 200 2 5', shift_ns=-3_600_000_000_000)
        self.assertEqual(self.check_pairs('hour'), 0)
        self.assertEqual(self.joined('hour')['kernels']['not_joined'], 400)
        self.assertIn('clock could not be matched', self.warnings('hour')['hooks.kernels_not_joined'])
        self.assertIn('hooks.trace_clock', self.warnings('hour'))

    def test_a_regular_pattern_gives_no_wrong_pair(self):
        self.record('regular', 'kineto', '1 400 1 5 r', shift_ns=2_000_000)
        self.check_pairs('regular')

    def test_processes_are_kept_apart(self):
        self.record('two', 'rpd', '2 200 2 9 cp')
        self.assertEqual(self.check_pairs('two'), 800)
        ranks = self.query('two', 'SELECT count(DISTINCT rank) AS ranks FROM rocprof_kernels WHERE SESSION')[0]['ranks']
        self.assertEqual(int(ranks), 2)

    def test_by_order_where_the_trace_has_no_calls(self):
        for letters in ('', 'n'):
            with self.subTest(letters):
                tag = 'order' + letters
                self.record(tag, 'rocprofv3-kernels', f'1 500 3 11 {letters}')
                self.assertEqual(self.check_pairs(tag), 500)
                self.assertEqual(self.joined(tag)['kernels']['by_order'], 500)

    def test_by_order_of_threads_on_one_stream(self):
        self.record('shared', 'rocprofv3-kernels', '4 200 1 11 sd')
        joined = self.joined('shared')['kernels']
        self.assertEqual(self.check_pairs('shared'), joined['by_order'])
        self.assertEqual(joined['by_order'] + joined['not_joined'], 800)

    def test_by_order_is_left_where_it_proves_nothing(self):
        for tag, letters, why in (('graphs', 'g', 'graph launches'), ('outside', 'o', 'another number')):
            with self.subTest(tag):
                self.record(tag, 'rocprofv3-kernels', f'1 100 2 11 {letters}')
                self.assertEqual(self.check_pairs(tag), 0)
                self.assertIn(why, self.warnings(tag)['hooks.kernels_not_joined'])

    def test_calls_while_recording_was_off_are_not_joined(self):
        environment = {**os.environ, 'AACO_SESSIONS': str(self.lake), 'NO_COLOR': '1', 'LD_LIBRARY_PATH': str(STANDS)}
        running = subprocess.Popen([program.PROGRAM, *map(str, self.words('paused', 'kineto', '2 40000 2 5'))], cwd=self.folder, env=environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.5)
        running.send_signal(signal.SIGRTMIN + 8)
        running.wait(timeout=120)
        joined = self.joined('paused')['kernels']
        self.assertEqual(self.check_pairs('paused'), joined['by_correlation'])
        self.assertEqual(joined['by_correlation'] + joined['not_joined'], 80000)
        self.assertGreater(joined['not_joined'], 0)

    def test_a_static_runtime_is_joined_by_its_driver(self):
        out = self.folder / 'static.json'
        outcome = self.aaco('record', '--hooks', '--trace', out, '--tag', 'static', '--no-report', '--', sys.executable, '-c', STATIC_RUNTIME,
                            WRITER.parent, self.folder / 'static.raw', out, LD_LIBRARY_PATH=str(STANDS))
        self.assertEqual(outcome.code, 0, outcome.errors)
        joined = self.joined('static')
        self.assertEqual((joined['kernels']['by_correlation'], joined['kernels']['not_joined']), (60, 0), joined)
        launches = self.query('static', """SELECT c.name FROM rocprof_kernels k JOIN api_calls c ON k.correlation_id = c.correlation_id AND k.session_id = c.session_id
            WHERE k.SESSION AND c.domain = 'cuda_driver'""".replace('k.SESSION', "k.session_id = '%s'" % self.manifest('static')['session_id']))
        self.assertEqual([row['name'] for row in launches], ['cuLaunchKernel'] * 60)

    def test_launches_are_causes(self):
        outcome = self.record('causes', 'kineto', '2 300 2 7')
        self.assertIn("100 % of the trace's kernels are joined", outcome.errors)
        launches = {row['launch']: int(row['kernels']) for row in self.query('causes', 'SELECT launch, sum(kernel_count) AS kernels FROM op_to_kernel_map WHERE SESSION GROUP BY 1')}
        self.assertEqual(launches, {'hipLaunchKernel': 600})
        self.assertEqual(self.aaco('verify', 'tag:causes').code, 0)

    def test_gaps_of_the_trace_know_why_the_thread_was_late(self):
        """GPU events of a profiler beside the scheduler events that aaco itself records."""
        words = self.words('late_thread', 'kineto', '1 60 1 7 l')
        outcome = self.aaco(*words[:2], '--ebpf', *words[2:], LD_LIBRARY_PATH=str(STANDS))
        self.assertEqual(outcome.code, 0, outcome.errors)
        if next(one for one in self.manifest('late_thread')['accounts'] if one['source'] == 'ebpf')['state'] == 'unsupported':
            self.skipTest('skipped, no eBPF here')
        gaps = self.query('late_thread', """SELECT host_cause, evidence, host_off_cpu_ns AS asleep, launch_start_ns AS launch, end_ns FROM gaps
            WHERE end_ns - start_ns > 15000000 AND SESSION""")
        self.assertEqual(len(gaps), 5)
        for gap in gaps:
            self.assertEqual(gap['host_cause'], 'sleep')
            self.assertGreater(int(gap['asleep']), 15_000_000)
            self.assertLessEqual(int(gap['launch']), int(gap['end_ns']))

    def test_a_trace_of_another_run_is_not_taken(self):
        self.record('first', 'kineto', '1 50 1 5')
        time.sleep(0.1)
        outcome = self.aaco('record', '--hooks', '--trace', self.folder / 'first.out.json', '--tag', 'second', '--no-report', '--', PROFILED, 1, 5, 1, 5,
                            LD_LIBRARY_PATH=str(STANDS))
        self.assertEqual(outcome.code, 0, outcome.errors)
        self.assertIn('older than this recording', self.warnings('second')['hooks.no_trace'])
        self.assertEqual(int(self.query('second', 'SELECT count(*) AS kernels FROM rocprof_kernels WHERE SESSION')[0]['kernels']), 0)

    def test_a_missing_trace_is_reported(self):
        outcome = self.aaco('record', '--hooks', '--trace', '/nowhere/trace.json', '--tag', 'none', '--no-report', '--', PROFILED, 1, 5, 1, 5,
                            LD_LIBRARY_PATH=str(STANDS))
        self.assertEqual(outcome.code, 0, outcome.errors)
        self.assertIn('hooks.no_trace', self.warnings('none'))

    def test_rejects_what_does_not_go_together(self):
        self.refused(self.aaco('record', '--trace', 'x', '--', 'true'), 2, '--trace requires --hooks')
        self.refused(self.aaco('record', '--hooks', '--profile', '--trace', 'x', '--', 'true'), 2, '--trace and --profile')
