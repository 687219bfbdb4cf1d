// Accesses four neighbouring pixels of a row at a time, for the steps from 12_strips to
// 23_narrow_blocks.
//
// idea    A quad begins in a column that is a multiple of 4. If the picture's width is one too, a
//         quad lies inside or outside the picture as a whole. Its colours begin at a multiple of 16
//         bytes: one load. Its edges are one store of 4 bytes. Otherwise, pixels go one by one.
#pragma once

// The colours of a quad of which `left` pixels, at least one, are in the picture; the others are
// black. whole: the width is a multiple of 4, so all four pixels are in the picture.
template <bool whole>
__device__ inline uint4 quad_at(const uchar4* rgba, int left) {
  const auto* const first = reinterpret_cast<const unsigned*>(rgba);
  if constexpr (whole) return *reinterpret_cast<const uint4*>(first);
  uint4 quad = {first[0], 0, 0, 0};
  if (left > 1) quad.y = first[1];
  if (left > 2) quad.z = first[2];
  if (left > 3) quad.w = first[3];
  return quad;
}

// Stores the quad's bytes, the lowest one first. `left` of them are in the picture.
template <bool whole>
__device__ inline void store_at(unsigned char* out, int left, unsigned bytes) {
  if constexpr (whole) {
    *reinterpret_cast<unsigned*>(out) = bytes;
  } else {
    for (int k = 0; k < 4; ++k)
      if (k < left) out[k] = static_cast<unsigned char>(bytes >> 8 * k);
  }
}

// The colours of the quad that begins in column x of row y, one pixel per int; black outside.
__device__ inline uint4 load_quad(const uchar4* rgba, int x, int y, int width, int height) {
  if (x < 0 || x >= width || y < 0 || y >= height) return {0, 0, 0, 0};
  const uchar4* const first = rgba + y * width + x;
  return width % 4 == 0 ? quad_at<true>(first, 4) : quad_at<false>(first, width - x);
}

// Stores the quad's bytes, the lowest one in column x of row y, if they are in the picture. x and y
// must not be negative, and y must be below height.
__device__ inline void store_quad(unsigned char* out, int x, int y, int width, unsigned bytes) {
  if (x >= width) return;
  unsigned char* const first = out + y * width + x;
  width % 4 == 0 ? store_at<true>(first, 4, bytes) : store_at<false>(first, width - x, bytes);
}

// 255 in the bytes of a quad whose pixels are in the picture, 0 in the others.
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
