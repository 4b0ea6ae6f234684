"""Writes what the stand-in runtime's profiler saw (src/hooks/standin/profiler.h) in the formats of real profilers.

    profiler_formats.py FORMAT RAW OUT [SHIFT_NS]

RAW is the prefix that STANDIN_TRACE named. FORMAT: kineto, rocprofv3, rocprofv3-kernels, rpd, nsys. A launch's number in its thread is
grid_x of its kernels, the thread grid_y; a copy's size says both (copied). SHIFT_NS is added to all times: a clock that is wrong.
"""
import glob
import json
import pathlib
import sqlite3
import sys


def copied(size, tid, number):
    return size + number + tid * 1_000_000


class Raw:
    def __init__(self, path, shift_ns):
        self.calls, self.kernels, self.copies, self.pid = [], [], [], int(path.rsplit('.', 1)[1])
        for line in pathlib.Path(path).read_text().splitlines():
            kind, *fields = line.split(',')
            if kind == 'clocks':
                self.monotonic, self.realtime, self.boottime = map(int, fields)
            elif kind == 'call':
                correlation, name, pid, tid, start, end = fields
                self.calls.append((int(correlation), name, int(pid), int(tid), int(start) + shift_ns, int(end) + shift_ns))
            elif kind == 'kernel':
                correlation, name, device, stream, start, end, tid, number = fields
                self.kernels.append((int(correlation), name, int(device), int(stream), int(start) + shift_ns, int(end) + shift_ns, int(tid), int(number)))
            else:
                correlation, size, device, stream, start, end, tid, number = map(int, fields)
                self.copies.append((correlation, size, device, stream, start + shift_ns, end + shift_ns, tid, number))


def kineto(raws, out):
    """PyTorch: microseconds from a base by the wall clock."""
    raw = raws[0]
    base = 1_700_000_000_000_000_000
    offset = raw.realtime - raw.monotonic - base

    def times(start, end):
        return {'ts': round((start + offset) / 1000, 3), 'dur': round((end - start) / 1000, 3)}

    events = [{'ph': 'X', 'cat': 'cuda_runtime', 'name': name, 'pid': pid, 'tid': tid, **times(start, end), 'args': {'correlation': correlation}}
              for correlation, name, pid, tid, start, end in raw.calls]
    events += [{'ph': 'X', 'cat': 'kernel', 'name': name, 'pid': device, 'tid': stream, **times(start, end),
                'args': {'device': device, 'stream': stream, 'correlation': correlation, 'grid': [number, tid, 1], 'block': [64, 2, 1]}}
               for correlation, name, device, stream, start, end, tid, number in raw.kernels]
    events += [{'ph': 'X', 'cat': 'gpu_memcpy', 'name': 'Memcpy DtoD (Device -> Device)', 'pid': device, 'tid': stream, **times(start, end),
                'args': {'device': device, 'stream': stream, 'correlation': correlation, 'bytes': copied(size, tid, number)}}
               for correlation, size, device, stream, start, end, tid, number in raw.copies]
    pathlib.Path(out).write_text(json.dumps({'schemaVersion': 1, 'deviceProperties': [{'id': 0, 'name': 'stand-in'}], 'baseTimeNanoseconds': base,
                                             'displayTimeUnit': 'ms', 'traceEvents': events}))


def rocprofv3(raws, out, with_calls=True):
    """Tables in the time since boot."""
    for raw in raws:
        folder = pathlib.Path(out)
        folder.mkdir(exist_ok=True)
        offset = raw.boottime - raw.monotonic
        kernels = ['"Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp",'
                   '"End_Timestamp","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Workgroup_Size_X",'
                   '"Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"']
        for dispatch, (correlation, name, device, stream, start, end, tid, number) in enumerate(raw.kernels, 1):
            kernels.append(f'"KERNEL_DISPATCH","Agent {device + 1}",1,{stream},{tid},{dispatch},1,"{name}",{correlation},{start + offset},{end + offset},'
                           f'0,0,8,0,16,1,1,1,{number},{tid},1')
        (folder / f'{raw.pid}_kernel_trace.csv').write_text('\n'.join(kernels) + '\n')
        if not with_calls:
            continue
        calls = ['"Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp","End_Timestamp"']
        for correlation, name, pid, tid, start, end in raw.calls:
            calls.append(f'"HIP_RUNTIME_API_EXT","{name}",{pid},{tid},{correlation},{start + offset},{end + offset}')
        (folder / f'{raw.pid}_hip_api_trace.csv').write_text('\n'.join(calls) + '\n')


RPD = '''
CREATE TABLE "rocpd_metadata" ("id" integer PRIMARY KEY, "tag" varchar(4096), "value" varchar(4096));
CREATE TABLE "rocpd_string" ("id" integer PRIMARY KEY AUTOINCREMENT, "string" varchar(4096));
CREATE TABLE "rocpd_api" ("id" integer PRIMARY KEY, "pid" integer, "tid" integer, "start" integer, "end" integer, "apiName_id" bigint, "args_id" bigint);
CREATE TABLE "rocpd_kernelapi" ("api_ptr_id" integer PRIMARY KEY, "stream" varchar(18), "gridX" integer, "gridY" integer, "gridZ" integer, "workgroupX" integer, "workgroupY" integer, "workgroupZ" integer, "groupSegmentSize" integer, "privateSegmentSize" integer, "kernelArgAddress" varchar(18), "aquireFence" varchar(8), "releaseFence" varchar(8), "codeObject_id" bigint, "kernelName_id" bigint);
CREATE TABLE "rocpd_copyapi" ("api_ptr_id" integer PRIMARY KEY, "stream" varchar(18), "size" integer, "width" integer, "height" integer, "kind" integer, "dst" varchar(18), "src" varchar(18), "dstDevice" integer, "srcDevice" integer, "sync" bool, "pinned" bool);
CREATE TABLE "rocpd_op" ("id" integer PRIMARY KEY, "gpuId" integer, "queueId" integer, "sequenceId" integer, "completionSignal" varchar(18), "start" integer, "end" integer, "description_id" bigint, "opType_id" bigint);
CREATE TABLE "rocpd_api_ops" ("id" integer PRIMARY KEY, "api_id" bigint, "op_id" bigint);
INSERT INTO rocpd_metadata VALUES(1,'schema_version','2');
INSERT INTO rocpd_string VALUES(1,''),(2,'KernelExecution'),(3,'CopyDeviceToDevice');
'''


def rpd(raws, out):
    """A database in the monotonic clock; processes have ranges of ids."""
    database = sqlite3.connect(out)
    database.executescript(RPD)
    names = {}

    def text(value):
        if value not in names:
            names[value] = database.execute('INSERT INTO rocpd_string(string) VALUES(?)', (value,)).lastrowid
        return names[value]

    op = 0
    for index, raw in enumerate(raws):
        first = index * 10_000_000
        for correlation, name, pid, tid, start, end in raw.calls:
            database.execute('INSERT INTO rocpd_api VALUES(?,?,?,?,?,?,1)', (first + correlation, pid, tid, start, end, text(name)))
        for correlation, name, device, stream, start, end, tid, number in raw.kernels:
            op += 1
            database.execute('INSERT OR IGNORE INTO rocpd_kernelapi VALUES(?,?,?,?,1,1,1,1,0,0,0,0,0,0,?)', (first + correlation, f'0x{stream:x}', number, tid, text(name)))
            database.execute('INSERT INTO rocpd_op VALUES(?,?,0,0,0,?,?,?,2)', (op, device, start, end, text(name)))
            database.execute('INSERT INTO rocpd_api_ops VALUES(?,?,?)', (op, first + correlation, op))
        for correlation, size, device, stream, start, end, tid, number in raw.copies:
            op += 1
            database.execute('INSERT INTO rocpd_copyapi VALUES(?,?,?,0,0,3,0,0,0,0,0,0)', (first + correlation, f'0x{stream:x}', copied(size, tid, number)))
            database.execute('INSERT INTO rocpd_op VALUES(?,?,0,0,0,?,?,1,3)', (op, device, start, end))
            database.execute('INSERT INTO rocpd_api_ops VALUES(?,?,?)', (op, first + correlation, op))
    database.commit()


NSYS = '''
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER, returnValue INTEGER, callchainId INTEGER);
INSERT INTO META_DATA_EXPORT VALUES('EXPORT_SCHEMA_VERSION','3.11');
'''


def nsys(raws, out):
    """A database in ns since the session's start, of which the wall clock is stated."""
    database = sqlite3.connect(out)
    database.executescript(NSYS)
    began = raws[0].monotonic - 60_000_000_000
    database.execute('INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES(?,?,?)', (raws[0].realtime - (raws[0].monotonic - began), '', ''))
    names = {}

    def text(value):
        if value not in names:
            names[value] = len(names) + 1
            database.execute('INSERT INTO StringIds VALUES(?,?)', (names[value], value))
        return names[value]

    for raw in raws:
        process = raw.pid << 24
        for correlation, name, _, tid, start, end in raw.calls:
            database.execute('INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(?,?,0,?,?,?,0,NULL)', (start - began, end - began, process | tid, correlation, text(name + '_v3020')))
        for correlation, name, device, stream, start, end, tid, number in raw.kernels:
            database.execute('INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(?,?,?,1,?,?,?,?,?,?,?,1,64,2,1)',
                             (start - began, end - began, device, stream, correlation, process, text(name), text(name), number, tid))
        for correlation, size, device, stream, start, end, tid, number in raw.copies:
            database.execute('INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(?,?,?,1,?,?,?,?,8)', (start - began, end - began, device, stream, correlation, process, copied(size, tid, number)))
    database.commit()


def main():
    form, raw, out, *shift = sys.argv[1:]
    raws = [Raw(path, int(shift[0]) if shift else 0) for path in sorted(glob.glob(raw + '.*'))]
    {'kineto': kineto, 'rocprofv3': rocprofv3, 'rocprofv3-kernels': lambda *two: rocprofv3(*two, with_calls=False), 'rpd': rpd, 'nsys': nsys}[form](raws, out)


if __name__ == '__main__':
    main()
