// Four neighbouring pixels of a row at a time: for the steps from 15_strips on.
//
// idea    A quad begins in a column that is a multiple of 4. If the picture's width is one too, a
//         quad of colours lies at a multiple of 16 bytes, wholly inside the picture or wholly
//         outside, and is one load; its edges are one store of 4 bytes. Else each pixel is one.
#pragma once

// The colours of the quad that begins in column x of row y, a pixel in each int; black outside.
__device__ inline uint4 load_quad(const uchar4* rgba, int x, int y, int width, int height) {
  uint4 quad = {0, 0, 0, 0};
  if (x < 0 || x >= width || y < 0 || y >= height) return quad;
  const auto* const at = reinterpret_cast<const unsigned*>(rgba) + y * width + x;
  if (width % 4 == 0) {
    quad = *reinterpret_cast<const uint4*>(at);
  } else {
    quad.x = at[0];
    if (x + 1 < width) quad.y = at[1];
    if (x + 2 < width) quad.z = at[2];
    if (x + 3 < width) quad.w = at[3];
  }
  return quad;
}

// Stores the quad's bytes, the lowest one in column x of row y, as far as they are in the picture.
// x and y are not negative and y < height.
__device__ inline void store_quad(unsigned char* out, int x, int y, int width, unsigned bytes) {
  unsigned char* const at = out + y * width + x;
  if (width % 4 == 0) {
    if (x < width) *reinterpret_cast<unsigned*>(at) = bytes;
  } else {
    for (int k = 0; k < 4; ++k)
      if (x + k < width) at[k] = static_cast<unsigned char>(bytes >> 8 * k);
  }
}

// 255 in those bytes of a quad whose pixels are in the picture, 0 in the others.
__device__ inline unsigned bytes_inside(int x, int width) {
  unsigned mask = 0;
  for (int k = 0; k < 4; ++k)
    if (x + k >= 0 && x + k < width) mask |= 0xffu << 8 * k;
  return mask;
}

// The lowest bytes of four words, as a quad.
__device__ inline unsigned lowest_bytes(unsigned a, unsigned b, unsigned c, unsigned d) {
  return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
}
