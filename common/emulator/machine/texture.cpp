// Converts coordinates to texels, and texels to numbers.
#include "common/emulator/machine/texture.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace stepwise::emulator {
namespace {

// The texel that number `n` addresses; -1 for the border.
std::int64_t addressed(texture_address mode, std::int64_t n, std::int64_t size) {
  if (n >= 0 && n < size) return n;
  if (size <= 0) return -1;
  switch (mode) {
    case texture_address::wrap:
      return ((n % size) + size) % size;
    case texture_address::mirror: {
      const std::int64_t m = ((n % (2 * size)) + 2 * size) % (2 * size);
      return m < size ? m : 2 * size - 1 - m;
    }
    case texture_address::border:
      return -1;
    default:
      return n < 0 ? 0 : size - 1;
  }
}

// Wrapping and mirroring need normalised coordinates.
texture_address mode_of(const texture_record& t, unsigned dimension) {
  const texture_address mode = t.address[dimension];
  const bool repeats = mode == texture_address::wrap || mode == texture_address::mirror;
  return repeats && t.normalized_coordinates == 0 ? texture_address::clamp : mode;
}

// Normalised coordinates are truncated to 21 to 23 binary digits, then multiplied. Measured on an
// H100 with 2048 coordinates in each of 31 sizes, among them 8191 to 8193, 65535 and 100001.
double truncated_coordinate(double u, std::uint32_t size) {
  const double steps = size <= 8192 ? 0x1p21 : size <= 65536 ? 0x1p22 : 0x1p23;
  return std::floor(u * steps) / steps;
}

float half_value(std::uint16_t h) {
  const std::uint32_t sign = (h & 0x8000u) << 16, magnitude = h & 0x7fffu;
  if (magnitude >= 0x7c00)
    return std::bit_cast<float>(sign | 0x7f80'0000u | (magnitude & 0x3ffu) << 13);
  const float value = magnitude < 0x400 ? static_cast<float>(magnitude) * 0x1p-24f
                                        : std::bit_cast<float>((magnitude << 13) + 0x3800'0000u);
  return sign != 0 ? -value : value;
}

}  // namespace

texel_pair texels_at(const texture_record& t, unsigned dimension, std::uint32_t size,
                     float coordinate, bool linear) {
  const texture_address mode = mode_of(t, dimension);
  double u = static_cast<double>(coordinate);
  if (mode == texture_address::wrap) u -= std::floor(u);
  if (mode == texture_address::mirror) u -= 2 * std::floor(u / 2);
  if (std::isnan(u)) u = 0;  // also for infinities that wrap
  if (t.normalized_coordinates != 0) u = truncated_coordinate(u, size) * size;
  u = std::clamp(u, -0x1p40, 0x1p40);
  if (!linear) {
    const auto n = addressed(mode, static_cast<std::int64_t>(std::floor(u)), size);
    return {n, n, 0};
  }
  const auto fixed = static_cast<std::int64_t>(std::floor((u - 0.5) * 256 + 0.5));
  const std::int64_t n = fixed >> 8;
  texel_pair p = {addressed(mode, n, size), addressed(mode, n + 1, size),
                  static_cast<std::uint32_t>(fixed & 255)};
  // Both are the edge texel. Splitting its weight would change the rounding of a volume's weights.
  if (mode == texture_address::clamp && p.first == p.second) p.weight = 0;
  return p;
}

std::int64_t texel_at(std::uint32_t size, std::int32_t coordinate) {
  return addressed(texture_address::border, coordinate, size);
}

// A weight is split into two parts, both in 256ths. Halves are rounded up in the part that larger()
// returns, and down in the part that smaller() returns. The other part is the remainder. A volume's
// weight is divided between its planes, then along x, then along y. Measured on an H200 and an
// H100.
corner_weights weights_of(const texel_pair (&p)[3], unsigned dimensions) {
  const auto larger = [](std::uint32_t of, std::uint32_t w) { return (of * w + 128) / 256; };
  const auto smaller = [](std::uint32_t of, std::uint32_t w) { return (of * w + 127) / 256; };
  corner_weights w = {};
  const std::uint32_t x = p[0].weight, y = dimensions > 1 ? p[1].weight : 0;
  if (dimensions < 3) {
    w[3] = larger(x, y);
    w[2] = y - w[3];
    w[1] = x - w[3];
    w[0] = 256 - x - y + w[3];
    return w;
  }
  const std::uint32_t planes[] = {256 - p[2].weight, p[2].weight};
  for (unsigned z = 0; z < 2; ++z) {
    const std::uint32_t second = larger(planes[z], x), first = planes[z] - second;
    w[4 * z + 3] = larger(second, y);
    w[4 * z + 1] = second - w[4 * z + 3];
    w[4 * z + 2] = smaller(first, y);
    w[4 * z] = first - w[4 * z + 2];
  }
  return w;
}

namespace {

// The biased exponent of a double that was a float. It is lowest for 0.
int exponent_of(double value) {
  return static_cast<int>(std::bit_cast<std::uint64_t>(value) >> 52 & 0x7ff);
}

// The sum of one plane. Texels are aligned with the largest texel that counts. Its 28 leading
// binary digits are kept, 4 more than a float has, and lower digits of the others are dropped.
double plane_sum(const double* parts, const std::uint32_t* weights) {
  int largest = 0, smallest = 0x7ff;
  for (unsigned n = 0; n < 4; ++n) {
    if (weights[n] == 0 || parts[n] == 0) continue;
    largest = std::max(largest, exponent_of(parts[n]));
    smallest = std::min(smallest, exponent_of(parts[n]));
  }
  double sum = 0;
  if (largest - smallest <= 4 || largest == 0x7ff) {
    for (unsigned n = 0; n < 4; ++n)
      if (weights[n] != 0) sum += weights[n] * parts[n];
    return sum;
  }
  constexpr int kept = 27;  // after the first
  const double unit = std::ldexp(1.0, largest - 1023 - kept);
  for (unsigned n = 0; n < 4; ++n)
    if (weights[n] != 0) sum += weights[n] * (std::trunc(parts[n] / unit) * unit);
  return sum;
}

}  // namespace

double weighted_sum(const corner_parts& parts, const corner_weights& weights) {
  return plane_sum(&parts[0], &weights[0]) + plane_sum(&parts[4], &weights[4]);
}

cube_place cube_face(float x, float y, float z) {
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  unsigned face = 0;
  float s = 0, t = 0, major = 0;
  if (az >= ax && az >= ay) {
    face = z < 0 ? 5 : 4, major = az, s = z < 0 ? -x : x, t = -y;
  } else if (ay >= ax) {
    face = y < 0 ? 3 : 2, major = ay, s = x, t = y < 0 ? -z : z;
  } else {
    face = x < 0 ? 1 : 0, major = ax, s = x < 0 ? z : -z, t = -y;
  }
  return {face, (s / major + 1) / 2, (t / major + 1) / 2};
}

bool reads_floats(const texture_record& t) {
  return t.format == texel_format::floating || t.normalized_values != 0;
}

namespace {

float normal(const texture_record& t, double scaled) {
  return static_cast<float>(scaled / (t.format == texel_format::unsigned_integer ? 65535 : 32767));
}

// A number from -1 to 1 in units of 16 bits, as hardware filters them. -128 is a little below -1.
double in_16_bits(const texture_record& t, std::uint32_t word) {
  if (t.format == texel_format::unsigned_integer)
    return t.channel_bits == 8 ? word * 257.0 : static_cast<double>(word);
  if (t.channel_bits == 8) return static_cast<std::int8_t>(word) * (32767 / 127.0);
  return static_cast<std::int16_t>(word);
}

std::uint32_t decoded(const texture_record& t, std::uint32_t word) {
  const unsigned unused = 32u - t.channel_bits;
  if (t.format == texel_format::floating)
    return unused == 0 ? word
                       : std::bit_cast<std::uint32_t>(half_value(static_cast<std::uint16_t>(word)));
  if (t.normalized_values != 0)
    return std::bit_cast<std::uint32_t>(
        t.format == texel_format::signed_integer && t.channel_bits == 8
            ? static_cast<float>(static_cast<std::int8_t>(word)) / 127
            : normal(t, in_16_bits(t, word)));
  if (t.format == texel_format::unsigned_integer) return word << unused >> unused;
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(word << unused) >> unused);
}

}  // namespace

std::uint32_t channel_of(const texture_record& t, const std::byte* texel, unsigned n) {
  if (n >= t.channels) return 0;
  const auto word = [&]<class T>(T) {
    T value;
    std::memcpy(&value, texel + n * sizeof value, sizeof value);
    return decoded(t, value);
  };
  return t.channel_bits == 32   ? word(std::uint32_t{})
         : t.channel_bits == 16 ? word(std::uint16_t{})
                                : word(std::uint8_t{});
}

std::uint32_t as_read(const texture_record& t, std::uint32_t channel) {
  if (t.normalized_values == 0 || t.format != texel_format::signed_integer) return channel;
  return std::bit_cast<std::uint32_t>(std::max(std::bit_cast<float>(channel), -1.0f));
}

std::uint32_t border_channel(const texture_record& t, unsigned n) {
  if (t.layout == texel_layout::linear || n >= t.channels) return 0;
  if (t.normalized_values == 0)
    return t.format == texel_format::floating
               ? std::bit_cast<std::uint32_t>(t.border[n])
               : decoded(t, std::bit_cast<std::uint32_t>(t.border[n]));
  const bool is_signed = t.format == texel_format::signed_integer;
  const auto most = static_cast<float>((1u << (t.channel_bits - (is_signed ? 1u : 0u))) - 1);
  const float inside = std::clamp(t.border[n], is_signed ? -1.0f : 0.0f, 1.0f);
  return std::bit_cast<std::uint32_t>(std::nearbyint(inside * most) / most);
}

double filtered_part(const texture_record& t, std::uint32_t channel) {
  const auto value = static_cast<double>(std::bit_cast<float>(channel));
  if (t.normalized_values == 0) return value;
  return value * (t.format == texel_format::signed_integer ? 32767 : 65535);
}

namespace {

// Rounds ties away from 0, as an H100 does for positive means.
float nearest_float(double value) {
  constexpr std::uint64_t half_a_step = std::uint64_t{1} << 28;
  const float even = static_cast<float>(value);
  if (!std::isnormal(even)) return even;
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(value) + half_a_step;
  return static_cast<float>(std::bit_cast<double>(bits & ~(2 * half_a_step - 1)));
}

}  // namespace

float filtered_value(const texture_record& t, double sum) {
  if (t.normalized_values != 0) return normal(t, std::floor(sum / 256 + 0.5));
  const double value = sum / 256;
  if (t.channel_bits != 16) return nearest_float(value);
  // Rounds to the nearest f16.
  const int exponent = std::max(std::ilogb(value), -14);
  if (value == 0 || !std::isfinite(value)) return static_cast<float>(value);
  const double unit = std::ldexp(1.0, exponent - 10);
  return static_cast<float>(std::nearbyint(value / unit) * unit);
}

}  // namespace stepwise::emulator
