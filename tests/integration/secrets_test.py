"""No secret of the corpus is anywhere in a bundle, and bundles are their owner's alone."""
import json
import pathlib
import shlex
import stat
import unittest

import program

CORPUS = pathlib.Path(__file__).resolve().parents[1] / 'fixtures/secrets/secrets.txt'


def cases():
    for line in CORPUS.read_text().splitlines():
        if line and not line.startswith('#'):
            text = line.replace('~~', '')
            yield text.replace('[[', '').replace(']]', ''), [part.split(']]')[0] for part in text.split('[[')[1:]]


class Secrets(program.ProgramTest):
    def bundle(self, tag):
        return self.folder / self.aaco('show', f'tag:{tag}', '--json').json()['session']['path']

    def contents(self, bundle):
        """Every file of the bundle; the columns of Parquet files also as they are without compression and dictionaries."""
        tables = 0
        for path in bundle.rglob('*'):
            if not path.is_file():
                continue
            yield path.name, path.read_bytes()
            if path.suffix == '.parquet':
                rows = self.aaco('query', f'SELECT * FROM {path.stem}', '--format', 'csv')
                self.assertEqual(rows.code, 0, rows.errors)
                self.assertGreater(len(rows.output.splitlines()), 1, path.name)
                tables += 1
                yield path.name, rows.output.encode()
        self.assertGreater(tables, 0)

    def test_no_secret_is_in_a_bundle(self):
        words, variables, secrets = [], {}, []
        for text, found in cases():
            secrets += found
            if text.startswith('$'):
                name, value = text[1:].split('=', 1)
                variables[name] = value
            else:
                words += shlex.split(text)
        self.assertGreaterEqual(len(secrets), 150)
        variables.pop('AACO_SESSIONS', None)
        # Long enough for rows of telemetry: a bundle without any has no table to look into.
        outcome = self.aaco('record', '--tag', 'secrets', '--', 'sh', '-c', 'sleep 0.2', 'sh', *words, **variables)
        self.assertEqual(outcome.code, 0, outcome.errors)
        bundle = self.bundle('secrets')
        for name, content in self.contents(bundle):
            self.assertEqual([secret for secret in secrets if len(secret) > 6 and secret.encode() in content], [], name)
        record = json.loads((bundle / 'env.json').read_text())
        self.assertGreaterEqual(record['command_values_removed'], 150)
        self.assertGreaterEqual(record['environment']['values_removed'], 5)

    def test_harmless_words_are_kept(self):
        words = ['-p8080', '-pthread', '--model', 'resnet50-v1-7', '--max-tokens', '128', 'd' * 32 + '0' * 32]
        self.aaco('record', '--tag', 'harmless', '--', 'true', *words)
        record = json.loads((self.bundle('harmless') / 'env.json').read_text())
        self.assertEqual(record['command'][-len(words):], words)
        self.assertEqual(record['command_values_removed'], 0)

    def modes(self, bundle):
        return {stat.S_IMODE(path.stat().st_mode) for path in bundle.rglob('*') if path.is_file()}, \
               {stat.S_IMODE(path.stat().st_mode) for path in [bundle, *bundle.rglob('*')] if path.is_dir()}

    def test_bundles_are_their_owners_alone(self):
        self.aaco('record', '--tag', 'private', '--', 'true')
        self.assertEqual(self.modes(self.bundle('private')), ({0o600}, {0o700}))

    def test_group_mode_is_remembered(self):
        shared = self.folder / 'shared'
        self.assertEqual(self.aaco('--sessions', shared, '--mode', 'group', 'ls').code, 0)
        self.assertEqual(self.aaco('--sessions', shared, 'record', '--', 'true').code, 0)
        bundle = (shared / 'latest').resolve()
        self.assertEqual(self.modes(bundle), ({0o640}, {0o2750}))

    def test_refuses_other_modes(self): self.refused(self.aaco('--mode', 'everybody', 'ls'), 2, '--mode', 'private')


if __name__ == '__main__':
    unittest.main()
