"""The list of kernel names with known family and library: hashes only, the names stay in the raw data."""

import hashlib
import re

import kineto_trace
import table_queries

COLUMNS = ("split", "family", "library", "also_family", "also_library", "sha256", "file")


def digest(name):
    return hashlib.sha256(name.encode()).hexdigest()


def split_of(sha256):
    """A third of the names is held, chosen by their hash."""
    return "held" if int(sha256[:2], 16) % 3 == 0 else "tune"


def rows(path):
    found = []
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            fields = line.split("\t")
            if len(fields) != len(COLUMNS):
                raise ValueError(f"{path.name}: {len(fields)} columns, expected {len(COLUMNS)}")
            found.append(dict(zip(COLUMNS, fields)))
    return found


def vocabulary(root):
    """Ids of families and libraries that the patterns use; what has none of them is "other" and an empty library."""
    families, libraries = {"other"}, {""}
    for path in (root / "data" / "kernels").glob("*.yaml"):
        text = path.read_text()
        families |= set(re.findall(r"family: ([a-z_]+)", text))
        libraries |= {name.strip(' "') for name in re.findall(r"library: ([^,}\n]+)", text)}
    return {"family": families, "library": libraries}


def problems(row, known):
    found = []
    for column in ("family", "library"):
        if row[column] not in known[column]:
            found.append(f"unknown {column} {row[column]}")
    if not re.fullmatch(r"[0-9a-f]{64}", row["sha256"]):
        found.append("no sha256")
    elif row["split"] != split_of(row["sha256"]):
        found.append("split is not the one of the hash")
    return found


def fixture_names(root):
    lines = (root / "tests" / "fixtures" / "kernel_names.tsv").read_text().splitlines()
    return [line.split("\t")[3] for line in lines if not line.startswith("#") and line.count("\t") == 3]


def kernel_names(path):
    """Every kernel name of one raw file."""
    if path.endswith(".csv"):
        return {row[name] for row in table_queries.table(path) for name in ("KernelName", "Kernel_Name") if row.get(name)}
    if path.endswith(".rpd"):
        query = "select string from rocpd_op join rocpd_string on rocpd_string.id = description_id"
        return {name for (name,) in table_queries.database(path).execute(query)}
    if path.endswith(".sqlite"):
        query = "select distinct value from StringIds join CUPTI_ACTIVITY_KIND_KERNEL on demangledName = StringIds.id"
        return {name for (name,) in table_queries.database(path).execute(query)}
    trace = kineto_trace.load(path)
    launched = {call.args["kernel"] for call in trace.runtime_calls if "kernel" in call.args}
    return {event.name for event in trace.kernels} | launched


def look_up(table, data):
    """Hash -> name for the rows of a table, from the files that the rows name."""
    wanted = {row["sha256"] for row in table}
    found = {}
    for file in sorted({row["file"] for row in table}):
        for name in kernel_names(f"{data}/{file}"):
            key = digest(name)
            if key in wanted:
                found[key] = name
    return found
