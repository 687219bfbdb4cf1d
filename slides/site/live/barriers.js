// Removes barriers from a kernel: the PTX in an uncompressed fat binary is text, and spaces replace
// the barrier of a source line. The emulator executes the PTX, so nothing has to be compiled again.
'use strict';

// lines: numbers of source lines whose __syncthreads() is to be removed
function withoutBarriers(image, lines = []) {
  if (!lines.length) return image;
  const changed = image.slice(), text = new TextDecoder('latin1').decode(image);
  const loc = /\.loc\s+\d+ (\d+) \d+|\bbar(?:rier)?\.sync[^;]*;/g;
  let line = 0;
  for (const found of text.matchAll(loc)) {
    if (found[1]) line = Number(found[1]);
    else if (lines.includes(line)) changed.fill(32, found.index, found.index + found[0].length);
  }
  return changed;
}

if (typeof module !== 'undefined') module.exports = {withoutBarriers};
