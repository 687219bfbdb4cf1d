"""Figures of matrix multiplication: tiles, the rank-1 update, and the tile in registers."""
import re

from style import Figure
import facts


def constant(step, name):
    text = (facts.ROOT / 'solutions/matmul' / (step + '.cu')).read_text()
    return int(re.search(rf'constexpr int [^;]*?\b{name} = (\d+)', text)[1])


def matmul_tiles():
    f = Figure('matmul-tiles', 'Tiles along k, and the update of rank 1', '''
        Above, the tile of c that a block computes. To its left lies a strip of a, above it a strip
        of b; tiles of both are loaded one after another along k, while the tile of c stays in
        registers. Below is one step of k: a column of a's tile times a row of b's tile gives a whole
        matrix of rank 1, which is added to the tile of c. So r + s floats serve r times s
        multiply-adds.''',
               'the loops of solutions/matmul/03_tiled.cu and 06_rank1.cu', 410)
    f.text(12, 24, 'A block keeps its tile of c; a and b pass by', 12.5, strong=True)
    f.box(12, 122, 150, 66, 'page', 0)
    f.box(196, 36, 66, 76, 'page', 0)
    f.box(196, 122, 152, 66, 'page', 0)
    for k, more in enumerate(('', 'dashed', 'dashed')):
        f.box(12 + 26 * k, 138, 26, 34, 'blue' if k == 0 else 'idle', 0, more)
        f.box(212, 36 + 25 * k, 34, 25, 'green' if k == 0 else 'idle', 0, more)
    f.label(212, 138, 34, 34, 'c', 'orange', 13, strong=True)
    f.arrow(92, 155, 150, 155)
    f.arrow(254, 46, 254, 104)
    f.text(14, 118, 'a', 12.5, strong=True)
    f.text(182, 48, 'b', 12.5, strong=True)
    f.text(122, 148, 'k', 12, 'middle', code=True)
    f.text(266, 82, 'k', 12, code=True)
    f.text(12, 206, 'a tile of a and one of b: in shared memory', 11.5)
    f.path([(12, 220), (348, 220)], 'muted')
    f.text(12, 242, 'One k: column times row, an update of rank 1', 12.5, strong=True)
    r, s, c = 4, 6, 24
    x0, y0 = 108, 284
    for j in range(r):
        f.label(x0 - 42, y0 + c * j, c - 2, c - 2, f'a{j}', 'blue', 11.5)
    for i in range(s):
        f.label(x0 + c * i, y0 - 30, c - 2, c - 2, f'b{i}', 'green', 11.5)
    for j in range(r):
        for i in range(s):
            f.box(x0 + c * i, y0 + c * j, c - 2, c - 2, 'orange', 1)
    f.label(x0 + c * 2, y0 + c * 1, c - 2, c - 2, '+', 'orange', 13, strong=True)
    f.text(262, y0 + 24, '+= a1 * b2', 12, code=True)
    f.path([(x0 + c * 2 + 22, y0 + c * 1 + 11), (260, y0 + 20)], 'muted', 'dashed')
    f.text(262, y0 + 64, f'{r} + {s} floats', 12)
    f.text(262, y0 + 80, f'{r} x {s} products', 12)
    f.text(12, 400, 'r + s floats serve r x s multiply-adds.', 12, strong=True)
    return f


def register_tile():
    rows, cols = constant('07_register_tile', 'rows'), constant('07_register_tile', 'cols')
    n = 8
    f = Figure('register-tile', 'A tile of c in the registers of a thread', f'''
        A thread keeps {n} by {n} elements of c in registers, {n * n} sums. For each k it loads {n}
        floats of a and {n} of b from shared memory and makes {n * n} multiply-adds with them: a
        quarter of a float per multiply-add. A bar for each shape compares the floats loaded per
        multiply-add: 2 for one element, 1 for 2 by 2, 0.5 for 4 by 4, 0.25 for 8 by 8. A block of
        256 threads computes {rows} by {cols} elements.''', 'constants of solutions/matmul/07_register_tile.cu', 330)
    f.text(12, 24, f'One k: {n} + {n} loads, {n * n} multiply-adds', 12.5, strong=True)
    x0, y0, c = 40, 62, 17
    for i in range(n):
        f.box(x0 + c * i, y0 - 22, c - 2, c - 2, 'green', 1)
        f.box(x0 - 22, y0 + c * i, c - 2, c - 2, 'blue', 1)
        for j in range(n):
            f.box(x0 + c * i, y0 + c * j, c - 2, c - 2, 'orange', 1)
    f.text(x0 + c * n + 6, y0 - 9, f'{n} floats of b', 11.5)
    f.text(x0 - 22, y0 + c * n + 14, f'{n} floats of a', 11.5)
    f.text(196, y0 + 32, f'{n * n} sums,', 12)
    f.text(196, y0 + 48, 'in registers', 12)
    f.text(196, y0 + 84, f'block of 256 threads:', 12)
    f.text(196, y0 + 100, f'{rows} x {cols} elements of c', 12)
    f.text(12, 240, 'Floats loaded for a multiply-add', 12.5, strong=True)
    for k, t in enumerate((1, 2, 4, 8)):
        y, value = 252 + 18 * k, 2 * t / (t * t)
        f.text(12, y + 11, f'{t} x {t}', 11.5)
        f.box(52, y, 110 * value, 14, 'blue', 1)
        f.text(58 + 110 * value, y + 11, f'{value:g}', 11.5)
    return f


FIGURES = [matmul_tiles, register_tile]
