"""tools/make_manual: a page for each verb, whose synopsis is the usage that the program prints."""
import gzip
import subprocess
import unittest

import trees

PROGRAM = """#!/usr/bin/env bash
case "$*" in
  --version) echo 'aaco 1.2.3' ;;
  --help) printf 'Usage: aaco SUBCOMMAND\\n\\nSubcommands:\\n  agent    Watch\\n  lab      Faults\\n' ;;
  'agent --help') printf 'Watch\\n\\nUsage: aaco agent [OPTIONS]\\n' ;;
  'lab --help') printf 'Faults\\n\\nUsage: aaco lab [OPTIONS] SUBCOMMAND\\n\\nSubcommands:\\n  inject   Inject one\\n' ;;
  'lab inject --help') printf 'Inject one\\n\\nUsage: aaco lab inject [OPTIONS] fault [run...]\\n' ;;
  *) exit 2 ;;
esac
"""


class MakeManual(trees.TreeTest):
    def setUp(self):
        super().setUp()
        program = self.write('aaco', PROGRAM)
        program.chmod(0o755)
        subprocess.run([trees.TOP / 'tools/make_manual', program, self.root / 'man1'], check=True)

    def synopsis(self, name):
        page = gzip.decompress((self.root / f'man1/{name}.1.gz').read_bytes()).decode()
        return page.split('.SH SYNOPSIS\n')[1].split('.SH')[0]

    def test_each_verb_has_a_page(self):
        self.assertEqual(sorted(file.name for file in (self.root / 'man1').iterdir()), ['aaco-agent.1.gz', 'aaco-lab.1.gz', 'aaco.1.gz'])

    def test_a_synopsis_has_the_arguments_of_every_command(self):
        self.assertEqual(self.synopsis('aaco-lab'),
                         '.B aaco lab\n[OPTIONS] SUBCOMMAND\n.br\n.B aaco lab inject\n[OPTIONS] fault [run...]\n')

    def test_the_program_of_the_agent_is_named_first(self):
        self.assertEqual(self.synopsis('aaco-agent'), '.B aaco\\-agent\n[OPTIONS]\n.br\n.B aaco agent\n[OPTIONS]\n')


if __name__ == '__main__':
    unittest.main()
