"""tools/check_headers must find a header that leans on what others include before it."""
import json
import os
import subprocess
import unittest

import trees


class CheckHeaders(trees.TreeTest):
    def check(self, text, *options):
        self.write('src/core/thing.h', '#pragma once\n' + text)
        ran = subprocess.run([trees.TOP / 'tools/check_headers', '--root', self.root, *options], capture_output=True, text=True, check=False,
                             env={**os.environ, 'XDG_CACHE_HOME': str(self.root / 'cache')})
        return ran.returncode, ran.stdout

    def test_complete_header(self): self.assertEqual(self.check('#include <string>\nstd::string name();\n')[0], 0)
    def test_missing_include(self): self.assertEqual(self.check('std::string name();\n')[0], 1)
    def test_missing_own_header(self): self.assertEqual(self.check('#include "core/other.h"\n')[0], 1)

    def test_a_verb_includes_its_neighbours(self):
        self.write('apps/cli/below.h', '#pragma once\nstruct Below {};\n')
        self.write('apps/cli/above.h', '#pragma once\n#include "cli/below.h"\nBelow above();\n')
        self.assertEqual(self.check('int f();\n')[0], 0)
        self.write('apps/cli/below.h', '#pragma once\n')
        self.assertEqual(self.check('int f();\n')[0], 1)

    def test_second_run_compiles_nothing(self):
        self.check('int f();\n')
        self.assertIn('0 compiled', self.check('int f();\n')[1])

    def test_no_time_left_is_said(self):
        code, said = self.check('std::string name();\n', '--seconds', '0')
        self.assertEqual(code, 0)
        self.assertIn('1 headers were not reached in 0 s', said)
        self.assertEqual(self.check('std::string name();\n')[0], 1, 'the next run goes on')

    def test_change_below_is_seen(self):
        self.write('src/core/below.h', '#pragma once\nstruct Below {};\n')
        self.assertEqual(self.check('#include "core/below.h"\nBelow below();\n')[0], 0)
        self.write('src/core/below.h', '#pragma once\n')
        self.assertEqual(self.check('#include "core/below.h"\nBelow below();\n')[0], 1)

    def built_by(self, command):
        self.write('build/release/compile_commands.json',
                   json.dumps([{'directory': str(self.root), 'file': 'src/core/thing.cc', 'command': command}]))

    def test_what_a_source_includes_first_is_proved_by_the_build(self):
        self.write('src/core/thing.cc', '#include "core/thing.h"\n#include "core/second.h"\n')
        self.write('src/core/second.h', '#pragma once\nstd::string second();\n')
        self.built_by('c++ -c thing.cc')
        code, said = self.check('int thing();\n')
        self.assertIn('1 by the build, 1 compiled', said)
        self.assertEqual(code, 1, 'the second header leans on others')

    def test_a_build_with_precompiled_headers_proves_nothing(self):
        self.write('src/core/thing.cc', '#include "core/thing.h"\n')
        self.built_by('c++ -include test_headers.hxx -c thing.cc')
        self.assertEqual(self.check('std::string name();\n')[0], 1)


if __name__ == '__main__':
    unittest.main()
