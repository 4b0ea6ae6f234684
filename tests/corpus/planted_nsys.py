"""Programs seen by Nsight Systems: the export (SQLite, packed) has runtime calls, NVTX ranges, system calls and the device's work."""

import gzip
import pathlib
import sqlite3
import tempfile

from planted_host import DEVICES, PID
from planted_scenarios import GEMM, WRONG_OF_HOST, scenario

NOT_BY_THE_DEVICE = [*WRONG_OF_HOST, "launch"]
TABLES = """
pragma page_size = 512;
create table StringIds(id integer primary key, value text not null);
create table META_DATA_EXPORT(name text, value text);
create table TARGET_INFO_GPU(vmId integer, id integer, name text, busLocation text, totalMemory integer, smCount integer);
create table CUPTI_ACTIVITY_KIND_KERNEL(start integer, end integer, deviceId integer, contextId integer, streamId integer, correlationId integer, globalPid integer,
  demangledName integer, shortName integer, registersPerThread integer, gridX integer, gridY integer, gridZ integer, blockX integer, blockY integer, blockZ integer,
  staticSharedMemory integer, dynamicSharedMemory integer, localMemoryPerThread integer, gridId integer, graphNodeId integer);
create table CUPTI_ACTIVITY_KIND_MEMCPY(start integer, end integer, deviceId integer, streamId integer, correlationId integer, globalPid integer, bytes integer,
  copyKind integer, srcDeviceId integer, dstDeviceId integer);
create table CUPTI_ACTIVITY_KIND_RUNTIME(start integer, end integer, eventClass integer, globalTid integer, correlationId integer, nameId integer, returnValue integer);
create table NVTX_EVENTS(start integer, end integer, eventType integer, text text, globalTid integer, textId integer);
create table OSRT_API(start integer, end integer, eventClass integer, globalTid integer, correlationId integer, nameId integer, returnValue integer);
"""
PROCESS = PID << 24
RANGE = 59


def write_nsys(host, path):
    """Annotations become NVTX ranges, events of category `os` system calls."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "report.sqlite"
        with sqlite3.connect(file) as base:
            base.executescript(TABLES)
            texts = {}

            def text(value):
                return texts.setdefault(value, len(texts) + 1)

            def insert(table, *values):
                base.execute(f"insert into {table} values({','.join('?' * len(values))})", values)

            device = DEVICES[host.device]
            insert("META_DATA_EXPORT", "EXPORT_SCHEMA_VERSION", "3.11.0")
            insert("TARGET_INFO_GPU", 1, 0, device["name"], "0000:07:00.0", device["totalGlobalMem"], device["numSms"])
            for event in sorted(host.events, key=lambda event: event["ts"]):
                start, more = int(event["ts"] * 1000), event["args"]
                end, correlation = start + int(event["dur"] * 1000), event["args"].get("correlation", 0)
                thread = PROCESS | event["tid"]
                if event["cat"] == "kernel":
                    name = text(event["name"])
                    insert("CUPTI_ACTIVITY_KIND_KERNEL", start, end, 0, 1, event["tid"], correlation, PROCESS, name, name, 64, 132, 1, 1, 256, 1, 1, 0, 0, 0, 0, None)
                elif event["cat"] == "gpu_memcpy":
                    kind = 1 if "HtoD" in event["name"] else 2
                    insert("CUPTI_ACTIVITY_KIND_MEMCPY", start, end, 0, event["tid"], correlation, PROCESS, more["bytes"], kind, None, None)
                elif event["cat"] in ("cuda_runtime", "os"):
                    table = "OSRT_API" if event["cat"] == "os" else "CUPTI_ACTIVITY_KIND_RUNTIME"
                    insert(table, start, end, 0, thread, correlation, text(event["name"]), 0)
                elif event["cat"] == "user_annotation":
                    insert("NVTX_EVENTS", start, end, RANGE, event["name"], thread, None)
            base.executemany("insert into StringIds values(?, ?)", [(number, value) for value, number in texts.items()])
        base.close()
        pathlib.Path(path).write_bytes(gzip.compress(file.read_bytes(), mtime=0))


def rounds(host, before, count=10, kernels=4, time=180):
    for number in range(count):
        before(host, number)
        for _ in range(kernels):
            host.launch(GEMM[host.device], time)
        host.synchronise()


@scenario("host", "disk", "^p?read", seconds=["host-code"], device="A100", form="nsys", must_not=[*NOT_BY_THE_DEVICE, "synchronisation"])
def frames_from_a_file(host):
    def before(host, _):
        host.call("os", "open64", 9)
        for _ in range(3):
            host.call("os", "read", 1400)
    rounds(host, before)


@scenario("host", "lock", "cond_wait", seconds=["synchronisation", "host-code"], form="nsys", must_not=[*NOT_BY_THE_DEVICE, "data-loading"])
def thread_pool_barrier(host):
    rounds(host, lambda host, _: host.call("os", "pthread_cond_wait", 4200))


@scenario("host", "data-loading", "next batch", form="nsys", must_not=NOT_BY_THE_DEVICE)
def batches_in_a_range(host):
    def before(host, _):
        with host.inside("user_annotation", "DataLoader.next batch"):
            host.call("os", "pthread_mutex_lock", 40)
            host.call("os", "read", 900)
            host.now += host.varied(3200)
    rounds(host, before)


@scenario("host", "allocation", "Malloc|Free", device="A100", form="nsys", must_not=[*NOT_BY_THE_DEVICE, "data-loading"])
def buffers_per_call(host):
    def before(host, _):
        with host.inside("cuda_runtime", "cudaMalloc_v3020"):
            host.call("os", "ioctl", 700)
        host.api("Free_v3020", 600)
    rounds(host, before, count=16, kernels=1)


@scenario("host", "sleep", "sleep", seconds=["host-code"], form="nsys", must_not=NOT_BY_THE_DEVICE)
def poll_interval(host):
    rounds(host, lambda host, _: host.call("os", "clock_nanosleep", 5000))


@scenario("launch", "small-kernels", "LaunchKernel", seconds=["launch", "launch-latency"], device="A100", form="nsys", must_not=["compute", "memory", "transfer", "data-loading"])
def solver_of_small_kernels(host):
    for _ in range(500):
        host.launch("void axpy_kernel<float>(int, float, float*)", 2.1, call=5.2)
        host.now += 0.6


@scenario("host", "unknown", "$^", seconds=["cannot-tell"], form="nsys", must_not=[*NOT_BY_THE_DEVICE, "host-code", "lock", "disk"])
def nothing_but_launches(host):
    def before(host, _):
        host.now += host.varied(12000)
    rounds(host, before)
