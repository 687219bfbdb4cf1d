"""labs/LAB/lab.toml: title, contract, sizes, goals, sweep and experiments."""
from __future__ import annotations

import difflib
import math
from typing import Any, Dict, List

from toml_file import Table, fail, read_toml

Size = List[int]

# Of each kind of goal, in the order in which goals are judged: the keys beside those that all have.
GOAL_KEYS = {
    'correct': [],
    'checks': [],
    'counter': ['counter', 'size', 'at_most', 'at_least', 'least_shared', 'most_active', 'needs'],
    'speedup': ['over', 'at_least', 'modelled'],
    'reach': ['step', 'fraction', 'modelled'],
}
COMMON_GOAL_KEYS = ['name', 'kind', 'points', 'hint']
KEYS = ['title', 'order', 'function', 'contract', 'skeleton', 'host_bytes', 'time_limit_s', 'timing_s',
        'published_steps_earn', 'library_kernels_earn', 'tensor_cores', 'least_capability', 'hopper', 'own_input',
        'case_study', 'did_not_help', 'sizes', 'goals', 'sweep', 'experiments']
SIZES = ['check', 'bench', 'emulated', 'modelled', 'hidden', 'ragged', 'promised', 'multiple_of']


def is_size(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(type(number) is int for number in value)


def read_sizes(sizes: Table, key: str) -> List[Size]:
    entries = sizes.values.get(key)
    if not isinstance(entries, list) or not entries:
        fail(sizes.place(), f'sizes.{key} must be a list like [[1], [1023]]')
    for at, entry in enumerate(entries):
        if not is_size(entry):
            fail(sizes.place(key, at), 'a size is a list of integers, like [1023]')
    return entries


def read_range(sizes: Table, key: str, numbers: int) -> List[Size]:
    """The smallest and the largest of the sizes that are drawn."""
    if key not in sizes.values:
        return []
    found = read_sizes(sizes, key)
    if len(found) != 2 or len(found[0]) != len(found[1]) or any(low > high for low, high in zip(*found)):
        fail(sizes.origin, f'sizes.{key} is the smallest and the largest size to draw: [[2], [1000]]')
    if len(found[0]) != numbers:
        fail(sizes.origin, 'sizes.hidden and sizes.ragged have as many numbers as sizes.check')
    return found


def read_all_sizes(table: Table) -> Dict[str, List[Size]]:
    if not isinstance(table.values.get('sizes'), dict):
        fail(table.origin, 'missing table `sizes`')
    sizes = table.table('sizes')
    sizes.refuse_other_keys(SIZES, f'{table.origin}: sizes')
    found = {key: read_sizes(sizes, key) for key in ('check', 'bench', 'emulated')}
    found['modelled'] = read_sizes(sizes, 'modelled') if 'modelled' in sizes.values else found['emulated']
    for key in ('hidden', 'ragged'):
        found[key] = read_range(sizes, key, len(found['check'][0]))
    found['multiple_of'] = sizes.optional(int, 'multiple_of', 1)
    found['promised'] = read_sizes(sizes, 'promised') if 'promised' in sizes.values else [found['bench'][-1]]
    return found


def read_counter_goal(table: Table, where: str, dimensions: int) -> Dict[str, Any]:
    goal = {'counter': table.take(str, 'counter', where)}  # the program knows their names
    bounds = [key for key in ('at_most', 'at_least') if key in table.values]
    if len(bounds) != 1:
        fail(where, 'needs one of `at_most` and `at_least`')
    goal['side'] = bounds[0]
    goal['limit'] = table.take(float, bounds[0], where)
    if not 0 <= goal['limit'] < math.inf:
        fail(where, "a counter's limit must not be negative")
    goal['least_shared'] = table.optional(float, 'least_shared', 0, where)
    if 'least_shared' in table.values and not 0 < goal['least_shared'] <= 1:
        fail(where, '`least_shared` must lie in (0, 1]')
    goal['most_active'] = table.positive('most_active', where) if 'most_active' in table.values else 0
    if goal['most_active'] and goal['counter'] != 'warp_execution_efficiency_percent':
        fail(where, '`most_active` is a key of the counter warp_execution_efficiency_percent')
    goal['needs'] = table.optional(str, 'needs', '', where)
    if 'size' not in table.values:
        fail(where, 'missing key `size`')
    goal['size'] = table.values['size']
    if not is_size(goal['size']):
        fail(where, 'a size is a list of integers, like [1023]')
    if len(goal['size']) != dimensions:
        fail(where, f"size has {len(goal['size'])} numbers, the lab's sizes have {dimensions}")
    return goal


def read_speed_goal(table: Table, where: str, kind: str) -> Dict[str, Any]:
    if kind == 'speedup':
        goal = {'over': table.take(str, 'over', where), 'limit': table.positive('at_least', where)}
    else:
        goal = {'over': table.take(str, 'step', where), 'limit': table.take(float, 'fraction', where)}
        # A goal may ask for a little more than the step's own speed.
        if not 0 < goal['limit'] <= 1.5:
            fail(where, '`fraction` must lie in (0, 1.5]')
    goal['modelled'] = table.positive('modelled', where) if 'modelled' in table.values else 0
    return goal


def read_goal(table: Table, dimensions: int) -> Dict[str, Any]:
    name = table.take(str, 'name', table.place())
    where = f'{table.place()}: goal "{name}"'
    points = table.positive('points', where, "a goal's points must be positive")
    hint = table.optional(str, 'hint', '', where)
    kind = table.take(str, 'kind', where)
    if kind not in GOAL_KEYS:
        fail(where, f'unknown kind "{kind}"; known are {", ".join(GOAL_KEYS)}')
    table.refuse_other_keys(COMMON_GOAL_KEYS + GOAL_KEYS[kind], where, f'a goal of kind {kind} has')
    goal = {'name': name, 'place': table.place(), 'kind': kind, 'points': points, 'hint': hint}
    if kind == 'counter':
        goal.update(read_counter_goal(table, where, dimensions))
    if kind in ('speedup', 'reach'):
        goal.update(read_speed_goal(table, where, kind))
    return goal


def read_goals(table: Table, dimensions: int) -> List[Dict[str, Any]]:
    goals = [read_goal(entry, dimensions) for entry in table.tables('goals')]
    if not goals:
        fail(table.origin, 'needs at least one [[goals]]')
    for goal in goals:
        others = [other for other in goals if other['name'] == goal.get('needs')]
        if goal.get('needs') and (not others or others[0]['kind'] != 'counter' or others[0]['needs']):
            fail(table.origin, f'goal "{goal["name"]}" needs "{goal["needs"]}", '
                               'which must be a counter goal without `needs`')
    order = list(GOAL_KEYS)
    return sorted(goals, key=lambda goal: order.index(goal['kind']))


def read_axes(table: Table, where: str) -> Dict[str, Any]:
    """What varies, and the counter that is watched; the program knows the forms and the names of both."""
    over = table.values.get('over')
    if not isinstance(over, list) or not over:
        fail(where, 'needs `over`, a list like ["threads=32..1024"]')
    for at, axis in enumerate(over):
        if not isinstance(axis, str):
            fail(table.place('over', at), '`over` holds texts like "threads=32..1024"')
    counter = table.text('counter', where) if 'counter' in table.values else ''
    return {'over': over, 'counter': counter}


def read_sweep(table: Table) -> Any:
    if 'sweep' not in table.values:
        return None
    if not isinstance(table.values['sweep'], dict):
        fail(f"{table.place('sweep')}: [sweep]", 'is a table')
    sweep = table.table('sweep')
    where = f'{sweep.place()}: [sweep]'
    sweep.refuse_other_keys(['step', 'over', 'counter'], where)
    return {'place': sweep.place(), 'step': sweep.text('step', where), **read_axes(sweep, where)}


def read_experiments(table: Table) -> List[Dict[str, Any]]:
    experiments: List[Dict[str, Any]] = []
    for entry in table.tables('experiments'):
        where = f'{entry.place()}: experiment'
        entry.refuse_other_keys(['name', 'title', 'over', 'counter', 'given'], where)
        name = entry.text('name', where)
        if any(name == other['name'] for other in experiments):
            fail(entry.place(), f'experiment {name} is listed twice')
        title = entry.text('title', where) if 'title' in entry.values else ''
        given = entry.values.get('given', True)
        if not isinstance(given, bool):
            fail(where, '`given` is true or false')
        experiments.append({'place': entry.place(), 'name': name, 'title': title, 'given': given,
                            **read_axes(entry, where)})
    return experiments


def read_lab_file(text: str, origin: str, name: str) -> Dict[str, Any]:
    table = read_toml(text, origin)
    table.refuse_other_keys(KEYS, origin)
    lab: Dict[str, Any] = {'name': name}
    for key in ('title', 'function', 'contract', 'skeleton'):
        lab[key] = table.take(str, key)
    lab['order'] = table.take(int, 'order')
    lab['host_bytes'] = max(0, table.optional(int, 'host_bytes', 0))
    lab['time_limit_s'] = table.optional(float, 'time_limit_s', 10)
    lab['timing_s'] = table.optional(float, 'timing_s', 20)
    for key in ('published_steps_earn', 'library_kernels_earn', 'tensor_cores'):
        lab[key] = table.values.get(key, True)
        if not isinstance(lab[key], bool):
            fail(table.place(key), f'`{key}` is true or false')
    lab['least_capability'] = table.optional(int, 'least_capability', 0)
    lab['hopper'] = table.optional(list, 'hopper', [])
    lab['did_not_help'] = table.optional(list, 'did_not_help', [])
    lab['case_study'] = table.optional(list, 'case_study', []) + lab['did_not_help']
    lab['own_input'] = table.optional(str, 'own_input', '')
    if lab['own_input'] not in ('', 'image', 'points'):
        fail(origin, f'`own_input` is "image" or "points", not "{lab["own_input"]}"')
    lab['sizes'] = read_all_sizes(table)
    lab['goals'] = read_goals(table, len(lab['sizes']['check'][0]))
    lab['sweep'] = read_sweep(table)
    lab['experiments'] = read_experiments(table)
    return lab


def check_steps(lab: Dict[str, Any], origin: str) -> None:
    """What lab.toml and limits.txt name must be steps."""
    names = [step['name'] for step in lab['steps']]
    if lab['skeleton'] not in names:
        fail(origin, f'skeleton = "{lab["skeleton"]}" is not a step of steps.txt')
    for name in lab['case_study']:
        if name not in names[1:]:  # a path has a first step
            fail(origin, f'case_study: "{name}" is not a step of steps.txt after the first')
    for name in lab['hopper']:
        if name not in names:
            fail(origin, f'hopper: "{name}" is not a step of steps.txt')
    last = names[len(names) - len(lab['did_not_help']):]
    if lab['did_not_help'] != last:
        fail(origin, 'did_not_help does not name the last steps of steps.txt, which are ' + ', '.join(last))
    if lab['sweep'] and lab['sweep']['step'] not in names:
        fail(origin, f'[sweep]: step = "{lab["sweep"]["step"]}" is not a step of steps.txt')
    for goal in lab['goals']:
        if goal['kind'] in ('speedup', 'reach') and goal['over'] not in names:
            key = 'step' if goal['kind'] == 'reach' else 'over'
            near = difflib.get_close_matches(goal['over'], names, 1)
            fail(origin, f'goal "{goal["name"]}": {key} = "{goal["over"]}" is not a step of steps.txt'
                 + (f'; did you mean "{near[0]}"?' if near else ''))
    for part in lab['limits']:
        if part['step'] not in names:
            fail(part['file'], f'step "{part["step"]}" is not a step of steps.txt')
