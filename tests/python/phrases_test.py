"""Errors name functions and arguments of the module, not commands and options of the program."""
import pathlib
import re
import unittest

from aaco import _core
from module import HERE, ModuleTest, aaco

SOURCES = HERE.parents[2] / 'src'
# What functions of the module reach. Their errors are literals, perhaps with a value between two of them.
REACHED = ('tracelake/store', 'tracelake/query', 'tracelake/columns', 'tracelake/lake.cc', 'tracelake/session_find.cc', 'tracelake/session_remove.cc',
           'tracelake/session_verify.cc', 'runner/ort', 'runner/input_shapes.cc', 'runner/inputs.cc', 'runner/memory_fit.cc', 'runner/zoo', 'estimation/analysis',
           'hardware/registry', 'workflows/session', 'workflows/compare', 'workflows/govern/history.cc', 'workflows/ab', 'workflows/run', 'workflows/import',
           'workflows/predict', 'workflows/models')
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
OPTION = re.compile(r'(?<![\w-])--[a-z][a-z-]+')
COMMAND = re.compile(r"['`]aaco [a-z]")
# Options of other programs and of commands that are to be run in a shell are meant as they stand.
FOREIGN = re.compile(r' in a shell|rocprof|nsys|nvidia-smi|optimum-cli|--ort-providers|systemd-run|docker')
# Errors of what no function of the module can ask for.
UNREACHED = ('tracelake/lake.cc: use --format table', 'workflows/session/query.cc', 'workflows/session/store.cc', 'workflows/compare/side_by_side.cc',
             'workflows/govern/history.cc: files and --on', 'workflows/ab/ab_llm.cc', "workflows/compare/diff_sides.cc: recover it with 'aaco llm --recover ",
             'workflows/compare/paper_page.cc', 'workflows/compare/compare_page.cc', 'workflows/run/record.cc: --hooks requires', 'workflows/run/record.cc: remove --hooks', 'workflows/models/inspect.cc')


def remedies(path):
    """Literals of the calls that make an error, of a file."""
    for call in re.finditer(r'core::fail\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)', path.read_text()):
        for literal in LITERAL.finditer(call.group()):
            yield literal.group(1)


class PhrasesTest(ModuleTest):
    RUN = {'tag': 'a', 'threads': 1}

    def text_of(self, function, *arguments, **named):
        with self.assertRaises(aaco.Error) as raised:
            function(*arguments, **named)
        return str(raised.exception)

    def test_errors_name_functions_and_arguments(self):
        for words, function, arguments, named in (
                ('aaco.sessions()', aaco.open, ('20991231',), {}),
                ('aaco.sessions()', aaco.open, ('tag:nothing',), {}),
                ('sessions=', aaco.open, ('latest',), {'sessions': self.folder / 'none'}),
                ('aaco.open(SESSION).metrics', aaco.diff, (self.session, self.session), {'metrics': ['nonsense']}),
                ('ort_library', aaco.run, ('mlp',), {'ort_library': '/nonsense.so', 'iterations': 5}),
                ('to_pandas()', aaco.query, ("COPY (SELECT 1) TO 'x.csv'",), {}),
                ("aaco.history('p50')", aaco.history, (), {}),
                ('files reads a table', aaco.history, ('p50',), {'where': {'model': 'nonsense'}}),
                ('passed with files', aaco.history, ('p50',), {'where': {'nonsense': 'x'}}),
                ('in a shell lists the devices', aaco.analyze, ('mlp', 'nonsense'), {})):
            text = self.text_of(function, *arguments, **named)
            self.assertIn(words, text)
            self.assertIsNone(OPTION.search(text), text)
            self.assertFalse([one for one in COMMAND.finditer(text) if ' in a shell' not in text[one.start():]], text)

    def test_no_error_that_is_reached_has_an_option_of_the_program(self):
        seen, left = 0, []
        for folder in REACHED:
            place = SOURCES / folder
            self.assertTrue(place.exists(), place)
            for path in [place] if place.is_file() else sorted(place.rglob('*.cc')):
                for literal in [] if path.stem.endswith(('_test', '_fuzz')) else remedies(path):
                    seen += 1
                    phrased = _core.phrased(literal)
                    shown = f'{path.relative_to(SOURCES)}: {phrased}'
                    if OPTION.search(phrased) and not FOREIGN.search(phrased) and not shown.startswith(UNREACHED):
                        left.append(shown)
        self.assertGreater(seen, 100)
        self.assertFalse(left, '\n'.join(left))


if __name__ == '__main__':
    unittest.main()
