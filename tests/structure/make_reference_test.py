"""tools/make_reference: every command and what is below it, and a check that finds an old document."""
import subprocess
import unittest

import trees

PROGRAM = """#!/usr/bin/env bash
case "$*" in
  --help) printf 'Usage: aaco SUBCOMMAND\\n\\nSubcommands:\\n  run      Run a model\\n           over two lines\\n  lab      Faults\\n\\nEnd: text\\n  not one of them\\n' ;;
  'run --help') printf 'Run %s\\n' "$COLUMNS" ;;
  'lab --help') printf 'Faults\\n\\nSubcommands:\\n  inject   Inject one\\n' ;;
  'lab inject --help') echo 'Inject one' ;;
  *) exit 2 ;;
esac
"""


class MakeReference(trees.TreeTest):
    def setUp(self):
        super().setUp()
        self.program = self.write('aaco', PROGRAM)
        self.program.chmod(0o755)
        self.output = self.root / 'cli.md'

    def make(self, *options):
        ran = subprocess.run([trees.TOP / 'tools/make_reference', *options, self.program, self.output], capture_output=True, text=True, check=False)
        return ran.returncode, ran.stdout + ran.stderr

    def test_every_command_has_a_section(self):
        self.assertEqual(self.make(), (0, ''))
        headings = [line for line in self.output.read_text().splitlines() if line.startswith('##')]
        self.assertEqual(headings, ['## aaco', '## aaco run', '## aaco lab', '### aaco lab inject'])

    def test_help_is_as_printed_at_one_width(self):
        self.make()
        self.assertIn('```text\nRun 100\n```', self.output.read_text())

    def test_current_document_passes(self):
        self.make()
        self.assertEqual(self.make('--check'), (0, ''))

    def test_changed_help_is_found(self):
        self.make()
        self.program.write_text(PROGRAM.replace('Inject one', 'Inject two'))
        code, output = self.make('--check')
        self.assertEqual(code, 1)
        self.assertIn('+Inject two', output)
        self.assertIn('hint:', output)

    def test_missing_document_is_found(self): self.assertEqual(self.make('--check')[0], 1)

    def test_program_that_fails(self):
        self.program.write_text('#!/bin/sh\nexit 3\n')
        self.assertNotEqual(self.make()[0], 0)
        self.assertFalse(self.output.exists())


if __name__ == '__main__':
    unittest.main()
