"""The terminal in slides: the output of a `./lab` command, captured when the deck is built.

A block is ```lab COMMAND | OPTIONS```, with options
  from "TEXT"  to "TEXT"   from the line with the first TEXT, up to before the line with the second
  lines N                  shows at most N lines (without it, more than 17 are an error)
  exit N                   the expected exit code (0); any other is an error
  quiet                    runs the command but shows only its line, for an exercise
Captures are kept in build/slides/captured until the program, the descriptions of GPUs, a file that the
command names or a file of its lab changes.
"""
import hashlib
import html
import os
import re
import shlex
import subprocess
import textwrap

from .errors import DeckError, MissingTool

MOST_LINES, MOST_COLUMNS, NARROW = 17, 80, 76  # NARROW: in the frame of an exercise
LONGEST_S = 240  # a slower command does not belong on a slide


def state_of(root, words):
    """A text that changes whenever the output of the command may change."""
    program = root / 'build/grader/lab'
    stat = program.stat()
    parts = [' '.join(words), str(stat.st_mtime_ns), str(stat.st_size)]
    parts += sorted(f'{f}{f.stat().st_mtime_ns}' for f in (root / 'common/gpus').glob('*'))
    for word in words:
        if (root / word).is_file():
            parts.append(f'{word}{(root / word).stat().st_mtime_ns}')
        for folder in (root / 'labs' / word, root / 'solutions' / word):
            if (root / 'labs' / word / 'lab.toml').is_file():
                parts += sorted(f'{f}{f.stat().st_mtime_ns}' for f in folder.rglob('*') if f.is_file())
    return hashlib.sha256('\n'.join(parts).encode()).hexdigest()[:24]


def capture(root, command):
    """(exit code, output) of `./lab COMMAND`."""
    words = shlex.split(command)
    program = root / 'build/grader/lab'
    if not os.access(program, os.X_OK):
        raise MissingTool('the course is not built, and a deck shows what its commands print: '
                          '`./lab setup` builds all of it')
    kept = root / 'build/slides/captured' / state_of(root, words)
    if kept.is_file():
        code, _, text = kept.read_text().partition('\n')
        return int(code), text
    # Never uses a GPU of this machine, so that a deck is the same everywhere, and says "modelled".
    environment = dict(os.environ, NO_COLOR='1', COLUMNS='80', TERM='dumb', CUDA_VISIBLE_DEVICES='')
    environment.pop('STEPWISE_GPU', None)
    try:
        done = subprocess.run([program, *words], cwd=root, env=environment, text=True, timeout=LONGEST_S,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except subprocess.TimeoutExpired as error:
        raise DeckError(f'./lab {command}: did not finish within {LONGEST_S} s') from error
    if done.returncode in (3, 4):
        raise MissingTool(f'./lab {command}: {(done.stderr or done.stdout).strip()}\n'
                          '`./lab setup` builds what a deck needs')
    if done.returncode == 2:
        raise DeckError(f'./lab {command}: {(done.stderr or done.stdout).strip()}')
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(f'{done.returncode}\n{done.stdout}')
    return done.returncode, done.stdout


def wrapped(line):
    """Continues text that is wider than the terminal on the next line, as a terminal does."""
    indent = ' ' * (len(line) - len(line.lstrip()))
    return textwrap.wrap(line, MOST_COLUMNS, initial_indent='', subsequent_indent=indent,
                         drop_whitespace=True) if len(line) > MOST_COLUMNS else [line]


def prompted(command, columns=MOST_COLUMNS):
    """The typed line. A long line continues after a backslash, as in a shell."""
    return ' \\\n    '.join(textwrap.wrap(f'$ ./lab {command}', columns - 2, break_long_words=False,
                                         break_on_hyphens=False))


def options_of(text):
    words, options = shlex.split(text), {}
    while words:
        name = words.pop(0)
        if name in ('from', 'to', 'lines', 'exit') and words:
            options[name] = words.pop(0)
        elif name == 'quiet':
            options[name] = True
        else:
            raise DeckError(f'lab ... | {text}: {name} is not an option; builder/terminal.py lists them')
    return options


def render(root, info, note):
    command, _, rest = info.partition(' | ')
    options = options_of(rest)
    code, text = capture(root, command.strip())
    if code != int(options.get('exit', 0)):
        raise DeckError(f'./lab {command}: exit code {code}, expected {options.get("exit", 0)}')
    if options.get('quiet'):
        shown = f'<b>{html.escape(prompted(command.strip(), NARROW))}</b>'
        return f'<pre class="terminal">{shown}</pre>'
    shown = f'<b>{html.escape(prompted(command.strip()))}</b>'
    lines = text.rstrip('\n').split('\n')
    for name in ('from', 'to'):
        if name in options:
            at = next((i for i, line in enumerate(lines) if options[name] in line), None)
            if at is None:
                raise DeckError(f'./lab {command}: no line holds "{options[name]}" any more')
            lines = lines[at:] if name == 'from' else lines[:at]
    most = int(options.get('lines', MOST_LINES - 1))
    if len(lines) > most and 'lines' not in options:
        raise DeckError(f'./lab {command}: {len(lines)} lines do not fit a slide; '
                        'choose some with from, to, lines')
    lines = lines[:most]
    while lines and not lines[-1].strip():
        lines.pop()
    lines = [part for line in lines for part in wrapped(line)]
    shown_text = '\n'.join(lines)
    words = ' '.join(shown_text.split())
    if (command.startswith('worth-it') and 'theoretical' in words) or re.search(r' per (warp|block) = ', words):
        note('theoretical; recorded: H200' if 'recorded' in text else 'theoretical')
    elif command.startswith(('profile', 'limits', 'sweep')) or 'modelled' in shown_text or re.search(r'\d (us|ms)\b', shown_text):
        note('modelled: ' + ('H200' if 'H200' in text else 'see ./lab ' + command.strip()))
    elif 'emulator' in text or '--counters' in command:
        note('counted by the emulator')
    body = html.escape('\n'.join(lines))
    return f'<pre class="terminal">{shown}\n{body}</pre>'
