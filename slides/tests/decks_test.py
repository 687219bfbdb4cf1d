"""Tests that every deck builds, is complete, fits and keeps to its minutes, and that every topic is on a slide.

Without Chromium, only the checks of each slide's appearance are skipped, and the output says so.
"""
import contextlib
import sys
import tempfile
import pathlib

import setting
setting.need(program=True)
import walk  # noqa: E402
from slides.builder import browser, check, page, rehearse, topics  # noqa: E402
from slides.builder.deck import Deck  # noqa: E402
from slides.builder.errors import MissingTool  # noqa: E402
from slides.builder.records import Records  # noqa: E402

wrong, skipped, decks, chromium = [], '', [], None
with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
    try:
        chromium = stack.enter_context(browser.Browser())
    except MissingTool as error:
        skipped = str(error)
    for file in sorted((setting.ROOT / 'slides/decks').glob('*.md')):
        try:
            deck = Deck(setting.ROOT, file, Records(setting.ROOT))
        except MissingTool as error:
            print(f'skipped: {error}')
            sys.exit(77)
        decks.append(deck)
        found = check.format_of(deck)
        needed, planned = map(float, rehearse.table(deck).splitlines()[-1].split('|')[5:7])
        if needed > planned:
            found.append(f'its notes take {needed:g} minutes, but {planned:g} are planned')
        if chromium:
            target = pathlib.Path(folder) / (deck.name + '.html')
            page.write(deck, target)
            opened = chromium.open(target.as_uri())
            found += check.layout_of(opened)
            opened.go(target.as_uri())
            found += walk.everything(chromium, opened)
            opened.send('Page.close')
        print(f'{deck.name}: {len(deck.slides)} slides, {deck.minutes:g} minutes, {len(found)} wrong')
        wrong += [f'{deck.name}: {line}' for line in found]
if not decks:
    wrong.append('slides/decks has no deck')
if 'none yet' in topics.table(setting.ROOT, decks):
    wrong.append('a topic of the lectures is on no slide: see "none yet" in ./lab dev slides --topics')
print('\n'.join(wrong))
if skipped and not wrong:
    print(f'skipped in part: {skipped}')
    sys.exit(77)
sys.exit(1 if wrong else 0)
