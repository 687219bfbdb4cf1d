"""The facts that the figures show, read from the files that the emulator and its time model use."""
import functools
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT))
from slides.builder.course import read_course
from slides.builder.records import read_record

COURSE = read_course(ROOT)
EMULATOR = json.loads((ROOT / 'build/labs/tests/emulator_facts.json').read_text())  # built from emulator_facts.cpp

# cudaDeviceAttr numbers, as in common/gpus/*.toml
ATTRIBUTES = {
    'warp_size': 10, 'clock_khz': 13, 'multiprocessors': 16, 'memory_clock_khz': 36,
    'bus_bits': 37, 'l2_bytes': 38, 'threads': 39, 'shared_bytes': 81,
    'registers': 82, 'blocks': 106}


class Gpu:
    """The description of a GPU in common/gpus/<id>.toml."""

    def __init__(self, name):
        described = next(gpu for gpu in COURSE['gpus'] if gpu['id'] == name)
        for key, place in ATTRIBUTES.items():
            setattr(self, key, described['attributes'][str(place)])
        self.id, self.name, self.memory_bytes = name, described['name'], described['memory_bytes']
        self.published = EMULATOR['gpus'][name]  # schedulers, warp instructions a cycle, a latency
        self.warps = self.threads // self.warp_size
        self.peak_gb_per_s = 2 * self.memory_clock_khz * 1e3 * self.bus_bits / 8 / 1e9


def cache_units():
    """The sizes of a line and of a sector in bytes, as the profiler counts them."""
    return EMULATOR['line_bytes'], EMULATOR['sector_bytes']


def measured():
    """{name: value} of the figures in common/gpus/h200.measured.jsonl."""
    return {f['name']: f['value'] for f in read_record(ROOT / 'common/gpus/h200.measured.jsonl')['entries']}


def measured_date():
    return read_record(ROOT / 'common/gpus/h200.measured.jsonl')['date'][:10]


def record(lab):
    """The record solutions/<lab>/measured/h200.jsonl."""
    return read_record(ROOT / 'solutions' / lab / 'measured/h200.jsonl')


def ragged_file(lab):
    """The record solutions/<lab>/measured/<gpu>.ragged.jsonl of the H200, or else of the H100, or None."""
    files = [ROOT / 'solutions' / lab / f'measured/{gpu}.ragged.jsonl' for gpu in ('h200', 'h100')]
    return next((file for file in files if file.exists()), None)


def ragged_record(lab):
    return read_record(ragged_file(lab))


def labs_with_ragged_records():
    return [lab for lab in sorted(entry['name'] for entry in COURSE['labs']) if ragged_file(lab)]


def first_line(path, text):
    """The number of the first line of a file that contains the text, for quoting the source."""
    for k, line in enumerate((ROOT / path).read_text().splitlines(), 1):
        if text in line:
            return k
    raise KeyError(text)


@functools.lru_cache(maxsize=None)
def warps_by_registers(gpu, threads):
    """{registers per thread: warps per multiprocessor} for blocks of `threads` threads, from `./lab occupancy`."""
    program = ROOT / 'build/grader/lab'
    if not program.exists():
        sys.exit(f'{program} is not built: ./lab setup')
    asked = subprocess.run([program, 'occupancy', '--threads', str(threads), '--registers', '32', '--gpu', gpu, '--json'],
                           check=True, capture_output=True, text=True)
    return {at['registers']: at['warps'] for at in json.loads(asked.stdout)['kernels'][0]['by_registers']}
