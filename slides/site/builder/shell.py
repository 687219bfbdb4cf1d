"""The frame of every page: head, navigation, search, theme."""
import html
import posixpath

from slides.site.live import build as live


def relative(target, page):
    """The link from `page` to `target`. Both are paths from the site's root."""
    path, hash_, anchor = target.partition('#')
    return posixpath.relpath(path, posixpath.dirname(page) or '.') + hash_ + anchor


def lab_links(lab, students):
    links = [('Handout', f'{lab.name}/index.html'), ('Write code', f'{lab.name}/try.html')]
    if lab.deeper:
        links.append(('Deeper', f'{lab.name}/deeper.html'))
    if lab.pictures:
        links.append(('Stages', f'{lab.name}/stages.html'))
    if not students:
        links += [('Versions', f'{lab.name}/versions.html'), ('Differences', f'{lab.name}/diff.html')]
        if lab.figures:
            links.append(('Sweeps', f'{lab.name}/figures.html'))
        if lab.name in live.steps():
            links.append(('Experiment', f'{lab.name}/live.html'))
    return links


def navigation(links, page, label):
    items = ''.join(
        f'<li><a href="{relative(to, page)}"{" aria-current=page" if to == page else ""}>{html.escape(name)}</a></li>'
        for name, to in links)
    return f'<nav aria-label="{label}"><ul>{items}</ul></nav>'


COURSE = [('Labs', 'index.html'), ('Method', 'method.html'), ('Limits', 'limits.html'),
          ('Glossary', 'glossary.html'), ('Occupancy', 'occupancy.html'), ('Lectures', 'lectures.html')]


def page(name, title, body, lab=None, students=False, scripts=(), wide=False):
    """The HTML of the page `name`, a path from the site's root such as 'reduction/index.html'."""
    root = '../' * name.count('/')
    of_lab = ''
    if lab:
        of_lab = (f'<div class="oflab"><span class="labname">{html.escape(lab.title)}</span>'
                  + navigation(lab_links(lab, students), name, f'Lab {lab.name}') + '</div>')
    more = ''.join(f'<script src="{relative(s, name)}"></script>\n' for s in scripts)
    return f'''<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{html.escape(title)} · Stepwise</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{root}theme/site.css">
<script>try {{ document.documentElement.dataset.theme = localStorage.getItem('theme') || ''; }} catch (e) {{}}</script>
</head>
<body data-root="{root}">
<a class="skip" href="#main">Skip to the text</a>
<header>
<a class="home" href="{root}index.html">Stepwise</a>
{navigation(COURSE[:-1] if students else COURSE, name, 'Course')}
<form role="search" action="{root}search.html">
<input type="search" name="q" aria-label="Search the course" placeholder="Search /">
</form>
<button type="button" id="theme" aria-label="Light or dark">◐</button>
</header>
{of_lab}
<main id="main"{' class="wide"' if wide else ''}>
{body}
</main>
<div id="tip" role="status" aria-live="polite"></div>
<script src="{root}theme/site.js"></script>
{more}</body>
</html>
'''


def table(head, rows, numeric=(), label='Table'):
    """A table. Cells are HTML, and the columns in `numeric` are aligned to the right."""
    def cells(row, tag):
        return ''.join(f'<{tag}{" class=r" if i in numeric else ""}{" scope=col" if tag == "th" else ""}>{c}</{tag}>'
                       for i, c in enumerate(row))
    return (f'<div class="scroll" tabindex="0" role="group" aria-label="{html.escape(label)}"><table><thead><tr>'
            f'{cells(head, "th")}</tr></thead><tbody>'
            + ''.join(f'<tr>{cells(row, "td")}</tr>' for row in rows) + '</tbody></table></div>')


def gaps(found):
    """A notice that lists the unreadable records; empty if there are none."""
    if not found:
        return ''
    items = ''.join(f'<li><code>{html.escape(file)}</code>: {html.escape(reason)}</li>' for file, reason in found)
    return ('<div class="gap" role="note"><strong>A record cannot be read, and its figures are missing here.</strong>'
            f'<ul>{items}</ul></div>')
