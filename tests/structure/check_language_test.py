"""tools/check_language must find each form it refuses wherever it appears, and leave plain English alone."""
import importlib.machinery
import importlib.util
import sys
import unittest

import trees


def load(name):
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader(name, str(trees.TOP / 'tools' / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


class CheckLanguage(trees.TreeTest):
    def check(self, path, text, *arguments):
        self.write(path, text)
        return self.run_tool('check_language', *arguments)

    def accept(self, path, text):
        code, output = self.check(path, text)
        self.assertEqual(code, 0, output)

    def refuse(self, wanted, path, text):
        code, output = self.check(path, text)
        self.assertEqual(code, 1, output)
        self.assertIn(wanted, output)

    def test_every_form_finds_its_example_and_leaves_plain_english(self):
        tool = load('check_language')
        forms = tool.read_forms()
        self.assertGreater(len(forms), 80)
        for form in forms:
            with self.subTest(form.expression.pattern):
                self.assertRegex(form.bad, form.expression)
                self.assertNotRegex(form.fine, form.expression)

    def test_plain_english_passes_every_form(self):
        forms = load('check_language').read_forms()
        for form in forms:
            for other in forms:
                if form.kind == other.kind:
                    with self.subTest(form.expression.pattern):
                        self.assertNotRegex(other.fine, form.expression)
                        self.assertNotRegex(other.use if form.kind != 'test' else '', form.expression)

    def test_plain_message(self): self.accept('src/core/a.cc', 'auto x = "the file is empty";')
    def test_single_words(self): self.accept('src/core/a.cc', 'auto x = "wants";')
    def test_comments_are_not_texts(self): self.accept('src/core/a.cc', '// a comparison wants two sides\nint x;')
    def test_unit_tests_may_quote(self): self.accept('src/core/a_test.cc', 'auto x = "a comparison wants two sides";')
    def test_code_in_documents(self): self.accept('docs/a.md', 'See `it wants two`.\n```\nit wants two\n```\n')
    def test_only_the_folder_asked_for(self):
        self.write('src/stats/b.cc', 'auto x = "a comparison wants two sides";')
        code, output = self.check('src/core/a.cc', 'auto x = "the file is empty";', '--only', 'src/core')
        self.assertEqual(code, 0, output)

    def test_message(self): self.refuse('requires', 'src/core/a.cc', 'auto x = "a comparison wants two sides";')
    def test_file_and_line(self): self.refuse('src/core/a.cc:2:', 'src/core/a.cc', '\nauto x = "it wants two sides";')
    def test_adjacent_literals(self): self.refuse('requires', 'src/core/a.cc', 'auto x = "a comparison wants"\n  " two sides";')
    def test_raw_literal(self): self.refuse('requires', 'src/core/a.cc', 'auto x = R"(it "wants" or it wants two)";')
    def test_sum_of_literals(self): self.refuse('not a valid', 'src/core/a.cc', 'auto x = "it " + name(1, 2) + " is no address";')
    def test_option_help(self): self.refuse('per second', 'apps/cli/a.cc', 'auto x = "items a second", y = "{} s a second";')
    def test_page(self): self.refuse('the others', 'web/src/a.tsx', 'const a = <p class="x">It does not fit the rest.</p>;')
    def test_page_attribute(self): self.refuse('the others', 'web/src/a.tsx', 'const a = <p title="does not fit the rest">x</p>;')
    def test_data_file(self): self.refuse('requires', 'data/a.yaml', 'title: "it wants more"')
    def test_unquoted_data(self): self.refuse('requires', 'data/a.yaml', 'title: it wants more')
    def test_json_data(self): self.refuse('requires', 'data/a.json', '{"title": ["it wants more"]}')
    def test_document(self): self.refuse('requires', 'docs/a.md', 'A comparison wants two sides.')
    def test_readme(self): self.refuse('requires', 'README.md', 'A comparison wants two sides.')
    def test_test_name(self): self.refuse('RejectsX', 'src/core/a_test.cc', 'TEST(A, NothingIsNothing) {}')
    def test_python_test_name(self): self.refuse('Missing', 'tests/integration/a_test.py', 'def test_a_file_that_is_not_there(self): pass')
    def test_constant(self): self.refuse('kMax', 'src/core/a.h', 'constexpr int kMostNodes = 3;')


class ListStrings(trees.TreeTest):
    def listed(self, path, text):
        self.write(path, text)
        return self.run_tool('list_strings', '--print')[1]

    def test_value_between_literals(self): self.assertIn('\ta {} b', self.listed('src/a.cc', 'x = "a " + f(g, h) + " b";'))
    def test_two_arguments(self): self.assertIn('\tthe a\nsrc/a.cc\t1\tthe b', self.listed('src/a.cc', 'f("the a", "the b");'))
    def test_escapes(self): self.assertIn('\tthe "a"', self.listed('src/a.cc', r'f("the \"a\"");'))
    def test_newlines_stay_on_a_line(self): self.assertIn('\tthe a\\nb', self.listed('src/a.cc', r'f("the a\nb");'))
    def test_quote_in_a_character(self): self.assertIn('\tthe a', self.listed('src/a.cc', "g('\"'); f(\"the a\");"))
    def test_digit_separator(self): self.assertIn('\tthe a', self.listed('src/a.cc', "g(1'000); f(\"the a\");"))
    def test_template_of_the_page(self): self.assertIn('\tof {} values', self.listed('web/src/a.ts', 'f(`of ${n.x} values`);'))
    def test_flow_of_yaml(self): self.assertIn('\tthe a', self.listed('data/a.yaml', '- {id: b, title: "the a", c: 1}'))
    def test_includes(self): self.assertEqual('', self.listed('src/a.cc', '#include "a b.h"').strip())
    def test_statements_of_a_database(self): self.assertEqual('', self.listed('src/a.cc', 'f("SELECT a FROM b");').strip())
    def test_classes_of_the_page(self): self.assertEqual('', self.listed('web/src/a.tsx', '<p class="a b">c</p>').strip())

    def test_writes_the_build_folder(self):
        self.write('src/a.cc', 'f("the a");')
        code, output = self.run_tool('list_strings')
        self.assertEqual(code, 0, output)
        self.assertIn('the a', (self.root / 'build/strings.txt').read_text())


if __name__ == '__main__':
    unittest.main()
