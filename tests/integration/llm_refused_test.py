"""What `aaco llm` refuses: options, servers and answers, each with its own message."""
import json
import time
import unittest
import unittest.mock

from llm_server import LlmTest


class Refused(LlmTest):
    def test_ebpf_needs_the_server_here(self):
        self.refused(self.aaco('llm', '--model', 'gpt2', '--ebpf'), 2, '--ebpf requires --url')
    def test_redirection_is_named(self): self.refused(self.llm('redirect', '--model', 'x'), 3, '307', 'http://elsewhere/v1')
    def test_no_url(self): self.refused(self.aaco('llm'), 2, 'missing --url or --model')
    def test_self_test_has_its_own_server(self): self.refused(self.aaco('llm', '--self-test', '--url', 'http://127.0.0.1:1/v1'), 2, '--url')
    def test_unknown_definitions(self): self.refused(self.llm('plain', '--definitions', 'triton'), 2, 'triton', 'aiperf')
    def test_missing_metrics(self): self.refused(self.llm('plain', '--server-metrics', 'http://127.0.0.1:1/metrics'), 3, "the server's metrics")
    def test_tokenizer_that_is_not_one(self):
        (self.folder / 'tokenizer.json').write_text('{}')
        self.refused(self.llm('plain', '--tokenizer', self.folder / 'tokenizer.json'), 3, 'tokenizer.json')
    def test_turns_of_completions(self): self.refused(self.llm('plain', '--turns', 2, '--api', 'completions'), 2, '--turns')
    def test_ab_of_one_server(self): self.refused(self.aaco('ab', '--', '--url', 'http://127.0.0.1:1/v1'), 2, 'two sides')
    def test_ab_of_levels(self):
        url = f'http://127.0.0.1:{self.port}/plain/v1'
        self.refused(self.aaco('ab', '--', '--url', url, '--concurrency', '1,2', '--', '--url', url), 2, 'one level')
    def test_ab_with_iterations(self):
        self.refused(self.aaco('ab', '-n', 5, '--', '--url', 'http://127.0.0.1:1/v1', '--', '--url', 'http://127.0.0.1:1/v1'), 2, '--iterations')

    def test_no_server(self): self.refused(self.aaco('llm', '--url', 'http://127.0.0.1:1/v1'), 3, 'cannot connect')
    def test_wrong_path(self): self.refused(self.llm('nothing'), 3, '404', '--model')
    def test_server_that_does_not_stream(self): self.refused(self.llm('whole'), 3, 'application/json', 'does not stream')
    def test_missing_proxy(self):
        with unittest.mock.patch.dict('os.environ', {'http_proxy': 'http://127.0.0.1:1', 'no_proxy': ''}):
            self.refused(self.llm('plain'), 3, 'cannot connect to the proxy', 'http_proxy')
    def test_html(self): self.refused(self.llm('html', '--model', 'x'), 3, 'html')
    def test_model_list_is_html(self): self.refused(self.llm('html'), 3, 'cannot list the models', 'HTML instead of a list of models', '/v1')
    def test_model_list_that_never_comes(self):
        begin = time.monotonic()
        self.refused(self.llm('plain,models=1', '--timeout', '300ms'), 3, 'cannot list the models', 'no complete reply within 300 ms', '--timeout')
        self.assertLess(time.monotonic() - begin, 8)  # 10 s without --timeout
    def test_model_list_is_html_with_status_200(self): self.refused(self.llm('plain,models=2'), 3, 'cannot list the models', 'HTML instead of a list of models', '/v1')
    def test_model_list_fails(self): self.refused(self.llm('plain,models=3'), 3, 'cannot list the models', 'HTTP 500: boom')
    def test_model_list_is_not_http(self): self.refused(self.llm('plain,models=4'), 3, 'cannot list the models', 'not http/1.1')
    def test_model_list_is_refused(self): self.refused(self.llm('plain,models=5'), 3, 'cannot list the models', '401', '--api-key-file')
    def test_model_list_is_elsewhere(self): self.refused(self.llm('plain,models=6'), 3, 'cannot list the models', 'redirected to http://elsewhere/v1')
    def test_model_list_is_another_document(self): self.refused(self.llm('plain,models=7'), 3, 'instead of a list of models')
    def test_model_list_is_cut(self): self.refused(self.llm('plain,models=8'), 3, 'cannot list the models', 'closed the connection')
    def test_expired_token(self): self.refused(self.llm('http_401'), 3, '401', 'invalid api key', '--api-key-file')
    def test_unknown_model(self): self.refused(self.llm('no_model', '--model', 'x'), 3, 'does not exist')
    def test_server_that_never_answers(self): self.refused(self.llm('never', '--timeout', '300ms'), 3, 'no complete response within')
    def test_not_http(self): self.refused(self.llm('garbage', '--model', 'x'), 3, 'not http/1.1')
    def test_tls_refused(self): self.refused(self.aaco('llm', '--url', f'https://127.0.0.1:{self.port}/v1', '--model', 'x', '--timeout', '500ms'), 3, 'first request failed')
    def test_tls_refused_while_listing_models(self): self.refused(self.aaco('llm', '--url', f'https://127.0.0.1:{self.port}/v1', '--timeout', '500ms'), 3, 'cannot list the models', 'tls')
    def test_cap_without_a_schedule(self): self.refused(self.llm('plain', '--max-open', 2), 2, '--max-open requires')
    def test_not_a_url(self): self.refused(self.aaco('llm', '--url', 'localhost:8000'), 2, 'not a valid http(s) url')
    def test_url_is_required(self): self.refused(self.aaco('llm'), 2, '--url')
    def test_two_loads(self): self.refused(self.llm('plain', '--rate', 1, '--concurrency', 1), 2, 'exclusive')
    def test_cap_of_a_closed_loop(self): self.refused(self.llm('plain', '--concurrency', 1, '--max-open', 1), 2, '--max-open requires')
    def test_zero_rate(self): self.refused(self.llm('plain', '--rate', 0), 2, '--rate')
    def test_unknown_arrivals(self): self.refused(self.llm('plain', '--rate', 1, '--arrivals', 'uniform'), 2, 'poisson')
    def test_bad_slo(self): self.refused(self.llm('plain', '--slo', 'speed=1s'), 2, 'ttft=200ms')
    def test_slo_without_unit(self): self.refused(self.llm('plain', '--slo', 'ttft=200'), 2, 'missing unit', 'ttft=200ms')
    def test_bad_length(self): self.refused(self.llm('plain', '--prompt-tokens', 'many'), 2, 'invalid length')
    def test_missing_replay(self): self.refused(self.llm('plain', '--replay', 'nowhere.csv'), 3, 'nowhere.csv')
    def test_missing_key(self): self.refused(self.llm('plain', '--api-key-file', 'nowhere'), 3, 'nowhere')
    def test_duration_without_unit(self): self.refused(self.llm('plain', '--duration', '60'), 2, 'missing unit')
    def test_header_without_colon_does_not_show_its_value(self):
        outcome = self.llm('plain', '--header', 'secretvalue')
        self.refused(outcome, 2, 'header')
        self.assertNotIn('secretvalue', outcome.errors)


if __name__ == '__main__':
    unittest.main()
