"""The topics of the five lectures, and the slides that cover them.

slides/topics.txt lists the topics as "lecture.number  title", in the order of the lecture. A slide names
its topics in a line "topics: optimalizace.3 optimalizace.4" below its title.
"""
from .errors import DeckError


def load(root):
    """The topics [(id, title)], and the lectures' headings [(id prefix, title)]."""
    topics, lectures = [], []
    for line in (root / 'slides/topics.txt').read_text().splitlines():
        if line.startswith('# ') or not line.strip():
            continue
        word, _, what = line.partition(' ')
        (topics if '.' in word else lectures).append((word, what.strip()))
    return topics, lectures


def table(root, decks):
    """The Markdown of the list. A topic without a slide is marked. A name that is not a topic is an error."""
    topics, lectures = load(root)
    known = {name for name, _ in topics}
    found = {}
    for deck in decks:
        for number, slide in enumerate(deck.slides, 1):
            for name in slide.topics:
                if name not in known:
                    raise DeckError(f'{deck.file.name}:{slide.line}: slides/topics.txt has no topic {name}')
                found.setdefault(name, []).append(f'{deck.name} {number}')
    missing = [name for name, _ in topics if name not in found]
    lines = ['# The lectures\' topics, and the slides that have them', '',
             'Printed by `./lab dev slides --topics`. Topics: slides/topics.txt. '
             f'{len(topics) - len(missing)} of {len(topics)} are on a slide.', '']
    for lecture, title in lectures:
        lines += [f'## {title}', '', '| topic | deck and slide |', '|---|---|']
        lines += [f'| {what} | {", ".join(found.get(name, ["none yet"]))} |'
                  for name, what in topics if name.split('.')[0] == lecture]
        lines.append('')
    return '\n'.join(lines)
