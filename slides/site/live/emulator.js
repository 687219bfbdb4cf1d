// The emulator as a WebAssembly module: memory, launches, results. For a worker, and for node.
'use strict';

// The module needs a system (WASI). It gets a clock, and an output for what kernels print.
function systemFor(memory, print) {
  const noFile = 8, noSuch = 44, notThere = 52;
  const view = () => new DataView(memory().buffer);
  return {
    clock_time_get(_clock, _precision, at) {
      view().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
      return 0;
    },
    environ_sizes_get(count, bytes) {
      view().setUint32(count, 0, true);
      view().setUint32(bytes, 0, true);
      return 0;
    },
    environ_get: () => 0,
    fd_write(file, pieces, count, written) {
      let all = 0;
      for (let k = 0; k < count; ++k) {
        const at = view().getUint32(pieces + 8 * k, true);
        const bytes = view().getUint32(pieces + 8 * k + 4, true);
        print(new TextDecoder().decode(new Uint8Array(memory().buffer, at, bytes)), file);
        all += bytes;
      }
      view().setUint32(written, all, true);
      return 0;
    },
    proc_exit(code) {
      throw new Error(`the emulator ended (${code})`);
    },
    path_open: () => noSuch,
    path_filestat_get: () => noSuch,
    other: (name) => () => (name.startsWith('fd_') ? noFile : notThere),
  };
}

// compiled: a WebAssembly.Module; print(text, file): what a kernel prints.
async function makeEmulator(compiled, print = () => {}) {
  const system = systemFor(() => instance.exports.memory, print);
  const wanted = {};
  for (const {module, name} of WebAssembly.Module.imports(compiled))
    (wanted[module] ??= {})[name] = system[name] ?? system.other(name);
  const instance = await WebAssembly.instantiate(compiled, wanted);
  const it = instance.exports;
  it._initialize();

  const bytesAt = (at, count) => new Uint8Array(it.memory.buffer, at, count);
  const textAt = (at) => {
    const all = new Uint8Array(it.memory.buffer, at >>> 0);
    return new TextDecoder().decode(all.subarray(0, all.indexOf(0)));
  };
  // The bytes lie in the module's memory while `use` runs.
  const with_ = (bytes, use) => {
    const at = it.room(Math.max(bytes.length, 1)) >>> 0;  // JavaScript reads the address as signed
    if (at === 0) throw new Error('the page has no memory left');
    try {
      bytesAt(at, bytes.length).set(bytes);
      return use(at, bytes.length);
    } finally {
      it.leave(at);
    }
  };
  const words = (text) => new TextEncoder().encode(`${text}\0`);
  const must = (at) => {
    const said = textAt(at);
    if (said !== '') throw new Error(said);
  };
  return {
    // checks, counters: whether to check, and whether to count, while kernels run.
    start(gpu, {checks = false, counters = false} = {}) {
      with_(words(gpu), (at) => must(it.start(at, (checks ? 1 : 0) + (counters ? 2 : 0))));
    },
    load: (image) => with_(image, (at, count) => must(it.load(at, count))),
    allocate(bytes, name) {
      const address = with_(words(name), (at) => it.allocate(bytes, at));
      if (address === 0n) throw new Error(textAt(it.problem()));
      return address;
    },
    write: (address, bytes) => with_(bytes, (at, count) => must(it.put(address, at, count))),
    read(address, count) {
      return with_(new Uint8Array(count), (at) => {
        must(it.get(at, address, count));
        return bytesAt(at, count).slice();
      });
    },
    spoil: (address, bytes) => must(it.spoil(address, bytes)),
    // grid, block: [x, y, z]; values: an address or an integer per parameter.
    launch(kernel, grid, block, sharedBytes, values) {
      const shape = new Uint8Array(new Uint32Array([...grid, ...block]).buffer);
      const given = new Uint8Array(BigInt64Array.from(values.map(BigInt)).buffer);
      with_(words(kernel), (name) => with_(shape, (at) => with_(given, (from) =>
        must(it.launch(name, at, sharedBytes, from, values.length)))));
    },
    report: () => JSON.parse(textAt(it.report())),
  };
}

if (typeof module !== 'undefined') module.exports = {makeEmulator};
