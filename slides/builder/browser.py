"""Headless Chromium, driven through a pair of pipes by its DevTools protocol.

This opens no port and needs no library. Messages are JSON, each terminated by a zero byte, on file
descriptors 3 and 4 (chromium --remote-debugging-pipe).
"""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

from .errors import MissingTool

NAMES = ('chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable')


def find():
    found = next((shutil.which(n) for n in NAMES if shutil.which(n)), None)
    if not found:
        raise MissingTool('no Chromium: PDF and --check need it; `apt-get install chromium` installs it. '
                          'HTML does not need it')
    return found


class Browser:
    def __init__(self, width=1280, height=720):
        self.folder = tempfile.mkdtemp(prefix='slides-')
        to_read, self.write_end = os.pipe()
        self.read_end, to_write = os.pipe()
        # The browser reads from 3 and writes to 4.
        high = [os.dup2(fd, 100 + k) for k, fd in enumerate((to_read, to_write))]

        def place():
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)
        command = [find(), '--headless=new', '--no-sandbox', '--disable-gpu', '--remote-debugging-pipe',
                   f'--user-data-dir={self.folder}', f'--window-size={width},{height}',
                   '--hide-scrollbars', '--no-first-run', '--disable-background-networking',
                   '--disable-component-update', '--disable-sync', '--font-render-hinting=none']
        self.process = subprocess.Popen(command, preexec_fn=place, close_fds=False,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for fd in (to_read, to_write, *high):
            os.close(fd)
        self.number, self.events, self.rest = 0, [], b''

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.send('Browser.close')
            self.process.wait(10)
        except (OSError, subprocess.TimeoutExpired, RuntimeError):
            self.process.kill()
            self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _receive(self, until):
        while b'\0' not in self.rest:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.read_end], [], [], left)[0]:
                return None
            more = os.read(self.read_end, 1 << 20)
            if not more:
                raise RuntimeError('Chromium ended')
            self.rest += more
        message, _, self.rest = self.rest.partition(b'\0')
        return json.loads(message)

    def send(self, method, session=None, timeout=60, **parameters):
        self.number += 1
        message = {'id': self.number, 'method': method, 'params': parameters}
        if session:
            message['sessionId'] = session
        os.write(self.write_end, json.dumps(message).encode() + b'\0')
        until = time.monotonic() + timeout
        while True:
            answer = self._receive(until)
            if answer is None:
                raise RuntimeError(f'Chromium did not answer {method} in {timeout} s')
            if answer.get('id') == self.number:
                if 'error' in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer['result']
            self.events.append(answer)

    def open(self, url):
        target = self.send('Target.createTarget', url='about:blank')['targetId']
        page = Page(self, self.send('Target.attachToTarget', targetId=target, flatten=True)['sessionId'])
        page.go(url)
        return page

    def pages(self):
        return [t for t in self.send('Target.getTargets')['targetInfos'] if t['type'] == 'page']

    def attach(self, target):
        session = self.send('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
        return Page(self, session)


class Page:
    def __init__(self, browser, session):
        self.browser, self.session = browser, session
        for domain in ('Page', 'Runtime', 'Log', 'Network'):
            self.send(f'{domain}.enable')

    def send(self, method, **parameters):
        return self.browser.send(method, self.session, **parameters)

    def go(self, url):
        self.send('Page.navigate', url=url)
        for _ in range(100):
            if self.run('document.readyState') == 'complete' and self.run('location.href') != 'about:blank':
                return
            time.sleep(0.05)
        raise RuntimeError(f'{url} was not loaded')

    def run(self, script):
        """The value of a JavaScript expression. Waits for promises."""
        answer = self.send('Runtime.evaluate', expression=script, returnByValue=True, awaitPromise=True,
                           userGesture=True)
        if 'exceptionDetails' in answer:
            raise RuntimeError(answer['exceptionDetails'].get('exception', {}).get('description', script))
        return answer['result'].get('value')

    def key(self, key):
        for kind in ('keyDown', 'keyUp'):
            self.send('Input.dispatchKeyEvent', type=kind, key=key)

    def picture(self, file):
        data = self.send('Page.captureScreenshot', format='png')['data']
        file.write_bytes(base64.b64decode(data))

    def pdf(self, file):
        data = self.send('Page.printToPDF', preferCSSPageSize=True, printBackground=True)['data']
        file.write_bytes(base64.b64decode(data))

    def trouble(self):
        """Console errors, exceptions, and requests for anything but the file itself, data: and blob: addresses."""
        found = []
        for event in self.browser.events:
            if event.get('sessionId') != self.session:
                continue
            method, parameters = event.get('method'), event.get('params', {})
            if method == 'Runtime.exceptionThrown':
                found.append(parameters['exceptionDetails'].get('text', 'exception'))
            elif method == 'Runtime.consoleAPICalled' and parameters['type'] == 'error':
                found.append('console error')
            elif method == 'Log.entryAdded' and parameters['entry']['level'] == 'error':
                found.append(parameters['entry']['text'])
            elif method == 'Network.requestWillBeSent':
                url = parameters['request']['url']
                if not url.startswith(('data:', 'file:', 'blob:')):
                    found.append('network request: ' + url)
        return found
