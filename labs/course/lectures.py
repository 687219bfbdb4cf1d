"""solutions/LAB/lectures.toml: what lectures publish of a lab's steps."""
from __future__ import annotations

import math
from typing import Any, Dict, List

from toml_file import Table, fail, read_toml


def read_figure(table: Table, steps: List[str]) -> Dict[str, Any]:
    table.refuse_other_keys(['version', 'step', 'kernel', 'with', 'value'])
    figure = {'version': table.text('version'), 'step': table.text('step'),
              'kernel': table.optional(str, 'kernel', ''), 'with': table.optional(list, 'with', [])}
    if figure['step'] not in steps:
        fail(table.place(), f"there is no step {figure['step']}")
    if not all(isinstance(constant, str) for constant in figure['with']):
        fail(table.place(), 'with: expected texts like "tile=16"')
    value: Any = table.values.get('value')
    if type(value) not in (int, float) or not 0 < value < math.inf:
        fail(table.place(), 'value: expected a positive number')
    return {**figure, 'value': float(value)}


def read_lectures(text: str, origin: str, steps: List[str], dimensions: int) -> List[Dict[str, Any]]:
    file = read_toml(text, origin)
    if not file.tables('lectures'):
        fail(origin, 'there is no [[lectures]]')
    lectures: List[Dict[str, Any]] = []
    for table in file.tables('lectures'):
        table.refuse_other_keys(['gpu', 'source', 'unit', 'size', 'size_stated', 'figures'])
        lecture: Dict[str, Any] = {key: table.text(key) for key in ('gpu', 'source', 'unit')}
        if lecture['unit'] not in ('ms', 'GB/s', 'GFLOP/s'):
            fail(table.place(), 'unit: expected ms, GB/s or GFLOP/s')
        lecture['size'] = table.values.get('size')
        if not isinstance(lecture['size'], list) or len(lecture['size']) != dimensions \
                or any(type(number) is not int for number in lecture['size']):
            fail(table.place(), "size: expected a list like those of the lab's sizes")
        lecture['size_stated'] = table.values.get('size_stated')
        if not isinstance(lecture['size_stated'], bool):
            fail(table.place(), 'size_stated: expected true or false')
        lecture['figures'] = [read_figure(figure, steps) for figure in table.tables('figures')]
        if not lecture['figures']:
            fail(table.place(), 'figures: expected a list')
        lectures.append(lecture)
    return lectures
