"""Charts of measurements on an H200, with their bounds."""
import functools
import math
import statistics

from style import Figure
import facts


class Axes:
    """A plot with logarithmic x and linear or logarithmic y, in the upper part of a figure."""

    def __init__(self, f, x_range, y_range, top, bottom, log_y=False):
        self.f, self.x_range, self.y_range, self.log_y = f, x_range, y_range, log_y
        self.x0, self.x1, self.top, self.bottom = 46, 346, top, bottom

    def x(self, value):
        low, high = (math.log(v) for v in self.x_range)
        return self.x0 + (math.log(value) - low) / (high - low) * (self.x1 - self.x0)

    def y(self, value):
        low, high = self.y_range
        if self.log_y:
            value, low, high = (math.log(v) for v in (value, low, high))
        return self.bottom - (value - low) / (high - low) * (self.bottom - self.top)

    def ticks(self, xs, ys, x_label, y_label):
        for value in ys:
            self.f.path([(self.x0, self.y(value)), (self.x1, self.y(value))], 'page')
            self.f.text(self.x0 - 5, self.y(value) + 4, f'{value:g}', 11, 'end')
        for value, words in xs:
            self.f.path([(self.x(value), self.bottom), (self.x(value), self.bottom + 4)], 'muted')
            self.f.text(min(self.x(value), 336), self.bottom + 17, words, 11, 'middle')
        self.f.text(self.x1, self.bottom + 33, x_label, 11.5, 'end')
        self.f.text(12, self.top - 12, y_label, 11.5)

    def line(self, points, colour, more='', dots=True):
        self.f.path([(self.x(a), self.y(b)) for a, b in points], colour, more)
        if dots:
            for a, b in points:
                self.f.dot(self.x(a), self.y(b), colour)


def littles_law():
    m, gpu = facts.measured(), facts.Gpu('h200')
    points = sorted((int(name.split('_')[2]), value) for name, value in m.items()
                    if name.startswith('dram_read_') and name.endswith('_in_flight'))
    latency_ns = m['dram_latency'] / (gpu.clock_khz / 1e6)
    allowed = lambda b: b * gpu.multiprocessors / latency_ns  # bytes per ns = GB/s
    f = Figure('littles-law', "Little's law: the rate grows with what is in flight", f'''
        A chart of the rate of reading against the bytes in flight on each of {gpu.multiprocessors}
        multiprocessors, both on logarithmic axes, measured on an H200. '''
               + ', '.join(f'{b} bytes: {v:.0f} GB/s' for b, v in points)
               + f'''. A straight line shows bytes in flight divided by a latency of
        {latency_ns:.0f} ns, as Little's law says; the measurements follow this line up to the
        limit of memory, a level line at {m["dram_read"]:.0f} GB/s.''',
               'common/gpus/h200.measured.jsonl: dram_read_*_in_flight, dram_latency', 318)
    axes = Axes(f, (400, 40000), (100, 8000), 52, 214, True)
    f.text(12, 24, 'Reading DRAM, measured on an H200', 12.5, strong=True)
    axes.ticks([(512, '512'), (2048, '2 K'), (8192, '8 K'), (32768, '32 K')],
               [100, 300, 1000, 3000], 'bytes in flight on each multiprocessor', 'GB/s')
    top = 8000 / gpu.multiprocessors * latency_ns
    axes.line([(450, allowed(450)), (top, 8000)], 'muted', 'dashed', False)
    axes.line([(400, m['dram_read']), (40000, m['dram_read'])], 'red', 'dashed', False)
    axes.line(points, 'blue', 'thick')
    f.text(50, axes.y(m['dram_read']) - 5, f'DRAM: {m["dram_read"]:.0f} GB/s', 11.5)
    f.path([(12, 262), (34, 262)], 'blue', 'thick')
    f.dot(23, 262, 'blue')
    f.text(40, 266, 'measured', 11.5)
    f.path([(112, 262), (134, 262)], 'muted', 'dashed')
    f.text(140, 266, f'bytes in flight / {latency_ns:.0f} ns (latency)', 11.5)
    half = next(b for b, v in points if v > m['dram_read'] / 2) // 1024
    f.text(12, 290, f'Half of that rate takes {half} KB in flight on each', 12)
    f.text(12, 305, f'of {gpu.multiprocessors} multiprocessors, all the time.', 12)
    return f


def bandwidth(lab, steps):
    gpu, m, record = facts.Gpu('h200'), facts.measured(), facts.record(lab)
    colours = ('red', 'orange', 'violet', 'green', 'blue')
    lines, said = [], []
    for name, colour in zip(steps, colours):
        points = sorted((math.prod(at['size']), round(at['bytes'] / at['cold']['median_ms'] / 1e6, 1))
                        for at in record['entries'] if at.get('step') == name)
        lines.append((name, colour, points))
        said.append(f'{name}: ' + ', '.join(f'{v:.0f}' for _, v in points))
    xs = sorted({x for _, _, points in lines for x, _ in points})
    f = Figure(f'bandwidth-{lab}', f'{lab}: bytes per second of its steps, and the bounds', f'''
        A chart of GB/s against the number of elements, measured on an H200 with a cold L2, for the sizes
        {', '.join(f'{x}' for x in xs)}. {'; '.join(said)} GB/s. Two level lines are bounds:
        {gpu.peak_gb_per_s:.0f} GB/s theoretical and {m['dram_copy']:.0f} GB/s for a copy.''',
               f'solutions/{lab}/measured/h200.jsonl, common/gpus/h200.*', 330 + 16 * ((len(steps) + 1) // 2))
    f.text(12, 24, f'{lab}: measured on an H200, cold L2', 12.5, strong=True)
    axes = Axes(f, (xs[0], xs[-1]), (0, 5200), 54, 238)
    power = lambda v: f'2^{v.bit_length() - 1}' if v & (v - 1) == 0 else f'{v / 1e6:.3g} M'
    shown = xs if len(xs) <= 4 else xs[::2] if len(xs) % 2 else [xs[0], xs[2], xs[-1]]
    axes.ticks([(v, power(v)) for v in shown], [0, 1000, 2000, 3000, 4000], 'elements', 'GB/s')
    for bound, words in ((gpu.peak_gb_per_s, 'theoretical'), (m['dram_copy'], 'a copy')):
        axes.line([(xs[0], bound), (xs[-1], bound)], 'muted', 'dashed', False)
        f.text(50, axes.y(bound) - 4, f'{words}: {bound:.0f}', 11)
    for name, colour, points in lines:
        axes.line(points, colour, 'thick')
    for k, (name, colour, points) in enumerate(lines):
        x, y = 12 + 172 * (k % 2), 296 + 18 * (k // 2)
        f.path([(x, y - 4), (x + 18, y - 4)], colour, 'thick')
        f.dot(x + 9, y - 4, colour)
        f.text(x + 23, y, name, 11.5, code=True)
    f.text(12, f.height - 12, f'{record["gpu"]}, {record["date"][:10]}',
           11, colour='muted')
    return f


def bandwidth_reduction():
    return bandwidth('reduction', ['01_interleaved', '03_sequential', '05_unroll_warp',
                                   '07_grid_stride', '10_one_launch'])


def bandwidth_transpose():
    return bandwidth('transpose', ['02_row', '03_element', '04_tiled', '06_padded', '09_columns'])


def bandwidth_launch():
    return bandwidth('launch', ['01_tiny_blocks', '02_blocks', '03_ilp', '05_vector'])


def ragged(lab):
    """The speedup over each baseline at random sizes, with a panel for each baseline."""
    record, of_baselines = facts.ragged_record(lab), {}
    for p in record['entries']:
        x = math.prod(p['size'][:2]) if lab in ('blur', 'transpose') else p['size'][0]
        of_baselines.setdefault(p['baseline'], []).append((x, p['ratio'], p['class'], p['label']))
    baselines = list(of_baselines.items())
    xs = [x for _, points in baselines for x, _, _, _ in points]
    said = []
    for name, points in baselines:
        ratios = sorted(ratio for _, ratio, _, _ in points)
        worst = min(points, key=lambda p: p[1])
        said.append(f'against {name}: median {statistics.median(ratios):.2f}, from {ratios[0]:.2f} '
                    f'(at {worst[3]}) to {ratios[-1]:.2f}')
    f = Figure(f'ragged-{lab}', f'{lab}: the last step at random sizes', f'''
        A chart of the time of each baseline, divided by the time of {record["step"]}, against size, for
        {record["count"]} sizes that seed {record["seed"]} drew: a third are odd, a third are multiples
        of 4 only, and a third are multiples of 32. The times were measured on an {record["gpu"]} with a
        cold L2. Ratio
        {"; ".join(said)}.''', f'solutions/{lab}/measured/{facts.ragged_file(lab).name}',
               84 + 210 * len(baselines))
    f.text(12, 24, f'{lab}: {record["step"]}, cold L2', 12.5, strong=True)
    scales = ((1e9, ' G'), (1e6, ' M'), (1e3, ' K'), (1, ''))
    words = lambda v: next(f'{v / scale:.3g}{unit}' for scale, unit in scales if v >= scale)
    for k, (name, points) in enumerate(baselines):
        top = 54 + 210 * k
        low = min(1, *(ratio for _, ratio, _, _ in points)) * 0.9
        high = max(1.1, *(ratio for _, ratio, _, _ in points)) * 1.02
        if high < 100 * low:
            step = next(s for s in (0.2, 0.5, 1, 2, 5, 10, 20, 50) if high / s <= 8)
            y_range, ys = (0, high), [round(step * i, 1) for i in range(int(high / step) + 1)]
        else:
            powers = range(math.ceil(math.log10(low)), int(math.log10(high)) + 1)
            y_range, ys = (low, high), [10 ** power for power in powers]
        axes = Axes(f, (min(xs) * 0.9, max(xs) * 1.1), y_range, top, top + 140, y_range[0] > 0)
        middle = math.sqrt(min(xs) * max(xs))
        axes.ticks([(v, words(v)) for v in (min(xs), round(middle), max(xs))],
                   ys, 'n' if lab not in ('blur', 'transpose') else 'elements',
                   f'speedup over {name}')
        axes.line([(min(xs) * 0.9, 1), (max(xs) * 1.1, 1)], 'muted', 'dashed', False)
        for x, ratio, of_class, _ in points:
            MARKS[of_class](f, axes.x(x), axes.y(ratio))
    for (of_class, words), x in zip((('odd', 'odd'), ('of 4', 'multiples of 4 only'),
                                     ('of 32', 'of 32')), (16, 80, 230)):
        MARKS[of_class](f, x, f.height - 34)
        f.text(x + 9, f.height - 30, words, 11.5)
    f.text(12, f.height - 10, f'{record["gpu"]}, {record["date"][:10]}, seed {record["seed"]}', 11,
           colour='muted')
    return f


def cross(f, x, y):
    f.path([(x - 3, y - 3), (x + 3, y + 3)], 'red', 'thick')
    f.path([(x - 3, y + 3), (x + 3, y - 3)], 'red', 'thick')


MARKS = {'odd': cross, 'of 4': lambda f, x, y: f.box(x - 3, y - 3, 6, 6, 'orange', 0),
         'of 32': lambda f, x, y: f.dot(x, y, 'blue')}

FIGURES = [littles_law, bandwidth_reduction, bandwidth_transpose, bandwidth_launch]
FIGURES += [functools.partial(ragged, lab) for lab in facts.labs_with_ragged_records()]
