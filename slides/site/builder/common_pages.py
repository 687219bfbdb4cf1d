"""The pages that do not belong to a lab: glossary, texts, files, occupancy, search."""
import html
import json
import re

from . import shell
from .sources import listing
from .text import Renderer

CODE = ('.cu', '.cuh', '.hpp', '.h', '.cpp')


def text_page(site, file, name):
    """The page of any Markdown file."""
    renderer = Renderer(site.links, file, name)
    body = renderer.render((site.root / file).read_text())
    title = renderer.headings[0][1] if renderer.headings else file
    site.found(name, title, renderer.sections)
    site.write(name, shell.page(name, title, body, students=site.students))


def a_to_z(headings):
    """An index of the terms of the glossary: the headings of level 3, by their first letters."""
    letters = {}
    for level, title, anchor in headings:
        if level == 3:
            word = title.replace('`', '')
            letters.setdefault(word.lstrip('_.')[0].upper(), []).append((word.lstrip('_.').lower(), word, anchor))
    items = ''
    for letter, terms in sorted(letters.items()):
        links = ' '.join(f'<a href="#{anchor}">{html.escape(word)}</a>' for _, word, anchor in sorted(terms))
        items += f'<li><b>{letter}</b> {links}</li>'
    return f'<nav class="a-to-z" aria-label="Terms from A to Z"><ul>{items}</ul></nav>'


def glossary(site):
    """The terms of labs/glossary.md. The text before the first of them is for its authors, so the page omits it."""
    file, name = 'labs/glossary.md', 'glossary.html'
    renderer = Renderer(site.links, file, name)
    terms = re.search('<h2.*', renderer.render((site.root / file).read_text()), re.S)[0]
    body = ('<h1>Glossary</h1><p>The terms of the course. <code>./lab explain TERM</code> shows one in the terminal.</p>'
            '<p class="choose"><label>Filter <input type="search" id="filter" autocomplete="off" '
            'placeholder="bank, barrier, …"></label><span id="filtered" role="status"></span></p>'
            f'{a_to_z(renderer.headings)}{terms}')
    site.found(name, 'Glossary', renderer.sections)
    site.write(name, shell.page(name, 'Glossary', body, students=site.students, scripts=['theme/glossary.js']))


def file_page(site, file):
    """The page of a file that a link leads to."""
    name = site.links.pages[file]
    if file.endswith('.md'):
        text_page(site, file, name)
        return
    text = (site.root / file).read_text()
    body = f'<h1 class="file"><code>{html.escape(file)}</code></h1>'
    if file.endswith(CODE):
        body += listing(text)
    else:
        body += f'<pre class="source" tabindex="0"><code>{html.escape(text)}</code></pre>'
    site.write(name, shell.page(name, file, body, students=site.students, wide=True))


def occupancy(site):
    options = ''.join(f'<option value="{g["id"]}"{" selected" if g["id"] == "h200" else ""}>'
                      f'{html.escape(g["name"])} ({g["major"]}.{g["minor"]})</option>' for g in site.gpus)
    body = f'''<h1>Occupancy</h1>
<p>How many blocks of a kernel one multiprocessor holds at once, and what limits them.
<code>./lab occupancy --threads 256 --registers 32</code> computes the same in the terminal, and for the kernels of
a lab; <code>nvcc -Xptxas -v</code> prints the registers of your own kernels.</p>
<form id="occupancy" class="inputs">
<label>GPU <select id="gpu">{options}</select></label>
<label>Threads per block <input id="threads" type="number" min="1" max="1024" value="256"></label>
<label>Registers per thread <input id="registers" type="number" min="0" max="255" value="40"></label>
<label>Shared memory per block, bytes <input id="shared" type="number" min="0" step="1" value="8192"></label>
</form>
<p id="answer" class="answerline" role="status" aria-live="polite"></p>
<div class="scroll" tabindex="0" role="group" aria-label="Limits"><table id="limits"><thead><tr><th scope="col">Resource</th>
<th scope="col" class="r">Blocks that fit</th><th scope="col">Why</th></tr></thead><tbody></tbody></table></div>
<div id="curves"></div>
<p class="source">Rules: CUDA's cuda_occupancy.h 13.0; for compute capability 1.x and 2.x the CUDA Occupancy Calculator.
GPUs: common/gpus, as the manufacturers describe them.</p>
<noscript><p class="gap">The calculator needs JavaScript; ./lab occupancy does not.</p></noscript>
'''
    site.write('theme/gpus.js', 'const GPUS = ' + json.dumps(list(site.gpus)) + ';\n')
    site.found('occupancy.html', 'Occupancy calculator', [(
        'Occupancy calculator', '', 'blocks warps registers shared memory multiprocessor threads limits')])
    site.write('occupancy.html', shell.page('occupancy.html', 'Occupancy', body, students=site.students,
                                            scripts=['theme/gpus.js', 'theme/occupancy.js']))


def search(site):
    """The search page and search.js, which holds all sections. theme/site.js searches them."""
    entries = [{'u': page + (f'#{anchor}' if anchor else ''), 'p': title, 't': section, 'x': words}
               for page, title, section, anchor, words in site.sections]
    site.write('search.js', 'const SEARCH = ' + json.dumps(entries, ensure_ascii=False, separators=(',', ':')) + ';\n')
    body = '<h1>Search</h1><p id="count" role="status" aria-live="polite"></p><ol id="results" class="results"></ol>'
    site.write('search.html', shell.page('search.html', 'Search', body, students=site.students, scripts=['search.js']))

