"""What the web server says to clients: refusals in terms of its requests and parameters."""
import json
import re

import program
from server_test import Server


class WordsTest(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        made = cls.run_small('--tag', 'one')
        if made.code != 0:
            raise AssertionError(made.errors)
        cls.session = cls.aaco('ls', '--json').json()['sessions'][0]['id']
        cls.server = Server(cls)
        cls.addClassCleanup(cls.server.stop)

    def test_hints_are_in_terms_of_the_interface(self):
        for words, path in (('GET /api/v1/sessions lists', '/api/v1/sessions/20991231'), ('GET /api/v1/sessions lists', '/api/v1/sessions/tag:nothing'),
                            ('GET /api/v1/sessions/{session}/metrics lists', f'/api/v1/diff?a={self.session}&b={self.session}&metric=nonsense'),
                            ("'metric' and 'where' choose", '/api/v1/history?metric=p50&where=model=nonsense'),
                            ('GET /api/v1/hardware lists', '/api/v1/hardware/nonsense')):
            status, answer = self.server.json(path)
            self.assertGreaterEqual(status, 400)
            self.assertIn(words, answer['error']['hint'], path)
            self.assertNotRegex(json.dumps(answer), r"--[a-z]|'aaco |`aaco ")

    def test_better_is_a_parameter_of_history(self):
        self.assertEqual(self.server.json('/api/v1/history?metric=p50&better=best')[0], 400)

    def test_a_used_link_has_a_page(self):
        server = Server(self, 'dashboard')
        self.addCleanup(server.stop)
        target = server.line.split(server.host, 1)[1]
        cookie = server.ask(target, token=None)[2]['Set-Cookie']
        status, page, headers = server.ask(target, token=None, Accept='text/html,*/*;q=0.8', Sec_Fetch_Dest='document')
        self.assertEqual((status, headers['Content-Type']), (403, 'text/html; charset=utf-8'))
        self.assertRegex(page, r"<h1>Not signed in</h1>\s*<p>.*used before.*</p>\s*<p>.*restart 'aaco dashboard'")
        status, _, headers = server.ask(target, token=None, Cookie=cookie.split(';')[0])
        self.assertEqual((status, headers['Location'], headers.get('Set-Cookie')), (303, '/', None), 'it has signed in before')

    def test_forms_have_words(self):
        """Each parameter of a job has a title for people beside its name, and each verb says what it does."""
        document = self.server.json('/api/v1/openapi.json')[1]
        verbs = {path.rsplit('/', 1)[1]: one['post'] for path, one in document['paths'].items() if re.fullmatch(r'/api/v1/jobs/[a-z]+', path)}
        self.assertEqual(set(verbs), {'run', 'record', 'import', 'diff', 'ab', 'gate', 'analyze', 'compare', 'optimize', 'llm'})
        for verb, operation in verbs.items():
            self.assertNotIn('aaco', operation['summary'])
            self.assertIn(f"'aaco {verb}'", operation['description'])
            for name, schema in operation['requestBody']['content']['application/json']['schema']['properties'].items():
                self.assertRegex(schema.get('title', ''), r'^[A-Z][^_]*$', f'{verb} {name}')


if __name__ == '__main__':
    program.unittest.main()
