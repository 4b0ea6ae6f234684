"""`aaco import` of one database with two processes: streams, steps and gaps of each are its own, and a shared GPU is told.

The busy process runs kernels of 900 us every millisecond; the other one allocates for 3 ms before each kernel of 200 us. Both use
stream 1 and count their calls from 1. The databases are written here from the published schemas of rocpd (rocprofv3) and RPD.
"""
import sqlite3

import program

RPD = '''
CREATE TABLE rocpd_metadata (id integer PRIMARY KEY, tag varchar, value varchar);
CREATE TABLE rocpd_string (id integer PRIMARY KEY, string varchar);
CREATE TABLE rocpd_api (id integer PRIMARY KEY, pid integer, tid integer, start integer, end integer, apiName_id bigint, category_id bigint, domain_id bigint, args_id bigint);
CREATE TABLE rocpd_kernelapi (api_ptr_id integer PRIMARY KEY, stream varchar, gridX integer, gridY integer, gridZ integer, workgroupX integer, workgroupY integer, workgroupZ integer);
CREATE TABLE rocpd_op (id integer PRIMARY KEY, gpuId integer, queueId integer, sequenceId integer, start integer, end integer, description_id bigint, opType_id bigint);
CREATE TABLE rocpd_api_ops (id integer PRIMARY KEY, api_id bigint, op_id bigint);
INSERT INTO rocpd_metadata VALUES(1, 'schema_version', '2');
INSERT INTO rocpd_string VALUES(1, ''), (2, 'hipLaunchKernel'), (3, 'tile_gemm'), (4, 'KernelExecution'), (5, 'hipMalloc'), (6, 'UserMarker'), (7, 'step'), (8, 'gather_rows');
'''
ROCPD = '''
CREATE TABLE "rocpd_metadata_G" (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
CREATE TABLE "rocpd_string_G" (id INTEGER PRIMARY KEY, guid TEXT, string TEXT);
CREATE TABLE "rocpd_info_node_G" (id INTEGER PRIMARY KEY, guid TEXT, hostname TEXT, system_name TEXT, release TEXT);
CREATE TABLE "rocpd_info_process_G" (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, ppid INTEGER, pid INTEGER, command TEXT, environment JSONB);
CREATE TABLE "rocpd_info_thread_G" (id INTEGER PRIMARY KEY, guid TEXT, pid INTEGER, tid INTEGER);
CREATE TABLE "rocpd_info_agent_G" (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, type TEXT, absolute_index INTEGER, logical_index INTEGER, type_index INTEGER,
  name TEXT, model_name TEXT, product_name TEXT);
CREATE TABLE "rocpd_info_kernel_symbol_G" (id INTEGER PRIMARY KEY, guid TEXT, kernel_name TEXT, display_name TEXT);
CREATE TABLE "rocpd_event_G" (id INTEGER PRIMARY KEY, guid TEXT, category_id INTEGER, stack_id INTEGER, parent_stack_id INTEGER, correlation_id INTEGER, extdata JSONB);
CREATE TABLE "rocpd_region_G" (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER, start BIGINT, end BIGINT, name_id INTEGER, event_id INTEGER);
CREATE TABLE "rocpd_kernel_dispatch_G" (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER, agent_id INTEGER, kernel_id INTEGER, dispatch_id INTEGER, queue_id INTEGER,
  stream_id INTEGER, start BIGINT, end BIGINT, workgroup_size_x INTEGER, workgroup_size_y INTEGER, workgroup_size_z INTEGER, grid_size_x INTEGER, grid_size_y INTEGER, grid_size_z INTEGER,
  event_id INTEGER);
INSERT INTO "rocpd_metadata_G" VALUES(1, 'schema_version', '3');
INSERT INTO "rocpd_string_G"(id, string) VALUES(1, 'HIP_RUNTIME_API'), (2, 'MARKER_CORE_API'), (3, 'hipLaunchKernel'), (4, 'hipMalloc'), (5, 'step'), (6, 'KERNEL_DISPATCH');
INSERT INTO "rocpd_info_node_G"(id, hostname) VALUES(1, 'HOST');
INSERT INTO "rocpd_info_process_G"(id, nid, pid, command, environment) VALUES(1, 1, PID, 'serve', '{}');
INSERT INTO "rocpd_info_thread_G"(id, pid, tid) VALUES(1, 1, PID);
INSERT INTO "rocpd_info_agent_G"(id, type, absolute_index, logical_index, name, product_name) VALUES(2, 'GPU', NODE, LOGICAL, 'gfx942', 'Instinct');
INSERT INTO "rocpd_info_kernel_symbol_G"(id, kernel_name, display_name) VALUES(1, 'tile_gemm.kd', 'tile_gemm'), (2, 'gather_rows.kd', 'gather_rows');
'''
START, US, STEPS = 10**12, 1000, 40
BUSY, WAITING = 100, 200
EVERY = {BUSY: 1000, WAITING: 4000}  # us
LENGTH = {BUSY: 900, WAITING: 200}


def events_of(pid):
    """(number, start of the step, launch, kernel's start and end) in ns, and the allocation's length."""
    every, length = EVERY[pid], LENGTH[pid]
    for i in range(STEPS * 4 if pid == BUSY else STEPS):
        at = START + i * every * US
        launch = at + (3100 if pid == WAITING else 10) * US
        yield i + 1, at, launch, launch + 20 * US, launch + (20 + length) * US


class ImportProcesses(program.ProgramTest):
    def rpd(self, name, gpu_of, ranges=True, orphan=None):
        base = sqlite3.connect(self.folder / name)
        base.executescript(RPD)
        for index, pid in enumerate((BUSY, WAITING)):
            first = (index + 1) << 32 if ranges else (index + 1) * 100_000
            for number, at, launch, start, end in events_of(pid):
                call, kernel = first + 3 * number, 3 if pid == BUSY else 8
                base.execute('INSERT INTO rocpd_api VALUES(?, ?, ?, ?, ?, 2, 1, 1, 1)', (call, pid, pid, launch, launch + 8 * US))
                if pid == WAITING:
                    base.execute('INSERT INTO rocpd_api VALUES(?, ?, ?, ?, ?, 5, 1, 1, 1)', (call + 1, pid, pid, at + 50 * US, launch - 20 * US))
                base.execute('INSERT INTO rocpd_api VALUES(?, ?, ?, ?, ?, 6, 1, 1, 7)', (call + 2, pid, pid, at + US, at + (EVERY[pid] - 1) * US))
                base.execute("INSERT INTO rocpd_kernelapi VALUES(?, '0x1', 64, 1, 1, 64, 1, 1)", (call,))
                base.execute('INSERT INTO rocpd_op VALUES(?, ?, 0, 0, ?, ?, ?, 4)', (call, gpu_of[pid], start, end, kernel))
                if (pid, number) != orphan:
                    base.execute('INSERT INTO rocpd_api_ops VALUES(?, ?, ?)', (call, call, call))
        base.commit()
        base.close()
        return self.imported(self.folder / name)

    def rocpd(self, name, agents, hosts=None):
        """`agents`: of each process the GPU as the driver numbers it, and as the process does."""
        base = sqlite3.connect(self.folder / name)
        for pid in (BUSY, WAITING):
            guid = f'_0000{pid}'
            sql = ROCPD.replace('_G"', guid + '"').replace('PID', str(pid)).replace('HOST', (hosts or {}).get(pid, 'node1'))
            node, logical = agents[pid]
            base.executescript(sql.replace('NODE', str(node)).replace('LOGICAL', str(logical)))
            for number, at, launch, start, end in events_of(pid):
                event = 10 * number
                base.execute(f'INSERT INTO "rocpd_event{guid}"(id, category_id, stack_id, correlation_id) VALUES(?, 1, ?, 0), (?, 6, ?, 0), (?, 1, ?, 0), (?, 2, ?, 0)',
                             (event, event, event + 1, event, event + 2, event + 2, event + 3, event + 3))
                base.execute(f'INSERT INTO "rocpd_region{guid}"(pid, tid, start, end, name_id, event_id) VALUES(1, 1, ?, ?, 3, ?)', (launch, launch + 8 * US, event))
                if pid == WAITING:
                    base.execute(f'INSERT INTO "rocpd_region{guid}"(pid, tid, start, end, name_id, event_id) VALUES(1, 1, ?, ?, 4, ?)',
                                 (at + 50 * US, launch - 20 * US, event + 2))
                base.execute(f'INSERT INTO "rocpd_region{guid}"(pid, tid, start, end, name_id, event_id) VALUES(1, 1, ?, ?, 5, ?)',
                             (at + US, at + (EVERY[pid] - 1) * US, event + 3))
                base.execute(f'INSERT INTO "rocpd_kernel_dispatch{guid}"(pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id, start, end, workgroup_size_x, workgroup_size_y,'
                             'workgroup_size_z, grid_size_x, grid_size_y, grid_size_z, event_id) VALUES(1, 1, 2, ?, ?, 1, 1, ?, ?, 64, 1, 1, 4096, 1, 1, ?)',
                             (1 if pid == BUSY else 2, number, start, end, event + 1))
        base.commit()
        base.close()
        return self.imported(self.folder / name)

    def imported(self, path):
        outcome = self.aaco('import', path, '--no-report', '--json').json()
        return outcome, {one['id']: one['message'] for one in outcome['warnings']}

    def rows(self, printed, sql):
        text = self.aaco('query', sql.replace('OURS', "session_id = '%s'" % printed['session']['id']), '--format', 'csv').output
        return [line.split(',') for line in text.split()[1:]]

    def bottleneck(self, printed):
        return self.aaco('explain', printed['session']['id'], '--json').json()['bottleneck']

    def expect_own_gaps(self, printed):
        """Between the kernels of the waiting process lies its allocation; those of the other one are 100 us, without an activity."""
        long_gaps = self.rows(printed, 'SELECT rank, count(*), min(host_cause), max(host_cause) FROM gaps WHERE OURS AND end_ns - start_ns > 1000000 GROUP BY rank')
        self.assertEqual(long_gaps, [['1', str(STEPS - 1), 'allocation', 'allocation']])
        short = self.rows(printed, 'SELECT rank, count(*) FROM gaps WHERE OURS AND end_ns - start_ns <= 1000000 GROUP BY rank')
        self.assertEqual(short, [['0', str(4 * STEPS - 1)]])
        self.assertEqual(self.rows(printed, "SELECT count(*) FROM gaps WHERE OURS AND rank = 0 AND host_cause = 'allocation'"), [['0']])
        steps = self.rows(printed, 'SELECT rank, count(*), min(duration_ns), max(duration_ns) FROM inference_iters WHERE OURS GROUP BY rank ORDER BY rank')
        self.assertEqual(steps, [['0', str(4 * STEPS), '998000', '998000'], ['1', str(STEPS), '3998000', '3998000']])

    def test_processes_of_rocpd_on_two_gpus_are_apart(self):
        printed, warnings = self.rocpd('two_gpus.db', {BUSY: (1, 1), WAITING: (2, 2)})
        gpus = printed['outcome']['gpu']['gpus']
        self.assertEqual([(gpu['rank'], gpu['device'], gpu['streams'][0]['work_count']) for gpu in gpus], [(0, 1, 4 * STEPS), (1, 2, STEPS)])
        self.assertNotIn('gpu.shared', warnings)
        self.expect_own_gaps(printed)
        self.assertEqual(self.bottleneck(printed)['cause']['id'], 'allocation')

    def test_processes_of_rocpd_on_one_gpu_share_it(self):
        printed, warnings = self.rocpd('one_gpu.db', {BUSY: (1, 1), WAITING: (1, 1)})
        [gpu] = printed['outcome']['gpu']['gpus']
        self.assertEqual(gpu['shared_by_ranks'], [0, 1])
        self.assertIn('2 processes ran work on it', warnings['gpu.shared'])
        streams = sorted((one['rank'], one['stream'], one['work_count'], one['busy_ns']) for one in gpu['streams'])
        self.assertEqual(streams, [(0, 1, 4 * STEPS, 4 * STEPS * 900 * US), (1, 1, STEPS, STEPS * 200 * US)])
        # The waiting process is hidden by the other one's work: the GPU never waits for its allocations.
        self.assertEqual(self.rows(printed, 'SELECT count(*) FROM gaps WHERE OURS AND end_ns - start_ns > 1000000'), [['0']])
        self.assertNotEqual(self.bottleneck(printed)['bottleneck_class'], 'host_waiting')
        steps = self.rows(printed, 'SELECT rank, count(*) FROM inference_iters WHERE OURS GROUP BY rank ORDER BY rank')
        self.assertEqual(steps, [['0', str(4 * STEPS)], ['1', str(STEPS)]])

    def test_equal_numbers_of_two_agents_or_machines_are_two_gpus(self):
        for name, agents, hosts in (('agents.db', {BUSY: (1, 0), WAITING: (2, 0)}, None), ('hosts.db', {BUSY: (1, 1), WAITING: (1, 1)}, {BUSY: 'node1', WAITING: 'node2'})):
            printed, warnings = self.rocpd(name, agents, hosts)
            self.assertEqual(len(printed['outcome']['gpu']['gpus']), 2, name)
            self.assertNotIn('gpu.shared', warnings)
            self.expect_own_gaps(printed)

    def test_processes_of_rpd_may_share_a_gpu(self):
        """rocmProfileData counts from the first GPU that a process sees: one number of two processes is one GPU or two."""
        printed, _ = self.rpd('same.rpd', {BUSY: 0, WAITING: 0})
        self.expect_own_gaps(printed)
        bottleneck = self.bottleneck(printed)
        self.assertEqual((bottleneck['bottleneck_class'], bottleneck['cause']['id']), ('inconclusive', 'device-unclear'))
        self.assertIn('do not say whether it is one GPU', bottleneck['cause']['title'])
        apart, _ = self.rpd('apart.rpd', {BUSY: 0, WAITING: 1})
        self.expect_own_gaps(apart)
        self.assertEqual(self.bottleneck(apart)['cause']['id'], 'allocation')

    def test_work_without_a_call_belongs_to_the_process_of_its_ids(self):
        printed, warnings = self.rpd('orphan.rpd', {BUSY: 0, WAITING: 0}, orphan=(WAITING, 7))
        self.assertEqual(self.rows(printed, "SELECT DISTINCT rank FROM rocprof_kernels WHERE OURS AND kernel_name = 'gather_rows'"), [['1']])
        self.assertNotIn('import.work_without_process', warnings)
        printed, warnings = self.rpd('old_ids.rpd', {BUSY: 0, WAITING: 0}, ranges=False, orphan=(WAITING, 7))
        self.assertIn('1 operation on a GPU that several processes use', warnings['import.work_without_process'])


if __name__ == '__main__':
    program.unittest.main()
