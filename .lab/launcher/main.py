"""./lab WORD... sets up and builds everything that the command needs, and then executes the program."""
from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, List, NoReturn, Optional

from .arguments import GRADES, READ_ONLY, Arguments
from .clone import Clone
from .report import (ENVIRONMENT, INTERRUPTED, OURS, USAGE, Failure, Interrupted, document, end, say,
                     unknown_word)

if TYPE_CHECKING:  # modules that are not loaded if nothing has changed
    from .machine import Machine
    from .steps import Steps

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run(words: List[str]) -> NoReturn:
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
    arguments = Arguments(words, root)
    sys.stdout = sys.stdout or open(os.devnull, 'w')  # stdout may be closed
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:  # nohup
            signal.signal(number, interrupt)
    try:
        code = Launcher(Clone(root), arguments).run()
        sys.stdout.flush()
        os._exit(code)
    except Failure as failure:
        end(failure, arguments.as_json)
    except Interrupted:
        ignore_signals()
        end(Failure(INTERRUPTED, 'interrupted; no data is lost, and the same command continues from here'),
            arguments.as_json)
    except BrokenPipeError:
        os._exit(INTERRUPTED)
    except Exception as error:
        import traceback
        where = traceback.extract_tb(error.__traceback__)[-1]
        end(Failure(OURS, 'internal error: %r at %s:%d. Please report this with the command you ran'
                    % (error, where.filename, where.lineno or 0)), arguments.as_json)


def interrupt(number: int, frame: object) -> NoReturn:
    ignore_signals()
    raise Interrupted


def ignore_signals() -> None:
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


class Launcher:
    def __init__(self, clone: Clone, arguments: Arguments) -> None:
        self.clone = clone
        self.arguments = arguments

    def run(self) -> int:
        """Runs a command of the launcher itself, and returns its exit code. Otherwise executes the program."""
        clone, arguments, verb = self.clone, self.arguments, self.arguments.verb
        self._restore_environment()
        only_looks = arguments.asks_help or verb in ('doctor', 'completion') or arguments.words == []
        clone.use_alias(may_make=not only_looks)
        from .packages import use_packages
        use_packages(clone)
        if verb and os.path.exists(os.path.join(clone.root, 'labs', verb, 'lab.toml')):
            raise Failure(USAGE, '%s is a lab, not a command; put the command first: ./lab walk %s (its versions, '
                          'explained and run), ./lab start %s (your own file), ./lab run %s' % ((verb,) * 4))
        if arguments.asks_help or (not verb and '--version' not in arguments.words):
            return self.help()
        if verb == 'setup':
            return self.setup()
        if verb == 'editor':
            from .editor import Editor
            return Editor(clone, self.machine()).write(arguments.as_json)
        if verb == 'doctor':
            from .doctor import Doctor
            nvcc = self.machine().find_nvcc()
            if nvcc:  # the program looks there if the configured compiler is gone
                os.environ['STEPWISE_NVCC'] = nvcc
            code = Doctor(clone, self.machine(), self.stands_still()).report(arguments)
            return self.become_program() if code is None else code
        if verb == 'completion' and not clone.is_built():  # the command builds nothing
            raise Failure(ENVIRONMENT, 'completion is not available until ./lab has built something; run ./lab list first')
        if verb == 'test':
            from .tests import Tests
            tests = Tests(clone, arguments, self.machine())
            self.prepare()
            return tests.run()
        if verb != 'completion':
            self.prepare()
        return self.become_program()

    def machine(self) -> Machine:
        from .machine import Machine
        return Machine(self.clone)

    def steps(self) -> Steps:
        from .steps import Steps
        return Steps(self.clone)

    def _restore_environment(self) -> None:
        """Hides the libraries of an unpacked Python from the programs that it starts."""
        folders = os.environ.get('LD_LIBRARY_PATH', '').split(':')
        own = [folder for folder in folders if folder.startswith(self.clone.path + '/.packages/')]
        if own:
            os.environ['LD_LIBRARY_PATH'] = ':'.join(folder for folder in folders if folder not in own)

    # Building.

    def stands_still(self) -> Optional[str]:
        """The reason why nothing is built here although build/ has a program; None if the launcher builds."""
        clone = self.clone
        if not clone.is_built():
            return None
        if not clone.in_build('build.ninja'):
            return 'this copy includes its programs'
        config = clone.config()
        if config is not None and config.clone != clone.path:
            return 'this clone was built in ' + config.clone
        if not os.access(clone.build, os.W_OK):
            return 'build/ is not writable'
        machine = self.machine()
        machine.use_venv()
        from .machine import tool
        if not tool('ninja'):
            return 'Ninja is missing'
        if config is not None and not tool(config.cxx) and not machine.find_cxx():
            return 'a C++ compiler is missing'
        return None

    def prepare(self) -> None:
        """Builds what the command needs, or reports why build/ stays as it is."""
        clone, arguments = self.clone, self.arguments
        if arguments.verb not in READ_ONLY:
            clone.need_to_write(clone.root, clone.build)
        reason = self.stands_still()
        if reason is None or (arguments.verb == 'test' and self.machine().can_build()):
            self.build(arguments.targets())
        elif arguments.verb == 'test' and reason.startswith('this clone'):
            raise Failure(ENVIRONMENT, 'the tests run only where they were built, but %s; run ./lab setup'
                          % reason)
        else:
            self._check_stale(reason)
        if arguments.verb != 'test' and not arguments.is_text():
            self._adopt_nvcc()
        if arguments.verb in GRADES:
            from .packages import Packages
            Packages(clone, self.steps()).bring_sandbox()

    def _check_stale(self, reason: str) -> None:
        machine, config = self.machine(), self.clone.config()
        if machine.cpu_lacks() and not self.arguments.is_text():
            raise Failure(ENVIRONMENT, 'the programs need instructions that this CPU does not have; run ./lab setup '
                          'to build them for this CPU')
        # Git gives files the time of the checkout, so times mean nothing in a copy with programs.
        if self.clone.in_build('build.ninja') and self.clone.is_older_than_sources():
            say('warning: the programs may be older than the sources, but are not rebuilt: %s%s' % (
                reason, '; run ./lab setup to rebuild them' if os.access(self.clone.build, os.W_OK) else ''))
        arch = machine.arch_without_code(config) if config else None
        if arch and config:
            say('the programs contain code for sm_%s, but this GPU is sm_%d: run ./lab setup on a '
                'machine with both; on this machine the emulator is used' % (config.archs, arch))

    def build(self, targets: List[str], set_up: bool = False, unpack: bool = False) -> None:
        from .building import Builder
        steps, machine = self.steps(), self.machine()
        builder = Builder(self.clone, machine, steps, unpack)
        try:
            gives_way = self.arguments.is_text() and self.clone.is_built()
            if not steps.take_lock(gives_way):
                return
            machine.use_venv()
            if set_up or not builder.is_configured():
                builder.set_up()
            builder.build(targets)
        except OSError as error:
            steps.fail('setting up', text=str(error))
        finally:
            steps.release_lock()

    def _adopt_nvcc(self) -> None:
        """If the compiler of a copied clone is missing, passes the one on this machine to the program."""
        config = self.clone.config()
        if config and (os.access(config.nvcc, os.X_OK) or os.access(self.clone.cuda + '/bin/nvcc', os.X_OK)):
            return
        nvcc = self.machine().find_nvcc()
        if not nvcc and not self.clone.in_build('build.ninja'):  # a copy that came with its programs
            from .building import Builder
            steps = self.steps()
            steps.take_lock(gives_way=False)
            nvcc = Builder(self.clone, self.machine(), steps).bring_nvcc()
            steps.release_lock()
        if nvcc:
            os.environ['STEPWISE_NVCC'] = nvcc

    def setup(self) -> int:
        targets, built = self.arguments.targets(), 'everything is built'
        for word in self.arguments.words:
            if word == '--no-tests':
                targets, built = ['course'], 'everything except the tests is built'
            elif word == '--first':
                targets, built = ['grader/lab', 'course-first'], 'what the first answer needs is built'
            elif word not in ('setup', '--unpack', '--json'):
                raise unknown_word('setup', word)
        self.build(targets, set_up=True, unpack='--unpack' in self.arguments.words)
        if self.arguments.as_json:
            document({'built': True})
        else:
            say(built + '; start with labs/first/README.md')
        return 0

    # The program.

    def become_program(self) -> NoReturn:
        program = self.clone.program
        sys.stdout.flush()
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores
            signal.signal(number, signal.SIG_DFL)
        try:
            os.execv(program, [program] + self.arguments.words)
        except OSError as error:
            raise Failure(OURS, '%s: %s; run ./lab setup to repair it' % (program, error.strerror)) from None

    def help(self) -> int:
        """Shows the program's help if it is built, and otherwise, or for setup, the launcher's own."""
        arguments = self.arguments
        if arguments.verb != 'setup' and self.clone.is_built():
            self.become_program()
        text = ''
        with open(os.path.join(self.clone.root, 'lab'), encoding='utf-8') as file:
            for line in file.readlines()[1:]:
                if not line.startswith('#'):
                    break
                text += line[2:] or '\n'
        if not self.clone.is_built():
            text += ('\nNothing is built yet. Begin with one of these commands:\n'
                     '  ./lab doctor            show what is missing\n'
                     '  ./lab run first         set up, build, and run your first kernel\n'
                     '  ./lab test              set up, build and run every test\n')
        if arguments.as_json:
            document({'help': text.rstrip('\n'), 'built': self.clone.is_built()})
        else:
            print(text, end='', flush=True)
        return 0
