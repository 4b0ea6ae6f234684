"""`aaco import`: what several files are of each other, and what their data lacks."""
import json

import program

DISPATCHES = ('Kind,Agent_Id,Queue_Id,Stream_Id,Thread_Id,Dispatch_Id,Kernel_Id,Kernel_Name,Correlation_Id,Start_Timestamp,End_Timestamp,'
              'LDS_Block_Size,Scratch_Size,VGPR_Count,Accum_VGPR_Count,SGPR_Count,Workgroup_Size_X,Workgroup_Size_Y,Workgroup_Size_Z,'
              'Grid_Size_X,Grid_Size_Y,Grid_Size_Z\n')
CALLS = 'Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,End_Timestamp\n'
COUNTERS = ('Correlation_Id,Dispatch_Id,Agent_Id,Queue_Id,Process_Id,Thread_Id,Grid_Size,Kernel_Id,Kernel_Name,Workgroup_Size,LDS_Block_Size,'
            'Scratch_Size,VGPR_Count,Accum_VGPR_Count,SGPR_Count,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp\n')
NAMES = ['gemm_kernel', 'relu_kernel', 'softmax_kernel']
EVERY_NS, COUNT = 40_000, 30


class ImportFacts(program.ProgramTest):
    def imported(self, path):
        outcome = self.aaco('import', path, '--no-report', '--json').json()
        return outcome, outcome['outcome'], {one['id']: one['message'] for one in outcome['warnings']}

    def rocm(self, name, pid, start, counters=False, names=NAMES):
        """Tables of rocprofv3: a trace, or a run with counters only."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        kernels, calls, counted = DISPATCHES, CALLS, COUNTERS
        for i in range(1, COUNT + 1):
            at, kernel = start + i * EVERY_NS, names[i % len(names)]
            kernels += f'KERNEL_DISPATCH,Agent 4,1,1,{pid},{i},{i % 3},{kernel},{i},{at},{at + 30_000},0,0,8,0,16,64,1,1,1024,1,1\n'
            calls += f'HIP_RUNTIME_API,hipLaunchKernel,{pid},{pid},{i},{at - 5_000},{at - 2_000}\n'
            counted += f'{i},{i},Agent 4,1,{pid},{pid},1024,{i % 3},{kernel},64,0,0,8,0,16,SQ_WAVES,16.0,{at},{at + 30_000}\n'
        if counters:
            (path.parent / f'{pid}_counter_collection.csv').write_text(counted)
        else:
            (path.parent / f'{pid}_kernel_trace.csv').write_text(kernels)
            (path.parent / f'{pid}_hip_api_trace.csv').write_text(calls)

    def torch(self, name, start_us, first_id=0, early_us=0, job=None):
        events = []
        for i in range(1, 21):
            at, number = start_us + 30 * i, first_id + i
            events.append({'ph': 'X', 'cat': 'cuda_runtime', 'name': 'hipLaunchKernel', 'pid': 10, 'tid': 10, 'ts': at, 'dur': 4,
                           'args': {'correlation': number}})
            events.append({'ph': 'X', 'cat': 'kernel', 'name': NAMES[i % 3], 'pid': 0, 'tid': 7, 'ts': at - early_us if early_us else at + 6, 'dur': 15,
                           'args': {'device': 0, 'stream': 7, 'correlation': number}})
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({'schemaVersion': 1, **({'distributedInfo': job} if job else {}), 'traceEvents': events}))
        return path

    def test_runs_with_counters_are_passes_of_the_trace(self):
        self.rocm('job0/trace/x', 100, 10**15)
        self.rocm('job0/pmc_1/x', 200, 2 * 10**15, counters=True)
        self.rocm('job0/pmc_2/x', 300, 3 * 10**15, counters=True)
        _, outcome, warnings = self.imported(self.folder / 'job0')
        self.assertEqual((outcome['rows']['kernels'], outcome['rows']['counters']), (COUNT, COUNT))
        self.assertEqual(len(outcome['gpu']['gpus']), 1)
        self.assertNotIn('no_timeline', outcome['gpu'])
        self.assertIn('import.counter_pass', warnings)

    def test_counters_of_another_program_stay_apart(self):
        self.rocm('job1/trace/x', 100, 10**15)
        self.rocm('job1/pmc_1/x', 200, 2 * 10**15, counters=True, names=['a', 'b', 'c'])
        _, outcome, warnings = self.imported(self.folder / 'job1')
        self.assertEqual(outcome['rows']['kernels'], 2 * COUNT)
        self.assertNotIn('import.counter_pass', warnings)

    def test_counters_of_the_traced_execution_are_a_counter_pass(self):
        self.rocm('job2/x', 100, 10**15)
        self.rocm('job2/x', 100, 10**15, counters=True)
        _, outcome, _ = self.imported(self.folder / 'job2')
        self.assertEqual(outcome['gpu']['no_timeline']['reason'], 'counter-pass')

    def test_processes_on_one_agent_share_a_gpu(self):
        self.rocm('job3/x', 100, 10**15)
        self.rocm('job3/x', 101, 10**15 + 20_000)
        printed, outcome, warnings = self.imported(self.folder / 'job3')
        [gpu] = outcome['gpu']['gpus']
        self.assertEqual(gpu['shared_by_ranks'], [0, 1])
        self.assertEqual(gpu['attributed_kernel_count'] + printed['metrics']['gpu.orphan_kernel_count']['value'], 0)
        # From the first kernel's start to the last one's end both are busy nearly all the time, together always.
        self.assertEqual(printed['metrics']['gpu.busy_ns']['value'], (COUNT - 1) * EVERY_NS + 20_000 + 30_000)
        self.assertEqual(printed['metrics']['gpu.kernel_sum_ns']['value'], 2 * COUNT * 30_000)
        self.assertIn('gpu.shared', warnings)

    def test_traces_of_one_process_at_two_times_are_windows(self):
        self.torch('two/a.pt.trace.json', 1_000_000)
        self.torch('two/b.pt.trace.json', 90_000_000, first_id=500)
        _, outcome, _ = self.imported(self.folder / 'two')
        self.assertEqual(outcome['gpu']['no_timeline']['reason'], 'separate-windows')

    def test_missing_ranks_of_a_job_are_named(self):
        path = self.torch('rank3.json', 1_000_000, job={'backend': 'nccl', 'rank': 3, 'world_size': 8})
        self.assertIn('the job has 8 ranks, and the files are of 1 (rank 3)', self.imported(path)[2]['import.ranks_missing'])
        both = self.folder / 'both'
        for rank in (0, 1):
            self.torch(f'both/r{rank}.json', 1_000_000, job={'backend': 'nccl', 'rank': rank, 'world_size': 2})
        self.assertNotIn('import.ranks_missing', self.imported(both)[2])

    def test_kernels_before_their_launch_are_named(self):
        _, outcome, warnings = self.imported(self.torch('early.json', 1_000_000, early_us=9))
        self.assertEqual(outcome['gpu']['gpus'][0]['kernels_before_launch'], {'count': 20, 'longest_lead_ns': 9_000})
        self.assertIn('by up to 9.00 µs', warnings['gpu.kernels_before_launch'])
        self.assertNotIn('gpu.kernels_before_launch', self.imported(self.torch('fine.json', 1_000_000))[2])

    def test_readings_on_another_clock_are_not_joined(self):
        """A log of the machine's time beside a trace: also where the numbers overlap, its readings say nothing of a kernel."""
        start = 1_714_566_896_000_000  # 2024-05-01 12:34:56, in us, as older traces count
        self.torch('clocks/a.pt.trace.json', start)
        log = self.folder / 'clocks/smi.csv'
        log.write_text('timestamp, index, name, power.draw [W], clocks.sm [MHz]\n' +
                       ''.join(f'2024/05/01 12:34:{56 + i}.000, 0, NVIDIA A100, {60 + i}.5 W, {1400 - 100 * i} MHz\n' for i in range(4)))
        printed, _, warnings = self.imported(self.folder / 'clocks')
        self.assertIn('smi.csv was left out', warnings['import.clock_unknown'])
        rows = self.aaco('query', "SELECT count(*) FROM gpu_events WHERE session_id = '%s'" % printed['session']['id'], '--format', 'csv').output.split()
        self.assertEqual(rows[-1] if len(rows) > 1 else '0', '0')
        self.assertFalse([name for name in printed['metrics'] if 'power' in name or 'clock' in name])
        alone = self.imported(log)[0]
        self.assertEqual(alone['account'][0]['kept'], 8)
        self.assertNotIn('import.clock_unknown', {one['id'] for one in alone['warnings']})

    def test_a_pause_within_a_frame_is_not_its_code(self):
        """The stack of main covers two seconds without a Python frame: what happened then is not recorded. With frames it is Python code."""
        for calls, expected in ((0, 'unknown'), (20_000, 'python')):
            path = self.torch(f'pause_{calls}.json', 1_000_000)
            document = json.loads(path.read_text())
            events = document['traceEvents']
            later = json.loads(json.dumps(events))
            for event in later:
                event['ts'] += 2_000_000
                event['args']['correlation'] += 1000
            frames = [{'ph': 'X', 'cat': 'python_function', 'name': 'train.py(40): main', 'pid': 10, 'tid': 10, 'ts': 990_000, 'dur': 2_100_000, 'args': {'Python id': 1}}]
            frames += [{'ph': 'X', 'cat': 'python_function', 'name': 'train.py(9): add', 'pid': 10, 'tid': 10, 'ts': 1_002_000 + 99 * i, 'dur': 60,
                        'args': {'Python id': 2 + i, 'Python parent id': 1}} for i in range(calls)]
            document['traceEvents'] = frames + events + later
            path.write_text(json.dumps(document))
            session = self.imported(path)[0]['session']['id']
            rows = self.aaco('query', "SELECT host_cause FROM gaps WHERE session_id = '%s' ORDER BY end_ns - start_ns DESC LIMIT 1" % session,
                             '--format', 'csv').output.split()
            self.assertEqual(rows[1], expected)
            self.assertEqual(self.aaco('query', "SELECT count(*) FROM inference_iters WHERE session_id = '%s'" % session, '--format', 'csv').output.split()[-1], '0')

    def test_steps_that_are_not_recorded_are_no_kernel_time(self):
        """Three kernels in a step of 4 s whose host is not recorded: what limits it cannot be told. With the host's events it can."""
        for host, expected in ((False, 'unrecorded-steps'), (True, 'data-loading')):
            path = self.torch(f'step_{host}.json', 1_000_000)
            document = json.loads(path.read_text())
            document['traceEvents'] = document['traceEvents'][:6] + [
                {'ph': 'X', 'cat': 'user_annotation', 'name': 'ProfilerStep#1', 'pid': 10, 'tid': 10, 'ts': 999_000, 'dur': 4_000_000}]
            if host:
                document['traceEvents'].append({'ph': 'X', 'cat': 'user_annotation', 'pid': 10, 'tid': 10, 'ts': 1_100_000, 'dur': 3_800_000,
                                                'name': 'enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__'})
            path.write_text(json.dumps(document))
            session = self.imported(path)[0]['session']['id']
            bottleneck = self.aaco('explain', session, '--json').json()['bottleneck']
            self.assertEqual(bottleneck['cause']['id'], expected)
            self.assertEqual(bottleneck['bottleneck_class'], 'host_waiting' if host else 'inconclusive')

    def test_processes_that_may_share_a_gpu_have_no_verdict_of_their_own(self):
        """PyTorch counts the devices that each process sees: two processes on "device 0" may be on one GPU or on two."""
        for pid, every, busy in ((0, 500, 490), (1, 1000, 150)):
            events = []
            for i in range(1, 41):
                at = 1_000_000 + every * i
                events += [{'ph': 'X', 'cat': 'cuda_runtime', 'name': 'cudaLaunchKernel', 'pid': 10 + pid, 'tid': 10, 'ts': at, 'dur': 4,
                            'args': {'correlation': i}},
                           {'ph': 'X', 'cat': 'kernel', 'name': NAMES[0], 'pid': 0, 'tid': 7, 'ts': at + 6, 'dur': busy,
                            'args': {'device': 0, 'stream': 7, 'correlation': i}}]
            path = self.folder / 'shared' / f'p{pid}.json'
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({'schemaVersion': 1, 'traceEvents': events}))
        session = self.imported(self.folder / 'shared')[0]['session']['id']
        bottleneck = self.aaco('explain', session, '--json').json()['bottleneck']
        self.assertEqual((bottleneck['bottleneck_class'], bottleneck['cause']['id']), ('inconclusive', 'device-unclear'))


if __name__ == '__main__':
    program.unittest.main()
