"""The sources of the steps with syntax colours, and the differences between any two steps."""
import difflib
import html
import json

from slides.builder.code import highlight


def colour(text):
    """The lines of a source as HTML. The tags in each line are balanced."""
    return highlight(text.expandtabs(4), set()).split('\n')


def listing(text, prefix='L'):
    """A source with line numbers, and an anchor per line. The <pre> scrolls; the page does not."""
    lines = ''.join(f'<span class="line" id="{prefix}{n}" data-n="{n}">{line or " "}</span>'
                    for n, line in enumerate(colour(text), 1))
    return f'<pre class="source" tabindex="0"><code>{lines}</code></pre>'


class Versions:
    """The steps of a lab as lines: the step's own file, then the parts that it includes."""

    def __init__(self, root, lab):
        self.names = [step.name for step in lab.steps]
        self.plain, self.shown = {}, {}
        cache = {}
        for step in lab.steps:
            plain, shown = [], []
            for file in [step.file] + step.parts:
                if file not in cache:
                    text = (root / file).read_text().expandtabs(4).rstrip('\n')
                    cache[file] = text.split('\n'), colour(text)
                if file != step.file:
                    title = '// ---- ' + file
                    plain.append(title)
                    shown.append(f'<b>{html.escape(title)}</b>')
                plain += cache[file][0]
                shown += cache[file][1]
            assert len(plain) == len(shown), step.name
            self.plain[step.name], self.shown[step.name] = plain, shown
        self.over = {step.name: step.over for step in lab.steps}

    def opcodes(self, first, second):
        """[[equal, from, to, from, to]]: the changes from `first` to `second`, with lines from 0."""
        a, b = self.plain[first], self.plain[second]
        matcher = difflib.SequenceMatcher(None, a, b, autojunk=False)
        return [[int(tag == 'equal'), *at] for tag, *at in matcher.get_opcodes()]

    def script(self):
        """Writes versions.js: every line once, and the differences between any two steps, the earlier step first."""
        index, table, numbers = {}, [], {}
        for name, lines in self.shown.items():
            numbers[name] = []
            for line in lines:
                if line not in index:
                    index[line] = len(table)
                    table.append(line)
                numbers[name].append(index[line])
        pairs = {f'{a}|{b}': self.opcodes(a, b)
                 for i, a in enumerate(self.names) for b in self.names[i + 1:]}
        data = {'names': self.names, 'over': self.over, 'table': table, 'lines': numbers, 'pairs': pairs}
        return 'const VERSIONS = ' + json.dumps(data, separators=(',', ':')) + ';\n'
