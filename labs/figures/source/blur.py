"""Figures of blur: the halo of a block, and strips that walk down the picture."""
import re

from style import Figure
import facts


def halo():
    w, h, r = 32, 4, 3
    f = Figure('halo', 'A block of pixels and its halo', f'''
        A block of {w} by {h} pixels needs {r} more pixels on every side for a filter of {2 * r + 1}
        by {2 * r + 1}: it reads {w + 2 * r} by {h + 2 * r}, {(w + 2 * r) * (h + 2 * r)} pixels for
        {w * h} results. The frame between the two is the halo. A block of 32 by 16 reads 38 by 22:
        fewer pixels per result.''', 'blocks of solutions/blur/03_shared.cu and 06', 282)
    s, x0, y0 = 8.4, 20, 44
    f.text(12, 24, f'{w} x {h} pixels, and {r} more on every side', 12.5, strong=True)
    f.box(x0, y0, (w + 2 * r) * s, (h + 2 * r) * s, 'orange', 2)
    f.box(x0 + r * s, y0 + r * s, w * s, h * s, 'blue', 0)
    px, py = x0 + (r + 24) * s, y0 + (r + 1) * s
    f.box(px - r * s, py - r * s, 7 * s, 7 * s, 'ink-line', 0, 'dashed')
    f.box(px, py, s, s, 'violet', 0)
    f.text(x0 + 96, y0 + 46, 'the block', 12.5, 'middle', strong=True)
    f.text(x0 + 96, y0 + 17, 'halo', 12.5, 'middle', strong=True)
    f.text(x0 + 96, y0 + (h + 2 * r) * s - 8, 'halo', 12.5, 'middle', strong=True)
    f.text(12, 150, 'A pixel (violet) needs the 7 x 7 around it (dashed).', 12)
    f.text(12, 178, 'block', 11.5, colour='muted')
    f.text(150, 178, 'reads', 11.5, 'end', colour='muted')
    f.text(230, 178, 'pixels', 11.5, 'end', colour='muted')
    f.text(348, 178, 'for each result', 11.5, 'end', colour='muted')
    for k, (bw, bh) in enumerate(((8, 8), (32, 4), (32, 16), (64, 32))):
        y = 196 + 17 * k
        reads = (bw + 2 * r) * (bh + 2 * r)
        f.text(12, y, f'{bw} x {bh}', 12)
        f.text(150, y, f'{bw + 2 * r} x {bh + 2 * r}', 12, 'end')
        f.text(230, y, f'{reads}', 12, 'end')
        f.text(348, y, f'{reads / (bw * bh):.2f}', 12, 'end')
    f.text(12, 268, 'Larger blocks have relatively less halo.', 12)
    return f


def strips():
    text = (facts.ROOT / 'solutions/blur/12_strips.cu').read_text()
    lanes, columns, rows = (int(v) for v in re.search(
        r'strip = (\d+) \* (\d+), rows = (\d+)', text).groups())
    f = Figure('strips', 'A warp walks down the picture', f'''
        A warp has a strip of {lanes * columns} columns, {columns} for each lane, with one lane more
        on either side as halo. The warp goes from row to row. When row y has been loaded and
        converted to grey, the sums of seven rows are complete for row y - 3, which is blurred, and
        the edges of row y - 4 are known and stored. The data that it needs from the rows above is
        in its registers; the data that it needs from adjacent columns is in neighbouring lanes.
        Every row is loaded once in a strip of {rows} rows, with 4 more above and below.''',
               'constants of solutions/blur/12_strips.cu', 318)
    f.text(12, 24, f'32 lanes, {columns} columns each; {rows} rows of edges', 12.5, strong=True)
    x0, w = 12, 190
    names = {4: ('y - 4: edges', 'green'), 5: ('y - 3: blurred', 'orange'),
             8: ('y: loaded, grey', 'blue')}
    for k in range(10):
        y = 50 + 21 * k
        colour = names[k][1] if k in names else 'idle'
        if k < 4:
            f.box(x0 + 12, y, w - 24, 19, 'green', 0)
        else:
            for part, (left, wide) in enumerate(((x0, 11), (x0 + 12, w - 24), (x0 + w - 11, 11))):
                f.box(left, y, wide, 19, colour, 0, 'dashed' if k == 9 or part != 1 else '')
        if k in names:
            f.text(214, y + 14, names[k][0], 12, strong=True)
    f.text(x0 + w / 2, 50 + 13, 'done', 11.5, 'middle')
    f.text(214, 50 + 21 * 6 + 14, 'sums of seven rows:', 12)
    f.text(214, 50 + 21 * 7 + 14, 'in registers', 12)
    f.path([(207, 50 + 21 * 2 + 2), (210, 50 + 21 * 2 + 2), (210, 50 + 21 * 9 - 4),
            (207, 50 + 21 * 9 - 4)], 'muted')
    f.text(214, 50 + 21 * 9 + 14, 'comes next', 12, colour='muted')
    f.arrow(x0 + w / 2, 50 + 21 * 8 + 22, x0 + w / 2, 50 + 21 * 10 + 8)
    f.text(x0, 42, 'lane 0', 11, colour='muted')
    f.text(x0 + w, 42, 'lane 31', 11, 'end', colour='muted')
    f.text(12, 290, 'Outer lanes (dashed) are the halo and store nothing.', 12)
    f.text(12, 307, 'Neighbouring columns come from neighbouring lanes.', 12)
    return f


FIGURES = [halo, strips]
