"""lectures: the decks, with their contents and durations. Decks that are already built are copied next to the page.

Building all decks takes minutes (their captures run the lab program), so the site never builds one. It says how.
"""
import html
import re

from slides.builder.deck import Deck
from slides.builder.errors import DeckError
from slides.builder.records import Records

from . import shell

BUILT = 'build/slides'


def is_fresh(site, file):
    """Does the built deck exist, and is it not older than its source?"""
    built = site.root / BUILT / f'{file.stem}.html'
    return built.is_file() and built.stat().st_mtime >= file.stat().st_mtime


def lectures(site):
    """Writes lectures.html, or nothing without decks (in a student copy)."""
    files = sorted((site.root / 'slides/decks').glob('*.md'))
    body = ['<h1>Lectures</h1><p>The decks of the course, one file each. The arrow keys move through the slides, '
            '<kbd>o</kbd> shows all slides, <kbd>s</kbd> opens the speaker\'s window.</p>']
    missing = [f for f in files if not is_fresh(site, f)]
    if missing:
        body.append(f'<p class="gap" role="note">{len(missing)} of {len(files)} decks are not built, or are older than their sources. '
                    'Run <code>./lab dev slides --no-pdf</code>, then <code>./lab dev site</code> again.</p>')
    sections = []
    for file in files:
        try:
            deck = Deck(site.root, file, Records(site.root), capture=False)
        except DeckError as error:
            body.append(f'<h2 id="{file.stem}">{file.stem}</h2><p class="gap" role="note">This deck cannot be built from the current '
                        f'records: {html.escape(str(error).splitlines()[0])}</p>')
            continue
        title = html.escape(deck.title)
        if file not in missing:
            site.write(f'decks/{file.stem}.html', (site.root / BUILT / f'{file.stem}.html').read_text())
            title = f'<a href="decks/{file.stem}.html">{title}</a>'
        titles = [re.sub('`', '', s.title) for s in deck.slides if s.title]
        body.append(f'<h2 id="{file.stem}">{title}</h2><p>{len(deck.slides)} slides, {deck.minutes:g} minutes.</p><details><summary>'
                    'The slides</summary><ol>' + ''.join(f'<li>{html.escape(t)}</li>' for t in titles) + '</ol></details>')
        sections.append((deck.title, file.stem, ' '.join(titles)))
    site.found('lectures.html', 'Lectures', sections)
    site.write('lectures.html', shell.page('lectures.html', 'Lectures', ''.join(body)))
