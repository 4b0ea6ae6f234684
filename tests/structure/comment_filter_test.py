"""tools/comment_filter: plain comments become documentation, their text literal; code stays."""
import subprocess
import unittest

import trees


class CommentFilter(trees.TreeTest):
    def filtered(self, text):
        ran = subprocess.run([trees.TOP / 'tools/comment_filter', self.write('a.h', text)], capture_output=True, text=True, check=True)
        return ran.stdout.rstrip('\n')

    def test_comment_above(self): self.assertEqual(self.filtered('  // Adds rows.'), '  /// Adds rows.')
    def test_empty_comment(self): self.assertEqual(self.filtered('//'), '/// ')
    def test_comment_behind_code(self): self.assertEqual(self.filtered('int a = 0;  // in ns'), 'int a = 0; ///< in ns')
    def test_markup_is_literal(self): self.assertEqual(self.filtered('// ID@STATE of <folder>'), r'/// ID\@STATE of \<folder\>')
    def test_code_stays(self): self.assertEqual(self.filtered('std::vector<int> rows;'), 'std::vector<int> rows;')
    def test_address_in_a_string_stays(self): self.assertEqual(self.filtered('f("http://x");'), 'f("http://x");')
    def test_lint_marks_stay_comments(self): self.assertEqual(self.filtered('Name(int);  // NOLINT'), 'Name(int);  // NOLINT')


if __name__ == '__main__':
    unittest.main()
