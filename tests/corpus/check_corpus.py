"""Checks the corpus of verdicts: its schema, its split, and every recorded value against the raw data.

Without the data (AACO_REAL_DATA, or shared/data beside the project) the values are not computed again, and the
output says how many cases were skipped for it.
"""

import hashlib
import math
import os
import pathlib
import re
import sys
import unittest

import yaml

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import fingerprints  # noqa: E402
import kineto_trace  # noqa: E402
import queries  # noqa: E402
import table_queries  # noqa: E402

ROOT = HERE.parent.parent
DATA = pathlib.Path(os.environ.get("AACO_REAL_DATA", ROOT.parent / "shared" / "data"))

CLASSES = {
    "host", "launch", "compute", "memory", "communication", "transfer", "throttling", "warmup", "mixed", "cannot-tell",
}
KINDS = {"headline", "gap", "kernel", "pair", "coverage"}
KEYS = {"id", "file", "kind", "question", "query", "values", "truth", "proof", "split", "origin"}
TRUTH_KEYS = {"class", "cause", "seconds", "must_not"}
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
    found += [f"truth without {key}" for key in ("class", "cause") if not truth.get(key)]
    if case["kind"] not in KINDS:
        found.append(f"unknown kind {case['kind']}")
    if truth.get("class") not in CLASSES:
        found.append(f"unknown class {truth.get('class')}")
    if case["origin"] not in ("real-other", "own"):
        found.append(f"unknown origin {case['origin']}")
    if (case["origin"] == "own") != case["file"].startswith("pytorch/"):
        found.append("origin and folder contradict each other")
    if case["split"] != split_of(case["file"]):
        found.append("split is not the one of the file")
    answers = {truth.get("class"), truth.get("cause"), *truth.get("seconds", [])}
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


def run(case, data):
    query = query_of(case["query"]["call"])
    arguments = dict(case["query"].get("args", {}))
    if "file" in query.__code__.co_varnames[: query.__code__.co_argcount]:
        arguments["file"] = case["file"]
    return query(str(data), **arguments)


def corpus():
    cases = []
    for path in sorted(HERE.glob("*.yaml")):
        document = yaml.load(path.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        assert document["schema"] == 1, path
        cases += document["cases"]
    return cases


class Corpus(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cases = corpus()

    def test_every_case_is_valid(self):
        for case in self.cases:
            with self.subTest(case.get("id")):
                self.assertEqual(problems(case), [])

    def test_ids_are_unique(self):
        ids = [case["id"] for case in self.cases]
        self.assertEqual(len(ids), len(set(ids)))

    def test_size_and_spread(self):
        self.assertGreaterEqual(len(self.cases), 120)
        self.assertGreaterEqual(sum(case["origin"] == "real-other" for case in self.cases), 40)
        held = sum(case["split"] == "held" for case in self.cases) / len(self.cases)
        self.assertTrue(0.2 < held < 0.5, held)
        for file in {case["file"] for case in self.cases}:
            count = sum(case["file"] == file for case in self.cases)
            self.assertLessEqual(count, MAX_CASES_PER_FILE, file)

    def test_values_are_those_of_the_raw_data(self):
        if not DATA.is_dir():
            self.skipTest(f"no real data: {len(self.cases)} cases not computed again (AACO_REAL_DATA)")
        for case in sorted(self.cases, key=lambda case: case["file"]):  # Each file is parsed once.
            with self.subTest(case["id"]):
                self.assertEqual(differences(case["values"], run(case, DATA)), [])


class Refusals(unittest.TestCase):
    """A corpus that is wrong must not pass."""

    def setUp(self):
        self.case = next(case for case in corpus() if case["kind"] == "gap")

    def refuse(self, wanted, **changes):
        self.assertIn(wanted, problems({**self.case, **changes}))

    def test_missing_key(self):
        self.assertEqual(problems({key: self.case[key] for key in KEYS - {"proof"}}), ["no proof"])

    def test_unknown_key(self): self.refuse("unknown key color", color="red")

    def test_unknown_kind(self): self.refuse("unknown kind guess", kind="guess")

    def test_unknown_class(self): self.refuse("unknown class slow", truth={"class": "slow", "cause": "x"})

    def test_no_cause(self): self.refuse("truth without cause", truth={"class": "host", "cause": ""})

    def test_unknown_query(self): self.refuse("unknown query nothing", query={"call": "nothing"})

    def test_gap_without_time(self): self.refuse("a gap needs start_ns and length_ns", values={"idle": 1})

    def test_wrong_split(self):
        self.refuse("split is not the one of the file", split="held" if self.case["split"] == "tune" else "tune")

    def test_wrong_origin(self): self.refuse("origin and folder contradict each other", origin="own")

    def test_contradiction(self):
        self.refuse("true and false at once: host", truth={"class": "host", "cause": "x", "must_not": ["host"]})

    def test_other_number(self):
        self.assertEqual(differences({"a": 1.0}, {"a": 1.1}), ["a: recorded 1.0, computed 1.1"])

    def test_other_keys(self):
        self.assertEqual(differences({"a": 1}, {"b": 1}), ["a: missing or new", "b: missing or new"])

    def test_rounding_is_no_difference(self):
        self.assertEqual(differences({"a": 0.123457}, {"a": 0.1234567}), [])


class Fingerprints(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rows = fingerprints.rows(HERE / "fingerprints.tsv")

    def test_every_row_is_valid(self):
        known = fingerprints.vocabulary(ROOT)
        for row in self.rows:
            with self.subTest(row["sha256"]):
                self.assertEqual(fingerprints.problems(row, known), [])

    def test_names_are_distinct_and_many(self):
        self.assertGreaterEqual(len(self.rows), 300)
        self.assertEqual(len({row["sha256"] for row in self.rows}), len(self.rows))

    def test_names_are_not_in_the_fixture(self):
        fixture = {fingerprints.digest(name) for name in fingerprints.fixture_names(ROOT)}
        self.assertEqual([row["sha256"] for row in self.rows if row["sha256"] in fixture], [])

    def test_names_are_in_the_data(self):
        if not DATA.is_dir():
            self.skipTest(f"no real data: {len(self.rows)} names not looked up (AACO_REAL_DATA)")
        found = fingerprints.look_up(self.rows, DATA)
        self.assertEqual([row["file"] for row in self.rows if row["sha256"] not in found], [])

    def test_unknown_family_is_refused(self):
        row = {**self.rows[0], "family": "magic"}
        self.assertEqual(fingerprints.problems(row, fingerprints.vocabulary(ROOT)), ["unknown family magic"])

    def test_unknown_library_is_refused(self):
        row = {**self.rows[0], "library": "Magic"}
        self.assertEqual(fingerprints.problems(row, fingerprints.vocabulary(ROOT)), ["unknown library Magic"])

    def test_wrong_split_is_refused(self):
        row = {**self.rows[0], "split": "other"}
        self.assertEqual(fingerprints.problems(row, fingerprints.vocabulary(ROOT)), ["split is not the one of the hash"])


if __name__ == "__main__":
    unittest.main()
