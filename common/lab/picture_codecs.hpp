// The two codecs of picture.hpp, for picture.cpp only.
#pragma once

#include "common/lab/picture.hpp"

namespace stepwise {

// PNG, by stb. (png.cpp)
bool is_png(std::span<const std::byte> file);
picture_header png_header(std::span<const std::byte> file);
picture decode_png(std::span<const std::byte> file);
std::string encode_png(const picture& shown);  // 1 or 3 channels

// PPM and PGM. (pnm.cpp)
bool is_pnm(std::span<const std::byte> file);
picture_header pnm_header(std::span<const std::byte> file);
picture decode_pnm(std::span<const std::byte> file);
std::string encode_pnm(const picture& shown);  // 1 channel: PGM, 3: PPM

inline std::string encode_packed(const picture& shown, picture_format format) {
  return format == picture_format::png ? encode_png(shown) : encode_pnm(shown);
}

}  // namespace stepwise
