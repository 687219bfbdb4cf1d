// The host code of a step, for a page: memory, launches, the right result. A test compares
// it with the programs that nvcc builds from the same steps (tests/live_test.py).
//
// A lab has sizes that the reader may choose, `inputs` (named arrays of 4-byte elements), `others`
// (arrays that a call may write; their bytes are garbage at first) and `expected`. A step has a
// kernel, a block, and `launches`, which returns the launches with this block:
// [{grid, shared, arguments}], where an argument is an integer or [array, elements from its start].
// A page begins with the two versions of `compare`. An experiment is a version with a block that it
// does not support.
'use strict';

const ceilDiv = (a, b) => Math.ceil(a / b);
const threadsOf = (block) => block[0] * block[1] * block[2];

// reduction: one level of sums after the other, like reduce(), which calls itself.
const levels = (perBlock, shared) => ({n}, block) => {
  const all = [];
  for (let from = ['in', 0], at = 0, left = n; ;) {
    const {sums, blocks} = perBlock(left, threadsOf(block));
    const to = sums === 1 ? ['out', 0] : ['scratch', at];
    all.push({grid: [blocks, 1, 1], shared: shared * threadsOf(block), arguments: [from, to, left]});
    if (sums <= 1) return all;
    from = to;
    at += sums;
    left = sums;
  }
};
const ofBlock = (elements) => (n, threads) => {
  const sums = ceilDiv(n, elements * threads);
  return {sums, blocks: sums};
};
const pairs = (n, threads) => ({sums: ceilDiv(n, 2), blocks: ceilDiv(ceilDiv(n, 2), threads)});

// reduction: at most the blocks that the 132 multiprocessors of an H200 hold. The last block or launch
// adds up the sums.
const fewBlocks = (elements, perMultiprocessor) => (n, threads) =>
  Math.min(ceilDiv(n, elements * threads), 132 * perMultiprocessor);
const twoLaunches = (elements) => ({n}, block) => {
  const sums = fewBlocks(elements, 8)(n, threadsOf(block));
  const to = sums === 1 ? ['out', 0] : ['scratch', 0];
  const all = [{grid: [sums, 1, 1], shared: 0, arguments: [['in', 0], to, n]}];
  if (sums > 1)
    all.push({grid: [1, 1, 1], shared: 0, arguments: [['scratch', 0], ['out', 0], sums]});
  return all;
};
const oneLaunch = ({n}, block) => [{
  grid: [fewBlocks(16, 4)(n, threadsOf(block)), 1, 1], shared: 0,
  arguments: [['in', 0], ['out', 0], ['scratch', 0], n]}];

const PLAIN = '_Z13reduce_kernelPKiPii', OF_256 = '_Z13reduce_kernelILi256EEvPKiPii';
const FINISHED = {kernel: '_Z13reduce_kernelILi512EEvPKiPiS2_i', fixed: true, block: [512, 1, 1],
                  launches: oneLaunch};
const reduction = {
  sizes: [{name: 'n', text: 'elements', most: 1 << 20, first: 65537}],
  type: 'int',
  compare: ['02_strided', '03_sequential'],
  experiments: [
    {text: 'a block of 96 threads, which halves cannot fold', step: '03_sequential', block: [96, 1, 1]},
    {text: 'a block of one warp, where two are expected', step: '05_unroll_warp', block: [32, 1, 1]},
  ],
  inputs: {in: ({n}) => n},
  others: {out: () => 1, scratch: ({n}) => n + 32},
  result: 'out',
  expected: (_, {in: all}) => Int32Array.of(all.reduce((sum, v) => (sum + v) | 0, 0)),
  steps: {
    '00_pairs': {kernel: PLAIN, launches: levels(pairs, 0)},
    '01_interleaved': {kernel: PLAIN, launches: levels(ofBlock(1), 4)},
    '02_strided': {kernel: PLAIN, launches: levels(ofBlock(1), 4)},
    '03_sequential': {kernel: PLAIN, launches: levels(ofBlock(1), 4)},
    '04_first_add': {kernel: PLAIN, launches: levels(ofBlock(2), 4)},
    '05_unroll_warp': {kernel: PLAIN, launches: levels(ofBlock(2), 4)},
    '06_unroll_all': {kernel: OF_256, fixed: true, launches: levels(ofBlock(2), 0)},
    '07_grid_stride': {kernel: OF_256, fixed: true, launches: twoLaunches(2)},
    '08_shuffle': {kernel: OF_256, fixed: true, launches: twoLaunches(2)},
    '09_vectors': {kernel: OF_256, fixed: true, launches: twoLaunches(16)},
    '10_one_launch': FINISHED,
    '11_one_block': FINISHED,
    '12_warp_add': FINISHED,
  },
  block: [256, 1, 1],
};

// matmul: an element of c per thread.
const perElement = ({n}, block) => [{
  grid: [ceilDiv(n, block[0]), ceilDiv(n, block[1]), 1], shared: 0,
  arguments: [['a', 0], ['b', 0], ['c', 0], n]}];
const matmul = {
  sizes: [{name: 'n', text: 'rows and columns', most: 512, first: 64}],
  type: 'float',
  compare: ['02_row', '03_tiled'],
  experiments: [
    {text: 'a block of 64 x 16 threads for tiles of 32 x 32', step: '03_tiled', block: [64, 16, 1]},
  ],
  inputs: {a: ({n}) => n * n, b: ({n}) => n * n},
  others: {c: ({n}) => n * n},
  result: 'c',
  expected({n}, {a, b}) {
    const c = new Float64Array(n * n);
    for (let row = 0; row < n; ++row)
      for (let k = 0; k < n; ++k)
        for (let col = 0; col < n; ++col) c[row * n + col] += a[row * n + k] * b[k * n + col];
    return c;
  },
  steps: {
    '01_column': {block: [1, 128, 1], launches: perElement},
    '02_row': {block: [128, 1, 1], launches: perElement},
    '03_tiled': {block: [32, 32, 1], fixed: true, launches: perElement},
  },
  kernel: '_Z13matmul_kernelPKfS0_Pfi',
};

const matrices = [['in', 0], ['out', 0]];
const tiles = (size) => ({rows, cols}) => [{
  grid: [ceilDiv(cols, size), ceilDiv(rows, size), 1], shared: 0,
  arguments: [...matrices, rows, cols]}];
const transpose = {
  sizes: [{name: 'rows', text: 'rows', most: 1024, first: 200},
          {name: 'cols', text: 'columns', most: 1024, first: 300}],
  type: 'float',
  compare: ['04_tiled', '06_padded'],
  experiments: [
    {text: 'a block of 16 x 16 threads for tiles of 32 x 32', step: '04_tiled', block: [16, 16, 1]},
  ],
  inputs: {in: ({rows, cols}) => rows * cols},
  others: {out: ({rows, cols}) => rows * cols},
  result: 'out',
  expected: ({rows, cols}, {in: all}) =>
    all.map((_, at) => all[(at % rows) * cols + Math.floor(at / rows)]),
  steps: {
    '01_serial': {block: [1, 1, 1], fixed: true, launches: ({rows, cols}) => [
      {grid: [1, 1, 1], shared: 0, arguments: [...matrices, rows, cols]}]},
    '02_row': {block: [64, 1, 1], launches: ({rows, cols}, block) => [
      {grid: [ceilDiv(rows, block[0]), 1, 1], shared: 0, arguments: [...matrices, rows, cols]}]},
    '03_element': {block: [32, 32, 1], fixed: true, launches: tiles(32)},
    '04_tiled': {block: [32, 32, 1], fixed: true, launches: tiles(32)},
    '05_small_tile': {block: [16, 16, 1], fixed: true, launches: tiles(16)},
    '06_padded': {block: [32, 32, 1], fixed: true, launches: tiles(32)},
    '07_coarse': {block: [32, 8, 1], fixed: true, launches: tiles(32)},
  },
  kernel: '_Z16transpose_kernelPKfPfii',
};

const LABS = {reduction, matmul, transpose};

// The description of a step. Its own entries replace its lab's.
function stepOf(lab, name) {
  return {...LABS[lab], ...LABS[lab].steps[name]};
}

// The numbers, repeated until there are `count`.
function filled(numbers, count, type) {
  const all = type === 'int' ? new Int32Array(count) : new Float32Array(count);
  for (let at = 0; at < count; ++at) all[at] = numbers[at % numbers.length];
  return all;
}

const now = () => performance.now() / 1e3;

// Runs a step on a fresh emulator: {result, expected, wrong, launches, findings, profile,
// warp_instructions, seconds}; `wrong` is the number of the first wrong element, or -1.
// `seconds` is the time of the launches, measured with `clock`.
function runStep(emulator, lab, name, image, sizes, block, numbers, watch, clock = now) {
  const step = stepOf(lab, name);
  emulator.start('h200', watch);
  emulator.load(image);
  const at = {}, given = {};
  for (const [array, count] of Object.entries(step.inputs)) {
    given[array] = filled(numbers, count(sizes), step.type);
    at[array] = emulator.allocate(given[array].byteLength, array);
    emulator.write(at[array], new Uint8Array(given[array].buffer));
  }
  for (const [array, count] of Object.entries(step.others)) {
    at[array] = emulator.allocate(4 * count(sizes), array);
    emulator.spoil(at[array], 4 * count(sizes));
  }
  const launches = step.launches(sizes, block);
  const began = clock();
  let problem = '';
  try {
    for (const {grid, shared, arguments: values} of launches)
      emulator.launch(step.kernel, grid, block, shared, values.map((v) =>
        Array.isArray(v) ? at[v[0]] + BigInt(4 * v[1]) : v));
  } catch (error) {
    problem = error.message;
  }
  const seconds = clock() - began;
  const expected = step.expected(sizes, given);
  const result = {...emulator.report(), launches, problem, seconds, expected, result: null, wrong: -1};
  if (problem === '') {
    const bytes = emulator.read(at[step.result], 4 * expected.length);
    result.result = step.type === 'int' ? new Int32Array(bytes.buffer) : new Float32Array(bytes.buffer);
    // Sums of floats depend on the order. Each sum may differ by a rounding error.
    const most = step.type === 'int' ? 0 :
      Math.max(...numbers.map(Math.abs)) ** 2 * (sizes.n ?? 0) ** 2 * 2 ** -24;
    result.wrong = result.result.findIndex((v, k) => !(Math.abs(v - expected[k]) <= most));
  }
  return result;
}

if (typeof module !== 'undefined') module.exports = {LABS, stepOf, runStep};
