"""Queries on raw Kineto files. Each takes the data root and returns the numbers that prove a case of the corpus.

A case names its query by function and arguments, so the numbers can be computed again wherever the data are.
"""

import re
import statistics

import kineto_trace
from kineto_trace import length, load, overlap, union


def trace(root, file):
    return load(f"{root}/{file}")


def share(part, whole):
    return part / whole if whole else 0.0


def device_summary(root, file, device=None):
    """Span, busy time and counts of the device, and the part of the whole file that the device was busy."""
    data = trace(root, file)
    first, last = data.span()
    values = data.summary(device) or {"kernels": 0, "copies": 0}
    values["file_span_ns"] = last - first
    values["busy_share_of_file"] = share(values.get("busy_ns", 0), last - first)
    values["host_events"] = sum(
        len(rows) for name, rows in data.by_category.items()
        if name in kineto_trace.RUNTIME_CATEGORIES or name in ("cpu_op", "python_function")
    )
    return values


def idle_covered(root, file, pattern, device=None):
    """Share of the idle time of the device which host events matching a pattern cover, on any thread."""
    data = trace(root, file)
    found = union([
        (event.start, event.end) for rows in data.by_thread.values() for event in rows
        if re.search(pattern, event.name)
    ])
    gaps = data.gaps(device)
    idle = sum(gap[0] for gap in gaps)
    covered = sum(overlap(found, start, end) for _, start, end in gaps)
    return {"idle_ns": idle, "covered_ns": covered, "covered_share_of_idle": share(covered, idle)}


def host_time(root, file, pattern):
    """Union of the host events whose name matches, and their number."""
    data = trace(root, file)
    rows = [event for events in data.by_thread.values() for event in events if re.search(pattern, event.name)]
    first, last = data.span()
    merged = length(union([(event.start, event.end) for event in rows]))
    return {
        "count": len(rows), "union_ns": merged, "share_of_file": share(merged, last - first),
        "longest_ns": max((event.end - event.start for event in rows), default=0),
    }


def before_device(root, file, pattern):
    """Time of the file before the first event of the device, and the part that matching host events cover."""
    data = trace(root, file)
    first, last = data.span()
    start = data.busy()[0][0]
    found = union([
        (event.start, event.end) for rows in data.by_thread.values() for event in rows
        if re.search(pattern, event.name)
    ])
    return {
        "before_device_ns": start - first, "share_of_file": share(start - first, last - first),
        "covered_share": share(overlap(found, first, start), start - first),
    }


def kernel_share(root, file, pattern):
    data = trace(root, file)
    total = sum(event.end - event.start for event in data.kernels)
    rows = [event for event in data.kernels if re.search(pattern, event.name)]
    return {
        "kernels": len(rows), "share_of_kernel_time": share(sum(e.end - e.start for e in rows), total),
        "names": len({event.name for event in rows}),
    }


def launch_rate(root, file):
    """What one kernel costs the device and the host: mean duration, and device span divided by kernels."""
    data = trace(root, file)
    rows = data.summary()
    launches = [call for call in data.runtime_calls if re.search("Launch", call.name)]
    return {
        "kernels": rows["kernels"],
        "mean_kernel_ns": rows["kernel_sum_ns"] / rows["kernels"],
        "span_per_kernel_ns": rows["device_span_ns"] / rows["kernels"],
        "launch_call_share_of_span": share(sum(e.end - e.start for e in launches), rows["device_span_ns"]),
        "longest_launch_ns": max(e.end - e.start for e in launches),
    }


def gap(root, file, rank, pattern=None, device=None):
    """One idle interval of the device (rank 0 is the longest) and what the launching thread did in it."""
    data = trace(root, file)
    size, start, end = data.gaps(device)[rank]
    events = data.device_events(device)
    following = next(event for event in events if event.start == end)
    call = data.launch(following)
    values = {"start_ns": start, "length_ns": size, "from_first_ns": start - events[0].start}
    if call is None:
        return {**values, "launch": "none"}
    thread = (call.pid, call.tid)
    values.update({"launch": call.name, "launch_from_gap_start_ns": call.start - start})
    inside = data.thread_work(thread, start, end)
    values["host_events_covering_half"] = len(inside)
    if pattern:
        found = union([
            (event.start, event.end) for event in data.by_thread[thread] if re.search(pattern, event.name)
        ])
        values["named_share"] = share(overlap(found, start, end), size)
        anywhere = union([
            (event.start, event.end) for rows in data.by_thread.values() for event in rows
            if re.search(pattern, event.name)
        ])
        values["named_share_any_thread"] = share(overlap(anywhere, start, end), size)
    return values


def exposed_communication(root, file):
    """Collective kernels, the part of them during which no other kernel ran, and the device's span."""
    data = trace(root, file)
    collective = union([(e.start, e.end) for e in data.kernels if "nccl" in e.name.lower()])
    other = union([(e.start, e.end) for e in data.kernels if "nccl" not in e.name.lower()])
    span = data.busy()[-1][1] - data.busy()[0][0]
    hidden = sum(overlap(other, start, end) for start, end in collective)
    return {
        "collective_ns": length(collective), "exposed_ns": length(collective) - hidden,
        "exposed_share_of_span": share(length(collective) - hidden, span),
        "other_kernels_share_of_span": share(length(other), span),
        "idle_share": 1 - share(length(data.busy()), span),
    }


def steps(root, file, pattern="^ProfilerStep"):
    data = trace(root, file)
    rows = [event for events in data.by_thread.values() for event in events if re.search(pattern, event.name)]
    times = [event.end - event.start for event in rows]
    return {
        "steps": len(times), "median_ns": statistics.median(times) if times else 0, "longest_ns": max(times, default=0),
    }


def kernel_work(root, file, kernel, dims, flops, moved_bytes, peak_tflops, peak_gbps):
    """Rates of the kernels of a name under an operator of given shapes; work is counted from the shapes."""
    data = trace(root, file)
    times = []
    for event in data.kernels:
        if not re.search(kernel, event.name):
            continue
        call = data.launch(event)
        above = data.operators_above(call) if call else []
        if any(str(operator.args.get("Input Dims", "")).startswith(dims) for operator in above):
            times.append(event.end - event.start)
    median = statistics.median(times)
    return {
        "kernels": len(times), "median_ns": median, "tflops": flops / median / 1e3, "gbps": moved_bytes / median,
        "flops_per_byte": flops / moved_bytes, "ridge_flops_per_byte": peak_tflops * 1e3 / peak_gbps,
        "share_of_peak_flops": flops / median / 1e3 / peak_tflops, "share_of_peak_bytes": moved_bytes / median / peak_gbps,
    }


def kernel_time(root, file, kernel):
    """Durations of the kernels of a name, where neither shapes nor counters tell their work."""
    rows = [event for event in trace(root, file).kernels if re.search(kernel, event.name)]
    times = [event.end - event.start for event in rows]
    return {
        "kernels": len(times), "median_ns": statistics.median(times),
        "with_shapes": sum(1 for e in trace(root, file).by_category["cpu_op"] if e.args.get("Input Dims")),
    }


def linked(root, file):
    """Share of kernel time with a launch in the file, and with an operator around that launch."""
    data = trace(root, file)
    external = {}
    for event in data.by_category["cpu_op"]:
        key = event.args.get("External id", event.args.get("external id"))
        if key:
            external[key] = event
    total = launched = operated = 0
    for event in data.kernels:
        time = event.end - event.start
        total += time
        call = data.launch(event)
        launched += time if call else 0
        key = event.args.get("External id", event.args.get("external id"))
        if key in external or (call and data.operators_above(call)):
            operated += time
    return {
        "kernels": len(data.kernels), "launch_share": share(launched, total), "operator_share": share(operated, total),
    }


def graph_capture(root, file, capture):
    """Replayed kernels of a graph beside the launches recorded while it was captured, matched in order."""
    run, recorded = trace(root, file), trace(root, capture)
    executed = {event.args.get("correlation") for event in recorded.kernels}
    begin = next(e for e in recorded.runtime_calls if e.name.endswith("StreamBeginCapture"))
    finish = next(e for e in recorded.runtime_calls if e.name.endswith("StreamEndCapture"))
    launches = [
        call.args["kernel"] for call in recorded.runtime_calls
        if "kernel" in call.args and begin.start < call.start < finish.start
    ]
    replayed = [e for e in run.kernels if run.launch(e) and "GraphLaunch" in run.launch(e).name]
    total = sum(e.end - e.start for e in run.kernels)
    return {
        "captured_launches": len(launches), "replayed_kernels": len(replayed),
        "same_name_in_order": sum(1 for a, b in zip(launches, replayed) if a == b.name),
        "kernels_run_in_capture_file": len(executed),
        "replayed_share_of_kernel_time": share(sum(e.end - e.start for e in replayed), total),
    }


def flops_of_products(root, file, operators):
    """Multiply-adds, times two, of matrix products by their recorded shapes."""
    total = count = 0
    for event in trace(root, file).by_category["cpu_op"]:
        sizes = event.args.get("Input Dims")
        if event.name not in operators or not sizes:
            continue
        left, right = [size for size in sizes if len(size) >= 2][:2]
        batch = left[0] if len(left) == 3 else 1
        total += 2 * batch * left[-2] * left[-1] * right[-1]
        count += 1
    return {"products": count, "gflop": total / 1e9}


def pair_steps(root, file, other, pattern, host):
    """Steps, kernel time and the time of a named host activity in two traces."""
    values = {}
    for name, path in (("a", file), ("b", other)):
        data = trace(root, path)
        values[f"{name}_step_median_ns"] = steps(root, path, pattern)["median_ns"]
        values[f"{name}_kernel_sum_ns"] = sum(e.end - e.start for e in data.kernels)
        values[f"{name}_host_ns"] = host_time(root, path, host)["union_ns"]
        values[f"{name}_kernels"] = len(data.kernels)
    return values


def pair_devices(root, file, other):
    values = {}
    for name, path in (("a", file), ("b", other)):
        document = trace(root, path).document
        values[f"{name}_device"] = (document.get("deviceProperties") or [{}])[0].get("name", "none")
        values[f"{name}_world"] = (document.get("distributedInfo") or {}).get("world_size", 0)
        values[f"{name}_kernel_sum_ns"] = sum(e.end - e.start for e in trace(root, path).kernels)
    names = [set(trace(root, path).time_by_name()) for path in (file, other)]
    values["names_in_both"] = len(names[0] & names[1])
    return values


def self_time(root, file, pattern):
    """Exclusive time of matching host events, and of everything the host recorded."""
    data = trace(root, file)
    first, last = data.span()
    matching = total = count = 0
    for thread in data.by_thread:
        for (_, name), time in data.top_level_time(thread, first, last).items():
            total += time
            matching += time if re.search(pattern, name) else 0
    count = sum(1 for event in data.by_category["cpu_op"])
    return {"matching_ns": matching, "share_of_recorded": share(matching, total), "operators": count}


def flops_of_capture(root, file, capture, operators):
    """FLOPs of the products recorded while the graph that a trace replays was captured."""
    return flops_of_products(root, capture, operators)
