"""Adding a verb costs one new file, one line in the list, the generated reference and a word in README.md (docs/how_to/add_a_verb.md).
Done here in a copy of the sources, which is built: the new file and the list are compiled, everything else comes from the build."""
import filecmp
import gzip
import os
import pathlib
import shlex
import shutil
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get('AACO_BUILD', TOP / 'build/release'))
LIST = 'apps/cli/verbs/list.inc'
REFERENCE = 'docs/reference/cli.md'
COPIED = ('apps', 'docs', 'cmake', 'CMakeLists.txt', 'README.md', 'CONTRIBUTING.md', 'tools')
MAX_CHANGED = 3  # existing files, documents included, generated ones too

GREET = '''#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"

namespace aaco::cli {

void add_greet(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("greet", "Greet someone");
  auto name = std::make_shared<std::string>("world");
  verb->add_option("--name", *name, "Whom to greet")->capture_default_str();
  verb->callback([&context, name] { context.print("hello " + *name + "\\n"); });
}

}  // namespace aaco::cli
'''


def commands():
    """What builds the program: the commands of its sources and, last, of its link."""
    if not (BUILD / 'build.ninja').exists() or not (BUILD / 'bin/aaco').exists():
        raise unittest.SkipTest(f'skipped, {BUILD} has no program built by ninja')
    shown = subprocess.run(['ninja', '-C', BUILD, '-t', 'commands', 'bin/aaco'], capture_output=True, text=True, check=True).stdout
    return [line for line in shown.splitlines() if 'apps/cli/' in line]


def files_below(root):
    return {path.relative_to(root) for top in COPIED for path in [root / top, *(root / top).rglob('*')] if path.is_file()}


class AddAVerb(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.commands = commands()
        folder = tempfile.TemporaryDirectory(prefix='aaco-verb-')
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name)
        for top in COPIED:
            (shutil.copytree if (TOP / top).is_dir() else shutil.copy)(TOP / top, cls.root / top)
        cls.add_verb()
        cls.program = cls.root / 'bin/aaco'
        cls.program.parent.mkdir()
        (cls.root / 'lib').symlink_to(BUILD / 'lib')  # where the program looks for its libraries
        cls.link(cls.compile('list'), cls.compile('greet'))
        cls.execute([cls.root / 'tools/make_reference', cls.program, cls.root / REFERENCE])

    @classmethod
    def add_verb(cls):
        (cls.root / 'apps/cli/verbs/greet.cc').write_text(GREET)
        with (cls.root / LIST).open('a') as verbs:
            verbs.write('AACO_VERB(greet)\n')
        readme = cls.root / 'README.md'
        readme.write_text(readme.read_text().replace('`doctor`', '`doctor`, `greet`', 1))

    @classmethod
    def compile(cls, name):
        """verbs/NAME.cc of the copy, as the build compiles the list."""
        words = shlex.split(next(line for line in cls.commands if line.endswith('/verbs/list.cc')))
        target = cls.root / f'{name}.o'
        replaced = {words[words.index('-o') + 1]: str(target), words[-1]: str(cls.root / f'apps/cli/verbs/{name}.cc'),
                    words[words.index('-MF') + 1]: str(target) + '.d', f'-I{TOP}/apps': f'-I{cls.root}/apps'}
        cls.execute([replaced.get(word, word) for word in words])
        return target

    @classmethod
    def link(cls, *objects):
        command = cls.commands[-1].removeprefix(': && ').removesuffix(' && :')
        words = [word for word in shlex.split(command) if not word.endswith('/verbs/list.cc.o')]
        at = words.index('-o')
        cls.execute(words[:at] + [*map(str, objects), '-o', str(cls.program)] + words[at + 2:])

    @classmethod
    def execute(cls, words):
        ran = subprocess.run(words, cwd=BUILD, capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            raise AssertionError(ran.stderr)

    def told(self, *arguments):
        return subprocess.run([self.program, *arguments], capture_output=True, text=True, check=True).stdout

    def test_changes_few_files(self):
        before, after = files_below(TOP), files_below(self.root)
        self.assertEqual(before - after, set())
        self.assertEqual(after - before, {pathlib.Path('apps/cli/verbs/greet.cc')})
        changed = {str(path) for path in before if not filecmp.cmp(TOP / path, self.root / path, shallow=False)}
        self.assertEqual(changed, {LIST, REFERENCE, 'README.md'})
        self.assertLessEqual(len(changed), MAX_CHANGED)

    def test_runs(self): self.assertEqual(self.told('greet', '--name', 'you'), 'hello you\n')

    def test_help_lists_it(self): self.assertRegex(self.told('--help'), r'(?m)^  greet +Greet someone$')

    def test_completion_knows_it(self):
        for shell in ('bash', 'zsh', 'fish'):
            script = self.told('completion', shell)
            self.assertIn('greet', script)
            self.assertIn('name', script.split('greet', 1)[1])

    def test_the_manual_has_its_page(self):
        folder = self.root / 'manual'
        subprocess.run([self.root / 'tools/make_manual', self.program, folder], check=True)
        page = gzip.decompress((folder / 'aaco-greet.1.gz').read_bytes()).decode()
        self.assertIn('Whom to greet', page)
        self.assertIn('.SH NAME\naaco\\-greet \\- Greet someone\n', page)
        self.assertIn('aaco\\-greet', gzip.decompress((folder / 'aaco.1.gz').read_bytes()).decode().split('SEE ALSO', 1)[1])

    def test_layers_allow_it(self):
        ran = subprocess.run([TOP / 'tools/check_layers', '--root', self.root, '--quiet'], capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 0, ran.stdout)


if __name__ == '__main__':
    unittest.main()
