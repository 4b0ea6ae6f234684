"""A new table changes two existing files: trace/rows.h (struct and line) and trace/tables.h (columns). docs/how_to/add_a_table.md
tells how; here it is done in a copy of the sources, and everything that treats all tables alike is compiled with it."""
import json
import pathlib
import shlex
import shutil
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = TOP / 'build/release'
MOST_FILES = 2

STRUCT = '''// A stay of a demonstration.
struct DemoRow {
  std::int32_t rank = 0;
  std::int64_t start_ns = 0;
  NameId place;
  bool operator==(const DemoRow&) const = default;
};

'''
TABLE = '''AACO_TABLE(DemoRow, "demo_stays", "telemetry/demo_stays.parquet", "start_ns", "One row per stay") {
  return std::make_tuple(column("rank", &R::rank, "rank of the process"), column("start_ns", &R::start_ns, "start, ns"),
                         column("place", &R::place, "where it was"));
} AACO_TABLE_END
'''
# Writes and reads the new table through the real store.
PROGRAM = '''#include <cstdio>
#include "core/files.h"
#include "trace/sink.h"
#include "trace/tables.h"
int main() {
  using namespace aaco;
  trace::MemorySink sink;
  trace::Sink& any = sink;
  any.add(trace::DemoRow{0, 7, any.name("hall")});
  int tables = 0;
  bool found = false;
  trace::for_each_table([&]<class Row>() { ++tables; found |= trace::TableOf<Row>::kName == "demo_stays"; });
  std::printf("%d %d %lld %s\\n", tables, found, static_cast<long long>(sink.rows<trace::DemoRow>().at(0).start_ns),
              std::string(sink.text(sink.rows<trace::DemoRow>().at(0).place)).c_str());
}
'''
# What treats every table alike: the store's reader and writer, and each kind of sink.
USERS = ('src/tracelake/store/table_access.cc', 'src/tracelake/store/bundle_sink.cc', 'src/collectors/row_buffer.cc')


def flags_of(commands, source):
    """The compiler and its flags for a source of a folder of which any part is built; without inputs and outputs."""
    folder = pathlib.Path(source).parent.name
    for entry in commands:
        if f'/{folder}/' in entry['file'] or f'/{folder}/CMakeFiles' in entry['file']:
            words = shlex.split(entry['command'])
            start = next(i for i, word in enumerate(words) if word.endswith(('c++', 'g++', 'clang++')))
            kept = [words[start]]
            for word in words[start + 1:]:
                if word in ('-MD', '-o', '-c'):
                    break
                if not word.startswith(('-include', '-Winvalid-pch', '-fpch')) and not word.endswith('.hxx'):
                    kept.append(word)
            return kept
    return None


class AddATable(unittest.TestCase):
    def setUp(self):
        if not (BUILD / 'compile_commands.json').exists():
            self.skipTest('build/release has no compile_commands.json: cmake --preset release makes it')
        self.commands = json.loads((BUILD / 'compile_commands.json').read_text())
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.copy = pathlib.Path(folder.name)
        shutil.copytree(TOP / 'src', self.copy / 'src')
        shutil.copytree(TOP / 'tests/support', self.copy / 'tests/support')
        self.changed = set()

    def edit(self, path, marker, text):
        target = self.copy / path
        before = target.read_text()
        self.assertIn(marker, before)
        target.write_text(before.replace(marker, text + marker, 1))
        self.changed.add(path)

    def compile(self, source, *more):
        flags = [word.replace(str(TOP) + '/src', str(self.copy) + '/src') for word in flags_of(self.commands, source)]
        generated = [f'-I{BUILD}/generated', f'-I{self.copy}', '-O0', '-w', '-pthread']
        ran = subprocess.run([*flags, *generated, *more, source], cwd=self.copy, capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 0, f'{source}:\n{ran.stderr[:3000]}')

    def test_two_files_are_changed_and_everything_compiles(self):
        self.edit('src/trace/rows.h', '// Every row type, in the order of the tables.', STRUCT)
        self.edit('src/trace/rows.h', '  X(EstimateRow)', '  X(DemoRow) \\\n')
        self.edit('src/trace/tables.h', '// clang-format on', TABLE)
        self.assertLessEqual(len(self.changed), MOST_FILES)
        for source in USERS:
            self.compile(source, '-fsyntax-only')
        (self.copy / 'src/trace/demo.cc').write_text(PROGRAM)
        self.compile('src/trace/demo.cc', 'src/trace/names.cc', '-o', str(self.copy / 'demo'), str(BUILD / 'lib/libaaco.so'), f'-Wl,-rpath,{BUILD}/lib', '-lfmt')
        ran = subprocess.run([self.copy / 'demo'], capture_output=True, text=True, check=True)
        tables, found, start, place = ran.stdout.split()
        self.assertEqual((found, start, place), ('1', '7', 'hall'))
        self.assertGreater(int(tables), 10)


if __name__ == '__main__':
    unittest.main()
