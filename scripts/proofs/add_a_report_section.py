#!/usr/bin/env python3
"""Adds a demo section to the report in a copy of the tree, builds it, and counts the existing files that changed.

  scripts/proofs/add_a_report_section.py [--keep]

docs/how_to/add_a_report_section.md tells the same steps. Exit code 0: at most 3 existing files changed, and it works.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
MAX_CHANGED = 3

NEW = {
    'src/report/demo_section.h': '''#pragma once

#include <cstdint>

#include "core/json.h"

namespace aaco::report {

class TextPage;
struct ReportModel;

struct Demo {
  std::int64_t warning_count = 0;
};

core::Json to_json(const Demo& section);
void write_text(TextPage& page, const Demo& section, const ReportModel& model);

}  // namespace aaco::report
''',
    'src/report/demo_section.cc': '''#include "report/demo_section.h"

namespace aaco::report {

core::Json to_json(const Demo& section) { return core::Json::object({{"warning_count", section.warning_count}}); }

}  // namespace aaco::report
''',
    'src/report/text/demo.cc': '''#include "report/demo_section.h"
#include "report/text/page.h"

namespace aaco::report {

void write_text(TextPage& page, const Demo& section, const ReportModel&) {
  page.heading("Demo");
  page.paragraph(std::to_string(section.warning_count) + " warnings");
}

}  // namespace aaco::report
''',
    'src/report/web/demo_test.cc': '''#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/render.h"

namespace aaco::report {
namespace {

TEST(Demo, IsInEveryForm) {
  ReportModel model;
  EXPECT_THAT(render_text(model, {}), testing::Not(testing::HasSubstr("Demo")));
  model.sections.demo = Demo{7};
  EXPECT_EQ(render_json(model)["extra"]["demo"]["warning_count"].as_i64(), 7);
  EXPECT_THAT(render_text(model, {}), testing::HasSubstr("7 warnings"));
}

}  // namespace
}  // namespace aaco::report
''',
    'src/workflows/session_report/report_demo.h': '''#pragma once

#include "report/model.h"

namespace aaco::workflows {

void fill_demo(report::ReportModel& model);

}  // namespace aaco::workflows
''',
    'src/workflows/session_report/report_demo.cc': '''#include "workflows/session_report/report_demo.h"

namespace aaco::workflows {

void fill_demo(report::ReportModel& model) {
  if (model.session.warnings.empty()) return;
  model.sections.demo = report::Demo{static_cast<std::int64_t>(model.session.warnings.size())};
}

}  // namespace aaco::workflows
''',
    'web/src/sections/demo.tsx': '''import { Section, type SectionEntry, type SectionProps } from '../components/section.tsx';
import '../model/report.ts';

declare module '../model/report.ts' {
  interface Extra {
    demo?: { warning_count: number };
  }
}

function DemoSection({ report, id, title }: SectionProps) {
  return <Section id={id} title={title}><p>{report.extra?.demo?.warning_count} warnings</p></Section>;
}

export const demoSection: SectionEntry = { id: 'demo', title: 'Demo', shows: ['demo'], has: (report) => report.extra?.demo, view: DemoSection };
''',
    'docs/formats/report/demo.md': '# extra.demo\n\n`warning_count`: how many warnings the session has.\n',
}

# File -> pairs of a line that is there and what takes its place.
CHANGED = {
    'src/report/sections.h': [
        ('#include "report/gpu_sections.h"', '#include "report/demo_section.h"\n#include "report/gpu_sections.h"'),
        ('  std::optional<Scaling> scaling;', '  std::optional<Scaling> scaling;\n  std::optional<Demo> demo;'),
        ('    SectionEntry{"scaling", &Sections::scaling, Place::top},',
         '    SectionEntry{"scaling", &Sections::scaling, Place::top},\n    SectionEntry{"demo", &Sections::demo, Place::details},'),
    ],
    'src/workflows/session_report/session_report.cc': [
        ('#include "workflows/session_report/report_gpu.h"', '#include "workflows/session_report/report_demo.h"\n#include "workflows/session_report/report_gpu.h"'),
        ('  AACO_TRY(fill_scaling(model, session_path));', '  AACO_TRY(fill_scaling(model, session_path));\n  fill_demo(model);'),
    ],
    'web/src/sections/list.tsx': [
        ("import { gpuSection } from './gpu.tsx';", "import { demoSection } from './demo.tsx';\nimport { gpuSection } from './gpu.tsx';"),
        ('  gpuSection,', '  gpuSection,\n  demoSection,'),
    ],
}


def run(*command, cwd):
    environment = dict(os.environ, CCACHE_BASEDIR=str(cwd))
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=environment, text=True, capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f'failed: {" ".join(map(str, command))}\n{done.stdout[-4000:]}{done.stderr[-4000:]}')
    return done.stdout


def copy_tree(to):
    for name in run('git', 'ls-files', '-z', cwd=TOP).split('\0'):
        if name and (TOP / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(TOP / name, to / name)
    if (TOP / 'web/node_modules').exists():
        (to / 'web/node_modules').symlink_to(TOP / 'web/node_modules')


def add_section(tree):
    for name, text in NEW.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    for name, edits in CHANGED.items():
        text = (tree / name).read_text()
        for before, after in edits:
            if text.count(before + '\n') != 1:
                sys.exit(f'failed: {name} has not exactly one line {before!r}')
            text = text.replace(before + '\n', after + '\n')
        (tree / name).write_text(text)


def changed_files(tree):
    """Existing files that differ, tests not counted; and existing files that are gone."""
    names = [name for name in run('git', 'ls-files', '-z', cwd=TOP).split('\0') if name and (TOP / name).is_file()]
    return [name for name in names if not (tree / name).exists() or (tree / name).read_bytes() != (TOP / name).read_bytes()]


def build(tree):
    run('cmake', '--preset', 'ci', cwd=tree)
    run('ninja', '-C', 'build/release', 'aaco_report_web_test', 'aaco_workflows_session_report', cwd=tree)
    run('build/release/tests/aaco_report_web_test', '--gtest_filter=Demo.*', cwd=tree)
    run('tools/check_layers', cwd=tree)
    if (tree / 'web/node_modules').exists():
        run('node', 'node_modules/typescript/bin/tsc', '--noEmit', cwd=tree / 'web')
        run('node', 'build.mjs', '--out', tree / 'build/page', cwd=tree / 'web')
        if 'extra?.demo' not in (tree / 'build/page/report.html').read_text() and '.demo' not in (tree / 'build/page/report.html').read_text():
            sys.exit('failed: the page has no demo section')


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument('--keep', action='store_true', help='keep the copy of the tree')
    options.add_argument('--describe', action='store_true', help='print what this proves, in one line')
    asked = options.parse_args()
    if asked.describe:
        print('a report section is added with at most 3 changed files (structure; about 5 minutes)')
        return 0
    tree = pathlib.Path(tempfile.mkdtemp(prefix='aaco-report-section-'))
    try:
        copy_tree(tree)
        add_section(tree)
        changed = changed_files(tree)
        build(tree)
    finally:
        if not asked.keep:
            shutil.rmtree(tree, ignore_errors=True)
    print(json.dumps({'changed_files': changed, 'count': len(changed), 'max': MAX_CHANGED}))
    return 0 if len(changed) <= MAX_CHANGED else 1


if __name__ == '__main__':
    sys.exit(main())
