"""A deck: Markdown in which "# " begins a slide. DESIGN.md describes the format."""
import html
import re

from . import code, figures, tables, terminal
from .errors import DeckError
from .records import show

UNITS = (r'(?:milli|micro|nano)seconds?|ns|us|µs|ms|s|seconds?|[KMGT]?i?B/s|[KMGT]?FLOP/s|[KMG]?[Ff]lops|[KMG]?Hz|%|k?W|m?J|'
         r'x(?!\s*[\d(])|×(?!\s*[\d(])|times (?:as|faster|slower|the)|[KMGT]i?B|cycles')
COUNTED = r'(?:wavefronts|sectors|lanes|warps|instructions|million|billion)'
TYPED = re.compile(rf'(?<![\w.^])(?:\d[\d.,]*\s?(?:{UNITS})|\d+\.\d+ {COUNTED})(?![\w/])')
MEASURED = re.compile(r'time|x|[numKMGT]?(?:s|B/s|FLOP/s|add/s|J|W)')  # the forms of measured values


class Slide:
    def __init__(self, title, line):
        self.title, self.line = title, line
        self.kind, self.topics = '', []
        self.body, self.notes = [], []
        self.minutes = None
        self.sources = []
        self.early = []  # text after a question or its answer that is shown too early
        self.html = self.notes_html = ''

    def note(self, source):
        if source not in self.sources:
            self.sources.append(source)


class Deck:
    """A deck, read from `file` and rendered. A DeckError names the line."""

    def __init__(self, root, file, records, capture=True):
        self.root, self.file, self.records, self.capture = root, file, records, capture
        self.name = file.stem
        self.head = {}
        self.slides = []
        self.commands = []
        self._split(file.read_text().splitlines())
        wrong = []
        for slide in self.slides:
            try:
                self._check_numbers(slide)
                slide.html = self._blocks(slide.body, slide)
                slide.notes_html = self._markdown('\n'.join(slide.notes), slide)
            except DeckError as error:
                wrong.append(f'{file.name}:{slide.line}: "{slide.title}": {error}')
        if wrong:
            raise DeckError('\n'.join(wrong))

    @property
    def title(self):
        return self.head.get('title', self.name)

    @property
    def minutes(self):
        return sum(s.minutes or 0 for s in self.slides)

    def _split(self, lines):
        at = 0
        if lines and lines[0] == '---':
            at = lines.index('---', 1) + 1
            self.head = dict(re.split(r':\s*', line, maxsplit=1) for line in lines[1:at - 1])
        slide, into, fence = None, None, False
        for number, line in enumerate(lines[at:], at + 1):
            if line.startswith('```'):
                fence = not fence
            if line.startswith('# ') and not fence:
                slide = Slide(line[2:].strip(), number)
                kind = re.search(r'\s*\{(\w+)\}$', slide.title)
                if kind:
                    slide.kind, slide.title = kind[1], slide.title[:kind.start()]
                self.slides.append(slide)
                into = slide.body
            elif slide is None:
                if line.strip():
                    raise DeckError(f'{self.file.name}:{number}: text before the first slide')
            elif not fence and re.fullmatch(r'\?\?\? [\d.]+', line):
                slide.minutes, into = float(line[4:]), slide.notes
            elif not fence and line.startswith('topics: '):
                slide.topics += line[8:].split()
            else:
                into.append(line)
        if fence:
            raise DeckError(f'{self.file.name}: a ``` block has no end')

    def _check_numbers(self, slide):
        """Rejects figures with units that are typed. They must be computed, or be history with a source."""
        fence = False
        for line in [slide.title] + slide.body + slide.notes:
            if line.startswith('```'):
                fence = not fence
            if fence:
                continue
            bare = re.sub(r'`[^`]*`|<!--.*?-->', ' ', re.sub(r'\{\{.*?\}\}', '( )', line))
            found = TYPED.search(bare)
            if found:
                raise DeckError(f'"{found[0].strip()}" is typed by hand: write an expression of the '
                                "records, or {{ history('...', 'source') }}")

    def _blocks(self, lines, slide):
        """The HTML of fences, ::: containers and the Markdown between them. ". . ." separates fragments."""
        out, text = [], []
        steps = []
        asked = answered = False

        def flush():
            if any(s.strip() for s in text):
                out.append(self._markdown('\n'.join(text), slide))
            text.clear()
        i = 0
        while i < len(lines):
            line = lines[i]
            if line.strip() == '. . .':
                asked = answered = False
            elif (answered and line.strip() and line.strip() != '::: answer'
                  or asked and re.match('```(lab|table|chart|lines) ?(?!.*quiet)', line)):
                slide.early.append(line.strip())
            asked, answered = asked or line.strip() == '::: ask', answered or line.strip() == '::: answer'
            if line.startswith('```'):
                end = next((k for k in range(i + 1, len(lines)) if lines[k].startswith('```')), None)
                flush()
                out.append(self._fence(line[3:].strip(), lines[i + 1:end], slide))
                i = end + 1
            elif line.startswith('::: '):
                depth, end = 1, i + 1
                while end < len(lines) and depth:
                    depth += 1 if lines[end].startswith('::: ') else -1 if lines[end] == ':::' else 0
                    end += 1
                if depth:
                    raise DeckError(f'"{line}" has no end')
                flush()
                out.append(self._container(line[4:].strip(), lines[i + 1:end - 1], slide))
                i = end
            elif line.strip() == '. . .':
                flush()
                steps.append(out)
                out = []
                i += 1
            else:
                text.append(line)
                i += 1
        flush()
        steps.append(out)
        return ''.join(steps[0]) + ''.join(
            f'<div class="fragment">{"".join(step)}</div>' for step in steps[1:])

    def _container(self, name, lines, slide):
        if name == 'answer':
            return f'<div class="fragment answer">{self._blocks(lines, slide)}</div>'
        if name in ('ask', 'exercise', 'columns', 'column', 'wide', 'narrow', 'history', 'big'):
            return f'<div class="{name}">{self._blocks(lines, slide)}</div>'
        raise DeckError(f'::: {name} is not a container')

    def _fence(self, info, body, slide):
        word, _, rest = info.partition(' ')
        self.records.sources = []
        if word == 'code':
            return code.render(self.root, rest, slide.note)
        if word == 'lab':
            self.commands.append(rest.partition(' | ')[0].strip())
            if not self.capture:
                return '<pre class="terminal"></pre>'
            return terminal.render(self.root, rest, slide.note)
        if word in ('table', 'chart', 'lines'):
            return getattr(tables, word)(self.records, '\n'.join(body), slide.note)
        if word == 'sketch':  # a sketch in characters, without code, output or figures
            return f'<pre class="sketch">{html.escape(chr(10).join(body))}</pre>'
        raise DeckError(f'``` {info}: code is taken from files (```code), output from commands (```lab)')

    def _value(self, found):
        expression, _, form = (found[1].rpartition(' | ') if ' | ' in found[1] else (found[1], '', ''))
        before = self.records.notes
        value = self.records.evaluate(expression.strip())
        if self.records.notes == before and MEASURED.fullmatch(form.strip()):
            raise DeckError(f'{{{{ {found[1].strip()} }}}}: a time, rate, factor or energy that no record has')
        shown = html.escape(show(value, form.strip()), quote=False)
        return re.sub(r'(?<=\d) (?=\S+$)', '\u00a0', shown)  # a number and its unit stay in one line

    def _markdown(self, text, slide):
        from markdown_it import MarkdownIt
        self.records.sources = []
        text = re.sub(r'\{\{(.*?)\}\}', self._value, text)
        for source in self.records.sources:
            slide.note(source)
        images = []

        def figure(found):
            images.append(figures.render(self.root, found[2], found[4], found[1],
                                         float(found[5] or figures.MOST_HEIGHT)))
            return f'\n\nFIGURE{len(images) - 1}END\n\n'
        text = re.sub(r'!\[([^\]]*)\]\((\S+?\.svg)( "([^"]*)")?\)(?:\{(\d+)\})?', figure, text)
        out = MarkdownIt('commonmark', {'html': True}).enable('table').render(text)
        return re.sub(r'<p>FIGURE(\d+)END</p>', lambda m: images[int(m[1])], out)
