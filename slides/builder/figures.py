"""Figures in slides: labs/figures/*.svg, whole or in part, large enough to be read.

![alternative](NAME.svg "x y width height") shows a part, and without the numbers, the whole figure. Its
text must have at least 24 pixels. If it has fewer, choose a part, or show the figure on two slides.
"""
import base64
import html
import re

from .errors import DeckError

LEAST_TEXT = 24
MOST_WIDTH, MOST_HEIGHT = 1168, 540


def render(root, name, part, alternative, room):
    file = root / 'labs/figures' / name
    if not file.is_file():
        raise DeckError(f'labs/figures/{name}: there is no such figure')
    text = file.read_text()
    box = re.search(r'viewBox="([^"]+)"', text)
    x, y, wide, high = (float(v) for v in (part or box[1]).split())
    scale = min(MOST_WIDTH / wide, room / high)
    for found in re.finditer(r'<text([^>]*)>', text):
        at = re.search(r'\bx="([-\d.]+)"', found[1]), re.search(r'\by="([-\d.]+)"', found[1])
        size = re.search(r'font-size="([\d.]+)"', found[1])
        if not all(at) or not size:
            continue
        inside = x <= float(at[0][1]) <= x + wide and y <= float(at[1][1]) <= y + high
        if inside and float(size[1]) * scale < LEAST_TEXT - 0.5:
            raise DeckError(f'labs/figures/{name}: text of {float(size[1]) * scale:.0f} px on the slide, '
                            f'{LEAST_TEXT} at least; show a part of it ("x y width height")')
    svg = text[:box.start()] + f'viewBox="{x:g} {y:g} {wide:g} {high:g}"' + text[box.end():]
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*" height="[^"]*"',
                 rf'\1 width="{wide * scale:.0f}" height="{high * scale:.0f}"', svg, 1)
    data = base64.b64encode(svg.encode()).decode()
    return (f'<img class="figure" width="{wide * scale:.0f}" height="{high * scale:.0f}" '
            f'alt="{html.escape(alternative)}" src="data:image/svg+xml;base64,{data}">')
