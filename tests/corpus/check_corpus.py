"""Checks the corpus of verdicts: its schema, its split, and every recorded value against the raw data.

usage: check_corpus.py [ID...]   (AACO_REAL_DATA: the raw data, default shared/data beside the project)
"""

import hashlib
import math
import os
import pathlib
import sys

import yaml

import queries
import table_queries

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DATA = pathlib.Path(os.environ.get("AACO_REAL_DATA", ROOT.parent / "shared" / "data"))

CLASSES = {
    "host", "launch", "compute", "memory", "communication", "transfer", "throttling", "warmup", "mixed", "cannot-tell",
}
CAUSES = {
    # of the host
    "data-loading", "python", "framework", "launch", "launch-latency", "graph-launch", "small-kernels", "small-copies", "small-fills", "synchronous-copy",
    "synchronisation", "allocation", "pinned-allocation", "host-operator", "host-code", "optimiser-host", "gc", "checkpoint", "logging", "lock", "sleep", "disk", "profiler", "unknown",
    # of warm-up
    "first-use", "jit-compilation", "autotuning", "graph-capture", "library-initialisation", "first-touch",
    # of the device
    "stream-event", "stream-value", "host-function", "peer-device", "device-latency", "device-busy", "host-copies", "peer-copies", "exposed-collectives", "casts", "layout-changes", "elementwise", "matrix-products", "convolutions", "stencil", "weights", "matrix-rate",
    "memory-bandwidth", "collective", "compute-and-communication", "straggler",
    # why a file or kernel cannot tell
    "graph-capture", "counter-pass", "no-timeline", "collectives-only", "no-device-events", "single-kernel", "statistics",
    "empty-file", "merged-runs", "separate-windows", "cut-file", "kernels-only", "host-calls-only", "copies-only", "allocations-only", "markers-only",
    "sampled", "no-times", "no-time", "no-workload", "no-work-known", "far-from-both",
    # of pairs and coverage
    "kernel-faster", "kernel-slower", "less-traffic", "other-device", "noise",
    "linked", "launch-only", "unlinked", "graph-replay", "flops-by-shape",
}
KINDS = {"headline", "gap", "kernel", "pair", "coverage"}
KEYS = {"id", "file", "kind", "question", "query", "values", "truth", "proof", "split", "origin"}
TRUTH_KEYS = {"class", "cause", "seconds", "must_not", "frame"}
RELATIVE_TOLERANCE = 1e-4  # values are stored with six digits
MAX_CASES_PER_FILE = 10


def split_of(file):
    """A third of the files is held: chosen by a hash of the name, so that no case of them is used while tuning."""
    return "held" if hashlib.sha256(file.encode()).digest()[0] % 3 == 0 else "tune"


def query_of(name):
    return getattr(queries, name, None) or getattr(table_queries, name, None)


def problems(case):
    """What is wrong with one case, in words; an empty list for a valid one."""
    found = []
    for key in KEYS - set(case):
        found.append(f"no {key}")
    for key in set(case) - KEYS - {"others"}:
        found.append(f"unknown key {key}")
    if found:
        return found
    truth = case["truth"]
    found += [f"unknown key of truth {key}" for key in set(truth) - TRUTH_KEYS]
    needed = ("cause",) if case["kind"] == "coverage" else ("class", "cause")
    found += [f"truth without {key}" for key in needed if not truth.get(key)]
    if case["kind"] not in KINDS:
        found.append(f"unknown kind {case['kind']}")
    if "class" in needed and truth.get("class") not in CLASSES:
        found.append(f"unknown class {truth.get('class')}")
    if case["origin"] not in ("real-other", "own"):
        found.append(f"unknown origin {case['origin']}")
    if (case["origin"] == "own") != case["file"].startswith(("pytorch/", "own/")):
        found.append("origin and folder contradict each other")
    if case["split"] != split_of(case["file"]):
        found.append("split is not the one of the file")
    answers = {truth.get("class"), truth.get("cause"), *truth.get("seconds", [])}
    if truth.get("cause") and truth["cause"] not in CAUSES:
        found.append(f"unknown cause {truth['cause']}")
    unknown = set(truth.get("seconds", [])) - CLASSES - CAUSES
    if unknown:
        found.append(f"unknown second answer {', '.join(sorted(unknown))}")
    both = answers & set(truth.get("must_not", []))
    if both:
        found.append(f"true and false at once: {', '.join(sorted(map(str, both)))}")
    if query_of(case["query"].get("call", "")) is None:
        found.append(f"unknown query {case['query'].get('call')}")
    if not case["values"] or not case["proof"]:
        found.append("no values or no proof")
    if case["kind"] == "gap" and not {"start_ns", "length_ns"} <= set(case["values"]):
        found.append("a gap needs start_ns and length_ns")
    return found


def differences(expected, actual):
    """Values of a query that are not the recorded ones."""
    found = [f"{key}: missing or new" for key in set(expected) ^ set(actual)]
    for key in set(expected) & set(actual):
        want, got = expected[key], actual[key]
        if isinstance(want, str) or isinstance(got, str):
            same = want == got
        else:
            same = math.isclose(float(want), float(got), rel_tol=RELATIVE_TOLERANCE, abs_tol=1e-9)
        if not same:
            found.append(f"{key}: recorded {want}, computed {got}")
    return sorted(found)


def root_of(case, data):
    """Files of own/ are kept beside the cases: scripts/oracle.sh made them."""
    return HERE if case["file"].startswith("own/") else data


def run(case, data):
    query = query_of(case["query"]["call"])
    arguments = dict(case["query"].get("args", {}))
    if "file" in query.__code__.co_varnames[: query.__code__.co_argcount]:
        arguments["file"] = case["file"]
    return query(str(root_of(case, data)), **arguments)


def corpus():
    cases = []
    for path in sorted(HERE.glob("*.yaml")):
        document = yaml.load(path.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        assert document["schema"] == 1, path
        cases += document["cases"]
    return cases


def untrue(cases, data):
    """Differences between recorded and computed values, one line each; every file is parsed once."""
    found = []
    for case in sorted(cases, key=lambda case: case["file"]):
        found += [f"{case['id']}: {text}" for text in differences(case["values"], run(case, data))]
    return found


def main():
    cases = [case for case in corpus() if not sys.argv[1:] or case["id"] in sys.argv[1:]]
    found = [f"{case.get('id')}: {text}" for case in cases for text in problems(case)]
    if DATA.is_dir():
        found += untrue(cases, DATA)
    else:
        print(f"skipped: no real data at AACO_REAL_DATA; {len(cases)} cases not computed again")
    for line in found:
        print(line)
    print(f"{len(cases)} cases, {len(found)} problems")
    return 1 if found or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
