"""tools/check_docs must find each kind of untruth in a document."""
import re
import unittest

import trees


class CheckDocs(trees.TreeTest):
    def setUp(self):
        super().setUp()
        self.features = (trees.TOP / 'docs/features.md').read_text()
        # Every row as "not yet", so that the documents of the moment do not matter here.
        self.features = re.sub(r'^\| ([A-G]\d+) \| .*$', r'| \1 | a feature | not yet | |', self.features, flags=re.M)
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
        return self.features.replace(f'| {name} | a feature | not yet | |', f'| {name} | a feature | {state} | {proof} |')

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
    def test_missing_symbol(self): self.refuse('no symbol of src/core', 'See `core::Jsom`.')
    def test_missing_link(self): self.refuse('does not exist', 'See [there](other.md).')
    def test_line_number(self): self.refuse('line number', 'See src/core/json.h:12.')
    def test_machine_path(self): self.refuse('one machine', 'It lies in /work/main now.')
    def test_host(self): self.refuse('names a host', 'Fetch https://example.org/x.')

    def test_feature_that_works(self): self.assertEqual(self.check('', self.row('A1', 'works', 'aaco_core_test'))[0], 0)
    def test_claim_without_proof(self): self.refuse_features('no test or command', self.row('A1', 'works'))
    def test_unknown_state(self): self.refuse_features('is not one of', self.row('G12', 'nearly'))
    def test_partly_without_detail(self): self.refuse_features('must say what is missing', self.row('G12', 'partly', 'aaco_core_test'))
    def test_missing_id(self): self.refuse_features('D0 is missing', self.features.replace('| D0 |', '| |'))
    def test_extra_id(self): self.refuse_features('G99 is no feature id', self.features + '| G99 | more | not yet | |\n')
    def test_id_twice(self): self.refuse_features('stands there twice', self.features + '| A1 | again | not yet | |\n')


if __name__ == '__main__':
    unittest.main()
