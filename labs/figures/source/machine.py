"""Figures of the machine: a GPU's parts, its memories, latency, waves, occupancy."""
from style import Figure
import facts


def kb(size):
    return f'{size / 1024:g} KB'


def gpu():
    h, k = facts.Gpu('h200'), facts.Gpu('k20x')
    ph, pk = h.published, k.published
    f = Figure('gpu', 'Two GPUs: H200 (2024) and Kepler K20X (2012)', f'''
        A multiprocessor of an H200 is a box with {ph['parts']:.0f} schedulers. Below each scheduler
        are its pipes (multiply-adds, integers, special functions, loads and stores) and a quarter
        of the {h.registers} registers. All four schedulers share L1 and shared memory, which are one
        memory; {kb(h.shared_bytes)} of it can be shared memory. {h.multiprocessors} multiprocessors share
        an L2 of {h.l2_bytes / 2**20:.0f} MB and DRAM of {h.memory_bytes / 2**30:.0f} GB. A table
        compares the H200 with the K20X: {k.multiprocessors} multiprocessors, {pk['parts']:.0f}
        schedulers, {32 * pk['fma']:.0f} multiply-adds of floats per cycle instead of
        {32 * ph['fma']:.0f}, {kb(k.shared_bytes)} of shared memory, {k.blocks} instead of
        {h.blocks} blocks, {k.l2_bytes / 2**20:.1f} MB of L2, {k.peak_gb_per_s:.0f} instead of
        {h.peak_gb_per_s:.0f} GB/s of theoretical bandwidth.''',
               'common/gpus/h200.toml, k20x.toml; the table of common/emulator/time/costs.cpp', 466)
    f.text(12, 24, f'H200: one of {h.multiprocessors} multiprocessors (SM)', 12.5, strong=True)
    f.box(12, 32, 336, 150, 'idle', 5)
    parts = int(ph['parts'])
    for p in range(parts):
        x = 18 + 82 * p
        f.label(x, 38, 78, 20, 'scheduler', 'orange', 11.5)
        f.label(x, 61, 38, 32, f'FMA\n{32 * ph["fma"] / parts:.0f}', 'blue', 10.5)
        f.label(x + 40, 61, 38, 32, f'INT\n{32 * ph["alu"] / parts:.0f}', 'blue', 10.5)
        f.label(x, 96, 38, 32, f'SFU\n{32 * ph["sfu"] / parts:.0f}', 'blue', 10.5)
        f.label(x + 40, 96, 38, 32, 'LD\nST', 'blue', 10.5)
        f.label(x, 131, 78, 20, f'{h.registers // parts} reg.', 'green', 11)
    f.label(18, 155, 324, 22, f'L1 and shared memory, of which {kb(h.shared_bytes)} can be shared',
            'green', 11.5)
    f.label(12, 190, 336, 22, f'L2: {h.l2_bytes / 2**20:.0f} MB, for all multiprocessors', 'violet')
    f.label(12, 216, 336, 22, f'DRAM: {h.memory_bytes / 2**30:.0f} GB, '
            f'{h.peak_gb_per_s:.0f} GB/s theoretical', 'red')
    f.text(12, 254, 'Numbers under FMA, INT, SFU: lanes served in a cycle.', 11, colour='muted')
    y = 278
    f.text(206, y, 'H200', 12, 'end', strong=True)
    f.text(272, y, 'K20X', 12, 'end', strong=True)
    f.path([(12, y + 6), (348, y + 6)], 'muted')
    rows = [('multiprocessors', h.multiprocessors, k.multiprocessors, ''),
            ('clock', f'{h.clock_khz / 1e6:.2f}', f'{k.clock_khz / 1e6:.2f}', 'GHz'),
            ('schedulers', int(ph['parts']), int(pk['parts']), 'per SM'),
            ('float multiply-adds', f'{32 * ph["fma"]:.0f}', f'{32 * pk["fma"]:.0f}', 'a cycle, SM'),
            ('their latency', f'{ph["lat"]:.0f}', f'{pk["lat"]:.0f}', 'cycles'),
            ('warps', h.warps, k.warps, 'per SM'),
            ('blocks', h.blocks, k.blocks, 'per SM'),
            ('registers', h.registers, k.registers, 'per SM'),
            ('shared memory', h.shared_bytes // 1024, k.shared_bytes // 1024, 'KB per SM'),
            ('L2', f'{h.l2_bytes / 2**20:.0f}', f'{k.l2_bytes / 2**20:.1f}', 'MB'),
            ('DRAM, theoretical', f'{h.peak_gb_per_s:.0f}', f'{k.peak_gb_per_s:.0f}', 'GB/s')]
    for n, (what, a, b, unit) in enumerate(rows):
        line = y + 22 + 15.6 * n
        f.text(12, line, what, 12)
        f.text(206, line, f'{a}', 12, 'end')
        f.text(272, line, f'{b}', 12, 'end')
        f.text(280, line, unit, 11, colour='muted')
    return f


def memory_hierarchy():
    h, m = facts.Gpu('h200'), facts.measured()
    ghz = h.clock_khz / 1e6
    all_sm = h.multiprocessors * ghz
    levels = [
        ('registers', 'you, by what a thread keeps', f'{h.registers * 4 // 1024} KB per SM',
         f'{m["fma_f32_latency"]:.0f}', '', 'green'),
        ('shared memory', 'you, element by element', f'{kb(h.shared_bytes)} per SM',
         f'{m["shared_latency"]:.0f}', f'{m["shared_read"] * all_sm / 1e3:.0f} TB/s', 'green'),
        ('L1', 'hardware; by you with your pattern', 'what shared memory leaves',
         f'{m["l1_latency"]:.0f}', f'{m["l1_read"] * all_sm / 1e3:.0f} TB/s', 'violet'),
        ('L2', 'hardware; by you with the order', f'{h.l2_bytes / 2**20:.0f} MB for all',
         f'{m["l2_latency"]:.0f}', f'{m["l2_read"] / 1e3:.1f} TB/s', 'violet'),
        ('DRAM', 'you, by what you touch', f'{h.memory_bytes / 2**30:.0f} GB',
         f'{m["dram_latency"]:.0f}', f'{m["dram_read"] / 1e3:.1f} TB/s', 'red'),
    ]
    f = Figure('memory-hierarchy', 'The memories of an H200, and who controls them',
               'Five levels, the nearest on top. '
               + ' '.join(f'{name}: {size}, latency {lat} cycles{rate and ", " + rate}; '
                          f'controlled by {who}.'
                          for name, who, size, lat, rate, _ in levels)
               + ' Below all of them is the memory of the host, which a copy reaches over a bus.',
               'common/gpus/h200.toml and h200.measured.jsonl', 400)
    f.text(12, 24, 'A level', 11.5, colour='muted')
    f.text(250, 24, 'latency,', 11.5, 'end', colour='muted')
    f.text(348, 24, 'rate of', 11.5, 'end', colour='muted')
    f.text(250, 37, 'cycles', 11.5, 'end', colour='muted')
    f.text(348, 37, 'the GPU', 11.5, 'end', colour='muted')
    for k, (name, who, size, lat, rate, colour) in enumerate(levels):
        y = 46 + 56 * k
        f.box(12, y, 336, 50, colour, 4)
        f.text(20, y + 16, name, 12.5, strong=True)
        f.text(20, y + 31, size, 11.5)
        f.text(20, y + 45, 'controlled by ' + who, 11)
        f.text(250, y + 20, lat, 13, 'end', strong=True)
        f.text(342, y + 20, rate, 11.5, 'end')
    y = 46 + 56 * 5
    f.box(12, y, 336, 34, 'idle', 4, 'dashed')
    f.text(20, y + 15, 'host memory', 12.5, strong=True)
    f.text(20, y + 29, 'over a bus: copy once, keep the data on the GPU', 11.5)
    f.text(12, y + 54, f'Measured on an H200, {facts.measured_date()}.', 11, colour='muted')
    return f


def latency_hiding():
    wait, work = 12, 3

    def row(f, y, warps):
        """Draws when each warp computes and waits. The scheduler serves one warp at a time."""
        scale, x0 = 7.4, 60
        busy, free, state = [], 0, [0] * warps
        last = 40
        spans = [[] for _ in range(warps)]
        while True:
            w = min(range(warps), key=lambda i: (max(state[i], free), state[i]))
            at = max(state[w], free)
            if at + work > last:
                break
            spans[w].append(at)
            busy.append(at)
            free, state[w] = at + work, at + work + wait
        for w in range(warps):
            f.text(12, y + 18 * w + 11, f'warp {w}', 11.5)
            f.path([(x0, y + 18 * w + 8), (x0 + last * scale - 12, y + 18 * w + 8)], 'muted', 'dashed')
            for at in spans[w]:
                f.box(x0 + at * scale, y + 18 * w, work * scale, 15, 'orange', 1)
        y += 18 * warps + 4
        f.text(12, y + 12, 'pipe', 11.5, strong=True)
        f.box(x0, y, last * scale - 12, 15, 'idle', 1, 'dashed')
        for at in busy:
            f.box(x0 + at * scale, y, work * scale, 15, 'orange', 1)

    f = Figure('latency-hiding', 'Latency hiding: other warps fill the wait', f'''
        A timeline for each warp. A warp computes for {work} cycles, then waits {wait} cycles
        for memory. With one warp the pipe is idle while that warp waits, {wait} of {wait + work}
        cycles. With five warps, another warp computes whenever one waits, and the pipe is busy all
        the time, like a conveyor belt that never stops.''',
               'one scheduler that takes the warp that has waited longest', 320)
    f.text(12, 24, 'One warp: the pipe waits with it', 12.5, strong=True)
    row(f, 34, 1)
    f.path([(12, 90), (348, 90)], 'muted')
    f.text(12, 112, 'Five warps: a belt that never stops', 12.5, strong=True)
    row(f, 122, 5)
    f.box(12, 248, 22, 12, 'orange', 1)
    f.text(40, 258, f'computes: {work} cycles here', 11.5)
    f.path([(196, 254), (218, 254)], 'muted', 'dashed')
    f.text(224, 258, f'waits: {wait} cycles', 11.5)
    f.text(12, 284, f'Warps needed: (wait + work) / work = {(wait + work) // work}.', 12)
    f.text(12, 302, 'Independent loads of one warp help in the same way.', 12)
    return f


def waves_and_tail():
    h = facts.Gpu('h200')
    blocks = facts.warps_by_registers('h200', 256)[32] * h.warp_size // 256
    fit = blocks * h.multiprocessors
    f = Figure('waves-and-tail', 'Waves of blocks, and the tail', f'''
        Six slots for blocks over time. Thirteen blocks of equal length fill them: two full waves of
        six, then one block alone, while five slots are idle. The third wave takes as long as a full
        one, so thirteen blocks take 1.5 times as long as twelve. On an H200 with {blocks} blocks
        on each of {h.multiprocessors} multiprocessors a wave is {fit} blocks: {fit} blocks take one
        wave, {fit + 1} take two.''', 'common/gpus/h200.toml, blocks of 256 threads, 32 registers', 282)
    f.text(12, 24, '13 blocks on 6 slots', 12.5, strong=True)
    x0, w = 62, 92
    for k, words in enumerate(('wave 1', 'wave 2', 'tail')):
        f.text(x0 + w * k + w / 2, 42, words, 12, 'middle')
    for s in range(6):
        y = 50 + 22 * s
        f.text(12, y + 14, f'slot {s}', 11.5)
        for k in range(3):
            b = 6 * k + s
            if b < 13:
                f.label(x0 + w * k, y, w - 3, 19, f'block {b}', ('blue', 'green', 'orange')[k], 11)
            else:
                f.box(x0 + w * k, y, w - 3, 19, 'idle', 2, 'dashed')
    f.arrow(x0, 192, 344, 192, 'muted')
    f.text(348, 208, 'time', 11.5, 'end', colour='muted')
    f.text(12, 230, f'H200: {blocks} blocks on each of {h.multiprocessors} multiprocessors.', 12)
    f.text(12, 248, f'{fit} blocks: one wave. {fit + 1} blocks: two.', 12, strong=True)
    f.text(12, 266, 'The more waves, the less the last one weighs.', 12)
    return f


def occupancy():
    threads = 256
    f = Figure('occupancy', 'Occupancy falls in steps as a thread takes more registers', '', '', 322)
    x0, x1, top, bottom = 46, 344, 44, 206
    at = lambda r: x0 + (r - 16) * (x1 - x0) / (128 - 16)
    up = lambda percent: bottom - percent * (bottom - top) / 100
    for percent in (0, 25, 50, 75, 100):
        f.path([(x0, up(percent)), (x1, up(percent))], 'page')
        f.text(x0 - 5, up(percent) + 4, f'{percent} %', 11, 'end')
    for r in (16, 32, 64, 96, 128):
        f.path([(at(r), bottom), (at(r), bottom + 4)], 'muted')
        f.text(at(r), bottom + 17, f'{r}', 11, 'middle')
    f.text((x0 + x1) / 2, bottom + 33, 'registers of a thread', 11.5, 'middle')
    f.text(12, 24, f'Blocks of {threads} threads, no shared memory', 12.5, strong=True)
    words = []
    for name, colour, most in (('h200', 'blue', 128), ('gt430', 'orange', 63)):
        gpu = facts.Gpu(name)
        line, steps = [], []
        for r in range(16, most + 1):
            percent = 100 * facts.warps_by_registers(name, threads)[r] / gpu.warps
            if line and up(percent) != line[-1][1]:
                line.append((at(r - 1) + 1.3, line[-1][1]))
                line.append((at(r - 1) + 1.3, up(percent)))
            if not steps or steps[-1][1] != percent:
                steps.append((r, percent))
            line.append((at(r), up(percent)))
        f.path(line, colour, 'thick')
        words.append(gpu.name.replace('NVIDIA ', '') + ': '
                     + ', '.join(f'{p:.0f} % from {r}' for r, p in steps) + ' registers.')
    f.text(at(96), up(25) - 6, 'H200', 12, strong=True)
    f.text(at(36), up(14), 'GT 430: 63 at most', 12, strong=True)
    h, g = facts.Gpu('h200'), facts.Gpu('gt430')
    f.text(12, 264, f'H200: {h.registers} registers, allocated in units of 256:', 11.5)
    f.text(12, 279, '33 registers of a thread cost as many as 40.', 11.5)
    f.text(12, 298, f'GT 430: {g.registers} registers in two halves, units of 64', 11.5)
    f.text(12, 313, 'or 128, and 48 warps.', 11.5)
    f.description = ' '.join(('A chart for blocks of 256 threads without shared memory: occupancy '
                              'against registers per thread, as two staircases. '
                              + ' '.join(words)).split())
    f.source = 'common/gpus/*.toml and the rules of common/device/occupancy.cpp'
    return f


FIGURES = [gpu, memory_hierarchy, latency_hiding, waves_and_tail, occupancy]
