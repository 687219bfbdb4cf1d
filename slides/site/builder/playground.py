"""The playground, a page per lab: sources that you can edit if `./lab dev site --serve` shows the page.

On disk, the page has data-live="". serve.py replaces the value by "yes".
"""
import html
import json
import re

from slides.builder.course import read_course

from . import shell

MARKER = 'data-live=""'
SERVE = './lab dev site --serve'
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
    """A source on a page: its listing, and a link to the playground with it. `name` is a step, or the lab for the
    starting file."""
    anchor = '' if name == lab else f'#{name}'
    return f'<p><a href="try.html{anchor}">Write code: edit, run and grade this source</a></p>{listing}'


def sources(site, lab):
    """{name: text}: the starting file, and all steps unless the site is for students."""
    first = next(step for step in lab.steps if step.name == lab.skeleton)
    texts = {'your starting file': skeleton((site.root / first.file).read_text(), first.file)}
    if not site.students:
        texts.update({step.name: (site.root / step.file).read_text() for step in lab.steps})
    return texts


def goals(site, lab):
    entry = next(entry for entry in read_course(site.root)['labs'] if entry['name'] == lab.name)
    items = ''.join(f'<li data-kind="{goal["kind"]}"><span class="try-mark" aria-hidden="true"></span>'
                    f'<div>{html.escape(goal["name"])}<p class="try-said"></p></div><b>{goal["points"]}</b></li>'
                    for goal in entry['goals'])
    points = sum(goal['points'] for goal in entry['goals'])
    return (f'<h2>Goals <span class="try-points">{points} points</span></h2>'
            '<div class="try-list" tabindex="0" role="group" aria-label="Goals">'
            f'<ol class="try-goals">{items}</ol></div>')


def how_to_edit():
    return ('<div class="try-how"><p>This copy of the page is for reading. To edit, run and grade the source, enter this '
            'command in your folder of the course, and open the address that it prints:</p>'
            f'<p class="try-command"><code>{SERVE}</code> <button type="button" class="try-copy">Copy</button></p></div>')


def build(site, lab):
    """Writes the lab's playground: the editor on the left, the verdict and the goals on the right."""
    name, title = f'{lab.name}/try.html', f'{lab.title}: write code'
    texts = sources(site, lab)
    site.write(f'{lab.name}/try.js', f'const SOURCES = {json.dumps(texts)};\n'.replace('</', '<\\/'))
    options = ''.join(f'<option id="{text.replace(" ", "-")}">{text}</option>' for text in texts)
    body = (
        '<link rel="stylesheet" href="../theme/playground.css">'
        f'<div class="playground" {MARKER} data-lab="{lab.name}">'
        f'<div class="try-bar"><h1>{html.escape(title)}</h1>'
        f'<label>begin with <select class="try-from" autocomplete="off">{options}</select></label>'
        '<button type="button" class="try-run" hidden>Run</button>'
        '<button type="button" class="try-grade" hidden>Grade</button>'
        '<button type="button" class="try-restore" hidden>Restore</button>'
        '<button type="button" class="try-share">Share</button>'
        '<span class="try-note" role="status"></span></div>'
        f'{how_to_edit()}<div class="try-columns">'
        '<div class="try-left"><textarea class="try-source" aria-label="Source" hidden></textarea></div>'
        '<aside class="try-side" aria-label="Verdict and goals"><h2>Verdict</h2>'
        '<div class="try-answer" aria-live="polite"><p class="verdict">Nothing has run yet.</p></div>'
        '<div class="try-details" tabindex="0" role="group" aria-label="Details of the verdict"></div>'
        f'{goals(site, lab)}</aside></div></div>')
    site.found(name, title, [(f'{lab.name}: write code', '', 'edit run grade playground goals points')])
    site.write(name, shell.page(name, title, body, lab, site.students, wide=True,
                                scripts=[f'{lab.name}/try.js', 'theme/editor.js', 'theme/playground.js']))
