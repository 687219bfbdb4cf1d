// A texture or surface object as kernels see it: a record in device memory whose address is the
// object's handle.
//
// idea    The runtime writes the record with ordinary device calls, and the emulator reads it when
//         a lane uses the handle. A destroyed object is therefore freed memory, and its use is
//         caught as such. A record may hold anything, because every texel is checked like any other
//         access.
// watch   Only for the emulated device in this process. A GPU's driver makes its own objects, with
//         another kind of handle.
//         A kernel can write its own record, which is harmless only if its reads are not graded;
//         see textures_in_use.
#pragma once

#include <atomic>
#include <cstdint>

namespace stepwise {

// The layout of texels: in a CUDA array, or in pitched or linear memory of the program.
enum class texel_layout : std::uint8_t { array, pitched, linear };
enum class texel_format : std::uint8_t { signed_integer, unsigned_integer, floating };
// Numbered as enum cudaTextureAddressMode.
enum class texture_address : std::uint8_t { wrap, clamp, mirror, border };

struct texture_record {
  static constexpr std::uint64_t texture = 0x7865'7420'7870'6574;  // values of `kind`
  static constexpr std::uint64_t surface = 0x6672'7573'2078'7073;

  std::uint64_t kind = 0;
  std::uint64_t first = 0;  // address of the texel 0, 0, 0
  std::uint64_t row_bytes = 0, layer_bytes = 0;
  // In texels. Unused dimensions are 1. The layers, and the faces of cubes, count as `depth`.
  std::uint32_t width = 1, height = 1, depth = 1;
  texel_layout layout = texel_layout::array;
  texel_format format = texel_format::floating;
  std::uint8_t channels = 1;      // 1, 2 or 4
  std::uint8_t channel_bits = 8;  // 8, 16 or 32
  // Booleans, 0 or 1. The first two are for textures and surfaces, the others for textures only.
  std::uint8_t layered = 0, cube = 0;
  std::uint8_t linear_filter = 0, normalized_coordinates = 0, normalized_values = 0;
  texture_address address[3] = {};
  float border[4] = {};

  bool is_sound() const {
    return (width != 0 || layout == texel_layout::linear) && height != 0 && depth != 0 &&
           channels != 0 && channels <= 4 &&
           (channel_bits == 8 || channel_bits == 16 || channel_bits == 32);
  }
  std::uint32_t texel_bytes() const { return channels * channel_bits / 8u; }
};

// Set by the first object that this process creates. Until then, every handle is rejected. A device
// that serves another process never has such objects, because their reads would not be counted.
inline std::atomic<bool> textures_in_use = false;

}  // namespace stepwise
