"""Queries on the tables of the corpus: rocprof, rocprofv3, rocprof-compute, RPD and Nsight databases, reports of MIGraphX."""

import csv
import functools
import gzip
import pathlib
import re
import sqlite3
import statistics
import tempfile

from kineto_trace import length, overlap, union

csv.field_size_limit(1 << 30)


@functools.lru_cache(maxsize=16)
def table(path):
    with open(path, newline="", encoding="utf-8", errors="replace") as stream:
        return list(csv.DictReader(stream))


def database(path):
    return sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)


def first_of(row, *names):
    return next(row[name] for name in names if name in row)


def intervals(path):
    """Start, end and name of each dispatch of a table with times."""
    rows = []
    for row in table(path):
        start = first_of(row, "BeginNs", "Start_Timestamp")
        end = first_of(row, "EndNs", "End_Timestamp")
        name = first_of(row, "KernelName", "Kernel_Name", "Function", "Direction", "Operation")
        rows.append((round(float(start)), round(float(end)), name))
    return sorted(rows)


def dispatches(root, file, pattern=""):
    """Span, busy time and idle share of a table of kernels, and the share of the kernels of a name."""
    rows = intervals(f"{root}/{file}")
    busy = union([(start, end) for start, end, _ in rows])
    span = busy[-1][1] - busy[0][0]
    total = sum(end - start for start, end, _ in rows)
    matching = [end - start for start, end, name in rows if re.search(pattern, name)]
    return {
        "rows": len(rows), "span_ns": span, "busy_ns": length(busy),
        "idle_share": 1 - length(busy) / span if span else 0, "longest_ns": max(end - start for start, end, _ in rows),
        "named_rows": len(matching), "named_share": sum(matching) / total if total else 0,
        "named_median_ns": statistics.median(matching) if matching else 0,
    }


def table_gap(root, file, rank):
    """One idle interval of a rocprof table and when the next kernel was dispatched after it began."""
    rows = sorted(table(f"{root}/{file}"), key=lambda row: int(row["BeginNs"]))
    found = []
    end = int(rows[0]["EndNs"])
    for row in rows[1:]:
        begin = int(row["BeginNs"])
        if begin > end:
            found.append((begin - end, end, int(row["DispatchNs"]) - end))
        end = max(end, int(row["EndNs"]))
    size, start, dispatched = sorted(found, reverse=True)[rank]
    return {"start_ns": start, "length_ns": size, "dispatched_from_gap_start_ns": dispatched}


def folder_idle(root, file, pattern):
    """Idle time between the kernels and copies of a folder of rocprofv3 tables, and the share of it that matching calls and ranges cover."""
    read = lambda name: intervals(f"{root}/{file}/{name}.csv") if pathlib.Path(root, file, f"{name}.csv").is_file() else []
    busy = union([(start, end) for name in ("kernel_trace", "memory_copy_trace") for start, end, _ in read(name)])
    found = union([(start, end) for name in ("hip_api_trace", "marker_api_trace") for start, end, function in read(name) if re.search(pattern, function)])
    idle = busy[-1][1] - busy[0][0] - length(busy)
    covered = sum(overlap(found, before[1], after[0]) for before, after in zip(busy, busy[1:]))
    return {"idle_ns": idle, "covered_ns": covered, "covered_share_of_idle": covered / idle if idle else 0.0}


def nsys_idle(root, file, pattern):
    """Idle time between the kernels and copies of an Nsight Systems export (packed), and the share of it that matching calls and ranges cover."""
    with tempfile.NamedTemporaryFile(suffix=".sqlite") as plain:
        plain.write(gzip.decompress(pathlib.Path(root, file).read_bytes()))
        plain.flush()
        base = database(plain.name)
        busy = union(base.execute("select start, end from CUPTI_ACTIVITY_KIND_KERNEL union all select start, end from CUPTI_ACTIVITY_KIND_MEMCPY").fetchall())
        events = base.execute("select start, end, value from CUPTI_ACTIVITY_KIND_RUNTIME join StringIds on nameId = id union all "
                              "select start, end, value from OSRT_API join StringIds on nameId = id union all select start, end, text from NVTX_EVENTS").fetchall()
        base.close()
    found = union([(start, end) for start, end, name in events if re.search(pattern, name)])
    idle = busy[-1][1] - busy[0][0] - length(busy)
    covered = sum(overlap(found, before[1], after[0]) for before, after in zip(busy, busy[1:]))
    return {"idle_ns": idle, "covered_ns": covered, "covered_share_of_idle": covered / idle if idle else 0.0}


def columns(root, file):
    rows = table(f"{root}/{file}")
    names = list(rows[0]) if rows else []
    times = [name for name in names if re.search(r"(?i)^(beginns|start_timestamp|dispatchns)$", name)]
    counters = [name for name in names if re.match(r"^(SQ|TCC|TCP|TA|TD|GRBM|SPI|CPC|CPF|FETCH|WRITE|Fetch|Write|MemUnit)", name)]
    return {"rows": len(rows), "time_columns": len(times), "counter_columns": len(counters)}


def runs_in_table(root, file):
    """Signs that a table holds many runs: processes or threads, and busy time beside the span."""
    rows = table(f"{root}/{file}")
    busy = union([(start, end) for start, end, _ in intervals(f"{root}/{file}")])
    return {
        "rows": len(rows), "threads": len({row["Thread_Id"] for row in rows}),
        "agents": len({row["Agent_Id"] for row in rows}),
        "span_ns": busy[-1][1] - busy[0][0], "busy_ns": length(busy),
    }


def fetched(root, counters, times, kernel, peak_gbps):
    """Bandwidth of a kernel: FETCH_SIZE and WRITE_SIZE (KiB) of a counter run over the time of a plain run."""
    counted = [row for row in table(f"{root}/{counters}") if re.search(kernel, row["KernelName"])]
    kilobytes = statistics.median(float(row["FETCH_SIZE"]) + float(row["WRITE_SIZE"]) for row in counted)
    median = statistics.median(end - start for start, end, name in intervals(f"{root}/{times}") if re.search(kernel, name))
    rate = kilobytes * 1024 / median
    return {"median_ns": median, "bytes": kilobytes * 1024, "gbps": rate, "share_of_peak_bytes": rate / peak_gbps}


def moe_kernel(root, counters, times, kernel, peak_gbps):
    """One kernel of the mixture-of-experts tables by the start of its name, which carries its configuration."""
    row = next(row for row in table(f"{root}/{counters}") if row["Kernel_Name"].startswith(kernel))
    timed = next(
        item for item in table(f"{root}/{times}")
        if item["Kernel_Name"] == row["Kernel_Name"] and item["Dispatch_Id"] == row["Dispatch_Id"]
    )
    duration = int(timed["End_Timestamp"]) - int(timed["Start_Timestamp"])
    moved = (float(row["FETCH_SIZE"]) + float(row["WRITE_SIZE"])) * 1024
    operations = 512 * sum(
        float(row["SQ_INSTS_VALU_MFMA_MOPS_" + kind] or 0) for kind in ("F8", "BF16", "F16", "F32", "I8")
    )
    return {
        "duration_ns": duration, "gbps": moved / duration, "share_of_peak_bytes": moved / duration / peak_gbps,
        "tflops": operations / duration / 1e3, "flops_per_byte": operations / moved,
        "mfma_util_percent": float(row["MfmaUtil"]), "occupancy_percent": float(row["OccupancyPercent"]),
    }


def compute_dispatch(root, folder, dispatch, peak_gbps, read_bytes=64):
    """Bytes at the fabric and bandwidth of one dispatch of a rocprof-compute workload; gfx950 reads 128 bytes at a time."""
    row = table(f"{root}/{folder}/pmc_perf.csv")[dispatch]
    prefix = "TCC_EA0_" if "TCC_EA0_RDREQ_sum" in row else "TCC_EA_"
    reads, small = float(row[prefix + "RDREQ_sum"]), float(row[prefix + "RDREQ_32B_sum"])
    large = min(float(row.get("TCC_BUBBLE_sum") or 0), reads)
    writes, full = float(row[prefix + "WRREQ_sum"]), float(row[prefix + "WRREQ_64B_sum"])
    moved = large * 128 + (reads - large - small) * read_bytes + small * 32 + full * 64 + (writes - full) * 32
    duration = float(row["End_Timestamp"]) - float(row["Start_Timestamp"])
    values = {"duration_ns": duration, "bytes": moved}
    if duration > 0:
        values.update({"gbps": moved / duration, "share_of_peak_bytes": moved / duration / peak_gbps})
    return values


def rpd_gap(root, file, rank, pattern="."):
    """One idle interval of an RPD database and the calls that cover it."""
    base = database(f"{root}/{file}")
    busy = union(base.execute("select start, end from rocpd_op").fetchall())
    gaps = sorted(((after[0] - before[1], before[1], after[0]) for before, after in zip(busy, busy[1:])), reverse=True)
    size, start, end = gaps[rank]
    calls = base.execute(
        "select a.start, a.end, s.string from rocpd_api a join rocpd_string s on s.id = a.apiName_id"
    ).fetchall()
    every = union([(a, b) for a, b, _ in calls])
    named = union([(a, b) for a, b, name in calls if re.search(pattern, name)])
    return {
        "start_ns": start, "length_ns": size, "any_call_share": overlap(every, start, end) / size,
        "named_share": overlap(named, start, end) / size,
    }


def rpd_summary(root, file):
    base = database(f"{root}/{file}")
    rows = base.execute(
        "select o.start, o.end, s.string from rocpd_op o join rocpd_string s on s.id = o.opType_id"
    ).fetchall()
    busy = union([(start, end) for start, end, _ in rows])
    span = busy[-1][1] - busy[0][0]
    kernels = sum(end - start for start, end, kind in rows if kind == "KernelExecution")
    copies = sum(end - start for start, end, kind in rows if kind.startswith("Copy"))
    return {
        "span_ns": span, "idle_share": 1 - length(busy) / span, "kernel_sum_ns": kernels, "copy_sum_ns": copies,
        "kernels": sum(1 for row in rows if row[2] == "KernelExecution"),
        "longest_gap_ns": max(after[0] - before[1] for before, after in zip(busy, busy[1:])),
    }


def nsys_rows(root, file):
    base = database(f"{root}/{file}")
    names = dict(base.execute("select id, value from StringIds"))
    device = []
    for kind in ("KERNEL", "MEMCPY", "MEMSET"):
        device += base.execute(f"select start, end, correlationId from CUPTI_ACTIVITY_KIND_{kind}").fetchall()
    calls = [
        (start, end, names[name])
        for start, end, name in base.execute("select start, end, nameId from CUPTI_ACTIVITY_KIND_RUNTIME")
    ]
    ranges = [
        (start, end, text or names.get(key, ""))
        for start, end, text, key in base.execute("select start, end, text, textId from NVTX_EVENTS where end is not null")
    ]
    return sorted(device), calls, ranges


def nsys_gap(root, file, rank, pattern):
    device, calls, ranges = nsys_rows(root, file)
    busy = union([(start, end) for start, end, _ in device])
    gaps = sorted(((after[0] - before[1], before[1], after[0]) for before, after in zip(busy, busy[1:])), reverse=True)
    size, start, end = gaps[rank]
    named = union([(a, b) for a, b, name in calls + ranges if re.search(pattern, name)])
    return {"start_ns": start, "length_ns": size, "named_share": overlap(named, start, end) / size}


def nsys_summary(root, file, pattern):
    device, calls, ranges = nsys_rows(root, file)
    busy = union([(start, end) for start, end, _ in device])
    span = busy[-1][1] - busy[0][0]
    named = union([(a, b) for a, b, name in calls + ranges if re.search(pattern, name)])
    return {
        "device_rows": len(device), "span_ns": span, "busy_ns": length(busy), "idle_share": 1 - length(busy) / span,
        "named_share_of_span": overlap(named, busy[0][0], busy[-1][1]) / span,
    }


def text_facts(root, file, patterns):
    """How often each pattern occurs in a text file, and its size."""
    with open(f"{root}/{file}", encoding="utf-8", errors="replace") as stream:
        text = stream.read()
    return {"bytes": len(text.encode()), **{name: len(re.findall(pattern, text)) for name, pattern in patterns.items()}}


def migraphx_report(root, file):
    """Times of the instructions of a performance report: the whole, the products, and the typical small kernel."""
    with open(f"{root}/{file}", encoding="utf-8") as stream:
        text = stream.read()
    body = text[: text.index("Summary:")]
    kernels = [float(time) for time in re.findall(r"= gpu::\w+.*: ([0-9.e-]+)ms", body)]
    return {
        "kernels": len(kernels), "kernels_ms": sum(kernels), "smallest_kernel_ms": min(kernels),
        "total_ms": float(re.search(r"Total time: ([0-9.]+)ms", text).group(1)),
    }


def pair_tables(root, file, other, kernel, grid="grd"):
    """Median time and grid of a kernel, and of the other kernels, in two rocprof tables."""
    values = {}
    for name, path in (("a", file), ("b", other)):
        rows = table(f"{root}/{path}")
        hit = [row for row in rows if re.search(kernel, row["KernelName"])]
        rest = [row for row in rows if not re.search(kernel, row["KernelName"])]
        if "EndNs" in rows[0]:
            values[f"{name}_median_ns"] = statistics.median(int(row["EndNs"]) - int(row["BeginNs"]) for row in hit)
            values[f"{name}_rest_ns"] = sum(int(row["EndNs"]) - int(row["BeginNs"]) for row in rest)
        if "FETCH_SIZE" in rows[0]:
            values[f"{name}_fetch_kib"] = statistics.median(float(row["FETCH_SIZE"]) for row in hit)
        values[f"{name}_grid"] = int(hit[0][grid])
        values[f"{name}_rest_grids"] = sum(int(row[grid]) for row in rest)
    return values
