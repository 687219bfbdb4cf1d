"""The common parts of all figures: colours for light and dark pages, fonts, and checks of a picture.

A picture is 360 units wide, the width of the narrowest page on which it must be readable, and is shown
540 pixels wide if there is room. It has its own background, since a page may be dark although the system
is light. Colour alone never carries information; words, marks or positions repeat it.
"""
import html

WIDTH = 360
SHOWN = 540  # pixels, if the page is wide enough
SMALLEST = 10.5  # font size in units, which are pixels on a page 360 wide

# name: fill and line on light, fill and line on dark
COLOURS = {
    'blue': ('#d3e5ff', '#0550ae', '#16386b', '#79c0ff'),
    'orange': ('#ffe3c2', '#8a3d00', '#5c3310', '#ffb77c'),
    'green': ('#cdf2d5', '#116329', '#15472b', '#7ee2a8'),
    'violet': ('#eadcfc', '#6639ba', '#402b69', '#d2a8ff'),
    'red': ('#ffdad6', '#a40e26', '#67232b', '#ffa198'),
    'idle': ('#eef1f4', '#7a838d', '#22272e', '#7d8590'),
    'page': ('#ffffff', '#d1d9e0', '#0d1117', '#3d444d'),
}
INK, MUTED = ('#1f2328', '#e6edf3'), ('#57606a', '#a5afb9')


def rules():
    light, dark = [], []
    for name, (fill, line, dark_fill, dark_line) in COLOURS.items():
        light.append(f'.{name}{{fill:{fill};stroke:{line}}}.{name}-line{{stroke:{line};fill:none}}'
                     f'.{name}-dot{{fill:{line}}}')
        dark.append(f'.{name}{{fill:{dark_fill};stroke:{dark_line}}}'
                    f'.{name}-line{{stroke:{dark_line};fill:none}}.{name}-dot{{fill:{dark_line}}}')
    for name, (on_light, on_dark) in (('ink', INK), ('muted', MUTED)):
        light.append(f'text.{name}{{fill:{on_light}}}.{name}-line{{stroke:{on_light};fill:none}}'
                     f'.{name}-dot{{fill:{on_light}}}')
        dark.append(f'text.{name}{{fill:{on_dark}}}.{name}-line{{stroke:{on_dark};fill:none}}'
                    f'.{name}-dot{{fill:{on_dark}}}')
    return ('text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,Helvetica,Arial,sans-serif}'
            '.code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",'
            'monospace;white-space:pre}.strong{font-weight:600}rect,path,circle{stroke-width:1}'
            '.thick{stroke-width:2}.dashed{stroke-dasharray:4 3}'
            + ''.join(light) + '@media (prefers-color-scheme:dark){' + ''.join(dark) + '}')


def number(value):
    return f'{value:.2f}'.rstrip('0').rstrip('.')


class Figure:
    """A picture of boxes, lines and words. Coordinates are in units from the top left; y grows downwards."""

    def __init__(self, name, title, description, source, height):
        self.name, self.title, self.height = name, title, height
        self.description, self.source = ' '.join(description.split()), source
        self.parts, self.wrong = [], []

    def _inside(self, x, y, what):
        if not (-0.01 <= x <= WIDTH + 0.01 and -0.01 <= y <= self.height + 0.01):
            self.wrong.append(f'{self.name}: {what} leaves the picture at {x:.0f}, {y:.0f}')

    @staticmethod
    def width_of(words, size, code=False, strong=False, **_):
        """The estimated width of a text in a font with wide letters (DejaVu Sans)."""
        return size * (0.605 if code else 0.61 if strong else 0.55) * len(words)

    def box(self, x, y, w, h, colour='idle', round=2, more=''):
        self._inside(x, y, 'a box')
        self._inside(x + w, y + h, 'a box')
        self.parts.append(f'<rect class="{colour}{" " + more if more else ""}" x="{number(x)}" '
                          f'y="{number(y)}" width="{number(w)}" height="{number(h)}" rx="{round}"/>')

    def text(self, x, y, words, size=12, anchor='start', colour='ink', code=False, strong=False):
        """Writes a text on the line y. The estimated width must not leave the picture."""
        if size < SMALLEST:
            self.wrong.append(f'{self.name}: {words!r} is too small to be read')
        wide = self.width_of(words, size, code=code, strong=strong)
        left = x - {'start': 0, 'middle': wide / 2, 'end': wide}[anchor]
        self._inside(left, y - size * 0.75, repr(words))
        self._inside(left + wide, y + 1, repr(words))
        kind = colour + (' code' if code else '') + (' strong' if strong else '')
        self.parts.append(f'<text class="{kind}" x="{number(x)}" y="{number(y)}" '
                          f'font-size="{number(size)}" text-anchor="{anchor}">'
                          f'{html.escape(words, quote=False)}</text>')

    def lines(self, x, y, rows, size=12, step=None, **how):
        for k, row in enumerate(rows):
            self.text(x, y + k * (step or size * 1.35), row, size, **how)

    def label(self, x, y, w, h, words, colour='idle', size=12, more='', **how):
        """Draws a box with words in its middle."""
        self.box(x, y, w, h, colour, more=more)
        rows = words.split('\n')
        top = y + h / 2 + size * 0.36 - (len(rows) - 1) * size * 0.62
        for k, row in enumerate(rows):
            self.text(x + w / 2, top + k * size * 1.24, row, size, 'middle', **how)
            if self.width_of(row, size, **how) > w:
                self.wrong.append(f'{self.name}: {row!r} is wider than its box')

    def path(self, points, colour='ink', more='', closed=False):
        for x, y in points:
            self._inside(x, y, 'a line')
        way = 'M' + 'L'.join(f'{number(x)} {number(y)}' for x, y in points) + ('Z' * closed)
        self.parts.append(f'<path class="{colour}-line{" " + more if more else ""}" d="{way}"/>')

    def arrow(self, x0, y0, x1, y1, colour='ink', more=''):
        long = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
        ux, uy = (x1 - x0) / long, (y1 - y0) / long
        bx, by = x1 - 6 * ux, y1 - 6 * uy
        self.path([(x0, y0), (bx, by)], colour, more)
        head = [(x1, y1), (bx - 3.2 * uy, by + 3.2 * ux), (bx + 3.2 * uy, by - 3.2 * ux)]
        way = 'M' + 'L'.join(f'{number(x)} {number(y)}' for x, y in head) + 'Z'
        self.parts.append(f'<path class="{colour}-dot" d="{way}"/>')

    def dot(self, x, y, colour='ink', r=2.5):
        self.parts.append(
            f'<circle class="{colour}-dot" cx="{number(x)}" cy="{number(y)}" r="{number(r)}"/>')

    def svg(self):
        tag = self.name.replace('_', '-')
        return '\n'.join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {number(self.height)}" '
            f'width="{SHOWN}" height="{number(self.height * SHOWN / WIDTH)}" role="img" '
            f'aria-labelledby="{tag}-title {tag}-desc">',
            f'<title id="{tag}-title">{html.escape(self.title, quote=False)}</title>',
            f'<desc id="{tag}-desc">{html.escape(self.description, quote=False)}</desc>',
            f'<!-- Generated by labs/figures/source/draw. Do not edit. -->',
            f'<style>{rules()}</style>',
            f'<rect class="page" x="0.5" y="0.5" width="{WIDTH - 1}" '
            f'height="{number(self.height - 1)}" rx="6"/>',
            *self.parts, '</svg>', ''])
