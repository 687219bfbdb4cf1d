"""Tests the server of `lab dev site --serve` without a browser: permissions, requests, and leftovers at its end.

A fake replaces `lab try` and `lab grade`; playground_test.py uses the real one. Takes a second of processor time.
"""
import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from setting import ROOT

from slides.site.builder import playground, serve  # noqa: E402
from slides.site.builder.errors import SiteError  # noqa: E402

FAKE = '''#!/bin/sh
# Answers with what it was given; "slow" waits, "flood" never stops, "silent" says nothing readable.
[ -n "$2" ] && [ "$2" != --json ] || { echo '{"sandbox": [], "sandbox_complete": true}'; exit; }
[ "$1" != grade ] || { printf '{"graded": "%s", "text": "%s"}' "$(basename "$4")" "$(cat "$4")"; exit; }
text=$(cat)
case $text in
  slow*) echo $$ >>"$HERE/started"; trap 'echo tidy >>"$HERE/tidied"; exit 1' TERM; sleep 30 & wait ;;
  flood*) exec yes ;;
  silent*) echo no ;;
  *) printf '{"lab": "%s", "class": "PASS", "said": "<script>%s"}' "$2" "$text" ;;
esac
'''
wrong = []


def expect(holds, what):
    if not holds:
        wrong.append(what)


def until(holds, seconds=10):
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return holds()


def start(folder):
    for name in ('build/grader/lab', 'lab'):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(FAKE.replace('$HERE', str(folder)))
        file.chmod(0o755)
    out = folder / 'out'
    out.mkdir()
    (out / 'index.html').write_text(f'<div {playground.MARKER}></div>')
    (folder / 'secret').write_text('secret')
    (out / 'unlisted.html').write_text('secret')
    server = serve.bound(0, out, ['index.html'], ['reduction'], serve.Tries(folder, False))
    threading.Thread(target=server.serve_forever, kwargs={'poll_interval': 0.02}, daemon=True).start()
    return server


class Client:
    def __init__(self, server):
        self.server, self.host = server, f'127.0.0.1:{server.server_port}'

    def ask(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection('127.0.0.1', self.server.server_port, timeout=20)
        all_headers = {'Host': self.host, **{k.replace('_', '-'): v for k, v in headers.items()}}
        connection.request(method, path, body, {k: v for k, v in all_headers.items() if v is not None})
        reply = connection.getresponse()
        text = reply.read().decode()
        connection.close()
        return reply.status, text, reply.headers

    def good(self):
        return {'Origin': f'http://{self.host}', 'Content_Type': 'application/json',
                'Cookie': f'{self.server.cookie}={self.server.key}'}

    def attempt(self, source, page='1', lab='reduction', path='/try', **headers):
        body = json.dumps({'lab': lab, 'source': source, 'page': page})
        return self.ask('POST', path, body, **{**self.good(), **headers})


def who_may_ask(client):
    host = client.host
    expect(client.attempt('x')[0] == 200, 'a page of this server is refused')
    for what, headers in {
            'another origin': {'Origin': 'http://evil.example'}, 'no origin': {'Origin': None}, 'a null origin': {'Origin': 'null'},
            'another port': {'Origin': 'http://127.0.0.1:1'}, 'https': {'Origin': f'https://{host}'},
            'no key': {'Cookie': None}, 'a wrong key': {'Cookie': f'{client.server.cookie}=x'},
            'a broken cookie': {'Cookie': ';;=\x7f"'}}.items():
        status, text, reply = client.attempt('x', **headers)
        expect(status == 403 and 'PASS' not in text, f'{what}: {status}')
        expect(not [h for h in reply if h.lower().startswith('access-control')], f'{what}: a CORS header')
    for kind in ('text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', None):
        expect(client.attempt('x', Content_Type=kind)[0] == 415, f'{kind} is accepted')
    for name in ('evil.example', f'evil.example:{client.server.server_port}', '127.0.0.1', ''):
        expect(client.attempt('x', Host=name, Origin=f'http://{name}')[0] == 421, f'Host {name}: a try')
        expect(client.ask('GET', '/index.html', Host=name)[0] == 421, f'Host {name}: a page')
    for method in ('OPTIONS', 'PUT', 'DELETE', 'PATCH'):
        status, _, headers = client.ask(method, '/try', **client.good())
        expect(status == 405 and 'Access-Control-Allow-Origin' not in headers, f'{method}: {status}')
    for method in ('GET', 'HEAD'):
        for path in ('/', '/index.html', '/unlisted.html', '/try', '/?key=', '/?key=x', '/?KEY=' + client.server.key,
                     '/index.html?key=' + client.server.key[:-1], '/%3fkey=' + client.server.key, '/?key=x&key=' + client.server.key):
            for cookie in (None, f'{client.server.cookie}=', f'{client.server.cookie}={client.server.key[1:]}', f'other={client.server.key}'):
                status, text, reply = client.ask(method, path, Cookie=cookie)
                expect(status == 403 and playground.MARKER not in text and 'data-live' not in text and not reply['Set-Cookie'],
                       f'{method} {path} with the cookie {cookie}: {status}')
    expect(client.ask('GET', '/try', **client.good())[0] == 404, 'GET of /try')
    expect(client.ask('POST', '/index.html', '{}', **client.good())[0] == 405, 'POST to a page')
    upgrade = client.ask('GET', '/try', Upgrade='websocket', Connection='Upgrade', **client.good())
    expect(upgrade[0] == 404, f'a WebSocket: {upgrade[0]}')
    expect(client.server.server_address[0] == '127.0.0.1', 'the server listens on more than the loopback address')


def what_is_asked(client):
    for body, wanted in (('x' * (serve.MOST_BODY + 1), 413), ('{', 400), ('[]', 400), ('"x"', 400), ('[' * 90000, 400),
                         ('{"lab": "reduction", "source": 7, "page": "1"}', 400),
                         ('{"lab": "reduction", "source": "\\ud800", "page": "1"}', 400),
                         ('{"lab": ["a"]}', 400), ('{"lab": ["a"], "source": "x", "page": "1"}', 400),
                         ('{"lab": {}, "source": "x", "page": "1"}', 400), ('{"lab": null, "source": "x", "page": "1"}', 400),
                         ('{"lab": "reduction", "source": ["x"], "page": "1"}', 400),
                         ('{"lab": "reduction", "source": null, "page": "1"}', 400),
                         ('{"lab": "reduction", "source": "x", "page": ["1"]}', 400),
                         ('{"lab": "reduction", "source": "x", "page": {"a": 1}}', 400),
                         ('{"lab": "reduction", "source": "x", "page": 1}', 400), ('null', 400), ('7', 400), ('', 400),
                         ('1' * 5000, 400), ('{"lab": 1e999}', 400), (b'\xff\xfe\x00', 400),
                         (b'{"lab": "reduction", "source": "\xff", "page": "1"}', 400), ('x' * (8 << 20), 413)):
        status = client.ask('POST', '/try', body, **client.good())[0]
        expect(status == wanted, f'{body[:40]}: {status}, expected {wanted}')
    expect(client.ask('POST', '/try', 'x' * (8 << 20))[0] == 403, 'a large body without the key')
    expect(client.ask('POST', '/else', 'x' * (8 << 20), **client.good())[0] == 405, 'a large body to a page')
    expect(client.ask('GET', '//[', **client.good())[0] in (400, 404), 'a malformed address')
    expect(client.attempt('x', lab='../reduction')[0] == 400, 'an unknown lab')
    for length in ('-1', '9' * 30, 'x', '\xb2'):
        status = client.ask('POST', '/try', None, **{**client.good(), 'Content_Length': length})[0]
        expect(status in (411, 413), f'Content-Length {length}: {status}')
    expect(client.attempt('silent')[0] == 500 and client.attempt('flood')[0] == 504, 'a malformed answer')
    expect(client.attempt('x')[1].count('<script>') == 1, 'text is not passed on unchanged')
    graded = client.attempt('source', path='/grade')
    expect(json.loads(graded[1]) == {'graded': 'reduction.cu', 'text': 'source'}, f'a grade: {graded[:2]}')
    expect(client.attempt('x', path='/grade', Cookie=None)[0] == 403, 'a grade without the key')


def pages(client):
    for path in ('/../secret', '/%2e%2e/secret', '/..%2fsecret', '/unlisted.html', '//etc/passwd', '/%00', '/index.html/..', '/.'):
        status, text, _ = client.ask('GET', path, **client.good())
        expect(status == 404 and 'secret' not in text, f'{path}: {status}')
    status, text, headers = client.ask('GET', '/', **client.good())
    expect(status == 200 and 'data-live="yes"' in text and client.server.key not in text, 'a page with the key')
    expect("frame-ancestors 'none'" in headers['Content-Security-Policy'], 'a page may be framed')
    status, _, headers = client.ask('GET', f'/?key={client.server.key}')
    expect(status == 303 and 'HttpOnly' in headers['Set-Cookie'] and 'key=' not in headers['Location'], 'the address with the key')
    page = client.server.out / 'index.html'
    text = page.read_text()
    page.unlink()
    expect(client.ask('GET', '/', **client.good())[0] == 404, 'a missing page')
    page.write_text(text)


def half_sent(client):
    """A body that never ends gets an answer too."""
    headers = ''.join(f'{k.replace("_", "-")}: {v}\r\n' for k, v in client.good().items())
    with socket.create_connection(('127.0.0.1', client.server.server_port), timeout=20) as asked:
        asked.sendall(f'POST /try HTTP/1.1\r\nHost: {client.host}\r\n{headers}Content-Length: 99\r\n\r\n{{'.encode())
        expect(b' 408 ' in asked.recv(1 << 16), 'half a body')


def send_slow(client, page):
    """Sends a slow try whose client may leave. Returns the socket of the request."""
    body = json.dumps({'lab': 'reduction', 'source': 'slow', 'page': page})
    headers = ''.join(f'{k.replace("_", "-")}: {v}\r\n' for k, v in client.good().items())
    asked = socket.create_connection(('127.0.0.1', client.server.server_port))
    asked.sendall(f'POST /try HTTP/1.1\r\nHost: {client.host}\r\n{headers}Content-Length: {len(body)}\r\n\r\n{body}'.encode())
    return asked


def started_program(folder):
    """The process ID that a slow try wrote. Its shell creates the file before it writes the line."""
    started = folder / 'started'
    expect(until(lambda: started.exists() and started.read_text().endswith('\n')), 'nothing was started')
    return int(started.read_text())


def several(client, folder):
    """One try runs and a few wait. A try whose client leaves is forgotten, and its program is ended."""
    tries = client.server.tries
    first = send_slow(client, 'a')
    started = folder / 'started'
    pid = started_program(folder)
    expect(client.attempt('x', page='a')[0] == 409, 'two tries of one page')
    waiting = [send_slow(client, f'w{i}') for i in range(serve.MOST_WAITING)]
    expect(until(lambda: len(tries.pages) == 1 + serve.MOST_WAITING), f'{len(tries.pages)} wait')
    expect(client.attempt('x', page='z')[0] == 503, 'the queue is not limited')
    for one in waiting:
        one.close()
    expect(until(lambda: tries.pages == {'a'}), 'a try whose client left still waits')
    expect(len(started.read_text().split()) == 1, 'two tries ran at once')
    first.close()
    expect(until(lambda: not tries.pages and not tries.running), 'a try whose client left still runs')
    expect(not pathlib.Path(f'/proc/{pid}').exists() and (folder / 'tidied').exists(), 'a program continues without a reader')
    expect(client.attempt('x', page='a')[0] == 200, 'no try runs afterwards')


def ends(folder):
    """After SIGTERM or kill -9, no process remains. The message about a port that is in use names the port."""
    code = ('import sys, pathlib; sys.path.insert(0, sys.argv[1]); from slides.site.builder import serve; f = pathlib.Path(sys.argv[2])\n'
            'serve.serve(f, f / "out", ["index.html"], ["reduction"], 0)')
    for number in (signal.SIGTERM, signal.SIGKILL):
        (folder / 'started').unlink(missing_ok=True)
        (folder / 'tidied').unlink(missing_ok=True)
        process = subprocess.Popen([sys.executable, '-B', '-c', code, ROOT, folder], stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True)
        address = next(line for line in process.stdout if 'http' in line).strip()

        class There:
            server_port = int(address.split(':')[2].split('/')[0])
            key = address.split('key=')[1]
            cookie = f'stepwise_{server_port}'
        asked = send_slow(Client(There), 'a')
        pid = started_program(folder)
        os.kill(process.pid, number)
        process.wait(10)
        expect(until((folder / 'tidied').exists) and until(lambda: not pathlib.Path(f'/proc/{pid}').exists()),
               f"{number.name}: a page's program continues")
        asked.close()
        process.stdout.close()
    with socket.socket() as taken:
        taken.bind(('127.0.0.1', 0))
        taken.listen()
        try:
            serve.bound(taken.getsockname()[1], folder, [], [], None)
            expect(False, 'a port that is in use was bound again')
        except SiteError as error:
            expect('--port' in str(error) and str(taken.getsockname()[1]) in str(error), f'a port in use: {error}')


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        server = start(folder)
        client = Client(server)
        who_may_ask(client)
        what_is_asked(client)
        pages(client)
        serve.Handler.timeout = 0.5
        half_sent(client)
        serve.Handler.timeout = 10
        several(client, folder)
        ends(folder)
        server.shutdown()
        server.server_close()
    print('\n'.join(wrong) or 'the server answers the right requests')
    return bool(wrong)


sys.exit(main())
