#!/usr/bin/env python3
"""Rate at which aaco push sends telemetry into two ClickHouse shards, beside the engine's own client with the same rows prepared.

  scripts/proofs/fleet_insert.py [--nodes 60] [--rounds 3]

Both fill the same table, alternating. aaco reads Parquet, converts and sends to the shards; the client sends to the Distributed table a file of
tab-separated rows. Prints JSON: rows per second of both, and the ratio of the medians. Exit code 0: 0.9 or more, 1: less, 77: skipped.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TOP / 'tests/integration'))
import clickhouse_server  # noqa: E402

PROGRAM = os.environ.get('AACO_PROGRAM', str(TOP / 'build/release/bin/aaco'))
MIN_RATIO = 0.9


def timed(arguments, **options):
    start = time.monotonic()
    ran = subprocess.run(arguments, capture_output=True, text=True, check=False, **options)
    if ran.returncode != 0:
        sys.exit(f'fleet_insert.py: {arguments[0]} failed ({ran.returncode}): {ran.stderr.strip()[:300]}')
    return time.monotonic() - start


def measure(options, folder):
    telemetry = folder / 'telemetry'
    timed([PROGRAM, '-q', 'lab', 'fleet', '--nodes', str(options.nodes), '--days', '1', '--devices', '8', '--out', str(telemetry)])
    cluster = clickhouse_server.Cluster(folder / 'engine').start()
    try:
        first, second = cluster.shards
        config = folder / 'fleet.yaml'
        config.write_text(f'fleets:\n  fleet:\n    url: clickhouse://127.0.0.1:{first.http}/fleet\n    cluster: fleet\n'
                          f'    shards: ["127.0.0.1:{first.http}", "127.0.0.1:{second.http}"]\n')
        push = [PROGRAM, '-q', 'push', '--telemetry', str(telemetry), '--to', 'fleet']
        environment = os.environ | {'AACO_FLEET': str(config), 'AACO_SESSIONS': str(folder / 'sessions')}
        timed(push, env=environment)
        rows = int(first.sql('SELECT count() FROM all_fleet_minutes', database='fleet'))
        prepared = folder / 'rows.tsv'
        reach = [shutil.which('clickhouse-client'), '--host', '127.0.0.1', '--port', str(first.tcp), '--database', 'fleet']
        with open(prepared, 'wb') as file:
            subprocess.run([*reach, '--query', 'SELECT * FROM all_fleet_minutes FORMAT TabSeparated'], stdout=file, check=True)
        client = [*reach, '--insert_distributed_sync', '1', '--query', 'INSERT INTO all_fleet_minutes FORMAT TabSeparated']
        ours, theirs = [], []
        for _ in range(options.rounds):
            for shard in cluster.shards:  # the same files would be there already
                shard.sql('DROP TABLE rows_fleet_pushes', database='fleet')
            ours.append(timed(push, env=environment))
            with open(prepared, encoding='utf-8') as file:
                theirs.append(timed(client, stdin=file))
    finally:
        cluster.stop()
    ratio = statistics.median(theirs) / statistics.median(ours)
    return {'rows': rows, 'aaco_rows_per_s': rows / statistics.median(ours), 'client_rows_per_s': rows / statistics.median(theirs), 'ratio': ratio,
            'aaco_s': ours, 'client_s': theirs, 'load': os.getloadavg()[0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--describe', action='store_true', help='print one line and exit')
    parser.add_argument('--nodes', type=int, default=60)
    parser.add_argument('--rounds', type=int, default=3)
    options = parser.parse_args()
    if options.describe:
        print("telemetry into two ClickHouse shards at 0.9 of the rate of the engine's own client (2 min)")
        return 0
    if not clickhouse_server.SERVER or not shutil.which('clickhouse-client'):
        print('skipped, clickhouse-server and clickhouse-client are not installed')
        return 77
    with tempfile.TemporaryDirectory(prefix='aaco-fleet-') as folder:
        result = measure(options, pathlib.Path(folder))
    print(json.dumps(result))
    return 0 if result['ratio'] >= MIN_RATIO else 1


if __name__ == '__main__':
    sys.exit(main())
