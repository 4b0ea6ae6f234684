"""The corpus of verdicts is valid, and its numbers are those of the raw data."""

import gzip
import pathlib
import tempfile
import unittest

import check_corpus
import fingerprints
import planted
import table_queries
from check_corpus import DATA, HERE, KEYS, MAX_CASES_PER_FILE, ROOT, corpus, differences, problems


class Corpus(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cases = corpus()

    def test_every_case_is_valid(self):
        self.assertEqual([(case.get("id"), text) for case in self.cases for text in problems(case)], [])

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
        self.assertEqual(check_corpus.untrue(self.cases, DATA), [])


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

    def test_unknown_class(self): self.refuse("unknown class slow", truth={"class": "slow", "cause": "python"})

    def test_no_cause(self): self.refuse("truth without cause", truth={"class": "host", "cause": ""})

    def test_unknown_cause(self): self.refuse("unknown cause magic", truth={"class": "host", "cause": "magic"})

    def test_unknown_second_answer(self):
        self.refuse("unknown second answer magic", truth={"class": "host", "cause": "python", "seconds": ["magic"]})

    def test_unknown_query(self): self.refuse("unknown query nothing", query={"call": "nothing"})

    def test_gap_without_time(self): self.refuse("a gap needs start_ns and length_ns", values={"idle": 1})

    def test_wrong_split(self):
        self.refuse("split is not the one of the file", split="held" if self.case["split"] == "tune" else "tune")

    def test_wrong_origin(self): self.refuse("origin and folder contradict each other", origin="own")

    def test_contradiction(self):
        self.refuse("true and false at once: host", truth={"class": "host", "cause": "python", "must_not": ["host"]})

    def test_wrong_number_in_the_data(self):
        if not DATA.is_dir():
            self.skipTest("no real data (AACO_REAL_DATA)")
        case = next(case for case in corpus() if case["id"] == "finite_difference_json.headline")
        changed = {**case, "values": {**case["values"], "bytes": 81}}
        self.assertEqual(check_corpus.untrue([changed], DATA), ["finite_difference_json.headline: bytes: recorded 81, computed 80"])

    def test_other_number(self):
        self.assertEqual(differences({"a": 1.0}, {"a": 1.1}), ["a: recorded 1.0, computed 1.1"])

    def test_other_keys(self):
        self.assertEqual(differences({"a": 1}, {"b": 1}), ["a: missing or new", "b: missing or new"])

    def test_rounding_is_not_a_difference(self):
        self.assertEqual(differences({"a": 0.123457}, {"a": 0.1234567}), [])


def content(path):
    """Without what depends on a version: of gzip, or of SQLite, whose databases are compared as statements."""
    if path.suffix != ".gz":
        return path.read_bytes()
    plain = gzip.decompress(path.read_bytes())
    if not path.name.endswith(".sqlite.gz"):
        return plain
    with tempfile.NamedTemporaryFile(suffix=".sqlite") as file:
        file.write(plain)
        file.flush()
        base = table_queries.database(file.name)
        statements = list(base.iterdump())
        base.close()
        return statements


class Planted(unittest.TestCase):
    """The planted traces are those that their programs write."""

    def test_cases_are_those_of_the_programs(self):
        self.assertEqual((HERE / "planted.yaml").read_text(), planted.document(HERE))

    def test_files_are_those_of_the_programs(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "own").mkdir()
            for name in planted.SCENARIOS:
                planted.write(name, folder)
                for file in sorted(pathlib.Path(folder).rglob(f"planted_{name}*")):
                    for part in sorted(file.rglob("*.csv")) if file.is_dir() else [file]:
                        kept = HERE / part.relative_to(folder)
                        self.assertEqual(content(part), content(kept), kept.name)


class Fingerprints(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rows = fingerprints.rows(HERE / "fingerprints.tsv")

    def test_every_row_is_valid(self):
        known = fingerprints.vocabulary(ROOT)
        self.assertEqual([text for row in self.rows for text in fingerprints.problems(row, known)], [])

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
