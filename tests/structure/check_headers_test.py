"""tools/check_headers must find a header that leans on what others include before it."""
import os
import subprocess
import unittest

import trees


class CheckHeaders(trees.TreeTest):
    def check(self, text):
        self.write('src/core/thing.h', '#pragma once\n' + text)
        ran = subprocess.run([trees.TOP / 'tools/check_headers', '--root', self.root], capture_output=True, text=True, check=False,
                             env={**os.environ, 'XDG_CACHE_HOME': str(self.root / 'cache')})
        return ran.returncode, ran.stdout

    def test_complete_header(self): self.assertEqual(self.check('#include <string>\nstd::string name();\n')[0], 0)
    def test_missing_include(self): self.assertEqual(self.check('std::string name();\n')[0], 1)
    def test_missing_own_header(self): self.assertEqual(self.check('#include "core/other.h"\n')[0], 1)

    def test_second_run_compiles_nothing(self):
        self.check('int f();\n')
        self.assertIn('0 compiled', self.check('int f();\n')[1])

    def test_change_below_is_seen(self):
        self.write('src/core/below.h', '#pragma once\nstruct Below {};\n')
        self.assertEqual(self.check('#include "core/below.h"\nBelow below();\n')[0], 0)
        self.write('src/core/below.h', '#pragma once\n')
        self.assertEqual(self.check('#include "core/below.h"\nBelow below();\n')[0], 1)


if __name__ == '__main__':
    unittest.main()
