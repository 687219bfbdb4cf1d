"""Explanations of sweeps and of their points. The figures themselves come from the record.

A rule gets the values of a point ({'stride': '8'}) and returns a sentence. Its numbers follow from the hardware's
units: warps of 32 lanes, sectors of 32 bytes, elements of 4 bytes.
"""


def stride(at):
    n = int(at['stride'])
    sectors = min(32, 4 * n)
    return (f'A request of 32 lanes spans {32 * n * 4} bytes: it touches min(32, 4 x {n}) = {sectors} sectors of 32 bytes and '
            f'uses {100 * 4 / sectors:.0f} % of them. ' +
            ('From 8 on every lane has its own sector. A request cannot become worse, but neighbouring requests '
             'are further apart, and caches keep less of the sectors that they share.' if n >= 8 else
             'Other requests use the rest of each sector: as long as a cache still holds it, DRAM moves no more bytes.'))


def alignment(at):
    n = int(at['offset'])
    return (f'{n} elements are {4 * n} bytes: ' + ('a multiple of a sector, so 32 lanes need 4 sectors.' if n % 8 == 0 else
            'not a multiple of 32 bytes, so 32 lanes touch 5 sectors; the fifth is shared with the next warp, which '
            'finds it in a cache.'))


def divergence(at):
    ways, by = int(at['ways']), at.get('by')
    each = {'0': f'The lanes of a warp take {ways} branches, and the warp executes all of them, one after the other.',
            '1': 'All lanes of a warp take the same branch, so the warp executes one, however many there are.',
            '2': f'Random values choose: a warp meets {ways * (1 - (1 - 1 / ways) ** 32):.1f} of {ways} branches on average.'}
    return each[by] if by else (
        'There is only one branch: every lane executes the same.' if ways == 1 else
        f'If the lane chooses, a warp executes {ways} branches one after the other; if the warp chooses, one; if '
        f'random values choose, {ways * (1 - (1 - 1 / ways) ** 32):.1f} on average.')


def launch(at):
    threads = int(at['threads'])
    warps = threads // 32
    fits = min(32, 64 // warps)
    return (f'A block of {threads} threads is {warps} {"warp" if warps == 1 else "warps"}; a multiprocessor '
            f'holds at most {fits} such blocks (32 blocks, 64 warps), which is {100 * fits * warps / 64:.0f} % of its warps. '
            + ('Blocks this small take longer to start than to do their work, unless each thread has several '
               'elements.' if threads <= 64 else
               'Now the bytes in flight decide: with one element per thread they are too few; with two or more, memory is '
               'the limit.'))


def grid_stride(at):
    n = int(at['blocks'])
    return (f'{n} blocks of 256 threads per multiprocessor, of which 8 fit. ' +
            ('All of them are resident from the start, but fewer blocks have fewer bytes in flight.' if n < 8 else
             'All of them are resident from the start and drift apart, round by round.' if n == 8 else
             'Only 8 are resident; each of the others starts when one ends, which keeps the running blocks close together.'))


def registers_of_launch(at):
    n = int(at['items'])
    return (f'{n} items are {2 * n} loaded values that a thread must keep until it adds them. ' +
            ('They fit into the smallest cap in the sweep.' if n == 8 else
             'A lower cap spills them to local memory: each is stored and loaded again.'))


def queries(at):
    n = int(at['queries'])
    return (f'A point read from shared memory serves {n} {"query" if n == 1 else "queries"} of a thread. '
            'More queries per thread mean fewer loads per distance, but fewer threads: a small problem then no longer '
            'fills the GPU.')


def band(at):
    n = int(at['band'])
    return (f'Blocks go down {n} {"row" if n == 1 else "rows"} of tiles before they go right. Blocks that run at the same time '
            + ('read whole rows and write many short pieces of columns.' if n == 1 else
               'read and write a compact part of both matrices, which is taller for a larger band.'))


def diagonal(at):
    n = int(at['diagonal'])
    return ('Blocks that run at once are in one column of tiles.' if n == 0 else
            f'The column of a tile advances after every {n} {"row" if n == 1 else "rows"} of tiles, so blocks that run at '
            'once write to different rows.')


def order(at):
    return {'0': 'Row by row: at the end of a row both operands change.',
            '1': 'Along a row and back along the next: each multiply-add shares an operand with the previous one.',
            '2': 'Column by column: at the end of a column both operands change.',
            '3': 'Down a column and up the next: each multiply-add shares an operand with the previous one.'}[at['order']]


def depth(at):
    n = int(at['depth'])
    return (f'A tile is {n} columns of a and {n} rows of b: {n} multiply-adds per element of c between two barriers. Deeper '
            'tiles need fewer barriers but more shared memory.')


def group(at):
    n = int(at['group'])
    return (f'Blocks are numbered in groups of {n} {"row" if n == 1 else "rows"} of tiles. Blocks that run at once share rows of a '
            'and columns of b in L2. A group that is too thin or too thick shares only one of the two.')


def stages(at):
    n = int(at['stages'])
    return (f'{n} pairs of tiles in shared memory: one is used while the others are loaded. More pairs '
            'hide more latency, but take more shared memory.')


def most_rows(at):
    n = int(at['most_rows'])
    return (f'A thread goes down at most {n} rows. Each strip reads eight rows that its neighbours also read. Long strips '
            'repeat fewer rows, but there are fewer of them, so some multiprocessors may have none.')


def ahead(at):
    return (f'{at["ahead"]} rows are requested before they are used. More rows hide more latency, but each takes registers.')


def warps(at):
    n = int(at['warps'])
    return f'A block is {n} {"warp" if n == 1 else "warps"} next to each other; they share nothing.'


def cap(at):
    return ('The compiler uses as many registers as it likes.' if at['registers'] == 'none' else
            f'At most {at["registers"]} registers per thread: more warps may fit, and values that do not fit spill.')


# (lab, sweep): title, what is measured ('rate' or 'time'), rule
SWEEPS = {
    ('launch', 'stride'): ('The stride of accesses and the bandwidth', 'rate', stride),
    ('launch', 'launch'): ('Block size, elements per thread, occupancy', 'rate', launch),
    ('launch', 'divergence'): ('Divergence: how many branches, and what chooses them', 'time', divergence),
    ('launch', 'alignment'): ('Alignment of accesses', 'rate', alignment),
    ('launch', 'grid_stride'): ('Blocks of a grid-stride loop', 'rate', grid_stride),
    ('launch', 'registers'): ('A cap on registers', 'rate', registers_of_launch),
    ('neighbour', 'queries'): ('Queries per thread', 'time', queries),
    ('transpose', 'block_order'): ('The order of blocks: bands', 'rate', band),
    ('transpose', 'diagonal'): ('The order of blocks: diagonals', 'rate', diagonal),
    ('matmul', 'multiply_order'): ('The order of multiply-adds', 'time', order),
    ('matmul', 'depth'): ('Depth of a tile', 'time', depth),
    ('matmul', 'group'): ('Groups of blocks', 'time', group),
    ('matmul', 'stages'): ('Tiles in flight', 'time', stages),
    ('blur', 'most_rows'): ('Length of a strip', 'rate', most_rows),
    ('blur', 'ahead'): ('Rows loaded ahead', 'rate', ahead),
    ('blur', 'warps'): ('Warps per block', 'rate', warps),
    ('blur', 'registers'): ('A cap on registers', 'rate', cap),
}

SERIES = {'by': {'0': 'the lane chooses', '1': 'the warp chooses', '2': 'the value chooses'},
          'together': {'0': 'warps do not wait', '1': 'warps wait for each other'}}


def series_name(axis, value):
    return SERIES.get(axis, {}).get(value) or f'{axis} = {value}'


def of(lab, name):
    """(title, 'rate' or 'time', rule); a sweep that is not listed has its name, its times and no rule."""
    return SWEEPS.get((lab, name), (name.replace('_', ' '), 'time', None))
