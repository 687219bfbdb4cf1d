// Pictures, and their files: PNG, PPM (P6) and PGM (P5).
//
// idea    Files come from anywhere, so the caller first reads the header and decides whether to
//         decode that many pixels. Decoding takes memory in proportion to the number of pixels.
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

// Rows from top to bottom, pixels from left to right, without gaps, one byte per channel. 1 channel
// is grey, 3 channels are red, green and blue, and 4 are these and one more.
struct picture {
  std::int64_t width = 0, height = 0, channels = 1;
  std::vector<std::byte> pixels;  // width * height * channels bytes

  bool operator==(const picture&) const = default;
};

// The reason why a file is not a picture. what() does not name the file: "it is a JPEG: expected
// ..."
class picture_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The limit of decode(), at which four channels take 1 GiB.
inline constexpr std::int64_t most_pixels = std::int64_t{1} << 28;

enum class picture_format { png, ppm, pgm };

struct picture_header {
  picture_format format{};
  std::int64_t width = 0, height = 0;  // 1 to 2^31 - 1; the file may have fewer pixels
  int bits = 8;                        // per channel, or per palette index
};

// Reads the header at the beginning of a file. picture_error if the file is not a picture.
picture_header header_of(std::span<const std::byte> file);

// The file's pixels in four channels; the caller must check the header first. Grey values and
// palettes become colours. Of 16 bits, the upper 8 are kept; fewer than 8 bits are scaled to
// 0...255. The fourth byte is alpha, not premultiplied, or 255 if the file has none. picture_error
// if the file is damaged or truncated, has more than most_pixels, or needs too much memory.
picture decode(std::span<const std::byte> file);

// The format for the extension of a file name: .png, .ppm or .pgm, in lower or upper case.
std::optional<picture_format> format_of(std::string_view file_name);

// The content of a file. Drops a fourth channel. A PPM repeats grey three times. Throws
// std::invalid_argument for a PGM with colours, because a PGM holds only grey.
std::string encode(const picture& shown, picture_format format);

// |a - b| per channel. Both pictures must have the same shape.
picture difference(const picture& a, const picture& b);

}  // namespace stepwise
