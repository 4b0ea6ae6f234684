"""tools/check_docs finds each kind of wrong statement in a document."""
import re
import unittest
from unittest import mock

import trees

LIMIT = '\n- **G12** no GPU was measured\n'
HEAD = '| figure | target | seen | command |\n|---|---|---|---|\n'


class CheckDocs(trees.TreeTest):
    def setUp(self):
        super().setUp()
        self.features = (trees.TOP / 'docs/features.md').read_text()
        # Every row as "not-yet" and no limits, so that the current states do not matter here.
        self.features = re.sub(r'^\| ([A-G]\d+) \| .*$', r'| \1 | a feature | not-yet | |', self.features, flags=re.M)
        self.features = re.sub(r'^- \*\*[A-G]\d+\*\* .*\n', '', self.features, flags=re.M)
        self.features = re.sub(r'`[^`\n]*`', 'it', self.features)
        self.write('src/core/json.h', 'class Json { int parse(); };')

    def check(self, text='', features=None):
        self.write('docs/features.md', self.features if features is None else features)
        self.write('docs/page.md', text)
        return self.run_tool('check_docs')

    def accept(self, text):
        code, output = self.check(text)
        self.assertEqual(code, 0, output)

    def refuse(self, wanted, text):
        code, output = self.check(text)
        self.assertEqual(code, 1, output)
        self.assertIn(wanted, output)

    def row(self, name, state, proof=''):
        return self.features.replace(f'| {name} | a feature | not-yet | |', f'| {name} | a feature | {state} | {proof} |')

    def refuse_features(self, wanted, features):
        code, output = self.check('', features)
        self.assertEqual(code, 1, output)
        self.assertIn(wanted, output)

    def test_path_that_exists(self): self.accept('See `src/core/json.h` and `src/core/`.')
    def test_symbol_that_exists(self): self.accept('`core::Json` and `aaco::core::parse()` do it.')
    def test_output_of_the_build(self): self.accept('The program is `build/release/bin/aaco`.')
    def test_fenced_text_is_free(self): self.accept('```\n`src/nowhere.h`\n```\n')
    def test_own_address(self): self.accept('Open http://127.0.0.1:8501/ in a browser.')

    def test_missing_path(self): self.refuse('does not exist', 'See `src/core/jsn.h`.')
    def test_missing_symbol(self): self.refuse('not a symbol of src/core', 'See `core::Jsom`.')
    def test_missing_link(self): self.refuse('does not exist', 'See [there](other.md).')
    def test_line_number(self): self.refuse('line number', 'See src/core/json.h:12.')
    def test_machine_path(self): self.refuse('one machine', 'It lies in /work/main now.')
    def test_host(self): self.refuse('names a host', 'Fetch https://example.org/x.')

    def test_feature_that_works(self): self.assertEqual(self.check('', self.row('A1', 'works', 'aaco_core_test'))[0], 0)
    def test_claim_without_proof(self): self.refuse_features('no test or command', self.row('A1', 'works'))
    def test_unknown_state(self): self.refuse_features('is not one of', self.row('G12', 'nearly'))
    def test_state_is_one_word(self): self.refuse_features('is not one of', self.row('G12', 'partly: no GPU', 'aaco_core_test'))
    def test_partly_without_limits(self): self.refuse_features('its limits need one line', self.row('G12', 'partly', 'aaco_core_test'))
    def test_format_only_without_limits(self): self.refuse_features('its limits need one line', self.row('G12', 'format-only', 'aaco_core_test'))
    def test_limits_twice(self): self.refuse_features('found 2', self.row('G12', 'partly', 'aaco_core_test') + LIMIT + LIMIT)
    def test_limits_of_what_works(self): self.refuse_features('has a line of limits', self.row('G12', 'works', 'aaco_core_test') + LIMIT)
    def test_limits_below_the_table(self):
        self.assertEqual(self.check('', self.row('G12', 'partly', 'aaco_core_test') + LIMIT), (0, mock.ANY))
    def test_missing_id(self): self.refuse_features('D0 is missing', self.features.replace('| D0 |', '| |'))
    def test_extra_id(self): self.refuse_features('G99 is not a feature id', self.features + '| G99 | more | not-yet | |\n')
    def test_id_twice(self): self.refuse_features('appears twice', self.features + '| A1 | again | not-yet | |\n')

    def results(self, text):
        self.write('docs/results.md', text)
        return self.check()

    def refuse_results(self, wanted, text):
        code, output = self.results(text)
        self.assertEqual(code, 1, output)
        self.assertIn(wanted, output)

    def test_result_with_a_note(self): self.assertEqual(self.results(HEAD + '| a | 1 s | 0.9 s [1] | `aaco ls` |\n\n[1] quiet\n'), (0, mock.ANY))
    def test_result_without_target(self): self.assertEqual(self.results(HEAD + '| a | | 0.9 s | `aaco ls` |\n'), (0, mock.ANY))
    def test_bar_in_a_cell(self): self.assertEqual(self.results(HEAD + '| a\\|b | | 0.9 s | `aaco ls` |\n'), (0, mock.ANY))
    def test_other_columns(self): self.refuse_results('expected "figure | target', '| what | seen |\n|---|---|\n| a | b |\n')
    def test_long_cell(self): self.refuse_results('161 characters, at most 160', HEAD + '| a | | ' + 'x' * 161 + ' | `aaco ls` |\n')
    def test_missing_note(self): self.refuse_results('note [2], which does not exist', HEAD + '| a | | 1 [2] | `aaco ls` |\n\n[1] quiet\n')
    def test_note_of_another_section(self):
        self.refuse_results('which does not exist in its section', HEAD + '| a | | 1 [1] | `aaco ls` |\n\n## Next\n\n[1] quiet\n')
    def test_history_in_a_cell(self): self.refuse_results('tells history', HEAD + '| a | | 1 s; it was 2 s | `aaco ls` |\n')
    def test_result_without_command(self): self.refuse_results('command is empty', HEAD + '| a | | 1 s | |\n')
    def test_missing_cell(self): self.refuse_results('3 cells, expected 4', HEAD + '| a | 1 s | 1 s |\n')


if __name__ == '__main__':
    unittest.main()
