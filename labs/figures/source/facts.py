"""What the figures show, read from the files that the emulator and its time model use."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT))
from slides.builder.records import read_record

# cudaDeviceAttr numbers, as in common/gpus/*.toml
ATTRIBUTES = {
    'warp_size': 10, 'clock_khz': 13, 'multiprocessors': 16, 'memory_clock_khz': 36,
    'bus_bits': 37, 'l2_bytes': 38, 'threads': 39, 'major': 75, 'minor': 76, 'shared_bytes': 81,
    'registers': 82, 'blocks': 106, 'reserved_shared': 111}


class Gpu:
    """common/gpus/<id>.toml."""

    def __init__(self, name):
        text = (ROOT / 'common/gpus' / (name + '.toml')).read_text()
        attributes = text.split('[attributes]')[1].split('[limits]')[0]
        values = {int(n): int(v) for n, v in re.findall(r'^(\d+) = (-?\d+)', attributes, re.M)}
        for key, place in ATTRIBUTES.items():
            setattr(self, key, values[place])
        self.id = name
        self.name = re.search(r'^name = "(.*)"', text, re.M)[1]
        self.memory_bytes = int(re.search(r'^memory_bytes = (\d+)', text, re.M)[1])
        self.capability = 10 * self.major + self.minor
        self.warps = self.threads // self.warp_size
        self.peak_gb_per_s = 2 * self.memory_clock_khz * 1e3 * self.bus_bits / 8 / 1e9


def published(capability):
    """The time model's row of a compute capability: warp instructions a cycle, latencies."""
    text = (ROOT / 'common/emulator/time/costs.cpp').read_text()
    names = re.search(r'// cc\s+(.*)', text)[1].split()
    for row in re.findall(r'^\s*\{(\d+(?:, [\d.]+)+)\},', text, re.M):
        values = [float(v) for v in row.split(', ')]
        if values[0] == capability:
            return dict(zip(['cc'] + names, values))
    raise KeyError(capability)


def cache_units():
    """(bytes of a line, bytes of a sector), as the profiler counts them."""
    text = (ROOT / 'common/emulator/profile/requests.hpp').read_text()
    return tuple(int(v) for v in re.search(
        r'line_bytes = (\d+), sector_bytes = (\d+)', text).groups())


def measured():
    """{name: value} of common/gpus/h200.measured.jsonl."""
    return {f['name']: f['value'] for f in read_record(ROOT / 'common/gpus/h200.measured.jsonl')['entries']}


def measured_date():
    return read_record(ROOT / 'common/gpus/h200.measured.jsonl')['date'][:10]


def record(lab):
    """solutions/<lab>/measured/h200.jsonl."""
    return read_record(ROOT / 'solutions' / lab / 'measured/h200.jsonl')


def ragged_file(lab):
    """solutions/<lab>/measured/<gpu>.ragged.jsonl of the H200, else of the H100; or None."""
    files = [ROOT / 'solutions' / lab / f'measured/{gpu}.ragged.jsonl' for gpu in ('h200', 'h100')]
    return next((file for file in files if file.exists()), None)


def ragged_record(lab):
    return read_record(ragged_file(lab))


def labs_with_ragged_records():
    labs = sorted(path.parent.name for path in ROOT.glob('labs/*/lab.toml'))
    return [lab for lab in labs if ragged_file(lab)]


def first_line(path, text):
    """The number of the first line of a file that contains the text: sources that are quoted."""
    for k, line in enumerate((ROOT / path).read_text().splitlines(), 1):
        if text in line:
            return k
    raise KeyError(text)


def resident_blocks(gpu, threads, registers, shared=0):
    """Blocks that fit on a multiprocessor, and what limits them: common/device/occupancy.cpp.

    Compute capability 2.x and from 3.5 on. The test compares it with ./lab occupancy.
    """
    up = lambda value, unit: -(-value // unit) * unit
    warps = -(-threads // gpu.warp_size)
    parts = 2 if gpu.major == 2 else 4
    unit = 256
    if gpu.major == 2:
        unit = 128 if registers in (21, 22, 29, 30, 37, 38, 45, 46) else 64
    by = {'warps': gpu.warps // warps, 'blocks': gpu.blocks,
          'registers': gpu.registers // parts // up(32 * registers, unit) * parts // warps}
    of_block = up(shared + gpu.reserved_shared, 128 if gpu.major in (2, 8, 9) else 256)
    if of_block:
        by['shared memory'] = gpu.shared_bytes // of_block
    least = min(by.values())
    return least, [what for what, blocks in by.items() if blocks == least]
