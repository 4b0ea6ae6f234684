"""What lies between the ranges of steps, kernels that are new or tuned, and what a comparison says of too little data."""
import gzip
import json

import program


class Trace:
    """A PyTorch trace of one host thread that launches kernels and waits for them; times in us."""
    def __init__(self):
        self.events, self.time, self.number, self.free = [], 1000.0, 1, 0.0

    def host(self, category, name, duration, **arguments):
        self.events.append({'ph': 'X', 'cat': category, 'name': name, 'pid': 1, 'tid': 1, 'ts': self.time, 'dur': duration, 'args': arguments})
        self.time += duration

    def kernel(self, name, duration, stream=7, grid=64):
        start = self.time + 8 if stream != 7 else max(self.free, self.time + 8)
        self.events.append({'ph': 'X', 'cat': 'kernel', 'name': name, 'pid': 0, 'tid': stream, 'ts': start, 'dur': duration,
                            'args': {'correlation': self.number, 'device': 0, 'stream': stream, 'grid': [grid, 1, 1], 'block': [256, 1, 1]}})
        self.host('cuda_runtime', 'hipLaunchKernel', 5, correlation=self.number)
        if stream == 7:
            self.free = start + duration
        self.number += 1

    def step(self, number, kernels, category='user_annotation', name='train_step'):
        start = self.time
        for kernel in kernels:
            self.kernel(**kernel)
        self.host('cuda_runtime', 'hipDeviceSynchronize', max(1.0, self.free - self.time + 3), correlation=100000 + number)
        self.events.append({'ph': 'X', 'cat': category, 'name': name, 'pid': 1, 'tid': 1, 'ts': start, 'dur': self.time - start, 'args': {}})

    def write(self, path):
        document = {'schemaVersion': 1, 'deviceProperties': [{'id': 0, 'name': 'AMD Instinct MI300X'}], 'traceEvents': self.events}
        path.write_bytes(gzip.compress(json.dumps(document).encode()))


LOADER = 'torch/utils/data/dataloader.py(701): __next__'


def kernels(step, slower=1.0, grid=64, names=('gemm', 'gelu', 'softmax')):
    wave = 1 + 0.01 * ((step * 7) % 5 - 2)
    return [{'name': name, 'duration': length * wave * slower, 'grid': grid} for name, length in zip(names * 3, (220, 90, 60) * 3)]


class DiffSteps(program.ProgramTest):
    def trace(self, tag, steps=10, loader=0.0, frame=LOADER, name='train_step', make=kernels, number=lambda step: step):
        trace = Trace()
        for step in range(steps):
            if loader > 0:
                trace.host('python_function', frame, loader * (1 + 0.02 * (step * 3 % 4 - 1)), **{'Python id': step + 1})
            trace.step(step, make(step), name=name.format(number(step)))
        trace.write(self.folder / f'{tag}.json.gz')
        return self.aaco('import', self.folder / f'{tag}.json.gz', '--tag', tag, '--no-report')

    def diff(self, a, b, *options):
        outcome = self.aaco('diff', f'tag:{a}', f'tag:{b}', '--no-history', '--json', *options)
        return outcome.code, outcome.json()

    def metrics(self, tag):
        return {name: one['value'] for name, one in self.aaco('show', f'tag:{tag}', '--json').json()['metrics'].items()}

    def test_work_between_ranges_counts(self):
        for name in ('train_step', 'ProfilerStep#{}'):
            with self.subTest(name):
                short, long = f'short_{name[:5]}', f'long_{name[:5]}'
                self.trace(short, loader=500, name=name)
                text = self.trace(long, loader=9000, name=name).output
                code, verdict = self.diff(short, long)
                self.assertEqual((code, verdict['verdict'], verdict['decided_by']), (1, 'regression', 'latency.p50_ns'))
                self.assertEqual(verdict['root_cause']['causes'][0]['cause'], 'data-loading')
                by_metric = {one['metric']: one for one in verdict['statistics']}
                period = by_metric['latency.p50_ns']
                self.assertAlmostEqual(period['candidate'] - period['baseline'], 8.5e6, delta=0.3e6)
                ranges = by_metric['latency.step_range_p50_ns']
                self.assertAlmostEqual(ranges['candidate'], ranges['baseline'], delta=1e4)
                loading = next(one for one in verdict['idle_causes'] if one['cause'] == 'data-loading')
                self.assertAlmostEqual(loading['delta_ns'], 8.5e6, delta=0.3e6)
                self.assertEqual(self.diff(long, short)[1]['verdict'], 'improvement')
                # The single report says both.
                values = self.metrics(long)
                self.assertAlmostEqual(values['latency.p50_ns'] - values['latency.step_range_p50_ns'], 9e6, delta=0.4e6)
                self.assertAlmostEqual(values['throughput.items_per_second'], 1e9 / values['latency.mean_ns'], delta=0.1)
                self.assertIn('Median step period', text)
                self.assertIn("A step's range takes", text)

    def test_steps_that_touch_stay(self):
        self.trace('touching')
        self.assertNotIn('latency.step_range_p50_ns', self.metrics('touching'))
        self.assertEqual(self.metrics('touching')['latency.count'], 10)

    def test_unrecorded_time_belongs_to_no_step(self):
        self.trace('windows', loader=500, name='ProfilerStep#{}', number=lambda step: step if step < 5 else step + 40)
        self.assertEqual(self.metrics('windows')['latency.count'], 8)

    def test_hidden_kernel_does_not_decide(self):
        def hidden(step):
            return [{'name': 'ncclDevKernel_AllReduce', 'duration': 900, 'stream': 21}] + kernels(step)
        self.trace('plain'), self.trace('hidden', make=hidden)
        code, verdict = self.diff('plain', 'hidden')
        self.assertNotEqual(verdict['verdict'], 'regression')
        self.assertNotIn('slower', verdict.get('suspected_cause') or '')
        said = 'hidden: no slower' if verdict['verdict'] == 'equivalent' else 'and not proven slower'
        self.assertTrue(any(f'more kernel work, {said}' in note for note in verdict['notes']), verdict['notes'])
        self.assertEqual(code, 0 if verdict['verdict'] == 'equivalent' else 4)

    def test_a_tuned_kernel_is_compared(self):
        def tuned(step, slower=1.0, grid=64):
            return [{'name': 'rnn_cell', 'duration': 120 * slower, 'grid': grid}] * 8
        self.trace('before', make=lambda step: tuned(step)), self.trace('tuned', make=lambda step: tuned(step, 0.5, 1024))
        code, verdict = self.diff('before', 'tuned')
        self.assertEqual((code, verdict['verdict'], verdict['comparable']), (0, 'improvement', True))
        self.assertEqual([one['key'] for one in verdict['differences']], ['grid'])
        self.assertIn('a grid does not tell the problem size', verdict['differences'][0]['meaning'])

    def test_few_steps_decide_what_they_show(self):
        for tag, loader in {'four': 3000, 'four_slow': 9000}.items():
            self.trace(tag, steps=4, loader=loader)
        code, verdict = self.diff('four', 'four_slow')
        self.assertEqual((code, verdict['verdict']), (1, 'regression'))
        self.assertEqual(verdict['root_cause']['causes'][0]['cause'], 'data-loading')

    def test_one_step_names_the_part_that_explains_it(self):
        def once(tag, frame):
            trace = Trace()
            trace.step(0, kernels(0), name='forward')
            if frame:
                trace.host('python_function', frame, 9000, **{'Python id': 1})
            trace.step(1, kernels(1), name='forward')
            trace.events.append({'ph': 'X', 'cat': 'user_annotation', 'name': 'ProfilerStep#3', 'pid': 1, 'tid': 1, 'ts': 999, 'dur': trace.time - 998, 'args': {}})
            trace.write(self.folder / f'{tag}.json.gz')
            self.aaco('import', self.folder / f'{tag}.json.gz', '--tag', tag, '--no-report')
        once('calm', ''), once('collected', '<built-in function collect>')
        _, verdict = self.diff('calm', 'collected')
        self.assertIn('garbage collection', verdict['suspected_cause'])

    def test_the_text_is_narrow_and_says_a_reason_once(self):
        self.trace('few', steps=2, loader=500), self.trace('few_slow', steps=2, loader=700)
        for a, b in (('few', 'few_slow'), ('few_slow', 'few')):
            text = self.aaco('diff', f'tag:{a}', f'tag:{b}', '--no-history').output
            reasons = ' '.join(text.split())
            self.assertLessEqual(reasons.count('one value per side'), 1, text)
            sentences = [line for line in text.splitlines() if ' -> ' not in line]
            self.assertLessEqual(max(len(line) for line in sentences), 100, text)


if __name__ == '__main__':
    program.unittest.main()
