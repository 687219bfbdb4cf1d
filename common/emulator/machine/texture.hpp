// Maps a texture's coordinates to texels, and texels to values.
//
// source  CUDA C++ Programming Guide, "Texture Fetching": the texels that are read, addresses
//         outside of the texture, weights of 8 fractional bits, and the faces of cubes. Details
//         that it leaves open were measured on an H200 (DESIGN.md).
// tests   ../../runtime/conformance/texture/
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "common/device/texture_record.hpp"

namespace stepwise::emulator {

enum class texture_operation : std::uint8_t { sample, gather, load, store, query };
enum class texture_query : std::uint8_t { width, height, depth, layers };
enum class surface_bounds : std::uint8_t { trap, clamp, zero };

// An instruction on textures or surfaces, as lowering packs it into op::immediate.
struct texture_form {
  texture_operation operation = texture_operation::sample;
  std::uint8_t dimensions = 1;  // 1, 2 or 3; 3 for a cube
  std::uint8_t flags = 0;
  std::uint8_t component = 0;       // gather: of the texels
  std::uint8_t elements = 1;        // load, store: 1, 2 or 4
  std::uint8_t element_bytes = 4;   // load, store
  std::uint8_t register_bytes = 4;  // load, store
  std::uint8_t detail = 0;          // a texture_query or surface_bounds

  static constexpr std::uint8_t layered = 1, cube = 2, integer_coordinates = 4, of_surface = 8;
  bool has(std::uint8_t flag) const { return (flags & flag) != 0; }
};
static_assert(sizeof(texture_form) == sizeof(std::int64_t));
inline std::int64_t pack(const texture_form& f) { return std::bit_cast<std::int64_t>(f); }
inline texture_form unpack_texture(std::int64_t bits) { return std::bit_cast<texture_form>(bits); }

// The numbers of the two texels around a coordinate (-1 outside of a border), and the weight of the
// second texel in 256ths.
struct texel_pair {
  std::int64_t first = 0, second = 0;
  std::uint32_t weight = 0;
};
// For a dimension of `size` texels. `linear`: the two nearest texels; otherwise the nearest one.
texel_pair texels_at(const texture_record& t, unsigned dimension, std::uint32_t size,
                     float coordinate, bool linear);
// The texel at a whole coordinate; -1 outside, which reads as 0.
std::int64_t texel_at(std::uint32_t size, std::int32_t coordinate);

// Weights in 256ths, by corner: bit d of its number selects the texel of dimension d. Sum: 256.
using corner_weights = std::array<std::uint32_t, 8>;
corner_weights weights_of(const texel_pair (&pairs)[3], unsigned dimensions);
// The sum of the corners' values times their weights, as an H100 adds them. 960,000 fetches of
// planes match its bits, as do 96,000 of volumes, except for 31 with values of very different
// magnitudes.
using corner_parts = std::array<double, 8>;
double weighted_sum(const corner_parts& parts, const corner_weights& weights);

// The face of a cube that a direction meets, and the normalised coordinates on it.
struct cube_place {
  unsigned face;
  float s, t;
};
cube_place cube_face(float x, float y, float z);

// Channel `n` of a texel as the instruction sees it, one 32-bit word: an integer, or the bits of a
// float. Channels that the format lacks are 0.
std::uint32_t channel_of(const texture_record& t, const std::byte* texel, unsigned n);
// Like channel_of(), for the border, or where there is no texel.
std::uint32_t border_channel(const texture_record& t, unsigned n);
bool reads_floats(const texture_record& t);
// A channel as a lane reads it. The lowest integer of a signed format reads as -1, but is filtered
// as a slightly lower value.
std::uint32_t as_read(const texture_record& t, std::uint32_t channel);
// A channel in the units that are filtered, and the value of a sum, which is 256 times the mean.
double filtered_part(const texture_record& t, std::uint32_t channel);
float filtered_value(const texture_record& t, double sum);

}  // namespace stepwise::emulator
