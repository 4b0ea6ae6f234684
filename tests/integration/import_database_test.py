"""`aaco import` of databases and of logs of the GPU vendors' tools, as a user gives them: plain, compressed, in a folder, damaged."""
import gzip
import sqlite3

import program

RPD = '''
CREATE TABLE "rocpd_metadata" ("id" integer PRIMARY KEY, "tag" varchar(4096), "value" varchar(4096));
CREATE TABLE "rocpd_string" ("id" integer PRIMARY KEY, "string" varchar(4096));
CREATE TABLE "rocpd_api" ("id" integer PRIMARY KEY, "pid" integer, "tid" integer, "start" integer, "end" integer, "apiName_id" integer, "args_id" integer);
CREATE TABLE "rocpd_op" ("id" integer PRIMARY KEY, "gpuId" integer, "queueId" integer, "sequenceId" integer, "start" integer, "end" integer,
  "description_id" integer, "opType_id" integer);
CREATE TABLE "rocpd_api_ops" ("id" integer PRIMARY KEY, "api_id" integer, "op_id" integer);
INSERT INTO rocpd_string VALUES(1,''),(2,'hipLaunchKernel'),(3,'Cijk_Ailk_Bljk_SB_MT64x64x8_SE'),(4,'KernelExecution');
INSERT INTO rocpd_api VALUES(7,1,1,1000,1100,2,1);
INSERT INTO rocpd_op VALUES(1,0,0,0,2000,2500,3,4),(2,0,0,1,3000,3250,3,4);
INSERT INTO rocpd_api_ops VALUES(1,7,1);
'''

NSYS = '''
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,
  demangledName INTEGER);
INSERT INTO StringIds VALUES(1, 'ampere_sgemm_128x64_nn');
INSERT INTO META_DATA_CAPTURE VALUES('PROCESS_0:ENVIRONMENT_VARIABLE', 'RANK="RANK_OF"');
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(100, 200, 0, 7, 1, 117440512, 1);
'''

QUERY = '''timestamp, index, name, power.draw [W], utilization.gpu [%], clocks.sm [MHz]
2024/05/01 12:34:56.000, 0, NVIDIA A100, 67.50 W, 25 %, 210 MHz
2024/05/01 12:34:57.000, 0, NVIDIA A100, [N/A], 50 %, 1410 MHz
'''


class ImportDatabase(program.ProgramTest):
    def database(self, name, sql):
        path = self.folder / name
        path.unlink(missing_ok=True)
        connection = sqlite3.connect(path)
        connection.executescript(sql)
        connection.close()
        return path

    def test_database_plain_and_compressed(self):
        path = self.database('trace.rpd', RPD)
        packed = self.folder / 'trace.rpd.gz'
        packed.write_bytes(gzip.compress(path.read_bytes()))
        for file in (path, packed):
            printed = self.aaco('import', file, '--json').json()
            self.assertEqual(printed['metrics']['gpu.kernel_count']['value'], 2)
            self.assertEqual(printed['metrics']['gpu.kernel_sum_ns']['value'], 750)
            self.assertEqual(printed['metrics']['gpu.orphan_kernel_count']['value'], 1)
            self.assertEqual(printed['account'][0]['source'], 'rpd')
        self.assertEqual([p.name for p in self.folder.glob('trace.rpd-*')], [])  # nothing is left beside it

    def test_gaps_record_whether_the_launching_thread_was_on_cpu(self):
        """Thread 8 of process 7 launches at 100, 2,000 and 4,000 us; before the second it had no CPU for 1.5 ms, before the third it computed."""
        thread = (7 << 24) + 8
        sql = NSYS.replace('RANK_OF', '0') + f"""
            DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL;
            INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(110000, 200000, 0, 7, 1, 117440512, 1), (2010000, 2100000, 0, 7, 2, 117440512, 1),
              (4010000, 4100000, 0, 7, 3, 117440512, 1);
            CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER);
            INSERT INTO StringIds VALUES(3, 'cudaLaunchKernel_v7000');
            INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(100000, 105000, {thread}, 1, 3), (2000000, 2005000, {thread}, 2, 3), (4000000, 4005000, {thread}, 3, 3);
            CREATE TABLE SCHED_EVENTS (start INTEGER, cpu INTEGER, isSchedIn INTEGER, globalTid INTEGER);
            INSERT INTO SCHED_EVENTS VALUES(50000, 2, 1, {thread}), (400000, 2, 0, {thread}), (1900000, 2, 1, {thread}), (5000000, 2, 0, {thread});
        """
        session = self.aaco('import', self.database('scheduled.sqlite', sql), '--json').json()['session']
        rows = self.aaco('query', "SELECT start_ns, cause, evidence, host_off_cpu_ns, host_run_queue_ns FROM gaps WHERE session_id = '%s' ORDER BY start_ns"
                         % session['id'], '--format', 'csv').output.split()
        self.assertEqual(rows[1:], ['200000,queue_empty,off_cpu,1500000,0', '2100000,queue_empty,,0,0'])
        self.assertIn('runnable but not running', self.aaco('report', session['id'], '--format', 'text').output)

    def test_damaged_and_foreign_databases_are_code_3_and_leave_nothing(self):
        before = self.aaco('ls').output
        whole = self.database('whole.rpd', RPD).read_bytes()
        damaged = self.folder / 'damaged.rpd'
        for data in (whole[:100], whole[:4096], b'SQLite format 3\0' + b'\xff' * 5000):
            damaged.write_bytes(data)
            self.refused(self.aaco('import', damaged), 3)
        self.refused(self.aaco('import', self.database('foreign.db', 'CREATE TABLE t(x); INSERT INTO t VALUES(1)')), 3)
        self.assertEqual(self.aaco('ls').output, before)

    def test_log_of_nvidia_smi(self):
        path = self.folder / 'smi.csv'
        path.write_text(QUERY)
        printed = self.aaco('import', path, '--json').json()
        self.assertEqual(printed['account'][0]['dropped'], {'reported as N/A': 1})
        rows = self.aaco('query', "SELECT metric, value FROM gpu_events WHERE session_id = '%s' ORDER BY time_ns, metric" % printed['session']['id'],
                         '--format', 'csv').output
        self.assertIn('gpu.power_watts,67.5', rows)
        self.assertIn('gpu.clock_hz,1.41e+09', rows)

    def test_export_of_nsight_systems_without_kernels_or_names(self):
        calls = '''CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER);
          CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, bytes INTEGER, copyKind INTEGER);
          INSERT INTO StringIds VALUES(2, 'cudaLaunchKernel_v7000');
          INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(50, 60, 117440520, 1, 2);
          INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(300, 310, 0, 64, 1), (9000, 9005, 0, 64, 1);'''
        path = self.database('kernelless.sqlite', NSYS + calls + 'DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL;')
        printed = self.aaco('import', path, '--json').json()
        self.assertEqual([w['id'] for w in printed['warnings']], ['import.no_kernels'])
        self.assertIn('CUPTI_ACTIVITY_KIND_KERNEL is missing', printed['warnings'][0]['message'])
        self.assertEqual(printed['metrics']['gpu.copy_sum_ns']['value'], 15)
        self.assertNotIn('gpu.idle_ns', printed['metrics'])  # kernels ran, and nobody saw them
        self.assertIn('no kernels', self.aaco('report', printed['session']['id']).output)

        nameless = self.database('nameless.sqlite', NSYS + 'DROP TABLE StringIds;')
        printed = self.aaco('import', nameless, '--json').json()
        self.assertIn('import.names_missing', [w['id'] for w in printed['warnings']])
        self.assertEqual(printed['metrics']['gpu.kernel_sum_ns']['value'], 100)
        self.assertEqual(printed['top_kernels'][0]['name'], 'kernel 1')

    def test_exports_of_nsight_systems_are_ranks_of_one_job(self):
        for rank in (0, 1):
            self.database('report_rank%d.sqlite' % rank, NSYS.replace('RANK_OF', str(rank)))
        printed = self.aaco('import', self.folder / 'report_rank0.sqlite', self.folder / 'report_rank1.sqlite', '--json').json()
        ranks = self.aaco('query', "SELECT rank, count(*) AS kernels FROM rocprof_kernels WHERE session_id = '%s' GROUP BY rank ORDER BY rank"
                          % printed['session']['id'], '--format', 'csv').output
        self.assertEqual(ranks.split()[1:], ['0,1', '1,1'])
        alone = self.aaco('import', self.folder / 'report_rank1.sqlite', '--json').json()
        ranks = self.aaco('query', "SELECT DISTINCT rank FROM rocprof_kernels WHERE session_id = '%s'" % alone['session']['id'], '--format', 'csv').output
        self.assertEqual(ranks.split()[1:], ['1'])


if __name__ == '__main__':
    program.unittest.main()
