"""The server of `./lab dev site --serve`. It serves the pages and the playground, on this machine only.

A page sends a source. This server passes it to `lab try` or `lab grade`, which compile and run it in the judge's
sandbox, and passes back the answer. Pages contain answers to questions, so only a reader who opened the printed address, which
has a key, may read them (a cookie). A try must also come from a page of this server (Host and Origin). No other user
of this machine has the key, and no page of another origin can send a request.
"""
import ctypes
import hmac
import http.cookies
import http.server
import json
import os
import pathlib
import secrets
import select
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.parse

from . import playground
from .errors import SiteError

MOST_BODY = 256 << 10       # bytes of a request
MOST_UNREAD, SECONDS_UNREAD = 64 << 20, 3  # bytes of a refused request that are read, so that the refusal arrives
MOST_ANSWER = 4 << 20       # bytes of a document from `lab try`
MOST_WAITING = 4            # sources that wait for the running one
MOST_CONNECTIONS = 64
SECONDS = {'try': 60, 'grade': 360}  # for a run and for a grade, which has a limit of 300 itself
SECONDS_TO_BUILD = 900  # for a lab's first run, which may have to build parts
TYPES = {'.html': 'text/html; charset=utf-8', '.css': 'text/css; charset=utf-8', '.js': 'text/javascript; charset=utf-8',
         '.svg': 'image/svg+xml', '.png': 'image/png', '.json': 'application/json', '.wasm': 'application/wasm',
         '.txt': 'text/plain; charset=utf-8'}
POLICY = ("default-src 'self' data: blob: 'unsafe-inline' 'wasm-unsafe-eval'; connect-src 'self' data: blob:; object-src 'none'; "
          "base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
LIBC = ctypes.CDLL(None)


def dies_with_us():
    """Runs in the child before it starts. However this server ends, the try ends with it, and cleans up."""
    LIBC.prctl(1, signal.SIGTERM)


class Refused(Exception):
    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class Tries:
    """Runs one source at a time. A few others wait, and the rest are refused with "come again"."""

    def __init__(self, root, trusted):
        self.root, self.trusted = root, trusted
        self.one, self.guard = threading.Lock(), threading.Lock()
        self.pages, self.running, self.built, self.ended = set(), set(), set(), False

    def program(self):
        return str(self.root / 'build/grader/lab')

    def missing(self):
        """A sentence about the missing parts of the sandbox; '' if it is complete."""
        done = subprocess.run([self.program(), 'try', '--json'], cwd=self.root, capture_output=True, text=True)
        document = json.loads(done.stdout or '{}')
        if 'sandbox' not in document:
            return document.get('error', 'build/grader/lab does not answer: ./lab setup builds it')
        return '; '.join(f'{layer["name"]}: {layer["detail"]}' for layer in document['sandbox'] if not layer['active'])

    def attempt(self, command, lab, source, page, gone):
        """The document of `lab try` or `lab grade`; `gone()` returns true once the page has stopped waiting."""
        with self.guard:
            if page in self.pages:
                raise Refused(409, 'a try of this page is still running')
            if len(self.pages) > MOST_WAITING:
                raise Refused(503, 'too many pages are waiting for a try; try again later')
            self.pages.add(page)
        try:
            while not self.one.acquire(timeout=0.1):
                if gone() or self.ended:
                    return None
            try:
                return self._run(command, lab, source, gone)
            finally:
                self.one.release()
        finally:
            with self.guard:
                self.pages.discard(page)

    def _run(self, command, lab, source, gone):
        if command == 'try':
            return self._ask(lab, ['try', lab, '--file', '-'] + self.trust(), source, SECONDS['try'], gone)
        if not self.trusted and self.missing():
            raise Refused(503, f'grading needs the whole sandbox: {self.missing()}')
        with tempfile.TemporaryDirectory() as folder:  # `lab grade` names the file in its messages
            file = pathlib.Path(folder) / f'{lab}.cu'
            file.write_text(source)
            return self._ask(lab, ['grade', lab, '--file', str(file)], '', SECONDS['grade'], gone)

    def trust(self):
        return ['--i-trust-these-files'] if self.trusted else []

    def _ask(self, lab, words, given, seconds, gone):
        """The document that the program prints for these words, with `given` as its input."""
        first = lab not in self.built
        words = [str(self.root / 'lab') if first else self.program(), *words, '--json']
        child = subprocess.Popen(words, cwd=self.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, start_new_session=True, preexec_fn=dies_with_us)
        self.running.add(child)
        answer, until = bytearray(), time.monotonic() + (SECONDS_TO_BUILD if first else seconds)
        try:
            feed = threading.Thread(target=self._feed, args=(child, given), daemon=True)
            feed.start()
            while True:
                if gone() or self.ended:
                    return None
                if time.monotonic() > until or len(answer) > MOST_ANSWER:
                    raise Refused(504, 'no answer in time' if len(answer) <= MOST_ANSWER else 'the answer is too long')
                if select.select([child.stdout], [], [], 0.1)[0]:
                    more = os.read(child.stdout.fileno(), 1 << 16)
                    if not more:
                        break
                    answer += more
            child.wait(5)
        finally:
            self.end(child)
        try:
            document = json.loads(answer)
        except ValueError:
            raise Refused(500, f'the answer of `lab {words[1]}` is not readable') from None
        if 'error' not in document:
            self.built.add(lab)
        return document

    @staticmethod
    def _feed(child, source):
        try:
            child.stdin.write(source.encode())
            child.stdin.close()
        except OSError:
            pass  # the try has ended

    def end(self, child):
        """Ends the try and everything that it started, but lets it clean up first."""
        for how, patience in ((signal.SIGTERM, 5), (signal.SIGKILL, 5)):
            if child.poll() is not None:
                break
            try:
                os.killpg(child.pid, how)
                child.wait(patience)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                pass
        child.stdout.close()
        self.running.discard(child)

    def end_all(self):
        self.ended = True
        for child in list(self.running):
            self.end(child)


class Handler(http.server.BaseHTTPRequestHandler):
    timeout = 10  # seconds for a request to arrive
    server_version, sys_version = 'stepwise', ''

    def log_message(self, *_):
        pass

    # Requests

    def authority(self):
        """The Host in the request, which must name this server. Another name may have been rebound to our address."""
        host = self.headers.get('Host', '')
        if host not in self.server.names:
            raise Refused(421, 'this server answers to ' + ' and '.join(sorted(self.server.names)))
        return host

    def has_key(self):
        try:
            jar = http.cookies.SimpleCookie(self.headers.get('Cookie', ''))
        except http.cookies.CookieError:
            return False
        sent = jar.get(self.server.cookie)
        return sent is not None and hmac.compare_digest(sent.value.encode(), self.server.key.encode())

    # Answers

    def answer(self, status, body, kind, *more):
        self.send_response(status)
        for name, value in (('Content-Type', kind), ('Content-Length', str(len(body))), ('Content-Security-Policy', POLICY),
                            ('X-Content-Type-Options', 'nosniff'), ('Referrer-Policy', 'no-referrer'),
                            ('Cross-Origin-Resource-Policy', 'same-origin'), ('Cache-Control', 'no-store'), *more):
            self.send_header(name, value)
        self.end_headers()
        if self.command != 'HEAD':
            self.wfile.write(body)

    def refuse(self, refused):
        self.close_connection = True
        self.answer(refused.status, json.dumps({'error': str(refused)}).encode(), 'application/json')
        self.linger()

    def linger(self):
        """Reads and drops the rest of a request. Closing a connection with unread bytes would discard the answer."""
        self.wfile.flush()
        end, left = time.monotonic() + SECONDS_UNREAD, MOST_UNREAD
        try:
            self.connection.shutdown(socket.SHUT_WR)
            while left > 0 and select.select([self.connection], [], [], max(0, end - time.monotonic()))[0]:
                read = len(self.connection.recv(1 << 16))
                if not read:
                    break
                left -= read
        except OSError:
            pass  # the reader has left

    def answered(self, what):
        """Answers every request, whatever it contains."""
        try:
            what()
        except Refused as refused:
            self.refuse(refused)
        except TimeoutError:
            self.refuse(Refused(408, 'the request did not arrive in time'))
        except ConnectionError:
            self.close_connection = True  # the reader has left
        except Exception as error:
            self.refuse(Refused(500, f'internal error: {type(error).__name__}'))

    def need_key(self):
        if not self.has_key():
            raise Refused(403, 'open the address that ./lab dev site --serve printed: it contains the key')

    def do_GET(self):
        self.answered(self.get)

    def get(self):
        host = self.authority()
        try:
            address = urllib.parse.urlsplit(self.path)
            key = urllib.parse.parse_qs(address.query).get('key', [''])[0]
        except ValueError:
            raise Refused(400, 'the address cannot be read') from None
        if hmac.compare_digest(key.encode(), self.server.key.encode()):
            # Lax: the browser also sends the cookie after a link from another site, such as a terminal in a web page.
            self.answer(303, b'', 'text/plain', ('Location', f'http://{host}/' + self.name(address.path)),
                        ('Set-Cookie', f'{self.server.cookie}={self.server.key}; Path=/; HttpOnly; SameSite=Lax'))
            return
        self.need_key()
        self.page(self.name(address.path))

    do_HEAD = do_GET

    @staticmethod
    def name(path):
        name = urllib.parse.unquote(path).lstrip('/')
        return name + 'index.html' if not name or name.endswith('/') else name

    def page(self, name):
        """Serves only the files that the build wrote. A path is looked up in a list, never followed."""
        if name not in self.server.pages:
            raise Refused(404, 'there is no such page')
        try:
            body = (self.server.out / name).read_bytes()
        except OSError:
            raise Refused(404, 'the page is gone: build the site again') from None
        if name.endswith('.html'):
            body = body.replace(playground.MARKER.encode(), b'data-live="yes"')
        self.answer(200, body, TYPES.get(pathlib.PurePath(name).suffix, 'application/octet-stream'))

    def do_POST(self):
        self.answered(self.post)

    def post(self):
        host = self.authority()
        if self.path not in ('/try', '/grade'):
            raise Refused(405, 'only /try and /grade take a POST')
        if self.headers.get('Origin') != f'http://{host}':
            raise Refused(403, 'only a page of this server may ask for a try')
        self.need_key()
        if self.headers.get('Content-Type') != 'application/json':
            raise Refused(415, 'a try is application/json')
        lab, source, page = self.asked()
        document = self.server.tries.attempt(self.path[1:], lab, source, page, self.gone)
        if document is not None:
            self.answer(200, json.dumps(document).encode(), 'application/json')

    def asked(self):
        length = self.headers.get('Content-Length', '')
        if not length.isascii() or not length.isdigit():
            raise Refused(411, 'a try must state its length')
        if len(length) > 9 or int(length) > MOST_BODY:
            raise Refused(413, f'a try has at most {MOST_BODY} bytes')
        try:
            asked = json.loads(self.rfile.read(int(length)))
            lab, source, page = asked['lab'], asked['source'], asked['page']
            if not all(isinstance(one, str) for one in (lab, source, page)):
                raise TypeError
            source.encode()
        except (ValueError, KeyError, TypeError, RecursionError):
            raise Refused(400, 'a try has lab, source and page') from None
        if lab not in self.server.labs or len(page) > 64:
            raise Refused(400, 'a try has the name of a lab, a source and the number of its page')
        return lab, source, page

    def gone(self):
        """Has the reader left? A reader who waits sends nothing more."""
        try:
            if not select.select([self.connection], [], [], 0)[0]:
                return False
            return not self.connection.recv(1, socket.MSG_PEEK)
        except OSError:
            return True

    def other(self):
        self.refuse(Refused(405, 'GET, HEAD, and POST to /try and /grade'))

    do_OPTIONS = do_PUT = do_DELETE = do_PATCH = do_TRACE = do_CONNECT = other


class Server(http.server.ThreadingHTTPServer):
    daemon_threads, allow_reuse_address = True, True

    def __init__(self, port, out, pages, labs, tries):
        super().__init__(('127.0.0.1', port), Handler)
        self.out, self.pages, self.labs, self.tries = out, frozenset(pages), frozenset(labs), tries
        self.key = secrets.token_urlsafe(18)
        self.cookie = f'stepwise_{self.server_port}'
        self.names = {f'127.0.0.1:{self.server_port}', f'localhost:{self.server_port}'}
        self.room = threading.BoundedSemaphore(MOST_CONNECTIONS)

    def process_request(self, request, client_address):
        if not self.room.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request, client_address):
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.room.release()

    def handle_error(self, *_):
        pass  # the connection broke

    def address(self):
        return f'http://127.0.0.1:{self.server_port}/?key={self.key}'


def bound(port, *rest):
    """Starts the server on `port`, or for 0 on port 8000 or the next free one."""
    for one in [port] if port else range(8000, 8020):
        try:
            return Server(one, *rest)
        except (OSError, OverflowError) as error:
            why = f'port {one}: {getattr(error, "strerror", None) or error}'
            if not port:
                print(f'  {why}, trying the next one', flush=True)
    raise SiteError(f'{why}; choose another one with --port N')


def serve(root, out, pages, labs, port, trusted=False):
    """Serves until Ctrl-C, SIGTERM or SIGHUP."""
    tries = Tries(root, trusted)
    lacks = tries.missing()
    server = bound(port, out, pages, labs, tries)

    def stop(*_):
        raise KeyboardInterrupt
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    print(f'  {server.address()}', flush=True)
    print('  Open this address. Its key lets you, but no other user here, read the pages and run code. '
          'Ctrl-C stops the server.', flush=True)
    if lacks and not trusted:
        print(f'  You cannot run code: {lacks}. --i-trust-these-files runs it anyway.', flush=True)
    try:
        server.serve_forever(poll_interval=0.1)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        tries.end_all()
        server.server_close()
