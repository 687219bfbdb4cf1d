// Runs steps in node as a page does. Reads [{lab, step, sizes, block, numbers, watch}] from standard
// input, and writes the result of each to standard output.
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

(async () => {
  const compiled = await WebAssembly.compile(fs.readFileSync(path.join(root, 'build/live/emulator.wasm')));
  const results = [];
  for (const run of JSON.parse(fs.readFileSync(0, 'utf8'))) {
    const image = `build/live/${run.lab}/${run.step}.fatbin`;
    const block = run.block ?? stepOf(run.lab, run.step).block;
    const found = runStep(await makeEmulator(compiled), run.lab, run.step, fs.readFileSync(path.join(root, image)),
      run.sizes, block, run.numbers, run.watch, cpuSeconds);
    results.push({...found, block, kernel: stepOf(run.lab, run.step).kernel, expected: undefined,
                  result: found.result && Buffer.from(found.result.buffer).toString('base64')});
  }
  process.stdout.write(JSON.stringify(results));
})();
