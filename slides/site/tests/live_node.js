// Runs steps in node as a page does. Reads [{lab, step, sizes, block, numbers, watch}] from standard
// input, and writes the result of each to standard output. An entry may also be a kernel of one block
// with two arrays: {ptx, kernel, threads, input (base64), output (bytes)}.
'use strict';
const fs = require('node:fs');
const path = require('node:path');

const root = path.resolve(__dirname, '../../..');
const {makeEmulator} = require(path.join(root, 'slides/site/live/emulator.js'));
const {stepOf, runStep} = require(path.join(root, 'slides/site/live/steps.js'));

// The CPU time of this process, including the compiler's threads.
function cpuSeconds() {
  const {user, system} = process.cpuUsage();
  return (user + system) / 1e6;
}

const base64 = (bytes) => Buffer.from(bytes.buffer ?? bytes).toString('base64');

function runBlock(emulator, {ptx, kernel, threads, input, output}) {
  emulator.start('h200');
  emulator.load(Buffer.from(ptx));
  const bytes = Buffer.from(input, 'base64');
  const given = emulator.allocate(bytes.length, 'in'), got = emulator.allocate(output, 'out');
  emulator.write(given, bytes);
  emulator.launch(kernel, [1, 1, 1], [threads, 1, 1], 0, [given, got]);
  return {result: base64(emulator.read(got, output))};
}

(async () => {
  const compiled = await WebAssembly.compile(fs.readFileSync(path.join(root, 'build/live/emulator.wasm')));
  const results = [];
  for (const run of JSON.parse(fs.readFileSync(0, 'utf8'))) {
    const emulator = await makeEmulator(compiled);
    if (run.ptx) {
      results.push(runBlock(emulator, run));
      continue;
    }
    const image = `build/live/${run.lab}/${run.step}.fatbin`;
    const block = run.block ?? stepOf(run.lab, run.step).block;
    const found = runStep(emulator, run.lab, run.step, fs.readFileSync(path.join(root, image)),
      run.sizes, block, run.numbers, run.watch, cpuSeconds);
    results.push({...found, block, kernel: stepOf(run.lab, run.step).kernel, expected: undefined,
                  result: found.result && base64(found.result)});
  }
  process.stdout.write(JSON.stringify(results));
})();
