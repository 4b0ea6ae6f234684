"""A host thread that launches work on a device, written as a Kineto trace or as the CSV tables of rocprofv3."""

import contextlib
import csv
import gzip
import io
import json
import pathlib
import random

PID = 4711
FIRST = 5_000_000.0  # us
DEVICES = {
    "H100": {"name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85018279936, "computeMajor": 9, "computeMinor": 0, "numSms": 132},
    "A100": {"name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85031714816, "computeMajor": 8, "computeMinor": 0, "numSms": 108},
    "MI300X": {"name": "AMD Instinct MI300X", "totalGlobalMem": 206141652992, "computeMajor": 9, "computeMinor": 4, "numSms": 304},
}


class Host:
    """Calls advance the clock of the thread; the device runs what was launched, in the order of each stream. Times in us."""

    def __init__(self, name, device="H100", python=True, thread=PID):
        self.draw = random.Random(name)
        self.device, self.python, self.thread = device, python, thread
        self.hip = device.startswith("MI")
        self.now, self.streams, self.correlation, self.events, self.open = FIRST, {}, 1, [], 0

    def varied(self, time):
        return time * self.draw.uniform(0.9, 1.1)

    def add(self, category, name, start, length, thread=None, **more):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": PID, "tid": thread or self.thread, "ts": round(start, 3), "dur": round(length, 3),
                            "args": more})

    @contextlib.contextmanager
    def inside(self, category, name, **more):
        """Everything in the block happens inside an event: python_function, cpu_op, user_annotation or cuda_runtime."""
        start = self.now
        self.now += 0.5
        yield
        self.now += 0.5
        if category != "python_function" or self.python:
            self.add(category, name, start, self.now - start, **more)

    def call(self, category, name, time, **more):
        with self.inside(category, name, **more):
            self.now += self.varied(time)

    def api(self, name, time=4, **more):
        """A call of the GPU runtime; its time is not varied, so that nested sums stay exact."""
        self.call("cuda_runtime", ("hip" if self.hip else "cuda") + name, time, **more)

    def launch(self, kernel, time, stream=7, call=4.5, api="LaunchKernel", after=0.0, category="kernel", **more):
        """One launch; the kernel starts 3 us after the call at the earliest, after the stream's work and not before `after`."""
        self.correlation += 1
        start = self.now
        self.now += call
        self.add("cuda_runtime", ("hip" if self.hip else "cuda") + api, start, call, correlation=self.correlation)
        begin = max(self.now + 3, self.streams.get(stream, 0) + 1.2, after)
        length = self.varied(time)
        self.add(category, kernel, begin, length, thread=stream, device=0, stream=stream, correlation=self.correlation, **more)
        self.events[-1]["pid"] = 0
        self.streams[stream] = begin + length
        return begin + length

    def replayed(self, kernel, time, stream=7):
        """A further kernel of the graph that the last launch replays."""
        begin, length = self.streams[stream] + 1.2, self.varied(time)
        self.add("kernel", kernel, begin, length, thread=stream, device=0, stream=stream, correlation=self.correlation)
        self.events[-1]["pid"] = 0
        self.streams[stream] = begin + length

    def operator(self, name, kernel, time, host=14, shapes=None, types=None, **more):
        """An operator that launches one kernel."""
        inputs = {"Input Dims": shapes, "Input type": types or ["c10::BFloat16"] * len(shapes)} if shapes else {}
        with self.inside("cpu_op", name, **inputs):
            self.now += self.varied(host * 0.6)
            self.launch(kernel, time, **more)
            self.now += self.varied(host * 0.4)

    def copy(self, kind, bytes_, gb_per_s, api="MemcpyAsync", stream=7, wait=False, call=5):
        """A copy; `wait`: the call returns when the copy ends."""
        end = self.launch(f"Memcpy {kind}", bytes_ / gb_per_s / 1000, stream=stream, call=call, api=api, category="gpu_memcpy", bytes=bytes_)
        if wait:
            longer = max(0.0, end - self.now) + 2
            place = next(event for event in reversed(self.events) if event["cat"] == "cuda_runtime")
            place["dur"] = round(place["dur"] + longer, 3)
            self.now += longer

    def synchronise(self, name="DeviceSynchronize"):
        start = self.now
        self.now = max(self.now + 2, max(self.streams.values(), default=0) + 4)
        self.add("cuda_runtime", ("hip" if self.hip else "cuda") + name, start, self.now - start)

    def kineto(self):
        document = {"schemaVersion": 1, "deviceProperties": [{"id": 0, **DEVICES[self.device]}], "with_stack": int(self.python), "record_shapes": 1,
                    "displayTimeUnit": "ms", "traceEvents": sorted(self.events, key=lambda event: (event["ts"], -event["dur"]))}
        return json.dumps(document, separators=(",", ":"))

    def write_kineto(self, path):
        packed = io.BytesIO()
        with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as stream:
            stream.write(self.kineto().encode())
        pathlib.Path(path).write_bytes(packed.getvalue())

    def write_rocprofv3(self, folder):
        """kernel, copy, HIP and marker tables; annotations become markers."""
        folder = pathlib.Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        head = ["Domain", "Function", "Process_Id", "Thread_Id", "Correlation_Id", "Start_Timestamp", "End_Timestamp"]
        tables = {"hip_api_trace": [head], "marker_api_trace": [head],
                  "kernel_trace": [["Kind", "Agent_Id", "Queue_Id", "Stream_Id", "Thread_Id", "Dispatch_Id", "Kernel_Id", "Kernel_Name", "Correlation_Id", "Start_Timestamp",
                                    "End_Timestamp", "Workgroup_Size_X", "Workgroup_Size_Y", "Workgroup_Size_Z", "Grid_Size_X", "Grid_Size_Y", "Grid_Size_Z"]],
                  "memory_copy_trace": [["Kind", "Direction", "Stream_Id", "Source_Agent_Id", "Destination_Agent_Id", "Correlation_Id", "Start_Timestamp", "End_Timestamp"]]}
        for number, event in enumerate(sorted(self.events, key=lambda event: event["ts"]), 1):
            times = [int(event["ts"] * 1000), int((event["ts"] + event["dur"]) * 1000)]
            correlation = event["args"].get("correlation", 100000 + number)
            if event["cat"] == "kernel":
                tables["kernel_trace"].append(["KERNEL_DISPATCH", "Agent 2", event["tid"], event["tid"], self.thread, number, 1, event["name"], correlation, *times,
                                               256, 1, 1, 262144, 1, 1])
            elif event["cat"] == "gpu_memcpy":
                to_device = "HtoD" in event["name"]
                tables["memory_copy_trace"].append(["MEMORY_COPY", "MEMORY_COPY_HOST_TO_DEVICE" if to_device else "MEMORY_COPY_DEVICE_TO_HOST", event["tid"],
                                                    "Agent 0" if to_device else "Agent 2", "Agent 2" if to_device else "Agent 0", correlation, *times])
            elif event["cat"] == "cuda_runtime":
                tables["hip_api_trace"].append(["HIP_RUNTIME_API_EXT", event["name"], PID, event["tid"], correlation, *times])
            elif event["cat"] == "user_annotation":
                tables["marker_api_trace"].append(["MARKER_CORE_RANGE_API", event["name"], PID, event["tid"], correlation, *times])
        for name, rows in tables.items():
            if len(rows) > 1:
                with (folder / f"{name}.csv").open("w", newline="") as stream:
                    csv.writer(stream, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n").writerows(rows)
