"""tools/check_layers must find each kind of violation, and nothing in a tree that keeps the rules."""
import unittest

import trees


class CheckLayers(trees.TreeTest):
    def setUp(self):
        super().setUp()
        for stage in ('core', 'trace', 'stats', 'formats', 'collectors', 'importers', 'runner', 'analytics', 'estimation', 'report', 'tracelake'):
            self.write(f'src/{stage}/thing.h')
        self.write('src/importers/ort/private.h')
        self.write('src/collectors/proc/private.h')

    def includes(self, path, *headers):
        self.write(path, ''.join(f'#include {header}\n' for header in headers))
        return self.run_tool('check_layers', '--quiet')

    def module(self, folder, line):
        self.write(f'src/{folder}/CMakeLists.txt', line)

    def accept(self, path, *headers):
        code, output = self.includes(path, *headers)
        self.assertEqual((code, output), (0, ''))

    def refuse(self, wanted, path, *headers):
        code, output = self.includes(path, *headers)
        self.assertEqual(code, 1, output)
        self.assertIn(wanted, output)
        self.assertIn(path, output)

    def test_downward_include(self): self.accept('src/importers/a.cc', '"core/thing.h"', '"trace/thing.h"', '"formats/thing.h"')
    def test_own_private_header(self): self.accept('src/importers/kineto/a.cc', '"importers/ort/private.h"')
    def test_standard_and_system_headers(self): self.accept('src/core/a.cc', '<vector>', '<sys/stat.h>', '<unistd.h>')
    def test_owned_foreign_header(self): self.accept('src/tracelake/a.cc', '<duckdb.h>')
    def test_foreign_header_below_its_owner(self): self.accept('src/importers/ort/a.cc', '<simdjson.h>')
    def test_gtest_in_a_test(self): self.accept('src/core/a_test.cc', '<gtest/gtest.h>')
    def test_workflows_use_any_stage(self): self.accept('src/workflows/a.cc', '"collectors/thing.h"', '"runner/thing.h"', '"report/thing.h"')
    def test_faces_use_workflows(self):
        self.write('src/workflows/thing.h')
        self.accept('apps/cli/a.cc', '"workflows/thing.h"', '"report/thing.h"', '<CLI/CLI.hpp>')

    def test_upward_include(self): self.refuse('core may not use trace', 'src/core/a.cc', '"trace/thing.h"')
    def test_edge_includes_edge(self): self.refuse('runner may not use collectors', 'src/runner/a.cc', '"collectors/thing.h"')
    def test_brain_includes_brain(self): self.refuse('analytics may not use estimation', 'src/analytics/a.cc', '"estimation/thing.h"')
    def test_brain_includes_store(self): self.refuse('analytics may not use tracelake', 'src/analytics/a.h', '"tracelake/thing.h"')
    def test_report_includes_edge(self): self.refuse('report may not use tracelake', 'src/report/a.cc', '"tracelake/thing.h"')
    def test_face_goes_round_the_workflows(self): self.refuse('apps/cli may not use runner', 'apps/cli/a.cc', '"runner/thing.h"')
    def test_library_includes_a_face(self): self.refuse('nothing includes apps', 'src/workflows/a.cc', '"apps/cli/thing.h"')
    def test_private_header_of_another(self): self.refuse('private to src/collectors', 'src/workflows/a.cc', '"collectors/proc/private.h"')
    def test_private_header_in_a_test(self): self.refuse('private to src/importers', 'src/workflows/a_test.cc', '"importers/ort/private.h"')
    def test_foreign_header_elsewhere(self): self.refuse('belongs to src/tracelake', 'src/workflows/a.cc', '<duckdb.h>')
    def test_foreign_header_in_public_header(self): self.refuse('no foreign type', 'src/tracelake/a.h', '<duckdb.h>')
    def test_gtest_outside_a_test(self): self.refuse('belongs to tests', 'src/core/a.cc', '<gtest/gtest.h>')
    def test_unknown_foreign_header(self): self.refuse('no owner', 'src/core/a.cc', '<curl/curl.h>')
    def test_unknown_stage(self): self.refuse('not in tools/layers/stages.txt', 'src/helpers/a.cc')

    def test_links_downwards(self):
        self.module('core', 'aaco_module(core PARTS fmt)')
        self.module('trace', 'aaco_module(trace\n  DEPENDS core # the ground\n  PARTS fmt)')
        self.module('importers/ort', 'aaco_module(importers_ort DEPENDS trace)')
        self.assertEqual(self.run_tool('check_layers', '--quiet'), (0, ''))

    def refuse_link(self, wanted):
        code, output = self.run_tool('check_layers', '--quiet')
        self.assertEqual(code, 1, output)
        self.assertIn(wanted, output)

    def test_links_upwards(self):
        self.module('core', 'aaco_module(core DEPENDS trace)')
        self.module('trace', 'aaco_module(trace)')
        self.refuse_link('core depends on trace: core may not use trace')

    def test_edge_links_edge(self):
        self.module('runner/ort', 'aaco_module(runner_ort DEPENDS importers)')
        self.module('importers', 'aaco_module(importers)')
        self.refuse_link('runner may not use importers')

    def test_link_to_nothing(self):
        self.module('trace', 'aaco_module(trace DEPENDS ground)')
        self.refuse_link('ground, which is no module')

    def test_module_named_after_another_folder(self):
        self.module('runner/ort', 'aaco_module(ort)')
        self.refuse_link('its folder wants runner_ort')

    def test_cycle_within_a_stage(self):
        self.module('runner', 'aaco_module(runner DEPENDS runner_ort)')
        self.module('runner/ort', 'aaco_module(runner_ort DEPENDS runner)')
        self.refuse_link('depend on each other')


class Rooms(trees.TreeTest):
    """A stage whose folders say what they use: src/workflows with the rooms low, middle and high."""

    def setUp(self):
        super().setUp()
        self.room('low', 'base')
        self.room('middle', 'work', '"workflows/low/base.h"', depends='workflows_low')
        self.room('high', 'top', '"workflows/middle/work.h"', depends='workflows_middle')

    def room(self, name, stem, *headers, depends=''):
        self.write(f'src/workflows/{name}/{stem}.h')
        self.source(f'{name}/{stem}.cc', f'"workflows/{name}/{stem}.h"', *headers)
        self.write(f'src/workflows/{name}/CMakeLists.txt', f'aaco_module(workflows_{name} DEPENDS {depends})')

    def source(self, path, *headers):
        self.write(f'src/workflows/{path}', ''.join(f'#include {header}\n' for header in headers))

    def accept(self): self.assertEqual(self.run_tool('check_layers', '--quiet'), (0, ''))

    def refuse(self, *wanted):
        code, output = self.run_tool('check_layers', '--quiet')
        self.assertEqual(code, 1, output)
        for text in wanted:
            self.assertIn(text, output)

    def test_rooms_that_say_what_they_use(self): self.accept()

    def test_undeclared_use(self):
        self.source('high/more.cc', '"workflows/low/base.h"')
        self.refuse('high/CMakeLists.txt: DEPENDS lacks workflows_low', 'more.cc includes workflows/low/base.h')

    def test_declared_and_not_used(self):
        self.write('src/workflows/high/CMakeLists.txt', 'aaco_module(workflows_high DEPENDS workflows_middle workflows_low)')
        self.refuse('DEPENDS names workflows_low, which workflows_high does not include')

    def test_use_of_another_stage_is_declared_too(self):
        self.write('src/core/CMakeLists.txt', 'aaco_module(core)')
        self.write('src/core/text.h')
        self.write('src/core/text.cc', '#include "core/text.h"\n')
        self.source('low/more.cc', '"core/text.h"')
        self.refuse('DEPENDS lacks core')

    def test_public_header_belongs_to_the_room_of_its_source(self):
        self.write('src/workflows/shown.h')
        self.source('low/shown.cc', '"workflows/shown.h"')
        self.source('high/more.cc', '"workflows/shown.h"')
        self.refuse('DEPENDS lacks workflows_low')

    def test_public_header_of_no_room(self):
        self.write('src/workflows/lost.h')
        self.refuse('src/workflows/lost.h: no room has a source of this name')

    def test_cycle_of_rooms(self):
        self.source('low/base.cc', '"workflows/high/top.h"')
        self.write('src/workflows/low/CMakeLists.txt', 'aaco_module(workflows_low DEPENDS workflows_high)')
        self.refuse('depend on each other')

    def test_loop_of_four_headers_with_their_sources(self):
        for name, other in zip('abcd', 'bcda'):
            self.write(f'src/workflows/low/{name}.h')
            self.source(f'low/{name}.cc', f'"workflows/low/{other}.h"')
        self.refuse('4 headers with their sources include each other: a, b, c, d')

    def test_loop_of_three_is_borne(self):
        for name, other in zip('abc', 'bca'):
            self.write(f'src/workflows/low/{name}.h')
            self.source(f'low/{name}.cc', f'"workflows/low/{other}.h"')
        self.accept()

    def test_two_sources_of_one_name(self):
        self.source('low/top.cc')
        self.refuse('has the same name as')

    def test_more_than_ten_sources_in_no_room(self):
        for number in range(11):
            self.source(f'flat_{number}.cc')
        self.refuse('11 sources are in no room')

    def test_test_that_reaches_above_its_room(self):
        self.source('low/base_test.cc', '"workflows/high/top.h"')
        self.refuse('base_test.cc: includes workflows/high/top.h of workflows_high, which workflows_low does not reach')

    def test_test_that_uses_what_its_room_reaches(self):
        self.source('high/top_test.cc', '"workflows/low/base.h"')
        self.accept()


class Debt(trees.TreeTest):
    LINE = 'src/core/a.cc: includes trace/thing.h: core may not use trace'

    def setUp(self):
        super().setUp()
        self.write('src/trace/thing.h')
        for name in ('stages', 'foreign', 'system'):
            self.write(f'tables/{name}.txt', (trees.TOP / f'tools/layers/{name}.txt').read_text())

    def check(self, source, debt):
        self.write('src/core/a.cc', source)
        self.write('tables/debt.txt', debt)
        return self.run_tool('check_layers', '--tables', self.root / 'tables')

    def test_listed_debt_passes(self):
        code, output = self.check('#include "trace/thing.h"\n', self.LINE + '\n')
        self.assertEqual(code, 0, output)
        self.assertIn('1 debts', output)

    def test_unlisted_violation_fails(self): self.assertEqual(self.check('#include "trace/thing.h"\n', '')[0], 1)

    def test_paid_debt_must_go(self):
        code, output = self.check('', self.LINE + '\n')
        self.assertEqual(code, 1)
        self.assertIn('paid, take the line out', output)


if __name__ == '__main__':
    unittest.main()
