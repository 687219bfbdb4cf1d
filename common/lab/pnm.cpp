// Binary PPM and PGM: a few words, and then the pixels.
//
// idea    stb could read these files, too, but it does not detect a truncated file and ignores the
//         maximum value.
// source  netpbm's ppm(5) and pgm(5)
#include <algorithm>
#include <charconv>

#include "common/lab/picture_codecs.hpp"

namespace stepwise {
namespace {

struct pnm_words {
  std::int64_t width = 0, height = 0, largest = 0;
  std::int64_t channels = 0;
  std::size_t end = 0;  // offset of the first pixel
};

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Reads the number after whitespace and comments. Moves `at` past it.
std::int64_t number(std::string_view file, std::size_t& at) {
  while (at < file.size() && (is_blank(file[at]) || file[at] == '#')) {
    if (file[at] == '#')
      at = std::min(file.find_first_of("\r\n", at), file.size());
    else
      ++at;
  }
  std::int32_t value = 0;
  const char* const end = file.data() + file.size();
  const auto [after, error] = std::from_chars(file.data() + std::min(at, file.size()), end, value);
  if (error != std::errc{} || value < 1) {
    throw picture_error("its header is damaged: expected width, height and largest value");
  }
  at = static_cast<std::size_t>(after - file.data());
  return value;
}

pnm_words words_of(std::span<const std::byte> bytes) {
  const std::string_view file(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  pnm_words words;
  words.channels = file[1] == '6' ? 3 : 1;
  std::size_t at = 2;
  words.width = number(file, at);
  words.height = number(file, at);
  words.largest = number(file, at);
  if (words.largest > 65535) throw picture_error("its largest value is more than 65535");
  if (at == file.size() || !is_blank(file[at])) {
    throw picture_error("its header is damaged: no space after the largest value");
  }
  words.end = at + 1;
  return words;
}

}  // namespace

bool is_pnm(std::span<const std::byte> file) {
  const auto at = [&](std::size_t i) { return static_cast<char>(file[i]); };
  return file.size() > 2 && at(0) == 'P' && (at(1) == '5' || at(1) == '6') &&
         (is_blank(at(2)) || at(2) == '#');
}

picture_header pnm_header(std::span<const std::byte> file) {
  const pnm_words words = words_of(file);
  return {words.channels == 3 ? picture_format::ppm : picture_format::pgm, words.width,
          words.height, words.largest > 255 ? 16 : 8};
}

picture decode_pnm(std::span<const std::byte> file) {
  const pnm_words words = words_of(file);
  const std::int64_t bytes_each = words.largest > 255 ? 2 : 1;
  const std::int64_t pixels = words.width * words.height;
  const std::int64_t needed = pixels * words.channels * bytes_each;
  const auto there = static_cast<std::int64_t>(file.size() - words.end);
  if (there < needed) {
    throw picture_error("it is truncated: " + std::to_string(words.width) + " x " +
                        std::to_string(words.height) + " pixels take " + std::to_string(needed) +
                        " bytes, of which " + std::to_string(there) + " are there");
  }
  picture result{words.width, words.height, 4,
                 std::vector<std::byte>(static_cast<std::size_t>(4 * pixels), std::byte{255})};
  // A 16-bit value has its high byte first. For the usual maximum, 65535, the upper 8 bits are
  // kept, as for PNG. Values above the maximum are clamped.
  const auto value = [&](std::int64_t i) {
    const auto* const p = file.data() + words.end + i * bytes_each;
    int v = std::to_integer<int>(p[0]);
    if (words.largest == 255 || words.largest == 65535) return p[0];
    if (bytes_each == 2) v = v << 8 | std::to_integer<int>(p[1]);
    const auto largest = static_cast<int>(words.largest);
    return static_cast<std::byte>((std::min(v, largest) * 255 + largest / 2) / largest);
  };
  for (std::int64_t i = 0; i < pixels; ++i) {
    for (std::int64_t c = 0; c < 3; ++c) {
      result.pixels[static_cast<std::size_t>(4 * i + c)] =
          value(words.channels == 3 ? 3 * i + c : i);
    }
  }
  return result;
}

std::string encode_pnm(const picture& shown) {
  std::string file = (shown.channels == 3 ? "P6\n" : "P5\n") + std::to_string(shown.width) + " " +
                     std::to_string(shown.height) + "\n255\n";
  file.append(reinterpret_cast<const char*>(shown.pixels.data()), shown.pixels.size());
  return file;
}

}  // namespace stepwise
