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
  {more}
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
REPLICA = '<replica><host>127.0.0.1</host><port>{}</port></replica>'
SHARD = '<shard><internal_replication>true</internal_replication>{}</shard>'
KEEPER = '<zookeeper><node><host>127.0.0.1</host><port>{keeper}</port></node></zookeeper><macros><shard>{shard}</shard><replica>{replica}</replica></macros>'
JARS = pathlib.Path('/usr/share/java')
NO_KEEPER = None if shutil.which('java') and (JARS / 'zookeeper.jar').exists() else 'skipped, no ZooKeeper on this machine (Debian package zookeeper)'


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(('127.0.0.1', 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Shard:
    def __init__(self, folder, http, tcp, shards, more='', between=None):
        self.folder, self.http, self.tcp, self.process = pathlib.Path(folder), http, tcp, None
        for name in ('data', 'tmp'):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        of_shards = ''.join(SHARD.format(''.join(map(REPLICA.format, ports))) for ports in shards)
        if between:  # replicas copy from one another
            more += f'<interserver_http_host>127.0.0.1</interserver_http_host><interserver_http_port>{between}</interserver_http_port>'
        (self.folder / 'config.xml').write_text(CONFIG.format(folder=self.folder, http=http, tcp=tcp, shards=of_shards, more=more))
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
        self.shards = [Shard(pathlib.Path(folder) / f'shard{i + 1}', https[i], tcps[i], [[port] for port in tcps]) for i in range(shards)]

    def start(self):
        for shard in self.shards:
            shard.start()
        return self

    def stop(self):
        for shard in self.shards:
            shard.stop()


class Keeper:
    """ZooKeeper of Debian, alone."""

    def __init__(self, folder):
        self.folder, self.process = pathlib.Path(folder), None
        (self.port,) = free_ports(1)
        (self.folder / 'data').mkdir(parents=True)
        (self.folder / 'zoo.cfg').write_text(f'tickTime=500\ndataDir={self.folder}/data\nclientPort={self.port}\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\n'
                                             '4lw.commands.whitelist=ruok\n')

    def start(self):
        with open(self.folder / 'output', 'ab') as output:
            self.process = subprocess.Popen(['java', '-Xmx256m', '-cp', f'{JARS}/*', 'org.apache.zookeeper.server.quorum.QuorumPeerMain', str(self.folder / 'zoo.cfg')],
                                            stdout=output, stderr=output, cwd=self.folder)
        deadline = time.monotonic() + 90
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                with socket.create_connection(('127.0.0.1', self.port), timeout=2) as connection:
                    connection.sendall(b'ruok')
                    if connection.recv(4) == b'imok':
                        return self
            except OSError:
                time.sleep(0.2)
        self.stop()
        raise RuntimeError('ZooKeeper did not start: ' + (self.folder / 'output').read_text(errors='replace')[-2000:])

    def stop(self):
        self.process.kill()
        self.process.wait()


class Replicas:
    """Two shards of two replicas each: servers[shard][replica]."""

    def __init__(self, folder):
        folder = pathlib.Path(folder)
        self.keeper = Keeper(folder / 'keeper').start()
        ports = free_ports(12)
        tcps = [ports[0:2], ports[2:4]]
        self.servers = [[Shard(folder / f'shard{i + 1}replica{k + 1}', ports[4 + 2 * i + k], tcps[i][k], tcps,
                               KEEPER.format(keeper=self.keeper.port, shard=i + 1, replica=k + 1), ports[8 + 2 * i + k]) for k in range(2)] for i in range(2)]

    def start(self):
        for server in sum(self.servers, []):
            server.start()
        return self

    def stop(self):
        for server in sum(self.servers, []):
            server.stop()
        self.keeper.stop()
