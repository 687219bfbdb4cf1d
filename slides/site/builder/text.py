"""Markdown of the repository as HTML of the site: links, anchors, code, answers, terms.

Links are relative to the file that contains them. `Links` maps a file of the repository to its page. A
file without a page of its own gets one in files/, so that no link is dead.
"""
import html
import itertools
import posixpath
import re

from markdown_it import MarkdownIt
from slides.builder.code import highlight
from slides.builder.course import read_course

QUESTION = re.compile(r'^\*\*([A-Z]\d+)\*\*')
COMMENT = re.compile(r'<!--.*?-->', re.S)
GENERATED = re.compile(r'^<!-- [\w ./=-]+:begin -->$.*?^<!-- [\w ./=-]+:end -->$', re.M | re.S)
CODE = {'cuda', 'cpp', 'c++', 'c', 'cu'}
# Files that a student copy lacks: solutions, slides, tests (grader/release/student.txt).
NOT_FOR_STUDENTS = re.compile(r'^(solutions|slides|pages|\.ci)(/|$)|/tests?(/|$)|^labs/README\.md$|'
                              r'^labs/(lectures|outcomes)\.md$|^labs/figures/(bandwidth-.*|source|README\.md)|ACCURACY\.md$')


def plain(markdown):
    """The words without markup, for an index or a card."""
    text = re.sub(r'```.*?```', ' ', COMMENT.sub('', markdown), flags=re.S)
    text = re.sub(r'!?\[([^\]]*)\]\([^)]*\)', r'\1', text)
    return re.sub(r'\s+', ' ', re.sub(r'[*`#|]+', ' ', text)).strip()


def slug(title):
    """The anchor of a heading, as on GitHub."""
    return re.sub(r'[^\w\- ]', '', re.sub(r'[`*]', '', title).lower()).replace(' ', '-')


class Links:
    """Maps files to the pages that show them. `wanted` lists the files that need a page in files/."""

    def __init__(self, root, labs, students):
        self.root, self.students = root, students
        self.wanted, self.copied = [], {}
        self.terms = {}  # anchor of the glossary: the first paragraph, as plain words
        self.pages = {f'labs/{name}.md': f'{name}.html' for name in ('glossary', 'method', 'limits')}
        for lab in labs:
            self.pages[f'labs/{lab.name}/README.md'] = f'{lab.name}/index.html'
            if lab.deeper:
                self.pages[f'labs/{lab.name}/deeper.md'] = f'{lab.name}/deeper.html'
            for step in [] if students else lab.steps:
                self.pages[step.file] = f'{lab.name}/{step.name}.html'

    def page_of(self, file):
        """The page of a repository file, as a path from the site's root; None if there is none."""
        if self.students and NOT_FOR_STUDENTS.search(file):
            return None
        if file in self.pages:
            return self.pages[file]
        path = self.root / file
        if not path.is_file() or path.is_symlink():
            return None
        if path.suffix in ('.png', '.svg', '.jpg'):
            self.copied[file] = f'files/{file}'
            return self.copied[file]
        try:
            path.read_text()
        except UnicodeDecodeError:
            return None
        self.pages[file] = f'files/{file}.html'
        self.wanted.append(file)
        return self.pages[file]

    def resolve(self, target, file, page):
        """(link from `page`, file of the repository, anchor), or None for plain text."""
        path, _, anchor = target.partition('#')
        there = posixpath.normpath(posixpath.join(posixpath.dirname(file), path)) if path else file
        shown = self.page_of(there)
        if shown is None:
            return None
        link = posixpath.relpath(shown, posixpath.dirname(page) or '.')
        return (f'{link}#{anchor}' if anchor else link) if path else f'#{anchor}', there, anchor


class Renderer:
    """Renders a file's Markdown for a page."""

    def __init__(self, links, file, page, answers=None, beside=lambda question: ''):
        """`beside`: returns the HTML that follows a question, from its Markdown."""
        self.links, self.file, self.page = links, file, page
        self.answers, self.beside = answers or {}, beside
        self.answered = []
        self.headings = []  # (level, title, anchor)
        self.sections = []  # (title, anchor, plain words) for the search
        self.markdown = MarkdownIt('commonmark', {'html': True}).enable('table')

    def render(self, text, key_file=None):
        if self.links.students:
            text = GENERATED.sub('', text)
        text = re.sub(r'^```checked\n.*?^```\n', '', COMMENT.sub('', text), flags=re.M | re.S)
        self._collect(text)
        tokens = self.markdown.parse(text)
        self._anchors(tokens)
        self._links(tokens, self.file)
        tokens = self._questions(tokens, key_file)
        return self._boxes(self.markdown.renderer.render(tokens, self.markdown.options, {}))

    def small(self, text, file):
        """The HTML of Markdown without headings, such as an answer or a goal."""
        tokens = self.markdown.parse(text)
        self._links(tokens, file)
        return self._boxes(self.markdown.renderer.render(tokens, self.markdown.options, {}))

    def _collect(self, text):
        title, anchor, words, fenced = '', '', [], False
        for line in text.splitlines() + ['# ']:
            fenced ^= line.startswith('```')
            found = None if fenced else re.match(r'^#{1,4} (.*)', line)
            if found:
                if title:
                    self.sections.append((plain(title), anchor, plain('\n'.join(words))))
                title, words = found[1], []
                anchor = slug(plain_title(title))
            elif not fenced:
                words.append(line)

    def _anchors(self, tokens):
        seen = {}
        for at, token in enumerate(tokens):
            if token.type != 'heading_open':
                continue
            title = plain_title(tokens[at + 1].content)
            anchor = slug(title)
            seen[anchor] = seen.get(anchor, -1) + 1
            if seen[anchor]:
                anchor = f'{anchor}-{seen[anchor]}'
            token.attrSet('id', anchor)
            self.headings.append((int(token.tag[1]), title, anchor))

    def _links(self, tokens, file):
        for token in tokens:
            if not token.children:
                continue
            dead = []  # for each open link, whether it is plain text
            for child in token.children:
                if child.type == 'image':
                    found = self.links.resolve(child.attrs['src'], file, self.page)
                    if found:
                        child.attrSet('src', found[0])
                        child.attrSet('loading', 'lazy')
                    else:
                        child.type, child.content, child.children = 'text', child.content, None
                elif child.type == 'link_open':
                    dead.append(not self._link(child, file))
                    if dead[-1]:
                        child.type, child.tag, child.attrs = 'html_inline', '', {}
                        child.content = '<span class="nopage">'
                elif child.type == 'link_close' and dead.pop():
                    child.type, child.tag, child.content = 'html_inline', '', '</span>'

    def _link(self, token, file):
        target = token.attrs['href']
        if re.match(r'[a-z]+:', target):
            token.attrSet('rel', 'noreferrer')
            return True
        found = self.links.resolve(target, file, self.page)
        if not found:
            return False
        link, there, anchor = found
        if link.startswith('#') and there == self.file and anchor not in {h[2] for h in self.headings}:
            return False  # a copied question may link to a section of its handout
        token.attrSet('href', link)
        if there == 'labs/glossary.md' and anchor in self.links.terms and file != there:
            token.attrSet('data-card', self.links.terms[anchor])
        return True

    def _questions(self, tokens, key_file):
        """Adds to a question's item the HTML that follows it, and its answer, folded."""
        result, open_items = [], []
        for at, token in enumerate(tokens):
            if token.type == 'list_item_open':
                first = next((t.content for t in tokens[at:at + 4] if t.type == 'inline'), '')
                found = QUESTION.match(first)
                open_items.append((found[1] if found else None, at))
                if found:
                    token.attrSet('id', found[1].lower())
            elif token.type == 'list_item_close':
                name, begin = open_items.pop()
                more = name and self.beside(' '.join(t.content for t in tokens[begin:at] if t.type == 'inline'))
                if more:
                    result.append(type(token)('html_block', '', 0, content=more))
                if name in self.answers:
                    self.answered.append(name)
                    fold = type(token)('html_block', '', 0)
                    fold.content = (f'<details class="answer"><summary>Answer to {name}</summary>\n'
                                    + self.small(self.answers[name], key_file) + '</details>\n')
                    result.append(fold)
            result.append(token)
        return result

    def _boxes(self, text):
        """Makes tables and code scroll separately from the page, and colours code."""
        text = text.replace('<table>', '<div class="scroll" tabindex="0"><table>').replace('</table>', '</table></div>')

        def code(found):
            language, body = found[1] or '', html.unescape(found[2])
            shown = highlight(body, set()) if language in CODE else html.escape(body.rstrip('\n'))
            return f'<pre tabindex="0" class="code"><code>{shown}</code></pre>'
        return re.sub(r'<pre><code(?: class="language-([\w+]+)")?>(.*?)</code></pre>', code, text, flags=re.S)


def plain_title(title):
    return re.sub(r'!?\[([^\]]*)\]\([^)]*\)', r'\1', title).strip()


def read_terms(root):
    """{anchor: first paragraph} of the glossary's entries."""
    first = {term['name']: '\n'.join(itertools.takewhile(bool, term['text'])) for term in read_course(root)['terms']}
    return {slug(plain_title(name)): f'{plain(name)}: {plain(text)}' for name, text in first.items()}
