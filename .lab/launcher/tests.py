"""./lab test runs `meson test`, and prints the output of failed tests last."""
from __future__ import annotations

import contextlib
import difflib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from typing import Any, Dict, List

from .arguments import Arguments
from .clone import Clone
from .machine import Machine
from .report import ENVIRONMENT, OURS, USAGE, Failure, document, unknown_word
from .steps import end_with_parent

# Most tests wait for the programs that they start. With one more test than cores, 1.6 of 2 cores were busy.
MORE_THAN_CORES = 2
LAST_LINES = 60  # of a failed test's output
PATIENCE_S = 20  # a busy Meson takes seconds to end its tests, which would otherwise outlive it
SUITE = re.compile(r'^[^:]* - [^:]*:|^.* / ')  # Meson's text before a test's name in its log
STATES = {'OK': 'passed', 'EXPECTEDFAIL': 'passed', 'SKIP': 'skipped'}


class Tests:
    def __init__(self, clone: Clone, arguments: Arguments, machine: Machine) -> None:
        self.clone = clone
        self.machine = machine
        self.as_json = arguments.as_json
        self.names: List[str] = []
        for word in arguments.words:
            if word.startswith('-') and word not in ('--json', '--no-color', '--no-colour'):
                raise unknown_word('test', word)
            if not word.startswith('-'):
                self.names.append(word)
        self.names.remove('test')

    def run(self) -> int:
        listed = self._listed()
        wanted = [test for test in listed if not self.names or self._is_wanted(test)]
        if not wanted:
            raise Failure(USAGE, 'no test or suite has that name' + self._nearest(listed))
        self._run_meson(wanted)
        results = self._results(listed)
        count = {state: sum(result['state'] == state for result in results)
                 for state in ('passed', 'failed', 'skipped')}
        if self.as_json:
            document({**count, 'tests': results})
        else:
            failed = [result for result in results if result['state'] == 'failed']
            for result in failed:
                print('\n%s: %s\n%s' % (result['name'], result['reason'], result['command']))
                print('\n'.join(result['log'].splitlines()[-LAST_LINES:]))
            if failed:
                print('\nfailed: ' + ', '.join(result['name'] for result in failed))
            print('%d passed, %d failed' % (count['passed'], count['failed'])
                  + (', %d skipped' % count['skipped'] if count['skipped'] else ''), flush=True)
        return OURS if count['failed'] else 0

    def _listed(self) -> List[Dict[str, Any]]:
        try:
            with open(self.clone.build + '/meson-info/intro-tests.json', encoding='utf-8') as file:
                tests: List[Dict[str, Any]] = json.load(file)
        except (OSError, ValueError):
            raise Failure(OURS, 'build/ has no list of tests; run ./lab setup') from None
        for test in tests:
            test['suites'] = [suite.split(':')[-1] for suite in test['suite']]
        return tests

    def _is_wanted(self, test: Dict[str, Any]) -> bool:
        return test['name'] in self.names or any(suite in self.names for suite in test['suites'])

    def _nearest(self, listed: List[Dict[str, Any]]) -> str:
        known = {name for test in listed for name in [test['name']] + test['suites']}
        near = difflib.get_close_matches(self.names[0], sorted(known), 1) if self.names else []
        return '; did you mean "%s"?' % near[0] if near else ''

    def _run_meson(self, wanted: List[Dict[str, Any]]) -> None:
        meson = self.machine.find_meson()[0]
        if not meson:
            raise Failure(ENVIRONMENT, 'the tests need Meson and Ninja; run ./lab setup to install them')
        waiting = sum('waits' in test['suites'] for test in wanted)  # these tests sleep most of the time
        processes = len(os.sched_getaffinity(0)) + MORE_THAN_CORES + waiting
        command = meson + ['test', '-C', self.clone.build, '--no-rebuild',
                           '--num-processes', str(processes)]
        if sys.stdout.isatty():
            command.append('--quiet')  # Meson's progress line remains
        if self.names:
            command += [test['name'] for test in wanted]
        with contextlib.suppress(OSError):
            os.unlink(self._log())
        # Meson runs in its own session, so that Ctrl-C reaches it as the signal that ends all tests. At an
        # interruption from the terminal, Meson ends only the test that has run for the longest time.
        tests = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True,
                                 stdout=subprocess.DEVNULL if self.as_json else None,
                                 stderr=subprocess.DEVNULL if self.as_json else None,
                                 env=dict(os.environ, MALLOC_PERTURB_='0'), preexec_fn=end_with_parent())
        try:
            tests.wait()
        except BaseException:
            tests.terminate()
            try:
                tests.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:  # a process of a test may ignore signals
                tests.kill()
            raise

    def _log(self) -> str:
        return self.clone.build + '/meson-logs/testlog.json'

    def _results(self, listed: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
        suites = {test['name']: test['suites'] for test in listed}
        try:
            with open(self._log(), encoding='utf-8', errors='replace') as file:
                entries = [json.loads(line) for line in file]
        except (OSError, ValueError):
            raise Failure(OURS, 'the test run did not finish') from None
        results = []
        for entry in entries:
            name = SUITE.sub('', entry['name'])
            state = STATES.get(entry['result'], 'failed')
            results.append({
                'name': name, 'suites': suites.get(name, []), 'state': state, 'reason': reason_of(entry),
                'seconds': entry['duration'], 'command': ' '.join(map(shlex.quote, entry['command'])),
                'log': (entry.get('stdout') or '') + (entry.get('stderr') or '') if state == 'failed' else ''})
        return results


def reason_of(entry: Dict[str, Any]) -> str:
    if entry['result'] in STATES:
        return ''
    if entry['result'] == 'TIMEOUT':
        return 'did not finish within its time limit'
    code = int(entry.get('returncode') or 0)
    return 'exit code %d' % code if code >= 0 else signal.Signals(-code).name
