"""The playground on a page: a source that you can edit if `./lab dev site --serve` shows the page.

On disk, the page has data-live="". serve.py replaces the value by "yes".
"""
import html
import re

MARKER = 'data-live=""'
SCRIPTS = ['theme/editor.js', 'theme/playground.js']
LEFT_OUT = ('watch', 'gain')  # fields of a step's header with results, which a skeleton does not have


def skeleton(text, origin):
    """The skeleton that `./lab start` makes from a step. A region between //> todo and //< becomes a TODO line."""
    out, head, dropped, inside = [f'// Generated from {origin} by lab start.'], True, False, False
    for line in text.splitlines():
        head = head and line.startswith('//')
        mark = re.match(r'(\s*)//> todo:(.*)', line)
        if mark:
            inside = True
            out.append(f'{mark[1]}// TODO: {mark[2].strip()}')
        elif line.lstrip().startswith('//<'):
            inside = False
        elif head:
            field = re.match(r'// ([a-z]+) {2,}', line)
            dropped = field[1] in LEFT_OUT if field else dropped
            if not dropped:
                out.append(line)
        elif not inside:
            out.append(line)
    return '\n'.join(out) + '\n'


def place(lab, name, text, listing):
    """The playground's HTML. `listing` is the source as HTML, `text` the source to edit; readers see `name`."""
    return ('<link rel="stylesheet" href="../theme/playground.css">'
            f'<div class="playground" {MARKER} data-lab="{lab}" data-name="{html.escape(name)}">'
            '<p class="try-how">This source is read-only here. On the page that <code>./lab dev site --serve</code> shows, '
            'you can edit, compile, check and time it on your machine.</p>'
            f'<div class="try-listing">{listing}</div>'
            f'<textarea class="try-source" aria-label="Source of {html.escape(name)}" hidden>\n'
            f'{html.escape(text, quote=False)}</textarea></div>')
