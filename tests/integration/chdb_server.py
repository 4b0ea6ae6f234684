"""ClickHouse 26.7 of the npm registry, which is a library, behind as much of the HTTP interface as aaco uses: statements, inserts, errors.

As a program: chdb_server.py LIBRARY FOLDER PORT.
"""
import ctypes
import http.server
import os
import pathlib
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request

LIBRARY = pathlib.Path(os.environ.get('XDG_CACHE_HOME', pathlib.Path.home() / '.cache')) / 'aaco/chdb/libchdb.so'
MISSING = None if LIBRARY.exists() else 'skipped, no ClickHouse 26.7 (scripts/bootstrap.sh --chdb fetches it)'
START_S = 120


class Engine:
    """One connection; queries one at a time."""

    def __init__(self, library, folder):
        self.library, self.lock = ctypes.CDLL(str(library)), threading.Lock()
        for name, result, arguments in (('chdb_connect', ctypes.c_void_p, [ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)]),
                                        ('chdb_query_n', ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]),
                                        ('chdb_result_buffer', ctypes.c_void_p, [ctypes.c_void_p]), ('chdb_result_length', ctypes.c_size_t, [ctypes.c_void_p]),
                                        ('chdb_result_error', ctypes.c_char_p, [ctypes.c_void_p]), ('chdb_destroy_query_result', None, [ctypes.c_void_p])):
            function = getattr(self.library, name)
            function.restype, function.argtypes = result, arguments
        words = (ctypes.c_char_p * 2)(b'clickhouse', f'--path={folder}'.encode())
        handle = self.library.chdb_connect(2, words)
        if not handle:
            raise RuntimeError('chdb_connect failed')
        self.connection = ctypes.cast(handle, ctypes.POINTER(ctypes.c_void_p))[0]

    def run(self, statement, output_format):
        """The reply's bytes, and the error's text or None."""
        result = self.library.chdb_query_n(self.connection, statement, len(statement), output_format.encode(), len(output_format))
        try:
            error = self.library.chdb_result_error(result)
            if error:
                return b'', error.decode(errors='replace')
            size = self.library.chdb_result_length(result)
            return (ctypes.string_at(self.library.chdb_result_buffer(result), size) if size else b''), None
        finally:
            self.library.chdb_destroy_query_result(result)


class Handler(http.server.BaseHTTPRequestHandler):
    engine, rows = None, None  # and a file for what is inserted

    def do_POST(self):
        parameters = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query, keep_blank_values=True))
        body = self.rfile.read(int(self.headers.get('Content-Length', 0)))
        statement = body
        if 'query' in parameters:  # data beside the statement: binary formats are read from files only
            into, separator, form = parameters['query'].rpartition(' FORMAT ')
            statement = f"{into} FROM INFILE '{self.rows}'{separator}{form}".encode()
        with self.engine.lock:
            if 'query' in parameters:
                self.rows.write_bytes(body)
            reply, error = self.engine.run(f'USE `{parameters.get("database", "default")}`'.encode(), 'TabSeparated')
            if error is None:
                reply, error = self.engine.run(statement, parameters.get('default_format', 'TabSeparated'))
        content = reply if error is None else error.encode()
        self.send_response(200 if error is None else 500)
        self.send_header('Content-Length', str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


class Server:
    """The same as a process of its own."""

    def __init__(self, folder, port):
        self.http = port
        self.process = subprocess.Popen([sys.executable, __file__, str(LIBRARY), str(folder), str(port)])

    def start(self):
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                if self.sql('SELECT 1').strip() == '1':
                    return self
            except OSError:
                time.sleep(0.2)
        self.stop()
        raise RuntimeError('ClickHouse of libchdb did not start')

    def sql(self, text, **parameters):
        with urllib.request.urlopen(f'http://127.0.0.1:{self.http}/?{urllib.parse.urlencode(parameters)}', data=text.encode(), timeout=60) as reply:
            return reply.read().decode()

    def stop(self):
        self.process.kill()
        self.process.wait()


def main():
    library, folder, port = sys.argv[1:]
    Handler.engine, Handler.rows = Engine(library, folder), pathlib.Path(folder + '.rows')
    http.server.ThreadingHTTPServer(('127.0.0.1', int(port)), Handler).serve_forever()


if __name__ == '__main__':
    main()
