"""What a server repeats of the request is neither stored nor printed by `aaco llm`; servers that want other options; empty options."""
import http.server
import json
import threading
import unittest

import program

KEY, HEADER, PROMPT, PIN = 'sk-live-0123456789abcdef', 'tenant-4f9d2c', 'my "password" is\nhunter2 für immer', 'pin 4711'
PROXY = 'proxy-pw-77'


class Handler(http.server.BaseHTTPRequestHandler):
    """The first part of the path names what it does; `served` counts the requests of each."""
    protocol_version = 'HTTP/1.1'
    served = {}
    queries = set()  # (path, query)

    def log_message(self, *_): pass

    def reply(self, status, kind, text, header=()):
        data = text.encode()
        self.send_response(status, header[0] if header else None)
        self.send_header('Content-Type', kind)
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def stream(self, *events):
        self.reply(200, 'text/event-stream', ''.join(f'data: {event if isinstance(event, str) else json.dumps(event)}\n\n' for event in events))

    def answer(self, key=None):
        first, last = ({key: 'a'}, {key: 'b'}) if key else ({'delta': {'content': 'a'}}, {'delta': {'content': 'b'}})
        self.stream({'choices': [first]}, {'choices': [last | {'finish_reason': 'stop'}]},
                    {'choices': [], 'usage': {'prompt_tokens': 3, 'completion_tokens': 2}}, '[DONE]')

    def do_GET(self):
        self.queries.add(tuple(self.path.partition('?')[::2]))
        if self.path.startswith('/query/'): return self.reply(200, 'application/json', json.dumps({'data': [{'id': 'tiny'}]}))
        if self.path.startswith('/queryless/'): return self.reply(404, 'text/plain', 'no such path: ' + self.path)
        echo = f'{self.headers["Authorization"]} {self.headers["X-Tenant"]}'
        if 'ids' in self.path: return self.reply(200, 'application/json', json.dumps({'data': [{'id': f'org/{KEY}/{PROXY}'}]}))
        if 'list' in self.path: return self.reply(403, 'application/json', json.dumps({'error': {'message': 'refused ' + echo}}))
        self.reply(404, 'text/plain', echo)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        way = self.path.split('/')[1]
        self.queries.add(tuple(self.path.partition('?')[::2]))
        if way == 'query': return self.answer(None if '/chat/' in self.path else 'text')
        count = self.served[way] = self.served.get(way, 0) + 1
        if 'ids' in way or 'ids' in self.path: return self.answer()
        if way == 'completion_limit':
            if 'max_tokens' in body:
                return self.reply(400, 'application/json', json.dumps({'error': {'message': "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."}}))
            return self.answer()
        if 'tokenize' in self.path: return self.reply(400, 'text/plain', json.dumps(body) + KEY)
        if count == 1 and way != 'first': return self.answer()  # the probe
        prompt = body['messages'][0]['content']
        echo = f'{self.headers["Authorization"]} {self.headers["X-Tenant"]} {prompt}'
        if way == 'plain': return self.reply(500, 'text/plain', echo)
        if way == 'finish': return self.stream({'choices': [{'delta': {'content': 'a'}, 'finish_reason': echo}]}, '[DONE]')
        if way == 'event': return self.stream('no JSON ' + echo.replace('\n', ' '))
        if way == 'error': return self.stream({'error': {'message': echo}})
        if way == 'type': return self.reply(200, 'text/' + KEY + HEADER, '')
        if way == 'twice': echo = echo + ' again ' + echo
        if way in ('nested', 'first'): echo = 'upstream: ' + json.dumps(json.dumps({'sent': echo}))
        self.reply(400, 'application/json', json.dumps({'error': {'message': echo}}))


class Secrets(program.ProgramTest):
    def setUp(self):
        Handler.served = {}
        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.server.daemon_threads = True
        thread = threading.Thread(target=self.server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        (self.folder / 'key').write_text(KEY + '\n')
        (self.folder / 'prompts.jsonl').write_text(''.join(json.dumps({'prompt': text}) + '\n' for text in (PROMPT, PIN)))

    def llm(self, way, *options):
        return self.aaco('llm', '--url', f'http://127.0.0.1:{self.server.server_address[1]}/{way}/v1', '--no-telemetry', *options)

    def secret(self, way, *options):
        return self.llm(way, '--api-key-file', self.folder / 'key', '--header', f'X-Tenant: {HEADER}', '--prompts', self.folder / 'prompts.jsonl',
                        '--requests', 4, '--warmup', 0, *options)

    def clean(self, text, where):
        for secret in (KEY, HEADER, 'hunter2', 'password', PIN):
            self.assertNotIn(secret.lower(), text.lower(), where)

    def clean_session(self, way):
        outcome = self.secret(way, '--model', 'm', '--json')
        self.clean(outcome.output + outcome.errors, way)
        paths = list(self.lake.rglob('session.json'))
        self.assertTrue(paths, way)
        for path in self.folder.rglob('*'):
            if path.is_file() and path.name not in ('key', 'prompts.jsonl'): self.clean(path.read_bytes().decode('latin-1'), path)
        newest = max(paths, key=lambda path: path.stat().st_mtime_ns).parent.name
        rows = self.aaco('query', '--json', f"SELECT outcome, detail, finish_reason FROM llm_requests WHERE session_id = '{newest}'")
        self.assertEqual(rows.code, 0, rows.errors)
        self.assertEqual(len(rows.json()), 4, rows.output)
        self.clean(rows.output, 'the table')
        return rows.json()

    def test_the_query_goes_with_every_request_and_its_key_stays_secret(self):
        url = f'http://127.0.0.1:{self.server.server_address[1]}/query/v1?api-version=2024-10-21&api-key={KEY}'
        for api, model, paths in (('chat', (), {'/models', '/chat/completions'}), ('completions', ('--model', 'm'), {'/completions'})):
            Handler.queries = set()
            outcome = self.aaco('llm', '--url', url, '--no-telemetry', '--api', api, *model, '--requests', 4, '--warmup', 0, '--json')
            self.assertEqual(outcome.code, 0, outcome.errors)
            self.assertLessEqual({(f'/query/v1{path}', f'api-version=2024-10-21&api-key={KEY}') for path in paths}, Handler.queries)
            self.clean(outcome.output + outcome.errors, api)
        for path in self.lake.rglob('*'):
            if path.is_file(): self.clean(path.read_bytes().decode('latin-1'), path)
        stored = [path.read_text() for path in self.lake.rglob('session.json')]
        self.assertTrue(any('?api-version=2024-10-21&api-key=(removed)' in text for text in stored))
        failed = self.aaco('llm', '--url', url.replace('/query/', '/queryless/'), '--no-telemetry', '--requests', 2)
        self.assertEqual(failed.code, 3, failed.errors)
        self.clean(failed.output + failed.errors, 'the failure')

    def test_error_message(self):
        for row in self.clean_session('message'): self.assertIn('(removed)', row['detail'])
    def test_text_of_a_failure(self):
        for row in self.clean_session('plain'): self.assertEqual(row['outcome'], 'http_5xx')
    def test_error_in_the_stream(self): self.clean_session('error')
    def test_invalid_event(self): self.clean_session('event')
    def test_finish_reason(self): self.clean_session('finish')
    def test_content_type(self): self.clean_session('type')
    def test_escaped_twice(self): self.clean_session('nested')
    def test_repeated(self): self.clean_session('twice')
    def test_first_request(self):
        outcome = self.secret('first', '--model', 'm')
        self.refused(outcome, 3, 'upstream', '(removed)')
        self.clean(outcome.errors, 'first')
    def test_model_list(self):
        outcome = self.secret('list')
        self.refused(outcome, 3, 'cannot list the models', '(removed)')
        self.clean(outcome.errors, 'list')

    def test_model_id_that_repeats_secrets(self):
        # The server is its own proxy, so that the password of the proxy is one of the secrets.
        proxy = f'http://user:{PROXY}@127.0.0.1:{self.server.server_address[1]}'
        options = ('llm', '--url', 'http://server.test/ids/v1', '--no-telemetry', '--server-metrics', 'off', '--api-key-file', self.folder / 'key',
                   '--requests', 2, '--output-tokens', 2)
        for more in ((), ('--model', f'org/{KEY}/{PROXY}')):
            for output in ((), ('--json',)):
                outcome = self.aaco(*options, *more, *output, http_proxy=proxy, HTTP_PROXY=proxy, no_proxy='')
                self.assertEqual(outcome.code, 0, outcome.errors)
                self.assertIn('org/(removed)/(removed)', outcome.output)
                for secret in (KEY, PROXY): self.assertNotIn(secret, outcome.output + outcome.errors)
        for path in self.lake.rglob('*'):
            if path.is_file():
                for secret in (KEY, PROXY): self.assertNotIn(secret.encode(), path.read_bytes(), path)

    def test_key_with_control_characters(self):
        for key in ('sk-a\x01b', 'sk-a b', 'sk-a\n\n', ' sk-a', 'sk-ä', 'sk-a\0b'):
            (self.folder / 'bad').write_text(key)
            self.refused(self.llm('message', '--model', 'm', '--api-key-file', self.folder / 'bad'), 3, 'the api key contains')
    def test_key_with_the_newline_of_another_system(self):
        (self.folder / 'key').write_bytes(KEY.encode() + b'\r\n')
        self.assertEqual(self.llm('completion_limit', '--model', 'm', '--requests', 2, '--output-tokens', 2, '--api-key-file', self.folder / 'key').code, 0)

    def test_empty_values(self):
        for option in ('--api-key-file', '--prompts', '--replay', '--ca-file', '--tokenizer', '--definitions', '--slo', '--header', '--url', '--model',
                       '--duration', '--timeout', '--server-metrics', '--observe', '--recover', '--prompt-tokens', '--tag'):
            for words in ((option, ''), (option + '=',)):
                outcome = self.aaco('llm', *words)
                self.refused(outcome, 2, option)
    def test_empty_value_of_a_side(self):
        url = 'http://127.0.0.1:1/v1'
        self.refused(self.aaco('ab', '--', '--url', url, '--slo', '', '--', '--url', url), 2, '--slo')
    def test_sides_of_different_lengths_are_refused_first(self):
        url = f'http://127.0.0.1:{self.server.server_address[1]}/message/v1'
        for option, a, b, why in (('--output-tokens', 8, 16, 'shapes'), ('--slo', 'ttft=1s', 'ttft=2s', 'slo'), ('--model', 'a', 'b', None)):
            outcome = self.aaco('ab', '--', '--url', url, option, a, '--', '--url', url, option, b)
            if why is None: self.assertNotIn('not comparable', outcome.errors)
            else:
                self.refused(outcome, 2, 'not comparable', why)
                self.assertEqual(Handler.served, {})

    def test_max_completion_tokens_instead_of_max_tokens(self):
        outcome = self.llm('completion_limit', '--model', 'm', '--requests', 4, '--output-tokens', 2, '--json')
        self.assertEqual(outcome.code, 0, outcome.errors)
        self.assertIn('llm.completion_limit', [warning['id'] for warning in outcome.json()['warnings']])
    def test_max_completion_tokens_is_of_the_chat_api(self):
        self.refused(self.llm('completion_limit', '--model', 'm', '--api', 'completions'), 3, 'max_completion_tokens')


if __name__ == '__main__':
    unittest.main()
