"""What surrounds the packages: the gate of CI jobs, the bill of materials, the containers' files."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import trees
import yaml

PACKAGING = trees.TOP / 'packaging'
GATE = PACKAGING / 'ci/gate.sh'
# Stands in for the program: writes what it was asked, and its Markdown, and ends with $CODE.
STAND_IN = '#!/bin/sh\nprintf "%s\\n" "$@" >asked\nwhile [ $# -gt 0 ]; do [ "$1" != --markdown ] || echo verdict >"$2"; shift; done\nexit "$CODE"\n'


class Gate(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / 'aaco').write_text(STAND_IN)
        (self.folder / 'aaco').chmod(0o755)

    def gate(self, *words, code=0, **variables):
        return subprocess.run([GATE, *words], cwd=self.folder, capture_output=True, text=True, check=False, timeout=30,
                              env={'PATH': f'{self.folder}:{os.environ["PATH"]}', 'CODE': str(code), **variables})

    def test_codes_of_the_gate_are_those_of_the_job(self):
        for code in (0, 1, 3, 4):
            self.assertEqual(self.gate('net', code=code).returncode, code)

    def test_an_inconclusive_result_passes_on_request(self):
        self.assertEqual(self.gate('net', code=4, AACO_GATE_INCONCLUSIVE='pass').returncode, 0)
        self.assertEqual(self.gate('net', code=1, AACO_GATE_INCONCLUSIVE='pass').returncode, 1)

    def test_options_reach_the_program(self):
        self.gate('net', '--require-approval', '--', '--model', 'my net.onnx', AACO_GATE_RETRIES='5', AACO_GATE_OUT='out')
        asked = (self.folder / 'asked').read_text().splitlines()
        self.assertEqual(asked, ['gate', '--baseline', 'net', '--retries', '5', '--markdown', 'out/comment.md', '--junit', 'out/gate.xml', '--html',
                                 'out/gate.html', '--require-approval', '--', '--model', 'my net.onnx'])

    def test_the_comment_becomes_the_summary_of_the_job(self):
        self.gate('net', GITHUB_STEP_SUMMARY=str(self.folder / 'summary'))
        self.assertEqual((self.folder / 'summary').read_text(), 'verdict\n')

    def test_a_missing_baseline_is_refused(self):
        ran = self.gate()
        self.assertEqual(ran.returncode, 2)
        self.assertIn('missing baseline', ran.stderr)

    def test_a_wrong_setting_is_refused(self):
        self.assertEqual(self.gate('net', AACO_GATE_INCONCLUSIVE='maybe').returncode, 2)

    @unittest.skipUnless(shutil.which('shellcheck'), 'skipped, shellcheck is not installed')
    def test_shell_code_is_clean(self):
        action = yaml.safe_load((PACKAGING / 'ci/github/action.yml').read_text())
        steps = self.folder / 'steps.sh'
        steps.write_text('#!/bin/bash\n' + '\n'.join(step['run'] for step in action['runs']['steps']))
        ran = subprocess.run(['shellcheck', GATE, steps], capture_output=True, text=True, check=False)
        self.assertEqual((ran.returncode, ran.stdout), (0, ''))


class Files(unittest.TestCase):
    def test_containers_name_only_what_is_declared(self):
        compose = yaml.safe_load((PACKAGING / 'containers/compose.yaml').read_text())
        for service in compose['services'].values():
            for volume in service['volumes']:
                source = re.match(r'(?:\$\{[^}]*\}|[^:])+', volume).group(0)
                self.assertTrue(source.startswith(('.', '$')) or source in compose['volumes'], volume)
            for port in service.get('ports', []):
                self.assertTrue(port.startswith('127.0.0.1:'), port)
        # The token is 0600: who scrapes is the user that the dashboard runs as, which the Dockerfile leaves at root.
        self.assertNotIn('\nUSER ', (trees.TOP / 'Dockerfile').read_text())
        self.assertEqual(compose['services']['prometheus']['user'], 'root')
        scraped = yaml.safe_load((PACKAGING / 'containers/prometheus.yaml').read_text())['scrape_configs'][0]
        command = compose['services']['dashboard']['command']
        self.assertEqual(scraped['authorization']['credentials_file'], command[command.index('--token-file') + 1])
        self.assertEqual(scraped['static_configs'][0]['targets'], ['dashboard:' + command[command.index('--port') + 1]])

    def test_each_unit_names_the_manual_page_of_its_package(self):
        for unit, page in (('aaco-agent', 'aaco-agent'), ('aaco-serve', 'aaco')):
            self.assertIn(f'\nDocumentation=man:{page}(1)\n', (PACKAGING / f'systemd/{unit}.service').read_text())

    def test_the_gitlab_template_runs_the_gate(self):
        job = yaml.safe_load((PACKAGING / 'ci/gitlab.yml').read_text())['.aaco-gate']
        self.assertIn('gate.sh', job['script'][0])

    def test_the_bill_of_materials_lists_what_is_shipped(self):
        with tempfile.TemporaryDirectory() as folder:
            output = pathlib.Path(folder) / 'sbom.json'
            subprocess.run([trees.TOP / 'tools/make_sbom', '1.2.3', output], check=True)
            document = json.loads(output.read_text())
        names = {package['name']: package for package in document['packages']}
        self.assertEqual(document['spdxVersion'], 'SPDX-2.3')
        self.assertLessEqual({'aaco', 'ONNX Runtime', 'DuckDB', 'preact'}, set(names))
        self.assertEqual(len(names['DuckDB']['checksums'][0]['checksumValue']), 64)
        ids = [package['SPDXID'] for package in document['packages']]
        self.assertEqual(len(set(ids)), len(ids))
        for relation in document['relationships']:
            self.assertIn(relation['relatedSpdxElement'], ids)

    def test_the_changelog_has_the_version(self):
        version = re.search(r'project\(aaco VERSION ([0-9.]+)', (trees.TOP / 'CMakeLists.txt').read_text()).group(1)
        self.assertTrue((PACKAGING / 'changelog').read_text().startswith(f'aaco ({version}) '))


if __name__ == '__main__':
    unittest.main()
