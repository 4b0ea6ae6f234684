"""ClickHouse servers of Debian on loopback, each with its own data folder; ended by their process ids."""
import pathlib
import shutil
import socket
import subprocess
import time
import urllib.parse
import urllib.request

SERVER = shutil.which('clickhouse-server') or ('/usr/sbin/clickhouse-server' if pathlib.Path('/usr/sbin/clickhouse-server').exists() else None)

CONFIG = '''<yandex>
  <logger><level>warning</level><log>{folder}/log</log><errorlog>{folder}/errors</errorlog></logger>
  <http_port>{http}</http_port><tcp_port>{tcp}</tcp_port>
  <listen_host>127.0.0.1</listen_host>
  <path>{folder}/data/</path><tmp_path>{folder}/tmp/</tmp_path>
  <users_config>{folder}/users.xml</users_config>
  <default_profile>default</default_profile><default_database>default</default_database>
  <mark_cache_size>67108864</mark_cache_size><uncompressed_cache_size>0</uncompressed_cache_size>
  <max_connections>64</max_connections>
  <remote_servers><fleet>{shards}</fleet></remote_servers>
</yandex>
'''
USERS = '''<yandex>
  <profiles><default><max_memory_usage>4000000000</max_memory_usage><load_balancing>random</load_balancing></default></profiles>
  <users>
    <default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default>
    <pusher><password>secret</password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></pusher>
  </users>
  <quotas><default></default></quotas>
</yandex>
'''
SHARD = '<shard><internal_replication>true</internal_replication><replica><host>127.0.0.1</host><port>{}</port></replica></shard>'


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(('127.0.0.1', 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Shard:
    def __init__(self, folder, http, tcp, all_tcp):
        self.folder, self.http, self.tcp, self.process = pathlib.Path(folder), http, tcp, None
        for name in ('data', 'tmp'):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        shards = ''.join(SHARD.format(port) for port in all_tcp)
        (self.folder / 'config.xml').write_text(CONFIG.format(folder=self.folder, http=http, tcp=tcp, shards=shards))
        (self.folder / 'users.xml').write_text(USERS)

    def start(self):
        with open(self.folder / 'output', 'ab') as output:
            self.process = subprocess.Popen([SERVER, '--config-file', str(self.folder / 'config.xml')], stdout=output, stderr=output,
                                            cwd=self.folder)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                if self.sql('SELECT 1').strip() == '1':
                    return
            except OSError:
                time.sleep(0.1)
            if self.process.poll() is not None:
                break
        raise RuntimeError('ClickHouse did not start: ' + (self.folder / 'output').read_text(errors='replace')[-2000:])

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process = None

    def sql(self, text, **settings):
        query = urllib.parse.urlencode(settings)
        with urllib.request.urlopen(f'http://127.0.0.1:{self.http}/?{query}', data=text.encode(), timeout=60) as reply:
            return reply.read().decode()


class Cluster:
    def __init__(self, folder, shards=2):
        ports = free_ports(2 * shards)
        https, tcps = ports[:shards], ports[shards:]
        self.shards = [Shard(pathlib.Path(folder) / f'shard{i + 1}', https[i], tcps[i], tcps) for i in range(shards)]

    def start(self):
        for shard in self.shards:
            shard.start()
        return self

    def stop(self):
        for shard in self.shards:
            shard.stop()
