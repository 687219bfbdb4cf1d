"""./lab dev slides builds the decks in slides/decks, as self-contained HTML and as PDF.

    ./lab dev slides [DECK...] [--out DIR] [--no-pdf] [--check] [--serve [PORT]] [--topics]
                 [--rehearse] [--json]
"""
import argparse
import functools
import http.server
import json
import pathlib
import shutil
import sys
import threading
import time

from . import browser, check, page, rehearse, tools, topics
from .deck import Deck
from .errors import DeckError, MissingTool
from .records import Records

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILT = ROOT / 'build/slides'


def deck_files(names):
    files = sorted((ROOT / 'slides/decks').glob('*.md'))
    chosen = []
    for name in names:
        found = [f for f in files if f.stem == name or f.stem.startswith(name)]
        if len(found) != 1:
            raise DeckError(f'{name}: expected exactly one deck; there are ' + ', '.join(f.stem for f in files))
        chosen += found
    return chosen or files


def say(line):
    print(line, file=sys.stderr if arguments.json else sys.stdout, flush=True)


def build(file, out):
    """Builds a deck. Returns (deck, HTML file, seconds)."""
    began = time.monotonic()
    deck = Deck(ROOT, file, Records(ROOT))
    target = out / (deck.name + '.html')
    page.write(deck, target)
    if out != BUILT:  # the site shows the decks that it finds there
        BUILT.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(target, BUILT / target.name)
    return deck, target, time.monotonic() - began


def newest():
    folders = [ROOT / 'slides', ROOT / 'solutions', ROOT / 'labs', ROOT / 'common/gpus']
    return max(f.stat().st_mtime for folder in folders for f in folder.rglob('*') if f.is_file())


def serve(files, out, port):
    """Serves `out` on this machine only, and builds a deck again whenever a file is saved."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(out))
    handler.func.log_message = lambda *_: None
    server = http.server.ThreadingHTTPServer(('127.0.0.1', port), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for file in files:
        say(f'  http://127.0.0.1:{server.server_port}/{file.stem}.html')
    say('  A deck is rebuilt when you save a file; reload the page. Ctrl-C stops the server.')
    seen = newest()
    while True:
        time.sleep(0.4)
        if newest() <= seen:
            continue
        seen = newest()
        for file in files:
            try:
                deck, _, seconds = build(file, out)
                say(f'  {deck.name}: rebuilt in {seconds:.1f} s')
            except DeckError as error:
                say(f'  {error}')


def print_pdf(html_file):
    with browser.Browser() as chromium:
        target = html_file.with_suffix('.pdf')
        chromium.open(html_file.resolve().as_uri()).pdf(target)
    return target


def run():
    out = pathlib.Path(arguments.out or BUILT).absolute()
    if arguments.topics:
        print(topics.table(ROOT, [Deck(ROOT, f, Records(ROOT), capture=False) for f in deck_files([])]), end='')
        return 0
    if arguments.rehearse:
        decks = [Deck(ROOT, f, Records(ROOT), capture=False) for f in deck_files(arguments.deck)]
        print(rehearse.document(decks), end='')
        return 0
    decks, wrong = [], []
    files = deck_files(arguments.deck)
    for file in files:
        deck, target, seconds = build(file, out)
        entry = {'name': deck.name, 'title': deck.title, 'slides': len(deck.slides),
                 'minutes': deck.minutes, 'html': str(target), 'pdf': None, 'wrong': []}
        decks.append(entry)
        say(f'  {deck.name}: {len(deck.slides)} slides, {deck.minutes:g} minutes, in {seconds:.1f} s: {target}')
        if arguments.check:
            entry['wrong'] = check.format_of(deck) + check.layout(target)
            for line in entry['wrong']:
                say(f'    {line}')
            wrong += entry['wrong']
        elif not arguments.no_pdf and not arguments.serve:
            try:
                entry['pdf'] = str(print_pdf(target))
                say(f'    {entry["pdf"]}')
            except MissingTool as error:
                print(f'lab: no PDF: {error}', file=sys.stderr)
    if arguments.check and not wrong:
        say('  everything fits')
    if arguments.json:
        print(json.dumps({'decks': decks}))
    if arguments.serve:
        serve(files, out, arguments.serve)
    return 1 if wrong else 0


def parse():
    parser = argparse.ArgumentParser(prog='./lab dev slides')
    parser.add_argument('deck', nargs='*')
    parser.add_argument('--out')
    parser.add_argument('--no-pdf', action='store_true')
    parser.add_argument('--check', action='store_true')
    parser.add_argument('--serve', type=int, metavar='PORT')
    parser.add_argument('--topics', action='store_true')
    parser.add_argument('--rehearse', action='store_true')
    parser.add_argument('--json', action='store_true')
    return parser.parse_args()


def fail(error, code):
    if arguments.json:
        print(json.dumps({'error': str(error), 'exit_code': code}))
    else:
        print(f'lab: {error}', file=sys.stderr)
    return code


arguments = parse()
try:
    tools.bring(ROOT)
    sys.exit(run())
except DeckError as problem:
    sys.exit(fail(problem, 1))
except MissingTool as problem:
    sys.exit(fail(problem, 3))
except KeyboardInterrupt:
    sys.exit(130)
