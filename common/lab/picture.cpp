// Picks the format by content or name, limits the pixels, converts channels and compares pictures.
#include "common/lab/picture.hpp"

#include <algorithm>
#include <cctype>

#include "common/lab/picture_codecs.hpp"

namespace stepwise {
namespace {

constexpr const char* accepted = "expected a PNG, a PPM (P6) or a PGM (P5)";

struct other_format {
  std::string_view starts_with, name;
};
constexpr other_format other_formats[] = {
    {"\xff\xd8\xff", "a JPEG"}, {"GIF8", "a GIF"},       {"II*", "a TIFF"}, {"%PDF-", "a PDF"},
    {"P3", "a PPM as text"},    {"P2", "a PGM as text"}, {"P7", "a PAM"}};

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

[[noreturn]] void refuse(std::string_view file) {
  if (file.empty()) throw picture_error(std::string("it is empty: ") + accepted);
  for (const auto& other : other_formats) {
    if (file.starts_with(other.starts_with)) {
      throw picture_error("it is " + std::string(other.name) + ": " + accepted);
    }
  }
  throw picture_error(std::string("it is not a picture format that can be read here: ") + accepted);
}

}  // namespace

picture_header header_of(std::span<const std::byte> file) {
  if (is_png(file)) return png_header(file);
  if (is_pnm(file)) return pnm_header(file);
  refuse(text_of(file));
}

picture decode(std::span<const std::byte> file) {
  const picture_header header = header_of(file);
  if (header.width > most_pixels / header.height) {
    throw picture_error("it has " + std::to_string(header.width) + " x " +
                        std::to_string(header.height) + " pixels; the most is 2^28");
  }
  return header.format == picture_format::png ? decode_png(file) : decode_pnm(file);
}

std::optional<picture_format> format_of(std::string_view file_name) {
  std::string ending(file_name.substr(std::min(file_name.rfind('.'), file_name.size())));
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (ending == ".png") return picture_format::png;
  if (ending == ".ppm") return picture_format::ppm;
  if (ending == ".pgm") return picture_format::pgm;
  return std::nullopt;
}

std::string encode(const picture& shown, picture_format format) {
  const std::int64_t channels = format == picture_format::ppm ? 3
                                : format == picture_format::pgm
                                    ? 1
                                    : std::min<std::int64_t>(shown.channels, 3);
  if (channels == 1 && shown.channels != 1) {
    throw std::invalid_argument("a PGM holds grey pictures only");
  }
  if (channels == shown.channels) return encode_packed(shown, format);
  picture packed{shown.width, shown.height, channels, {}};
  packed.pixels.reserve(static_cast<std::size_t>(shown.width * shown.height * channels));
  for (std::size_t i = 0; i < shown.pixels.size(); i += static_cast<std::size_t>(shown.channels)) {
    for (std::int64_t c = 0; c < channels; ++c) {
      packed.pixels.push_back(shown.pixels[i + (shown.channels == 1 ? 0 : c)]);
    }
  }
  return encode_packed(packed, format);
}

picture difference(const picture& a, const picture& b) {
  if (a.width != b.width || a.height != b.height || a.channels != b.channels) {
    throw std::invalid_argument("pictures of different shapes have no difference");
  }
  picture result{a.width, a.height, a.channels, std::vector<std::byte>(a.pixels.size())};
  for (std::size_t i = 0; i < a.pixels.size(); ++i) {
    const int one = std::to_integer<int>(a.pixels[i]), other = std::to_integer<int>(b.pixels[i]);
    result.pixels[i] = static_cast<std::byte>(std::max(one, other) - std::min(one, other));
  }
  return result;
}

}  // namespace stepwise
