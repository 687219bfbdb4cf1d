// The page's worker thread. It holds the compiled emulator, and makes a fresh instance for each run.
'use strict';
let compiled;

onmessage = async ({data}) => {
  try {
    if (data.module) {
      compiled = await WebAssembly.compile(data.module);
      return postMessage({ready: true});
    }
    const printed = [];
    const emulator = await makeEmulator(compiled, (text) => printed.push(text));
    const image = withoutBarriers(data.image, data.removed);
    const result = runStep(emulator, data.lab, data.step, image, data.sizes, data.block, data.numbers,
                           {checks: true, counters: true});
    postMessage({...result, printed: printed.join('')});
  } catch (error) {
    postMessage({failed: error.message});
  }
};
