"""How the steps of a lab compare: their times on one GPU at one size.

Home page, rail and headline of a step use the same choice of GPU and size, so their numbers agree.
"""
import collections

from slides.builder.records import show

Progress = collections.namedtuple('Progress', 'gpu date command label seconds baselines')  # {step or baseline: seconds}


def at_size(times, size):
    seconds = {step: entry.seconds for (step, of), entry in times.entries.items() if of == size}
    baselines = {name: entry.seconds for (name, of), entry in times.baselines.items()
                 if of == size and entry.on == 'gpu'}
    return Progress(times.gpu, times.date, times.command, times.sizes[size], seconds, baselines)


def with_steps(records, names):
    """The first GPU's times, at the largest size at which all the named steps are measured; None if there are none."""
    for times in records.get('times', []):
        for size in reversed(list(times.sizes)):
            if all((name, size) in times.entries for name in names):
                return at_size(times, size)
    return None


def of_lab(lab, records):
    """The times that the home page shows. They include the lab's first version."""
    return with_steps(records, [lab.steps[0].name])


def every_size(lab, records):
    """The times on every GPU at every size; first, those from the lab's first version on."""
    found = [at_size(times, size) for times in records.get('times', []) for size in reversed(list(times.sizes))]
    return sorted(found, key=lambda times: lab.steps[0].name not in times.seconds)


def of_step(lab, step, records):
    """The times of the lab if they include the step and the step before it; otherwise, other times with both."""
    names = [name for name in (step.over, step.name) if name]
    whole = of_lab(lab, records)
    if whole and all(name in whole.seconds for name in names):
        return whole
    return with_steps(records, names) or with_steps(records, [step.name])


def on_path(lab, progress):
    """[(step, seconds)] of the steps of the path that are measured."""
    return [(step, progress.seconds[step.name]) for step in lab.path if step.name in progress.seconds]


def gain(lab, progress):
    """The speedup from the first to the fastest step of the path."""
    seconds = [s for _, s in on_path(lab, progress)]
    return seconds[0] / min(seconds)


def direction(value):
    """What a factor means: a gain, a loss, or none, if it differs from 1 by less than 1.5 %."""
    return 'gain' if value >= 1.015 else 'loss' if value <= 0.985 else 'none'


def factor(value):
    """'1.47x', '105x', '21,283x'"""
    return f'{value:,.0f}x' if value >= 1000 else show(value, 'x')
