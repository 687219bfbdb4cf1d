"""Runs steps that may take a long time. A line names the running step. Its output goes to build/lab.log.

A step ends with the launcher, whatever ends the launcher: Ctrl-C, a closed terminal, a reader that went away or
kill -9. Every step inherits the lock, and so do Ninja and its compilers. While one of them is alive, no other ./lab
starts anything in this clone.
"""
from __future__ import annotations

import contextlib
import fcntl
import os
import re
import signal
import subprocess
import sys
import time
from typing import Callable, Dict, IO, List, NoReturn, Optional

from .clone import Clone
from .report import ENVIRONMENT, Failure, Interrupted, OURS, say, write

NO_ROOM = ('No space left', 'Disk quota exceeded', 'Errno 28')
FIRST_ERROR = re.compile(r'(^|[^a-z])([Ee]rror|ERROR):|^E: |undefined reference|No module named')
DONE = re.compile(r'^\[(\d+)/(\d+)\] ', re.MULTILINE)  # NINJA_STATUS
LARGE_LOG = 1 << 20
INTERVAL_S = 10  # between two lines about a step, without a terminal


class Steps:
    """The log, the lock, and the running step."""

    def __init__(self, clone: Clone) -> None:
        self.clone = clone
        self._lock: Optional[IO[bytes]] = None
        self._log: Optional[IO[bytes]] = None
        self._start = 0  # where the step begins in the log

    # The lock.

    def take_lock(self, gives_way: bool) -> bool:
        """Waits for another ./lab that builds here. With `gives_way`, returns False instead of waiting."""
        clone = self.clone
        clone.need_to_write(clone.root, clone.build, clone.venv, clone.cuda)
        try:
            os.makedirs(clone.build, exist_ok=True)
            self._lock = open(os.path.join(clone.build, 'lab.lock'), 'ab')
        except OSError as error:
            self._stop_at_full_disk(str(error))
            raise Failure(ENVIRONMENT, 'cannot write to ' + clone.build) from None
        is_waiting = False
        while True:
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except BlockingIOError:
                pass
            except OSError:
                return True  # the file system has no locks
            if gives_way:
                self.release_lock()
                return False
            if not is_waiting:
                say('another ./lab is building in this clone; waiting for it')
            is_waiting = True
            time.sleep(0.2)

    def release_lock(self) -> None:
        if self._lock is not None:
            self._lock.close()
        self._lock = None

    # The log.

    def forget_output(self) -> None:
        """Removes the last step's output from the log. Before the first step, empties the log."""
        self._opened_log().truncate(self._start)

    def _opened_log(self) -> IO[bytes]:
        if self._log is None:
            self._log = open(self.clone.log, 'a+b', buffering=0)
            if os.fstat(self._log.fileno()).st_size > LARGE_LOG:
                self._log.truncate(0)
        return self._log

    def output(self) -> str:
        """The step's output so far."""
        if self._log is None:
            return ''
        return os.pread(self._log.fileno(), 1 << 26, self._start).decode(errors='replace')

    # A step.

    def run(self, label: str, command: List[str], env: Optional[Dict[str, str]] = None,
            quiet_s: float = 0, progress: Optional[Callable[[str, float], str]] = None) -> bool:
        """Runs the command. Returns True if it succeeded. Prints nothing in its first `quiet_s` seconds."""
        try:
            log = self._opened_log()
            self._start = os.fstat(log.fileno()).st_size
            log.write(('\n== %s\n%s\n' % (label, ' '.join(command))).encode(errors='surrogateescape'))
            began = time.monotonic()
            child = self._begin(command, log, env)
        except OSError as error:
            self.fail(label, text=str(error))
        interval, next_line, is_shown = 1 if is_terminal() else INTERVAL_S, quiet_s, False
        pause = 0.005  # a step that ends at once is noticed at once
        try:
            while child.poll() is None or next_line == 0:
                elapsed = time.monotonic() - began
                if elapsed >= next_line:
                    details = '%s (%d s)' % (progress(self.output(), elapsed) if progress else '', elapsed)
                    show(label + (details if is_shown else ''))
                    is_shown, next_line = True, elapsed + interval
                time.sleep(pause)
                pause = min(2 * pause, 0.02 if elapsed < 2 else 0.2)
        except BaseException:
            child.terminate()
            child.wait()
            raise
        finally:
            if is_shown and is_terminal():
                with contextlib.suppress(Interrupted):
                    show('%s (%d s)' % (label, time.monotonic() - began))
                    write('\n')
        return child.returncode == 0

    def _begin(self, command: List[str], log: IO[bytes], env: Optional[Dict[str, str]]) -> subprocess.Popen[bytes]:
        inherited = [self._lock.fileno()] if self._lock is not None else []
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                env={**os.environ, **(env or {})}, pass_fds=inherited,
                                preexec_fn=end_with_parent())

    # Failures.

    def fail(self, label: str, code: int = OURS, hint: str = '', text: Optional[str] = None) -> NoReturn:
        """Ends with one message. If the disk is full, that is the message. Otherwise, it has the target that
        Ninja could not make and the first error in the step's output."""
        if text is None:
            text = self.output()
        self._stop_at_full_disk(text)
        lines = text.splitlines()
        shown = [line for line in lines if line.startswith('FAILED: ')][:1]
        errors = [number for number, line in enumerate(lines)
                  if FIRST_ERROR.search(line) and not line.startswith('WARNING: ')]
        shown += lines[errors[0]:errors[0] + 5] if errors else lines[-5:]
        raise Failure(code, '%s failed%s; the whole output is in %s%s' % (
            label, ' (%s)' % hint if hint else '', self.clone.log,
            ''.join('\n| ' + line for line in shown)))

    def _stop_at_full_disk(self, text: str) -> None:
        """Ends the command if the text, or a disk without a free block, shows that there was no room."""
        folders = [self.clone.build, self.clone.root, os.environ.get('TMPDIR', '/tmp')]
        tightest = min((folder for folder in folders if os.path.isdir(folder)), key=free_bytes)
        if free_bytes(tightest) >= 64 * 1024 and not any(word in text for word in NO_ROOM):
            return
        raise Failure(ENVIRONMENT, 'the disk is full: %s is on the file system mounted at %s, which has %d MB '
                      'free. Free some space there and run the same command again; it continues from here'
                      % (tightest, mount_point(tightest), free_bytes(tightest) >> 20))


def end_with_parent() -> Optional[Callable[[], None]]:
    """A function that a child calls first, so that the kernel ends it with the launcher, even after kill -9."""
    try:
        import ctypes
        prctl = ctypes.CDLL(None).prctl
    except (ImportError, AttributeError, OSError):
        return None
    return lambda: prctl(1, int(signal.SIGTERM), 0, 0, 0)  # PR_SET_PDEATHSIG


def is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def show(text: str) -> None:
    """Prints a line about the step. On a terminal, it replaces the previous line."""
    write('\r\033[K' + ('lab: ' + text)[:79] if is_terminal() else 'lab: %s\n' % text)


def ninja_progress(output: str, elapsed: float) -> str:
    """The number of Ninja's steps that are done, and the time for the others at the same pace."""
    counts = DONE.findall(output)
    if not counts:
        return ''
    done, total = map(int, counts[-1])
    text = ' %d/%d' % (done, total)
    if done * 20 < total or elapsed < 3:
        return text
    left = elapsed * (total - done) / done
    return text + (', about %d s left' % (10 * (left // 10 + 1)) if left < 90
                   else ', about %d min left' % (left / 60 + 0.5))


def free_bytes(folder: str) -> int:
    try:
        room = os.statvfs(folder)
    except OSError:
        return 1 << 60
    return room.f_bavail * room.f_frsize


def mount_point(folder: str) -> str:
    folder = os.path.realpath(folder)
    while not os.path.ismount(folder):
        folder = os.path.dirname(folder)
    return folder
