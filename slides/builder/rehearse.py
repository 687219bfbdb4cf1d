"""Estimates, for each slide, the time that a lecturer needs with the notes, and compares it with the plan.

The notes and the slide's own sentences are read aloud at 130 words per minute. A question takes a minute,
half of it for silence and half for answers. A block of code or output takes 20 seconds to look at, and
a figure, chart or table 15. An exercise in class is not estimated; it takes the planned time.
"""
import html
import re

WORDS_A_MINUTE, QUESTION, LISTING, PICTURE = 130, 1.0, 1 / 3, 1 / 4
TOLERANCE = 0.75  # minutes by which a slide may exceed its plan before it is marked


def words_of(text):
    """The number of words that are read aloud, without code, output and charts."""
    text = re.sub(r'<(pre|svg|table)\b.*?</\1>', ' ', text, flags=re.S)
    return len(html.unescape(re.sub(r'<[^>]+>', ' ', text)).split())


def minutes_of(slide):
    """The minutes of reading aloud and of pauses."""
    aloud = (words_of(slide.notes_html) + words_of(slide.html)) / WORDS_A_MINUTE
    count = slide.html.count
    pauses = (QUESTION * count('class="ask"') + LISTING * (count('<pre class="code"') + count('<pre class="terminal"'))
              + PICTURE * (count('<svg') + count('<img') + count('<table')))
    return aloud, pauses


def table(deck):
    """The Markdown of a table with a row per slide, and the sums."""
    lines = ['| | slide | aloud | pauses | both | plan | |', '|---:|---|---:|---:|---:|---:|---|']
    sums = [0.0, 0.0, 0.0]
    for number, slide in enumerate(deck.slides, 1):
        aloud, pauses = minutes_of(slide)
        if 'class="exercise"' in slide.html:
            pauses = max(slide.minutes - aloud, 0)
        note = 'over' if aloud + pauses > slide.minutes + TOLERANCE else ''
        sums = [a + b for a, b in zip(sums, (aloud, pauses, slide.minutes))]
        lines.append(f'| {number} | {slide.title} | {aloud:.1f} | {pauses:.1f} | {aloud + pauses:.1f} | '
                     f'{slide.minutes:g} | {note} |')
    lines.append(f'| | all | {sums[0]:.0f} | {sums[1]:.0f} | {sums[0] + sums[1]:.0f} | {sums[2]:g} | |')
    return '\n'.join(lines)


def document(decks):
    """The Markdown of several decks, with an explanation of the figures."""
    meaning = ' '.join(__doc__.split('\n\n', 1)[1].split())
    return ('# Rehearsal\n\nPrinted by `./lab dev slides --rehearse`. Minutes: reading aloud, '
            f'pauses, both, and the plan in the notes. Spare time is for discussion.\n{meaning}\n'
            + ''.join(f'\n## {deck.name[:2]} {deck.title}\n\n{table(deck)}\n' for deck in decks))
