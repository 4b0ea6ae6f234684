"""`aaco explain` of traces: launched work that the device held back, whose copies are exposed, host code of the first step, a slow rank."""
import json

import program

THREAD = 10


def call(name, at, duration, number=0, category='cuda_runtime', thread=THREAD):
    args = {'correlation': number} if number else {}
    return {'ph': 'X', 'cat': category, 'name': name, 'pid': THREAD, 'tid': thread, 'ts': at, 'dur': duration, 'args': args}


def frame(name, at, duration, number):
    return {'ph': 'X', 'cat': 'python_function', 'name': name, 'pid': THREAD, 'tid': THREAD, 'ts': at, 'dur': duration, 'args': {'Python id': number}}


def work(name, at, duration, number, category='kernel', device=0, stream=7):
    return {'ph': 'X', 'cat': category, 'name': name, 'pid': device, 'tid': stream, 'ts': at, 'dur': duration,
            'args': {'device': device, 'stream': stream, 'correlation': number}}


class ImportDependencies(program.ProgramTest):
    def written(self, name, events, **members):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({'schemaVersion': 1, **members, 'traceEvents': events}))
        return path

    def imported(self, path):
        session = self.aaco('import', path, '--no-report', '--json').json()['session']['id']
        return session, self.aaco('explain', session, '--json').json()['bottleneck']

    def longest_gap(self, session, device=0):
        sql = ("SELECT cause, host_cause, evidence FROM gaps WHERE session_id = '%s' AND device = %d ORDER BY end_ns - start_ns DESC LIMIT 1"
               % (session, device))
        return tuple(self.aaco('query', sql, '--format', 'csv').output.strip().splitlines()[1].split(','))

    def held(self, *before, device_work=()):
        """A kernel that was launched 100 ms before it starts, with the host in a synchronisation meanwhile."""
        return [call('cudaLaunchKernel', 1_000, 5, 1), work('first_kernel', 1_010, 20, 1), *before,
                call('cudaLaunchKernel', 1_040, 5, 2), work('second_kernel', 101_000, 20, 2, stream=9),
                call('cudaStreamSynchronize', 1_060, 99_980), *device_work]

    def test_work_held_back_by_an_event_is_not_the_hosts(self):
        session, bottleneck = self.imported(self.written('event.json', self.held(call('cudaStreamWaitEvent', 1_030, 5))))
        self.assertEqual(self.longest_gap(session), ('dependency', 'stream-event', 'cudaStreamWaitEvent'))
        self.assertEqual((bottleneck['bottleneck_class'], bottleneck['cause']['id']), ('dependency_bound', 'stream-event'))
        self.assertIn('not in the trace', bottleneck['cause']['title'])
        self.assertNotIn('host_waiting', [one['id'] for one in bottleneck['recommendations']])

    def test_without_a_wait_it_is_not_known_what_held_it(self):
        session, bottleneck = self.imported(self.written('queued.json', self.held()))
        self.assertEqual(self.longest_gap(session)[:2], ('unknown', 'device-latency'))
        self.assertEqual((bottleneck['bottleneck_class'], bottleneck['cause']['id']), ('dependency_bound', 'device-latency'))

    def test_a_late_launch_after_a_wait_is_the_hosts(self):
        """The same wait and the same times, but the launch comes only when the synchronisation is over."""
        events = [one for one in self.held(call('cudaStreamWaitEvent', 1_030, 5)) if one.get('args', {}).get('correlation') != 2]
        events += [call('cudaLaunchKernel', 101_050, 5, 2), work('second_kernel', 101_060, 20, 2, stream=9)]
        session, bottleneck = self.imported(self.written('late.json', events))
        self.assertEqual(self.longest_gap(session)[:2], ('synchronisation', 'synchronisation'))
        self.assertEqual(bottleneck['bottleneck_class'], 'host_waiting')

    def test_the_event_of_another_device(self):
        peer = [call('cudaLaunchKernel', 1_015, 5, 3), work('kernel_of_the_other_device', 1_025, 99_970, 3, device=1)]
        session, _ = self.imported(self.written('peer.json', self.held(call('cudaStreamWaitEvent', 1_030, 5), device_work=peer)))
        self.assertEqual(self.longest_gap(session), ('dependency', 'peer-device', 'kernel_of_the_other_device'))

    def test_a_host_function_in_the_stream(self):
        function = [call('callbacks.py(3): decode', 1_050, 99_930, category='python_function', thread=11)]
        session, bottleneck = self.imported(self.written('function.json', self.held(call('cudaLaunchHostFunc', 1_032, 4), device_work=function)))
        self.assertEqual(self.longest_gap(session), ('dependency', 'host-function', 'callbacks.py(3): decode'))
        self.assertEqual(bottleneck['bottleneck_class'], 'host_waiting')
        self.assertIn('decode', bottleneck['cause']['title'])

    def test_host_code_of_the_first_step_counts_as_that_of_the_others(self):
        """Four steps of 40 ms, each with 30 ms of the program's own code before its first launch."""
        events = []
        for step in range(4):
            at = 1_000_000 + 40_000 * step
            events += [call(f'ProfilerStep#{step}', at, 40_000, category='user_annotation'), frame('train.py(9): step', at, 39_990, 3 * step + 1),
                       frame('prepare.py(7): shuffle', at + 100, 30_000, 3 * step + 2), call('aten::relu', at + 30_150, 60, category='cpu_op'),
                       call('cudaLaunchKernel', at + 30_170, 10, step + 1), work('some_kernel', at + 30_200, 9_700, step + 1)]
        _, bottleneck = self.imported(self.written('steps.json', sorted(events, key=lambda one: one['ts'])))
        self.assertEqual((bottleneck['bottleneck_class'], bottleneck['cause']['id']), ('host_waiting', 'host-code'))
        self.assertIn('shuffle', bottleneck['cause']['title'])
        self.assertAlmostEqual(bottleneck['cause']['idle_ns'] / 1e6, 120, delta=2)
        self.assertEqual(bottleneck['cause']['share_of'], 'steps')

    def test_exposed_copies_are_those_that_were_exposed(self):
        """Long copies within the device run beside a kernel; short ones from the host run alone: only these are exposed."""
        events = []
        for i in range(20):
            at, number = 1_000_000 + 1_000 * i, 10 * i + 1
            events += [call('aten::clone', at, 20, category='cpu_op'), call('cudaMemcpyAsync', at + 5, 10, number),
                       call('aten::relu', at + 22, 20, category='cpu_op'), call('cudaLaunchKernel', at + 25, 10, number + 1),
                       call('aten::to', at + 45, 20, category='cpu_op'), call('cudaMemcpyAsync', at + 50, 10, number + 2),
                       work('some_kernel', at + 100, 500, number + 1),
                       work('Memcpy DtoD (Device -> Device)', at + 105, 480, number, 'gpu_memcpy', stream=8),
                       work('Memcpy HtoD (Pageable -> Device)', at + 600, 400, number + 2, 'gpu_memcpy', stream=9)]
        session, bottleneck = self.imported(self.written('copies.json', events))
        kinds = {one['kind']: one for one in self.aaco('show', session, '--json').json()['outcome']['gpu']['gpus'][0]['copy_kinds']}
        self.assertEqual((kinds['d2d']['exposed_ns'], kinds['h2d']['exposed_ns']), (0, 20 * 400_000))
        self.assertEqual(kinds['h2d']['launched_by'], [{'name': 'aten::to', 'exposed_ns': 20 * 400_000}])
        advice = [one for one in bottleneck['recommendations'] if one['id'] == 'copy_bound']
        self.assertEqual(len(advice), 1)
        text = json.dumps(advice)
        self.assertIn('pinned', advice[0]['title'])
        self.assertIn('launched by aten::to', text)
        self.assertNotIn('about', text)

    def stepped(self, name, hold, late=False):
        """Ten steps; in each the second kernel starts `hold` us after the first: held back by an event, or because its launch is late."""
        events, at = [], 1_000_000
        for step in range(10):
            length = hold * (1 + 0.01 * (step * 7 % 5 - 2))
            number = 10 * step + 1
            launch = at + 60 + length if late else at + 40
            events += [call(f'ProfilerStep#{step}', at, length + 400, category='user_annotation'),
                       call('cudaLaunchKernel', at + 5, 5, number), work('first_kernel', at + 12, 30, number),
                       call('cudaStreamWaitEvent', at + 30, 5), call('cudaLaunchKernel', launch, 5, number + 1),
                       work('second_kernel', at + 70 + length, 300, number + 1, stream=9),
                       call('cudaStreamSynchronize', at + 47, length + (10 if late else 350))]
            at += length + 420
        return self.aaco('import', self.written(name, sorted(events, key=lambda one: one['ts'])), '--no-report', '--json').json()['session']['id']

    def test_diff_tells_held_back_work_from_a_late_host(self):
        for late, first in ((False, 'dependency_bound'), (True, 'synchronisation')):
            short, long = self.stepped(f'short{late}.json', 1_000, late), self.stepped(f'long{late}.json', 9_000, late)
            verdict = self.aaco('diff', short, long, '--no-store', '--json').json()
            self.assertEqual(verdict['verdict'], 'regression')
            causes = verdict['root_cause']['causes']
            self.assertEqual(causes[0]['cause'], first, causes)
            self.assertFalse(({'host_waiting', 'dependency_bound'} - {first}) & {one['cause'] for one in causes}, causes)
            parts = verdict['root_cause']['decomposition']['parts']
            held = [one for one in parts if one['title'].startswith('idle, held back on the device')]
            self.assertEqual(len(held), 0 if late else 1, parts)
            if not late:
                self.assertAlmostEqual(held[0]['delta_ns'] / 8e6, 1, delta=0.05)
                self.assertIn('record what the event may wait for', verdict['recommendation'])
                self.assertIn('held back by an event', json.dumps(causes[0]['evidence']))

    def test_one_slow_rank_of_three(self):
        for rank, compute in enumerate((600, 600, 900)):
            events = []
            for i in range(30):
                at, number = 1_000_000 + 1_000 * i, 10 * i + 1
                events += [call('cudaLaunchKernel', at, 5, number), work('some_kernel', at + 10, compute, number),
                           call('cudaLaunchKernel', at + 8, 5, number + 1),
                           work('ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)', at + 12 + compute, 980 - compute, number + 1, stream=20)]
            self.written(f'job/rank{rank}.json', events, distributedInfo={'backend': 'nccl', 'rank': rank, 'world_size': 3})
        _, bottleneck = self.imported(self.folder / 'job')
        self.assertEqual((bottleneck['bottleneck_class'], bottleneck['cause']['id']), ('straggler', 'straggler'))
        self.assertEqual(bottleneck['cause']['title'], 'waiting for rank 2')
        self.assertAlmostEqual(bottleneck['cause']['span_share_ratio'], 0.3, delta=0.03)


if __name__ == '__main__':
    program.unittest.main()
