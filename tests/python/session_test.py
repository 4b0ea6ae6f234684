"""Runs and sessions: what they say, what they refuse, who may call them at once."""
import concurrent.futures
import datetime
import gc
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

from module import ModuleTest, aaco, needs_numpy, numpy


def resident_bytes():
    return int(pathlib.Path('/proc/self/statm').read_text().split()[1]) * os.sysconf('SC_PAGE_SIZE')


class SessionTest(ModuleTest):
    RUN = {'profile': True, 'tag': 'first', 'threads': 1}

    def test_metrics_have_units_and_intervals(self):
        median = self.session.metrics['latency.p50_ns']
        self.assertEqual((median.unit, median.device), ('ns', None))
        self.assertLessEqual(median.ci95[0], float(median))
        self.assertGreaterEqual(median.ci95[1], float(median))
        self.assertEqual(self.session.metrics['latency.count'].value, 60)
        self.assertIn('±', str(median))

    def test_wide_intervals_are_whole_percents(self):
        texts = [str(aaco.Metric('latency.p50_ns', 100.0, 'ns', (100.0 - half, 100.0 + half))) for half in (0.25, 9.9, 10.4, 99.7, 250)]
        self.assertEqual([text.split('± ')[1] for text in texts], ['0.25 %', '9.9 %', '10 %', '100 %', '250 %'])

    def test_what_was_not_measured_is_missing(self):
        self.assertNotIn('gpu.busy_ns', self.session.metrics)
        self.refused(KeyError, 'was not measured|hint: did you mean|latency.p50_ns', self.session.metrics.__getitem__, 'latency.p50')
        self.refused(aaco.Error, 'was not measured|hint:', self.session.metrics.__getitem__, 'xyz')

    def test_a_session_says_what_it_is(self):
        self.assertEqual((self.session.kind, self.session.tag, self.session.state), ('run', 'first', 'complete'))
        self.assertEqual(self.session.outcome['model'], 'mlp')
        self.assertEqual(self.session.manifest['request']['threads'], 1)
        self.assertIn('median', repr(self.session))
        self.assertEqual(self.session.verify(), [])

    def test_sessions_open_by_every_name(self):
        for name in ('latest', 'tag:first', self.session.id, self.session.path, str(self.session.path)):
            self.assertEqual(aaco.open(name), self.session)

    def test_sessions_are_listed(self):
        self.assertEqual([line['id'] for line in aaco.sessions(tag='first')], [self.session.id])
        self.assertEqual(aaco.sessions(kind='import'), [])

    def test_the_report_is_the_one_of_the_program(self):
        self.assertEqual(self.session.report()['session']['id'], self.session.id)
        self.assertIn('Median latency', self.session.text(80))
        self.refused(TypeError, 'width is of type str|hint:', self.session.text, 'wide')
        for width in (-5, 0, 10_001, 10**30):
            self.refused(ValueError, f'width is {width}|hint: pass a number of columns from 1', self.session.text, width)
        self.assertEqual(self.session.text(1), self.session.text(40))

    def test_a_notebook_shows_the_page_without_a_network(self):
        try:
            self.session.to_html(self.folder / 'report.html')
        except aaco.errors.Unsupported:
            self.skipTest('skipped, built without the page')
        shown = self.session._repr_html_()
        self.assertTrue(shown.startswith('<iframe'))
        self.assertIn('sandbox="allow-scripts"', shown)
        for loads in ('src=&quot;http', 'href=&quot;http', '<script', 'src="http'):
            self.assertNotIn(loads, shown)
        self.assertIn(self.session.id, (self.folder / 'report.html').read_text())

    def test_a_session_exports_its_timeline(self):
        written = self.session.export('chrome', self.folder / 'timeline.json')
        self.assertEqual(written, self.folder / 'timeline.json')
        self.assertIn('traceEvents', written.read_text())

    def test_what_cannot_be_written_is_an_error_of_the_system_with_a_remedy(self):
        for kind in ('perfetto', 'chrome', 'prometheus'):
            for exception in (FileNotFoundError, aaco.errors.NotFound):
                self.refused(exception, 'No such file or directory|hint: create the folder first', self.session.export, kind,
                             self.folder / 'none' / 'file')
        self.refused(FileNotFoundError, 'hint: create the folder first', self.session.to_html, self.folder / 'none' / 'page.html')
        self.assertFalse((self.folder / 'none').exists())
        in_a_file = self.folder / 'plain'
        in_a_file.write_text('')
        for kind in ('chrome', 'csv'):
            self.refused(OSError, 'Not a directory|hint: choose another output', self.session.export, kind, in_a_file / 'file')

    def test_a_sessions_folder_that_cannot_be_made_is_an_error_of_the_system(self):
        self.refused(FileNotFoundError, 'No such file or directory|hint: choose another sessions folder', aaco.run, 'mlp', iterations=1,
                     sessions='/proc/none/sessions')
        with self.assertRaises(aaco.errors.NotFound) as raised:
            aaco.open('tag:none')
        self.assertNotIsInstance(raised.exception, OSError)

    def test_a_session_is_explained(self):
        explanation = self.session.explain()
        self.assertEqual(explanation.bottleneck_class, aaco.BottleneckClassifier().classify('tag:first').bottleneck_class)
        self.assertTrue(0 <= explanation.confidence <= 1)
        self.assertIn('confidence', str(explanation))
        self.assertIn('<table>', explanation._repr_html_())

    def test_opening_and_closing_does_not_grow(self):
        def cycle(times):
            for _ in range(times):
                with aaco.open(self.session.path) as session:
                    float(session.metrics['latency.p50_ns'])
                    session.table('inference_iters')
            gc.collect()
        cycle(30)
        before = resident_bytes()
        cycle(100)
        self.assertLess(resident_bytes() - before, 8 << 20)

    def test_a_page_is_shown_by_its_size(self):
        try:
            page = self.session.to_html()
        except aaco.errors.Unsupported:
            self.skipTest('skipped, built without the page')
        self.assertLess(len(repr(page)), 100)
        self.refused(OSError, '/nonexistent/report.html|hint:', self.session.to_html, '/nonexistent/report.html')

    def test_unknown_formats_are_refused(self):
        self.refused(ValueError, "unknown format 'nonsense'|hint: use perfetto, chrome", self.session.export, 'nonsense', self.folder / 'x')
        self.assertFalse((self.folder / 'x').exists())

    def test_a_session_that_is_gone_is_not_an_empty_one(self):
        session = self.small_run()
        aaco.SessionManager().remove(session)
        self.refused(LookupError, 'no such session|hint:', lambda: session.tables)
        self.refused(LookupError, 'no such session|hint:', session.table, 'inference_iters')

    def test_unknown_sessions_are_refused(self):
        self.refused(aaco.errors.NotFound, 'nonsense|hint:', aaco.open, 'nonsense')
        self.refused(LookupError, 'tag', aaco.open, 'tag:nonsense')


class WrongTypeTest(ModuleTest):
    def test_each_argument_of_a_wrong_type_is_named(self):
        for words, function, arguments in (
                ('the name of the session is None', aaco.open, (None,)), ('the name of the session is of type int', aaco.open, (7,)),
                ('model is None', aaco.run, (None,)), ('model is of type int', aaco.analyze, (3,)), ('sql is None', aaco.query, (None,)),
                ('side A is of type str', aaco.ab, ('mlp', 'mlp')), ('the side is of type int', aaco.diff, (1, 2)),
                ('the session is of type int', aaco.explain, (4,)), ('name is of type int', aaco.record, (5,)),
                ('the session is of type int', aaco.BottleneckClassifier().classify, (4,)), ('a part of paths is of type int', aaco.import_, (9,)),
                ('name of a range is of type int', aaco.range, (5,)), ('command is of type int', aaco.observe, (5,))):
            self.refused(TypeError, words, function, *arguments)
            self.refused(aaco.errors.InvalidArgument, 'hint:', function, *arguments)
        self.refused(TypeError, 'inputs is of type list', aaco.run, 'mlp', inputs=[1])
        self.refused(TypeError, 'progress is of type int', aaco.run, 'mlp', progress=3)
        self.refused(TypeError, 'where is of type str', aaco.history, 'p50', where='model=x')
        self.refused(TypeError, 'sessions is of type int', aaco.open, sessions=1)

    def test_bytes_that_are_not_text_are_refused(self):
        self.refused(ValueError, 'not Unicode text|hint:', aaco.open, b'\xff')
        self.refused(ValueError, 'not Unicode text|hint:', aaco.query, '\ud800')

    def test_an_error_of_the_library_does_not_show_the_environment(self):
        os.environ['A_SECRET'] = 'the-secret'
        with self.assertRaises(TypeError) as raised:
            aaco._core.query(aaco._world.current(), None)
        self.assertNotIn('the-secret', str(raised.exception))

    def test_one_name_is_a_list_of_one(self):
        session = self.small_run(warmup=2)
        self.assertEqual(aaco.diff(session, self.small_run(warmup=2), metrics='latency.mean_ns', force=True).metrics[0]['metric'], 'latency.mean_ns')
        self.refused(aaco.Error, 'missing-file', aaco.history, files='missing-file.json')


class RunTest(ModuleTest):
    @needs_numpy
    def test_arrays_are_inputs(self):
        name = self.small_run().outcome['inputs'][0]['name']
        shape = aaco.open().outcome['inputs'][0]['shape']
        session = self.small_run(inputs={name: numpy.ones(shape, dtype=numpy.float32)})
        self.assertIn('.npy', session.outcome['inputs'][0]['values'])

    @needs_numpy
    def test_arrays_of_objects_are_refused(self):
        self.refused(ValueError, 'input x is an array of objects|hint:', aaco.run, 'mlp', inputs={'x': numpy.array([object()])})

    def test_progress_is_reported_on_request(self):
        lines = []
        self.small_run(progress=lines.append)
        self.assertIn('preparing mlp', lines)

    def test_an_error_in_progress_does_not_end_the_run(self):
        hook, sys.unraisablehook = sys.unraisablehook, lambda _: None
        try:
            self.assertEqual(self.small_run(progress=lambda line: 1 / 0).state, 'complete')
        finally:
            sys.unraisablehook = hook

    def test_nothing_is_printed(self):
        ran = self.python("import aaco; aaco.run('mlp', warmup=2, iterations=20, telemetry=True, profile=True).explain()")
        if 'ONNX Runtime library not found' in ran.stderr:
            self.skipTest('skipped, no ONNX Runtime on this machine')
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, '', ''))

    def test_threads_run_at_once(self):
        self.small_run()
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            made = list(pool.map(lambda seed: self.small_run(seed=seed, iterations=30), range(4)))
        self.assertEqual(len({session.id for session in made}), 4)
        self.assertEqual([session.manifest['request']['seed'] for session in made], [0, 1, 2, 3])

    def test_other_threads_continue_during_a_run(self):
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            running = pool.submit(self.small_run, duration=1, iterations=None)
            count = 0
            while not running.done():
                count += 1
                time.sleep(0.001)
        self.assertGreater(count, 50)

    def test_a_runner_keeps_its_options(self):
        self.small_run()
        runner = aaco.ORTRunner('mlp', warmup=2, iterations=25, tag='kept')
        self.assertEqual(runner.run(iterations=30).metrics['latency.count'].value, 30)
        self.assertEqual(aaco.SessionManager(self.lake).open('tag:kept').tag, 'kept')

    def test_wrong_options_are_refused(self):
        self.refused(ValueError, "run() has no option 'nonsense'|hint: options: allow_fallback, backend", aaco.run, 'mlp', nonsense=1)
        self.refused(ValueError, "invalid value -1 for 'iterations': expected an integer of at least 1", aaco.run, 'mlp', iterations=-1)
        self.refused(ValueError, "'duration': expected seconds", aaco.run, 'mlp', duration='soon')
        self.refused(ValueError, "'duration': expected seconds", aaco.run, 'mlp', duration=0)
        self.refused(ValueError, "'threads'", aaco.run, 'mlp', threads=1.5)
        self.refused(ValueError, "'telemetry': expected True or False", aaco.run, 'mlp', telemetry='yes')
        self.refused(ValueError, "'precision': expected a ratio", aaco.run, 'mlp', precision=5)
        self.refused(ValueError, "'graph_level': expected one of disabled", aaco.run, 'mlp', graph_level='most')
        self.refused(ValueError, "'shapes': expected a dict", aaco.run, 'mlp', shapes=[1, 2])
        self.refused(ValueError, 'minimum is 5ms', aaco.run, 'mlp', telemetry_period='1ms')
        self.refused(ValueError, 'require profile=True', aaco.run, 'mlp', counters='SQ_WAVES')
        self.refused(ValueError, "'inject_delay'", aaco.run, 'mlp', inject_delay='much')
        self.refused(aaco.errors.WrongType, 'type object|hint:', aaco.run, 'mlp', tag=object())
        self.refused(aaco.errors.WrongType, 'not text|hint:', aaco.run, 'mlp', dims={1: 2})
        self.refused(aaco.errors.InvalidArgument, 'not Unicode text|hint:', aaco.run, 'mlp', tag='\udcff')
        self.refused(aaco.errors.InvalidArgument, 'not Unicode text|hint:', aaco.run, 'mlp', **{'\udcff': 1})

    def test_durations_may_be_timedelta(self):
        session = self.small_run(iterations=None, duration=datetime.timedelta(milliseconds=200))
        self.assertEqual(session.manifest['request']['duration_ns'], 200_000_000)
        self.refused(ValueError, "'duration': expected seconds", aaco.run, 'mlp', duration=datetime.timedelta(seconds=-1))

    def test_unknown_models_are_refused(self):
        self.refused(aaco.Error, 'nonsense', aaco.run, 'nonsense')
        self.refused(ValueError, 'no model given', aaco.run, '')


class InterruptTest(ModuleTest):
    def test_ctrl_c_ends_a_run_and_keeps_it(self):
        self.small_run()
        code = ("import aaco\ntry:\n    aaco.run('mlp', duration=60, tag='cut', progress=lambda line: print(line, flush=True))\n"
                "except KeyboardInterrupt:\n    print('interrupted')\n")
        with subprocess.Popen([sys.executable, '-c', code], stdout=subprocess.PIPE, text=True, cwd=self.folder) as process:
            for line in process.stdout:
                if 'measuring' in line or line.startswith('1') or '%' in line or 'iteration' in line:
                    break
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            rest, _ = process.communicate(timeout=60)
        self.assertTrue(rest.endswith('interrupted\n'), rest)
        self.assertEqual(aaco.open('tag:cut').state, 'interrupted')

    def test_ctrl_c_ends_a_query(self):
        code = ("import aaco\ntry:\n    print('asking', flush=True)\n"
                "    aaco.query('SELECT count(*) FROM range(100000000000) a(i) WHERE sin(i) > 2')\n"
                "except KeyboardInterrupt:\n    print('interrupted')\n")
        with subprocess.Popen([sys.executable, '-c', code], stdout=subprocess.PIPE, text=True, cwd=self.folder) as process:
            process.stdout.readline()
            time.sleep(1)
            process.send_signal(signal.SIGINT)
            rest, _ = process.communicate(timeout=60)
        self.assertEqual(rest, 'interrupted\n')


if __name__ == '__main__':
    unittest.main()
