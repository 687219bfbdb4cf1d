// Pictures and the files that hold them: PNG, and PPM (P6) or PGM (P5).
//
// idea    Files come from anywhere, so their headers are read first and nothing is decoded before
//         the caller has accepted that many pixels; decoding takes memory in proportion to them.
// tested  common/lab/tests/picture_test.cpp
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace stepwise {

// Rows from the top, pixels from the left, without gaps; a byte for each channel. Channels: 1 grey,
// 3 red, green, blue, 4 these and one more.
struct picture {
  std::int64_t width = 0, height = 0, channels = 1;
  std::vector<std::byte> pixels;  // width * height * channels bytes

  bool operator==(const picture&) const = default;
};

// Why a file is no picture. what() has no subject: "it is a JPEG: expected ..."
class picture_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Of a picture that decode() takes: its four channels are 1 GiB then.
inline constexpr std::int64_t most_pixels = std::int64_t{1} << 28;

enum class picture_format { png, ppm, pgm };

struct picture_header {
  picture_format format{};
  std::int64_t width = 0, height = 0;  // 1 to 2^31 - 1; whether the pixels follow was not checked
  int bits = 8;                        // of a channel, or of a palette's indices
};

// What a file says of itself at its beginning. picture_error if that is no picture's.
picture_header header_of(std::span<const std::byte> file);

// The file's pixels in four channels; the caller has looked at its header. Grey values and palettes
// become colours; of 16 bits the upper 8 are kept, fewer are stretched to 0...255. The fourth byte
// is alpha where the file has it, else 255; colours stay what they are below it. picture_error if
// the file is damaged or truncated, has more than most_pixels, or takes memory out of proportion.
picture decode(std::span<const std::byte> file);

// The format that a file's name asks for by its ending: .png, .ppm, .pgm in small or capital
// letters.
std::optional<picture_format> format_of(std::string_view file_name);

// The content of a file. A fourth channel is left out; a PPM repeats grey three times. A PGM holds
// grey only: std::invalid_argument for colours.
std::string encode(const picture& shown, picture_format format);

// |a - b|, channel by channel; both have the same shape.
picture difference(const picture& a, const picture& b);

}  // namespace stepwise
