// Where a texture's coordinates lead, and what its texels are worth.
//
// source  CUDA C++ Programming Guide, "Texture Fetching": which texels are read, how addresses
//         beyond the texture are taken, weights of 8 fractional bits, and the faces of cubes; what
//         it leaves open was measured on an H200 (DESIGN.md).
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

// An instruction on textures or surfaces: what lowering puts into op::immediate.
struct texture_form {
  texture_operation operation = texture_operation::sample;
  std::uint8_t dimensions = 1;  // 1, 2 or 3; of a cube 3
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

// The texels that a coordinate lies between: their numbers, -1 outside of a border; and how many
// 256ths of the value are the second one's.
struct texel_pair {
  std::int64_t first = 0, second = 0;
  std::uint32_t weight = 0;
};
// In a dimension of `size` texels. `linear`: of the two nearest texels; else of the one.
texel_pair texels_at(const texture_record& t, unsigned dimension, std::uint32_t size,
                     float coordinate, bool linear);
// The texel that a whole coordinate names; -1 outside: it reads as 0.
std::int64_t texel_at(std::uint32_t size, std::int32_t coordinate);

// 256ths, by corner: bit d of its number says which texel of dimension d. They add up to 256.
using corner_weights = std::array<std::uint32_t, 8>;
corner_weights weights_of(const texel_pair (&pairs)[3], unsigned dimensions);
// The corners' values, each times its weight, as an H100 adds them: 960,000 fetches of planes and
// 96,000 of volumes equal its bits, but for 31 of the latter, of values of very different
// magnitudes.
using corner_parts = std::array<double, 8>;
double weighted_sum(const corner_parts& parts, const corner_weights& weights);

// The face of a cube that a direction meets, and where, as normalised coordinates.
struct cube_place {
  unsigned face;
  float s, t;
};
cube_place cube_face(float x, float y, float z);

// Channel `n` of a texel as the instruction sees it, one 32-bit word: an integer, or the bits of a
// float. Channels that the format lacks are 0.
std::uint32_t channel_of(const texture_record& t, const std::byte* texel, unsigned n);
// Like the above, for the border, or for nothing.
std::uint32_t border_channel(const texture_record& t, unsigned n);
bool reads_floats(const texture_record& t);
// A channel as a lane gets it: the least integer of a format with signs counts as -1, but is
// filtered as a little less.
std::uint32_t as_read(const texture_record& t, std::uint32_t channel);
// A channel in the units that are filtered, and what 256 times their mean is worth.
double filtered_part(const texture_record& t, std::uint32_t channel);
float filtered_value(const texture_record& t, double sum);

}  // namespace stepwise::emulator
