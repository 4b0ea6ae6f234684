"""The /metrics of the server as Prometheus itself reads them: `promtool check metrics`, and a scrape by a real Prometheus.

Both programs are of Debian's package `prometheus`, which the build does not need: without them the tests are skipped.
"""
import json
import shutil
import subprocess
import time
import unittest
import urllib.parse
import urllib.request

import server_writes_test

WAIT_S = 60


def need(name):
    path = shutil.which(name)
    if not path:
        raise unittest.SkipTest(f'skipped, no {name} (apt-get install prometheus)')
    return path


class PrometheusTest(server_writes_test.WritesCase):
    def test_promtool_has_no_objection(self):
        promtool = need('promtool')
        self.imported('a "quoted" \\ name.json', 'x')
        server = self.serve()
        server.ask('/metrics')
        time.sleep(0.6)  # values that need two samples
        text = server.ask('/metrics')[1]
        checked = subprocess.run([promtool, 'check', 'metrics'], input=text, capture_output=True, text=True, check=False)
        self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, ''))

    def test_a_real_prometheus_scrapes_it(self):
        prometheus = need('prometheus')
        self.imported('scraped.json', 'x')
        server = self.serve()
        other = self.serve('--token-file', str(self.folder / 'other.token'))  # only to find a free port
        port = other.port
        other.stop()
        config = self.folder / 'prometheus.yml'
        config.write_text(json.dumps({'global': {'scrape_interval': '1s', 'scrape_timeout': '1s'}, 'scrape_configs': [
            {'job_name': 'aaco', 'authorization': {'credentials_file': str(server.token_file)}, 'static_configs': [{'targets': [server.host]}]}]}))
        with open(self.folder / 'prometheus.log', 'w') as log:
            scraper = subprocess.Popen([prometheus, f'--config.file={config}', f'--storage.tsdb.path={self.folder / "tsdb"}', f'--web.listen-address=127.0.0.1:{port}'], stdout=log, stderr=log, cwd=self.folder)
        self.addCleanup(scraper.wait)
        self.addCleanup(scraper.terminate)

        def value(query):
            try:
                with urllib.request.urlopen(f'http://127.0.0.1:{port}/api/v1/query?' + urllib.parse.urlencode({'query': query}), timeout=5) as answer:
                    result = json.load(answer)['data']['result']
            except OSError:
                return None
            return float(result[0]['value'][1]) if result else None

        end = time.monotonic() + WAIT_S
        while value('up{job="aaco"}') != 1:
            self.assertLess(time.monotonic(), end, (self.folder / 'prometheus.log').read_text()[-2000:])
            time.sleep(0.2)
        self.assertEqual(value('aaco_sessions{state="complete"}'), len(self.aaco('ls', '--json').json()['sessions']))
        self.assertGreater(value('aaco_machine_memory_available_bytes'), 0)


if __name__ == '__main__':
    unittest.main()
