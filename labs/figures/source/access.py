"""Figures of memory accesses: sectors and lines, the tile of a transpose, banks, layouts."""
from style import Figure
import facts

WORD, LANES = 4, 32


def touched(addresses):
    """The numbers of sectors and lines that a request of 4-byte words touches, as the profiler counts them."""
    line, sector = facts.cache_units()
    return len({a // sector for a in addresses}), len({a // line for a in addresses})


def sectors():
    line, sector = facts.cache_units()
    patterns = [(f'stride {s}', [WORD * s * k for k in range(LANES)])
                for s in (1, 2, 8, 32)] + [('offset 1', [WORD * (k + 1) for k in range(LANES)])]
    counted = {name: touched(addresses) for name, addresses in patterns}
    f = Figure('sectors', 'Sectors and lines that a request of a warp touches', f'''
        Memory as a row of sectors of {sector} bytes, {line // sector} to a line of {line} bytes. There
        are five requests, in each of which the {LANES} lanes load words of {WORD} bytes. '''
               + ' '.join(f'{name}: {s} sectors in {n} line{"s" * (n > 1)}, so '
                          f'{100 * LANES * WORD / (s * sector):.1f} % of the bytes moved are used.'
                          for name, (s, n) in counted.items()),
               'line_bytes and sector_bytes of common/emulator/profile/requests.hpp', 366)
    per_sector = sector // WORD
    cell, x0 = 4.1, 12
    f.text(12, 24, f'A sector: {sector} bytes. A line: {line // sector} sectors.',
           12.5, strong=True)
    y = 40
    for name, addresses in patterns:
        s, n = counted[name]
        f.text(12, y + 10, name, 12.5, strong=True)
        f.text(348, y + 10, f'{s} sectors, {n} line{"s" * (n > 1)}: '
               f'{100 * LANES * WORD / (s * sector):.{0 if 100 * LANES * WORD % (s * sector) == 0 else 1}f} % used', 11.5, 'end')
        wanted = {a // WORD for a in addresses}
        for k in range(10):
            in_use = any(k * per_sector <= w < (k + 1) * per_sector for w in wanted)
            left = x0 + k * (cell * per_sector + 1) + k // (line // sector) * 4
            if left + cell * per_sector > 348:
                break
            f.box(left, y + 16, cell * per_sector, 22, 'blue' if in_use else 'idle', 0,
                  '' if in_use else 'dashed')
            for w in range(per_sector):
                if k * per_sector + w in wanted:
                    f.box(left + cell * w + 0.5, y + 20, cell - 1, 14, 'orange', 0)
        if max(wanted) >= 80:
            f.text(348, y + 50, f'and so on, to word {max(wanted)}', 11, 'end', 'muted')
        y += 58 if max(wanted) >= 80 else 50
    f.box(12, y + 10, 5, 14, 'orange', 0)
    f.text(24, y + 21, 'a word that a lane wants', 11.5)
    f.box(12, y + 30, 20, 14, 'blue', 0)
    f.text(38, y + 41, 'a sector that moves', 11.5)
    f.box(190, y + 30, 20, 14, 'idle', 0, 'dashed')
    f.text(216, y + 41, 'one that does not', 11.5)
    return f


def transpose_tile():
    f = Figure('transpose-tile', 'A tile moves to the mirrored place and is turned inside', '''
        On the left is the matrix in, with the tile T in its first row and second column of tiles. The
        rows of T are read in lines into shared memory, in the middle. On the right is the matrix out,
        with the tile T transposed in its second row and first column of tiles: shared memory is read
        down its columns, and rows of out are written in lines. The tile moves to another place, and
        the elements are transposed inside the tile; both steps are needed.''', 'solutions/transpose/04_tiled.cu', 252)
    f.text(12, 24, 'in', 12.5, strong=True)
    f.text(138, 24, 'shared memory', 12.5, strong=True)
    f.text(276, 24, 'out', 12.5, strong=True)
    for j in range(2):
        for i in range(3):
            f.box(12 + 30 * i, 34 + 30 * j, 28, 28, 'blue' if (i, j) == (1, 0) else 'idle', 1)
            f.box(276 + 30 * j, 34 + 30 * i, 28, 28, 'green' if (i, j) == (1, 0) else 'idle', 1)
    f.text(56, 53, 'T', 13, 'middle', strong=True)
    f.text(290, 83, 'T\u1d40', 13, 'middle', strong=True)
    letters = 'abcdefghi'
    for j in range(3):
        for i in range(3):
            f.label(141 + 26 * i, 34 + 26 * j, 24, 24, letters[3 * j + i], 'orange', code=True)
    f.arrow(104, 48, 138, 48)
    f.arrow(222, 72, 272, 78)
    f.text(12, 136, 'read: rows of T', 12, strong=True)
    f.text(200, 136, 'write: columns of T', 12, strong=True)
    for j in range(3):
        for i in range(3):
            f.label(12 + 26 * i, 146 + 26 * j, 24, 24, letters[3 * j + i], 'blue', code=True)
            f.label(200 + 26 * i, 146 + 26 * j, 24, 24, letters[3 * i + j], 'green', code=True)
        f.arrow(94, 158 + 26 * j, 128, 158 + 26 * j)
        f.arrow(282, 158 + 26 * j, 316, 158 + 26 * j)
    f.text(12, 242, 'Lanes read and write neighbours; the turn is inside.', 12)
    return f


def banks():
    def rows_of(f, x0, y0, width, swizzle=False):
        for r in range(5):
            row = r if r < 4 else 31
            y = y0 + 24 * r + (10 if r == 4 else 0)
            f.text(x0 - 4, y + 15, f'row {row}', 11, 'end')
            for c in range(4):
                bank = (row * width + c) % LANES
                f.label(x0 + 29 * c, y, 27, 21, f'{bank}', 'orange' if c == 0 else 'idle', 11.5)

    f = Figure('banks', 'Banks of a tile of 32 and of 33 words per row', '''
        Word w of shared memory lies in bank w modulo 32. Above, a tile with 32 words per row: the
        first column lies in bank 0 in every row, so a warp that reads down the column requests 32
        different words of one bank, and needs 32 passes. Below, a row has 33 words, of which one is
        unused: the first column lies in banks 0, 1, 2, 3 up to 31, and the same read needs one
        pass. Rows are read without conflict in both layouts.''', 'bank = word % 32, as requests.cpp counts', 394)
    f.text(12, 24, '32 words per row', 12.5, strong=True)
    rows_of(f, 62, 34, 32)
    f.text(190, 52, 'a row:', 12, strong=True)
    f.text(190, 68, 'all banks, one pass', 12)
    f.text(190, 96, 'a column:', 12, strong=True)
    f.text(190, 112, 'bank 0, 32 times:', 12)
    f.text(190, 128, '32 passes', 12)
    f.path([(12, 180), (348, 180)], 'muted')
    f.text(12, 202, '33 words per row: padding', 12.5, strong=True)
    rows_of(f, 62, 212, 33)
    f.text(190, 230, 'a row:', 12, strong=True)
    f.text(190, 246, 'all banks, one pass', 12)
    f.text(190, 274, 'a column:', 12, strong=True)
    f.text(190, 290, 'all banks, one pass', 12)
    f.text(12, 368, 'The number is the bank of that element. Four of', 11.5, colour='muted')
    f.text(12, 383, 'the 32 columns are shown; column 0 is orange.', 11.5, colour='muted')
    return f


def aos_soa():
    points = 32
    aos, _ = touched([12 * k for k in range(points)])
    soa, _ = touched([4 * k for k in range(points)])
    f = Figure('aos-soa', 'Array of structures and structure of arrays', f'''
        Two layouts of points with coordinates x, y and z. Above, the array of structures: x0 y0 z0
        x1 y1 z1 and so on; when {points} lanes load x, the words are 12 bytes apart and the request
        touches {aos} sectors. Below, the structure of arrays: all x, then all y, then all z; the
        same load touches {soa} sectors. If all lanes load the same point, each request touches one
        sector in either layout.''', 'requests of 32 lanes, sectors as in the profiler', 284)
    cell = 27.5
    f.text(12, 24, 'Array of structures (AoS)', 12.5, strong=True)
    for k in range(12):
        axis = 'xyz'[k % 3]
        f.label(12 + 28 * k, 34, cell - 1, 24, f'{axis}{k // 3}', 'orange' if axis == 'x' else 'idle',
                11.5, code=True)
    for k in range(4):
        f.arrow(25 + 84 * k, 80, 25 + 84 * k, 60)
        f.text(25 + 84 * k, 93, f'lane {k}', 11, 'middle') if k else f.text(12, 93, 'lane 0', 11)
    f.text(12, 114, f'lane k loads x of point k: {aos} sectors for {points} lanes', 12)
    f.path([(12, 128), (348, 128)], 'muted')
    f.text(12, 150, 'Structure of arrays (SoA)', 12.5, strong=True)
    for a, axis in enumerate('xyz'):
        for k in range(4):
            f.label(12 + 114 * a + 26 * k, 160, 25, 24, f'{axis}{k}',
                    'orange' if axis == 'x' else 'idle', 11.5, code=True)
    for k in range(4):
        f.arrow(24 + 26 * k, 206, 24 + 26 * k, 186)
    f.text(12, 219, 'lanes 0 to 3', 11)
    f.text(12, 240, f'lane k loads x of point k: {soa} sectors for {points} lanes', 12)
    f.text(12, 266, 'All lanes load the same point: one sector in both.', 12)
    return f


FIGURES = [sectors, transpose_tile, banks, aos_soa]
