"""tools/file_commands must give each source of a unity build a command of its own."""
import json
import subprocess
import unittest

import trees


class FileCommands(trees.TreeTest):
    def made(self, entries):
        self.write('build/compile_commands.json', json.dumps(entries))
        subprocess.run([trees.TOP / 'tools/file_commands', self.root / 'build'], check=True)
        return json.loads((self.root / 'build/files/compile_commands.json').read_text())

    def test_unity_file_is_taken_apart(self):
        self.write('build/x.dir/Unity/unity_0_cxx.cxx', '/* generated */\n\n#include "/src/a.cc"\n\n#include "/src/b.cc"\n')
        unity = str(self.root / 'build/x.dir/Unity/unity_0_cxx.cxx')
        made = self.made([{'directory': str(self.root / 'build'), 'command': f'c++ -O3 -o unity.o -c {unity}', 'file': unity}])
        self.assertEqual([(one['file'], one['command']) for one in made],
                         [('/src/a.cc', 'c++ -O3 -o unity.o -c /src/a.cc'), ('/src/b.cc', 'c++ -O3 -o unity.o -c /src/b.cc')])

    def test_other_files_stay(self):
        entry = {'directory': '/d', 'command': 'c++ -c /src/c.cc', 'file': '/src/c.cc'}
        self.assertEqual(self.made([entry]), [entry])

    def test_missing_build_is_named(self):
        ran = subprocess.run([trees.TOP / 'tools/file_commands', self.root], capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 1)
        self.assertIn('compile_commands.json is missing', ran.stderr)


if __name__ == '__main__':
    unittest.main()
