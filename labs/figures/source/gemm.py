"""Figures of matrix multiplication on tensor cores: swizzle, ring of stages, cluster, sums, proxies."""
import re

from style import Figure
import facts


def code_of(path):
    """A source file without its comments."""
    return re.sub(r'//.*', '', (facts.ROOT / path).read_text())


def constant(path, name):
    return int(re.search(rf'constexpr int [^;]*?\b{name} = (\d+)', code_of(path))[1])


def step(name):
    return f'solutions/gemm/{name}.cu'


def needs(path, text):
    """Refuses to draw a figure whose source no longer contains the rule that is drawn."""
    if text not in code_of(path):
        raise SystemExit(f'{path} no longer contains {text!r}: labs/figures/source/gemm.py draws it')


# --- the swizzle ---------------------------------------------------------------------------------

BANKS, BANK_BYTES = 32, 4


def swizzle():
    needs(step('05_swizzle'), 'col / chunk ^ row % 8')
    row_bytes, chunk_bytes = constant('labs/gemm/wgmma.hpp', 'swizzled_row_bytes'), 16
    chunks, rows, marked = row_bytes // chunk_bytes, 8, 2

    def banks_of(row, place):
        first = (row * row_bytes + place * chunk_bytes) // BANK_BYTES % BANKS
        return range(first, first + chunk_bytes // BANK_BYTES)

    def wavefronts(place_of):
        """The most different chunks that one bank has to deliver, for the marked chunk of all rows."""
        wanted = [bank for r in range(rows) for bank in banks_of(r, place_of(r, marked))]
        return max(wanted.count(bank) for bank in wanted), len(set(wanted))

    plain, swizzled = (lambda r, i: i), (lambda r, i: i ^ r % 8)
    layouts = [('Plain: chunk i is at place i', plain),
               ('Swizzled: chunk i is at place i ^ (r % 8)', swizzled)]
    places = ', '.join(str(swizzled(r, marked)) for r in range(rows))
    (plain_waves, plain_banks), (waves, all_banks) = wavefronts(plain), wavefronts(swizzled)
    f = Figure('swizzle', f'The swizzle of {row_bytes} bytes, and the banks of a column', f'''
        Two tiles of {rows} rows with {chunks} chunks of {chunk_bytes} bytes; a place of a row covers
        {chunk_bytes // BANK_BYTES} of the {BANKS} banks. ldmatrix and wgmma read the same chunk of {rows} rows
        at once, here chunk {marked}. Above, chunk i is at place i: chunk {marked} of all rows is in the same
        {plain_banks} banks, which takes {plain_waves} wavefronts. Below, chunk i of row r is at place i xor
        (r mod 8): chunk {marked} is at places {places} of rows 0 to {rows - 1}, in all {all_banks} banks, which
        takes {waves} wavefront.''',
               'labs/gemm/wgmma.hpp, solutions/gemm/05_swizzle.cu; bank = word % 32', 442)
    x0, w, h, y = 54, 36, 16, 12
    for title, place_of in layouts:
        f.text(12, y + 12, title, 12.5, strong=True)
        f.text(12, y + 32, 'banks', 11, colour='muted')
        for place in range(chunks):
            banks = banks_of(0, place)
            f.text(x0 + w * place + w / 2 - 1, y + 32, f'{banks[0]}-{banks[-1]}', 10.5, 'middle', 'muted')
        for r in range(rows):
            top = y + 38 + h * r
            f.text(x0 - 6, top + 11.5, f'row {r}', 11, 'end')
            for i in range(chunks):
                f.label(x0 + w * place_of(r, i), top, w - 2, h - 2, f'{i}', 'orange' if i == marked else 'idle', 11.5,
                        'thick' if i == marked else '', strong=i == marked)
        most, used = wavefronts(place_of)
        f.text(12, y + 38 + h * rows + 16, f'Chunk {marked} of {rows} rows: {used} banks, {most} wavefront{"s" * (most > 1)}', 12)
        y += 206
    f.text(12, y + 6, 'A number is the chunk that is stored at the place.', 11.5, colour='muted')
    return f


# --- the ring ------------------------------------------------------------------------------------

class Barrier:
    """An mbarrier: the times at which its phases ended. A wait for a parity returns at once if the current
    phase has the other one, as mbarrier.try_wait.parity does."""

    def __init__(self, arrivals):
        self.arrivals, self.came, self.ends = arrivals, [], []

    def arrive(self, time):
        self.came.append(time)
        if len(self.came) == self.arrivals:
            self.ends.append(max(self.came))
            self.came = []

    def parity_at(self, time):
        return sum(end <= time for end in self.ends) % 2

    def passes(self, time, parity):
        return self.parity_at(time) != parity


def run_ring(stages, steps, consumers, latency, durations):
    """Runs the loops of 10_producer in steps of time. Returns (issues, arrivals, uses, full, empty): when the
    producer began to fill for each step, when the bytes were there, and [begin, end] of each consumer's step."""
    full = [Barrier(1) for _ in range(stages)]
    empty = [Barrier(consumers) for _ in range(stages)]
    issues, arrivals, uses = [], [], [[] for _ in range(consumers)]
    for time in range(200):
        for s, at in enumerate(arrivals):
            if at == time:
                full[s % stages].arrive(time)
        for c in range(consumers):
            if uses[c] and uses[c][-1][1] == time:
                empty[(len(uses[c]) - 1) % stages].arrive(time)
        s = len(issues)
        if s < steps and empty[s % stages].passes(time, s // stages % 2 ^ 1):
            issues.append(time)
            arrivals.append(time + latency)
        for c in range(consumers):
            s = len(uses[c])
            free = not uses[c] or uses[c][-1][1] <= time
            if free and s < steps and full[s % stages].passes(time, s // stages % 2):
                uses[c].append([time, time + durations[c][s]])
    return issues, arrivals, uses, full, empty


def ring():
    needs(step('10_producer'), 'wait(empty[ring.stage], ring.parity ^ 1)')
    needs(step('10_producer'), 'wait(full[ring.stage], ring.parity)')
    needs(step('10_producer'), 'init_barrier(full[i], 1)')
    needs(step('10_producer'), 'init_barrier(empty[i], consumers)')
    consumers = constant(step('10_producer'), 'consumers')
    stages, steps, latency = 3, 7, 6
    durations = [[4] * steps, [4, 6, 4, 3, 5, 4, 4]]
    issues, arrivals, uses, full, empty = run_ring(stages, steps, consumers, latency, durations)
    released = [max(use[s][1] for use in uses) for s in range(steps)]
    end = max(released)
    first_wait = next(s for s in range(steps) if s and issues[s] > issues[s - 1] + 1)
    f = Figure('ring', 'A ring of stages: a producer, two consumers, full and empty barriers', f'''
        Time runs to the right. The producer begins the copies of {steps} steps, as far ahead as the {stages} stages
        allow; it waits for the first time before step {first_wait}. Below, each stage has three rows: its contents
        (bytes in flight, then full until both consumers have released it), and the parity of the current phase of its barriers
        full and empty. A phase of full ends when the bytes are there, and a phase of empty when both consumers have
        arrived. '''
        + ' '.join(f'Stage {k}: full ends phases at times {", ".join(map(str, full[k].ends))}; empty at '
                   f'{", ".join(map(str, empty[k].ends))}.' for k in range(stages))
        + f''' The consumers start step 0 at time {uses[0][0][0]}; after that, neither waits for the other one: the
        consumers may work on different steps.''',
               'the loops of solutions/gemm/10_producer.cu with 3 stages, run step by step', 392)
    x0, unit = 78, 270 / end

    def at(time):
        return x0 + unit * time

    def row_name(y, words, **how):
        f.text(x0 - 6, y + 12, words, 11, 'end', **how)

    f.text(12, 24, 'Who works when; numbers are steps', 12.5, strong=True)
    y = 36
    row_name(y, 'producer')
    f.box(x0, y, unit * end, 16, 'page', 0)
    for s, time in enumerate(issues):
        width = max(unit, f.width_of(str(s), 10.5, strong=True) + 1)
        f.box(at(time), y, unit, 16, 'blue', 0)
        f.text(at(time) + unit / 2, y + 12, str(s), 10.5, 'middle', strong=True)
    for c, use in enumerate(uses):
        y += 22
        row_name(y, f'consumer {c}')
        f.box(x0, y, unit * end, 16, 'page', 0)
        for s, (begin, stop) in enumerate(use):
            f.label(at(begin), y, unit * (stop - begin), 16, str(s), 'green', 11)
    y += 38
    f.text(12, y, 'Stages: contents, and parities of the phases', 12.5, strong=True)
    y += 10
    for k in range(stages):
        row_name(y, f'stage {k}', strong=True)
        f.box(x0, y, unit * end, 16, 'page', 0)
        for s in range(k, steps, stages):
            f.label(at(issues[s]), y, unit * (arrivals[s] - issues[s]), 16, str(s), 'blue', 11, 'dashed')
            f.label(at(arrivals[s]), y, unit * (released[s] - arrivals[s]), 16, str(s), 'green', 11)
        for name, barriers in (('full', full), ('empty', empty)):
            y += 20
            row_name(y, name)
            cuts = [0] + barriers[k].ends + [end]
            for begin, stop in zip(cuts, cuts[1:]):
                if stop > begin:
                    parity = barriers[k].parity_at(begin)
                    f.label(at(begin), y, unit * (stop - begin), 16, str(parity), 'violet' if parity else 'idle', 11)
        y += 30
    f.box(12, y, 22, 14, 'blue', 0, 'dashed')
    f.text(40, y + 11, 'bytes in flight', 11.5)
    f.box(166, y, 22, 14, 'green', 0)
    f.text(194, y + 11, 'full', 11.5)
    f.arrow(250, y + 7, 320, y + 7, 'muted')
    f.text(326, y + 11, 'time', 11, colour='muted')
    y += 30
    f.text(12, y, f'Steps 0 to {stages - 1}: parity 1 of empty, true at once.', 11.5)
    f.text(12, y + 15, f'Step {first_wait}: parity {first_wait // stages % 2 ^ 1} of empty {first_wait % stages}, true at time '
           f'{issues[first_wait]}.', 11.5)
    return f


# --- the cluster ---------------------------------------------------------------------------------

def multicast():
    name = step('14_multicast')
    needs(name, 'load_box_for(0b11, next.b[i]')
    needs(name, 'init_barrier(empty[i], cluster * consumers)')
    needs(name, 'rank * half; i < (rank + 1) * half')
    cols, depth, cluster = constant(name, 'cols'), constant(name, 'depth'), constant(name, 'cluster')
    consumers, panel_cols = constant(name, 'consumers'), constant('labs/gemm/wgmma.hpp', 'panel_cols')
    rows, panels = consumers * 64, cols // panel_cols
    half = panels // cluster
    loader = {i: rank for rank in range(cluster) for i in range(rank * half, (rank + 1) * half)}
    kb = 2 * depth / 1024  # of a row or a column of a tile
    own, shared = kb * rows, kb * cols
    f = Figure('multicast', 'A cluster of two blocks: each loads half of b for both', f'''
        Above, the tiles of one step in L2: a tile of a for each block, and {panels} panels of b that both need.
        Below, the shared memory of the two blocks; each has its own tile of a and all {panels} panels of b. '''
        + ' '.join(f'Block {rank} loads panels {" and ".join(str(i) for i in loader if loader[i] == rank)} of b and its own tile '
                   'of a.' for rank in range(cluster))
        + f''' Each panel is delivered to both blocks, at the same place. So each block expects {own + shared:g} KB per
        step, and the cluster reads {cluster * own + shared:g} KB from L2 instead of {cluster * (own + shared):g}. A stage
        is free when {cluster * consumers} consumers have arrived at its barrier empty, because a copy overwrites
        it in both blocks.''', 'constants and loops of solutions/gemm/14_multicast.cu', 344)
    colours, lines = ('blue', 'green'), ('', 'dashed')
    f.text(12, 24, 'L2: the tiles of one step', 12.5, strong=True)
    w, top, below = 40, 34, 168
    place_in_l2 = {i: 100 + (w + 2) * i for i in range(panels)}
    a_in_l2 = [12, 348 - 52]
    left = [12, 186]  # of the blocks
    for rank in range(cluster):
        f.label(a_in_l2[rank], top, 52, 28, f'a of {rank}', 'orange', 11)
        f.box(left[rank], below - 14, 162, 78, 'page', 4)
        f.text(left[rank] + 6, below + 57, f'block {rank}', 11.5, strong=True)
        f.label(left[rank] + 6, below - 6, 30, 46, 'a', 'orange', 11.5)
        f.arrow(a_in_l2[rank] + 26, top + 30, left[rank] + 21, below - 8, 'orange')
    for i in range(panels):
        colour, line = colours[loader[i]], lines[loader[i]]
        f.label(place_in_l2[i], top, w, 28, f'b{i}', colour, 11.5, line)
        for rank in range(cluster):
            x = left[rank] + 40 + 30 * i
            f.label(x, below - 6, 28, 46, f'b{i}', colour, 11.5, line)
            f.arrow(place_in_l2[i] + w / 2, top + 30, x + 14, below - 8, colour, line)
    y = below + 86
    for rank in range(cluster):
        f.box(12 + 174 * rank, y - 11, 22, 14, colours[rank], 0, lines[rank])
        f.text(40 + 174 * rank, y, f'loaded by block {rank}', 11.5)
    f.text(12, y + 24, f'From L2 per step: {cluster} x {own:g} + {shared:g} = {cluster * own + shared:g} KB, not '
           f'{cluster * (own + shared):g} KB', 12)
    f.text(12, y + 42, f'full: each block expects {own:g} + {shared:g} = {own + shared:g} KB', 12)
    f.text(12, y + 60, f'empty: {cluster} blocks x {consumers} consumers = {cluster * consumers} arrivals', 12)
    f.text(12, y + 78, 'No block exits while the other may write to it.', 12)
    return f


# --- the sums ------------------------------------------------------------------------------------

def place_of_sum(warp, lane, i):
    """Row and column of sum i of a thread, as in labs/gemm/wgmma.hpp."""
    return 16 * (warp % 4) + lane // 4 + 8 * (i // 2 % 2), 8 * (i // 4) + 2 * (lane % 4) + i % 2


def warpgroup_sums():
    text = ' '.join((facts.ROOT / 'labs/gemm/wgmma.hpp').read_text().replace('//', ' ').split())
    for rule in ('16 * (warp % 4) + lane / 4 + 8 * (i / 2 % 2)', '8 * (i / 4) + 2 * (lane % 4) + i % 2'):
        if rule not in text:
            raise SystemExit(f'labs/gemm/wgmma.hpp no longer contains {rule!r}')
    shown_cols, marked = 16, 5
    held = {place_of_sum(warp, lane, i): (warp, lane, i)
            for warp in range(4) for lane in range(32) for i in range(shown_cols // 2)}
    if sorted(held) != [(r, c) for r in range(64) for c in range(shown_cols)]:
        raise SystemExit('the rule in labs/gemm/wgmma.hpp does not cover each sum once')
    own = ', '.join(f'sums {i} and {i + 1} are in row {r}, columns {c} and {c + 1}' for i in range(0, 8, 2)
                    for r, c in [place_of_sum(0, marked, i)])
    f = Figure('warpgroup-sums', 'Where the 64 x N sums of a warpgroup are', f'''
        Above, the 64 rows of sums: each of the four warps of a warpgroup has 16 rows. Below are the first
        {shown_cols} columns of warp 0. A cell is a pair of neighbouring columns, and the number in it is the lane that
        holds both sums. Eight rows of four lanes make a square of 8 by 8; lane numbers repeat for rows 8 to 15 and for
        every further 8 columns. For lane {marked}: {own}. A thread has N / 2 sums.''',
               'the rule of labs/gemm/wgmma.hpp, for every warp, lane and sum', 472)
    f.text(12, 24, 'A warpgroup: 64 rows, N columns', 12.5, strong=True)
    for warp in range(4):
        rows = [r for r, c in held if held[r, c][0] == warp]
        f.label(54, 32 + 20 * warp, 294, 18, f'warp {warp}: rows {min(rows)} to {max(rows)}', 'blue' if warp == 0 else 'idle', 11.5)
    f.text(12, 138, f'Warp 0: the lane that holds each pair', 12.5, strong=True)
    x0, y0, w, h = 54, 164, 36.5, 15
    for pair in range(shown_cols // 2):
        gap = 3 * (2 * pair // 8)
        f.text(x0 + w * pair + gap + w / 2 - 1, y0 - 6, f'{2 * pair}, {2 * pair + 1}', 10.5, 'middle', 'muted')
        for r in range(16):
            warp, lane, i = held[r, 2 * pair]
            y = y0 + h * r + 3 * (r // 8)
            mine = lane == marked
            f.label(x0 + w * pair + gap, y, w - 2, h - 2, f'{lane}', 'orange' if mine else 'idle', 11,
                    'thick' if mine else '', strong=mine)
    for r in range(16):
        f.text(x0 - 6, y0 + h * r + 3 * (r // 8) + 10.5, f'row {r}', 10.5, 'end')
    y = y0 + 16 * h + 3 + 18
    f.text(12, y, f'Numbers of the sums of lane {marked}, and their places', 11.5, strong=True)
    for k, i in enumerate(range(0, 8, 2)):
        r, c = place_of_sum(0, marked, i)
        f.text(12 + 168 * (k % 2), y + 17 + 16 * (k // 2), f'{i}, {i + 1}: row {r}, columns {c}, {c + 1}', 11.5)
    return f


# --- the proxies ---------------------------------------------------------------------------------

# name: the proxy by which it accesses shared memory (PTX ISA 9.1, "Async proxy")
PROXY = {'st': 'generic', 'ldmatrix': 'generic', 'stmatrix': 'generic', 'TMA load': 'async', 'TMA store': 'async', 'wgmma': 'async'}


def needs_fence(writer, reader):
    return PROXY[writer] == 'generic' and PROXY[reader] == 'async'


def proxies():
    fence = 'fence_proxy();'
    for path, has in ((step('07_wgmma'), True), (step('08_tma'), False), (step('14_multicast'), False),
                      ('solutions/gemm/parts/store_boxes.hpp', True)):
        if (fence in code_of(path)) != has:
            raise SystemExit(f'{path}: labs/figures/source/gemm.py expects {"a" if has else "no"} proxy fence')
    paths = [('05_swizzle', 'st', 'ldmatrix', 'a barrier'), ('07_wgmma', 'st', 'wgmma', 'then a barrier'),
             ('08_tma', 'TMA load', 'wgmma', 'the wait for an mbarrier'), ('15_tma_store', 'stmatrix', 'TMA store', 'then a barrier')]
    f = Figure('proxies', 'Two paths to shared memory, and where a fence is needed', '''
        Threads access shared memory by the generic proxy, with ld, st, ldmatrix and stmatrix. TMA and wgmma access it by
        the async proxy. Four cases, each from a writer over a tile in shared memory to a reader. '''
        + ' '.join(f'In {name}, {writer} writes by the {PROXY[writer]} proxy and {reader} reads by the {PROXY[reader]} proxy: '
                   + (f'each writing thread needs a proxy fence, {order}.' if needs_fence(writer, reader)
                      else f'{order} is enough.') for name, writer, reader, order in paths),
               'the units of solutions/gemm/05, 07, 08 and 15; PTX ISA 9.1, "Async proxy"', 384)
    colour, line = {'generic': 'blue', 'async': 'orange'}, {'generic': '', 'async': 'dashed'}
    f.box(12, 12, 22, 14, 'blue', 0)
    f.text(40, 23, 'generic proxy: instructions of threads', 11.5)
    f.box(12, 32, 22, 14, 'orange', 0, 'dashed')
    f.text(40, 43, 'async proxy: TMA and wgmma', 11.5)
    y = 68
    for name, writer, reader, order in paths:
        f.text(12, y, name, 12, code=True, strong=True)
        top = y + 8
        f.label(12, top, 84, 28, writer, colour[PROXY[writer]], 11.5, line[PROXY[writer]], code=True)
        f.label(140, top, 80, 28, 'tile', 'idle', 11.5)
        f.label(264, top, 84, 28, reader, colour[PROXY[reader]], 11.5, line[PROXY[reader]], code=True)
        f.arrow(98, top + 14, 138, top + 14, colour[PROXY[writer]], line[PROXY[writer]])
        f.arrow(222, top + 14, 262, top + 14, colour[PROXY[reader]], line[PROXY[reader]])
        if needs_fence(writer, reader):
            f.text(12, y + 54, f'fence_proxy() by each writer, {order}', 11.5, strong=True)
        else:
            f.text(12, y + 54, f'no fence: {order} is enough', 11.5)
        y += 80
    return f


FIGURES = [swizzle, ring, multicast, warpgroup_sums, proxies]
