// Runs versions in a worker thread, one after the other. EMULATOR and WORKER come from other scripts
// of the page. A run that is no longer wanted is ended by terminating its worker.
'use strict';

async function unpacked(base64) {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function makeRunner() {
  const emulator = unpacked(EMULATOR);
  let worker = null, waiting = null;

  const answerTo = (message) => new Promise((done, failed) => {
    waiting = failed;
    worker.onerror = (event) => failed(new Error(event.message || 'The worker did not start'));
    worker.onmessage = ({data}) => {
      waiting = null;
      done(data);
    };
    worker.postMessage(message);
  });
  const begin = async () => {
    const url = URL.createObjectURL(new Blob([WORKER], {type: 'text/javascript'}));
    worker = new Worker(url);
    URL.revokeObjectURL(url);
    const started = await answerTo({module: await emulator});
    if (!started.ready) throw new Error(started.failed);
  };
  return {
    // Ends the current run. Its promise is rejected with null.
    stop() {
      if (!waiting) return;
      worker.terminate();
      worker = null;
      waiting(null);
      waiting = null;
    },
    async run(request) {
      if (!worker) await begin();
      return answerTo(request);
    },
  };
}
