// What a run counted, as numbers to compare: in total, and for each line.
'use strict';

const sumOf = (list, of) => list.reduce((sum, each) => sum + (of(each) ?? 0), 0);
const memory = (counts, space) => ['load', 'store', 'atomic', 'copy']
  .map((kind) => counts[`${space}_${kind}`]).filter(Boolean);
const issued = (counts) => sumOf(Object.values(counts.instructions ?? {}), ([warps]) => warps);
const lanes = (counts) => sumOf(Object.values(counts.instructions ?? {}), ([, active]) => active);
const above = (counts, space, what) => sumOf(memory(counts, space), (m) => m[what] - m[`ideal_${what}`]);

// The fewer, the better.
const COSTS = [
  {name: 'warp instructions', of: issued},
  {name: 'idle lanes', of: (counts) => 32 * issued(counts) - lanes(counts)},
  {name: 'divergent branches', of: (counts) => counts.divergent_branches ?? 0},
  {name: 'global sectors', of: (counts) => sumOf(memory(counts, 'global'), (m) => m.sectors)},
  {name: 'wasted sectors', of: (counts) => above(counts, 'global', 'sectors')},
  {name: 'bank conflicts', of: (counts) => above(counts, 'shared', 'wavefronts')},
];

// [number of each cost], over all launches
const totalCosts = ({kernels}) => COSTS.map(({of}) => sumOf(kernels, (kernel) => of(kernel.total)));

// Map from the number of a line of `file` to its cost
function costOfLines({kernels}, file, {of}) {
  const found = new Map();
  for (const {file: in_, line, counts} of kernels.flatMap((kernel) => kernel.lines)) {
    const cost = in_ === file ? of(counts) : 0;
    if (cost > 0) found.set(line, cost + (found.get(line) ?? 0));
  }
  return found;
}
