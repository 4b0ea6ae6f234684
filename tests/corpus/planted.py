#!/usr/bin/env python3
"""Writes the planted traces (own/planted_*) and their cases (planted.yaml): planted.py --write. The tests check that both are up to date."""

import pathlib
import sys

import check_corpus
import planted_more  # noqa: F401 (registers its scenarios)
import planted_nsys
import queries
import table_queries
from planted_host import Host
from planted_scenarios import SCENARIOS

HERE = pathlib.Path(__file__).resolve().parent


def made(name):
    one = SCENARIOS[name]
    host = Host(name, one["device"], one["python"])
    one["make"](host)
    return host


def file_of(name):
    return f"own/planted_{name}" + {"kineto": ".json.gz", "nsys": ".sqlite.gz"}.get(SCENARIOS[name]["form"], "")


def write(name, root):
    host, path = made(name), pathlib.Path(root) / file_of(name)
    form = SCENARIOS[name]["form"]
    if form == "kineto":
        return host.write_kineto(path)
    if form == "nsys":
        return planted_nsys.write_nsys(host, path)
    host.write_rocprofv3(path)
    if form == "kernels":
        for table in path.glob("*.csv"):
            if table.name != "kernel_trace.csv":
                table.unlink()


def text(values):
    return "{" + ", ".join(f"{key}: {value:.6g}" if isinstance(value, float) else f"{key}: {value}" for key, value in values.items()) + "}"


def case(name, root):
    one, file = SCENARIOS[name], file_of(name)
    query = {"kineto": queries.idle_covered, "nsys": table_queries.nsys_idle}.get(one["form"], table_queries.folder_idle)
    values = query(str(root), file, one["pattern"])
    truth = f"class: {one['class']}, cause: {one['cause']}"
    if one["seconds"]:
        truth += f", seconds: [{', '.join(one['seconds'])}]"
    if one["frame"]:
        truth += f", frame: \"{one['frame']}\""
    return f"""  - id: planted_{name}.headline
    file: {file}
    kind: headline
    question: "What limits this trace?"
    query: {{call: {query.__name__}, args: {{pattern: "{one['pattern']}"}}}}
    values: {text(values)}
    truth: {{{truth}, must_not: [{', '.join(one['must_not'])}]}}
    proof: "Planted: scenario {name} of planted_scenarios.py, its truth stated before the program saw the trace."
    split: {check_corpus.split_of(file)}
    origin: own
"""


def document(root):
    head = "# Traces written by planted.py, each with one planted cause; the schema is in docs/formats/corpus.md.\nschema: 1\ncases:\n"
    return head + "".join(case(name, root) for name in SCENARIOS)


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(__doc__)
    for scenario in SCENARIOS:
        write(scenario, HERE)
    (HERE / "planted.yaml").write_text(document(HERE))
