"""`aaco import` of odd files: what can be read is read, what cannot is refused with a clear message, and nothing is left behind."""
import gzip
import json
import os
import sqlite3

import program


def launch(i, **more):
    return {'ph': 'X', 'cat': 'cuda_runtime', 'name': 'hipLaunchKernel', 'pid': 10, 'tid': 11, 'ts': 1000 + 10 * i, 'dur': 3, 'args': {'correlation': i}, **more}


def kernel(i, **more):
    return {'ph': 'X', 'cat': 'kernel', 'name': 'gemm', 'pid': 0, 'tid': 7, 'ts': 1006 + 10 * i, 'dur': 4, 'args': {'device': 0, 'stream': 7, 'correlation': i}, **more}


def document(events):
    return json.dumps({'schemaVersion': 1, 'traceEvents': events})


def field(number, data):
    """A protobuf field of bytes."""
    return bytes([number << 3 | 2, len(data)]) + data


def table(*rows):
    return '"Kind","Agent_Id","Queue_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp"\n' + ''.join(f'{row}\n' for row in rows)


GOOD = document([one for i in range(1, 51) for one in (launch(i), kernel(i))])
PACKED = gzip.compress(GOOD.encode())
DAMAGED = PACKED[:100] + bytes([PACKED[100] ^ 0xFF]) + PACKED[101:]
NO_DATABASE = b'SQLite format 3\0' + b'\0' * 84
WITHOUT_PHASE = document([{key: value for key, value in kernel(1).items() if key != 'ph'}])
NOT_A_NUMBER = document([kernel(1, ts='?')]).replace('"?"', 'NaN')
DEEP = GOOD[:-2] + ',{"ph":"X","cat":"kernel","name":"a","ts":1,"dur":1,"args":' + '[' * 100_000 + ']' * 100_000 + '}]}'

# File name, content, and what the message says.
REFUSED = [
    ('header.json.gz', PACKED[:6], 'none of its 6 compressed bytes can be decompressed'),
    ('damaged.json.gz', DAMAGED, 'no complete event could be read'),
    ('nan.json', NOT_A_NUMBER, '1 dropped: no valid timestamp'),
    ('too_late.json', document([kernel(1, ts=10**18), launch(1, ts=10**18)]), '2 dropped: no valid timestamp'),
    ('no_phase.json', WITHOUT_PHASE, '1 dropped: no phase'),
    ('list.db', 'a,b\n1,2\n', 'unknown trace format'),
    ('empty.json', '', 'the file is empty'),
    ('empty.pftrace', b'', 'the file is empty'),
    ('zeros.pftrace', b'\0' * 1000, 'a Perfetto trace without track events'),
    ('packets.pftrace', b'\x0a\x00' * 10, 'a Perfetto trace without track events'),
    ('unknown.xplane.pb', field(1, field(2, b'/nothing:known')), 'an XLA profile without a known plane'),
    ('host.xplane.pb', field(1, field(2, b'/host:CPU')), 'check that the profiled region is not empty'),
    ('cut.xplane.pb', field(1, field(2, b'/device:GPU:0'))[:10], 'or a damaged one'),
    ('object.json', '{"schemaVersion":1,"traceEvents":{"a":1}}', 'without an array of events (traceEvents)'),
    ('noise.json', bytes(range(256)) * 20, 'unknown trace format'),
    ('wide.json', GOOD.encode('utf-16'), 'the text is UTF-16'),
    ('names.json', document([{'ph': 'M', 'name': 'process_name', 'pid': 1, 'args': {'name': 'python'}}]), 'no usable events'),
    ('archive.zip', b'PK\x03\x04' + b'\0' * 100, 'a zip archive'),
    ('header_kernel_trace.csv', table(), 'no usable events'),
    ('ragged_kernel_trace.csv', table('"KERNEL_DISPATCH",1,1', 'x,y,z,w,v,u,t,s'), '1 dropped: fewer fields than the header'),
    ('none.db', NO_DATABASE, 'database'),
]

# What is read, and the warning (or another part of the report) that says how.
READ = [
    ('cut.json.gz', PACKED[:len(PACKED) * 2 // 3], 'is truncated'),
    ('cut.json', GOOD[:1500], 'is truncated'),
    ('two.json', GOOD + GOOD, 'bytes after the end of the document were not read'),
    ('some_nan.json', GOOD.replace('"ts": 1016', '"ts": NaN'), '1 of 100 records could not be used'),
    ('late.json', document([launch(1, ts=1e15), kernel(1, ts=1e15 + 6)]), 'GPU 0 is busy for'),
    ('far_apart.json', document([kernel(1), kernel(2, ts=10**15)]), 'GPU 0 is busy for'),
    ('equal_ids.json', document([launch(1), launch(1, ts=1500), kernel(1), kernel(1, ts=1600)]), 'GPU 0 is busy for'),
    ('negative.json', document([launch(1), kernel(1, dur=-5)]), '1: negative duration'),
    ('plain.json.gz', GOOD, 'GPU 0 is busy for 40.5 %'),
    ('packed.json', PACKED, 'GPU 0 is busy for 40.5 %'),
    ('named.csv', GOOD, 'GPU 0 is busy for 40.5 %'),
    ('text_times.json', document([launch(1, ts='999'), kernel(1, ts='1000', dur='5')]), 'GPU 0 is busy for'),
    ('deep.json', DEEP, 'GPU 0 is busy for'),
]


class OddFiles(program.ProgramTest):
    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def sessions(self):
        return [name for _, folders, files in os.walk(self.folder / 'sessions') for name in folders + files if name == 'session.json' or name.endswith('.open')]

    def refuse(self, path, words):
        before = self.sessions()
        outcome = self.aaco('import', path)
        self.assertEqual(outcome.code, 3, outcome.output)
        self.assertIn(words, outcome.errors)
        self.assertEqual(self.sessions(), before)

    def test_unusable_files_are_refused(self):
        for name, content, words in REFUSED:
            with self.subTest(name):
                self.refuse(self.file(name, content), words)

    def test_usable_part_of_odd_files_is_read(self):
        for name, content, words in READ:
            with self.subTest(name):
                outcome = self.aaco('import', self.file(name, content), '--no-report')
                self.assertEqual(outcome.code, 0, outcome.errors)
                self.assertIn(words, ' '.join(outcome.output.split()))

    def test_foreign_database_is_refused(self):
        path = self.folder / 'foreign.db'
        with sqlite3.connect(path) as database:
            database.execute('create table foo(a)')
        database.close()
        self.refuse(path, 'a SQLite database without the tables of a known profiler')

    def test_other_paths_are_refused(self):
        self.refuse(self.folder / 'missing.json', 'No such file')
        self.refuse('/dev/zero', 'is a pipe or a device')
        empty = self.folder / 'empty'
        empty.mkdir()
        self.refuse(empty, 'the folder contains no files')
        (self.folder / 'dangling.json').symlink_to('/nowhere/x.json')
        self.refuse(self.folder / 'dangling.json', 'No such file')

    def test_mixed_folder_has_its_traces_read(self):
        folder = self.folder / 'mixed'
        folder.mkdir()
        for name, content in (('a.pt.trace.json', GOOD), ('readme.txt', 'hello'), ('x.csv', 'a,b\n1,2\n'), ('y.db', NO_DATABASE), ('empty.json', '')):
            self.file(f'mixed/{name}', content)
        outcome = self.aaco('import', folder, '--no-report')
        self.assertEqual(outcome.code, 0, outcome.errors)
        self.assertIn('GPU 0 is busy for 40.5 %', outcome.output)
        self.assertIn('files were skipped', outcome.output)

    def test_sessions_are_refused(self):
        imported = self.aaco('import', self.file('good.json', GOOD), '--no-report', '--json').json()
        self.refuse(imported['path'] if 'path' in imported else self.session_path(), 'a session of aaco, not a trace')

    def session_path(self):
        return next(root for root, _, files in os.walk(self.folder / 'sessions') if 'session.json' in files)
