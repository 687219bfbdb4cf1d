// PNG. stb decodes and encodes, but we first make the checks that it lacks.
//
// idea    stb accepts a file with wrong checksums, and allocates as much memory as the compressed
//         bytes expand to. We therefore first check the length and CRC of every chunk, and limit
//         allocations to the size that the header's pixels justify.
// source  PNG (Portable Network Graphics) Specification, third edition, 5.2 to 5.5, 11.2
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "common/lab/picture_codecs.hpp"

namespace {

// The limit of each allocation by the decoder in this thread.
thread_local std::size_t most_bytes = 0;

void* allocate(std::size_t bytes) { return bytes > most_bytes ? nullptr : std::malloc(bytes); }
void* reallocate(void* memory, std::size_t bytes) {
  return bytes > most_bytes ? nullptr : std::realloc(memory, bytes);
}
// The encoder does not check for failed allocations.
void* allocate_or_throw(std::size_t bytes) {
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void* reallocate_or_throw(void* memory, std::size_t bytes) {
  if (void* larger = std::realloc(memory, bytes)) return larger;
  throw std::bad_alloc();
}

}  // namespace

#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#define STBI_NO_STDIO
#define STBI_ASSERT(condition) ((void)0)  // a malformed file must not abort
#define STBI_MALLOC(bytes) allocate(bytes)
#define STBI_REALLOC(memory, bytes) reallocate(memory, bytes)
#define STBI_FREE(memory) std::free(memory)
#include <stb/stb_image.h>

#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STBI_WRITE_NO_STDIO
#define STBIW_MALLOC(bytes) allocate_or_throw(bytes)
#define STBIW_REALLOC(memory, bytes) reallocate_or_throw(memory, bytes)
#define STBIW_FREE(memory) std::free(memory)
#include <stb/stb_image_write.h>

namespace stepwise {
namespace {

constexpr std::string_view signature = "\x89PNG\r\n\x1a\n";
constexpr std::size_t header_bytes = 33;  // the signature and the chunk IHDR

constexpr std::array<std::uint32_t, 256> crc_table = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t bits = i;
    for (int k = 0; k < 8; ++k) bits = (bits >> 1) ^ ((bits & 1) != 0 ? 0xedb88320u : 0u);
    table[i] = bits;
  }
  return table;
}();

std::uint32_t crc_of(std::span<const std::byte> bytes) {
  std::uint32_t crc = ~0u;
  for (const std::byte b : bytes)
    crc = crc_table[(crc ^ std::to_integer<std::uint32_t>(b)) & 0xff] ^ (crc >> 8);
  return ~crc;
}

std::uint32_t big_endian(std::span<const std::byte> file, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value = value << 8 | std::to_integer<std::uint32_t>(file[at + i]);
  return value;
}

// A chunk consists of the length, the type, `length` bytes, and the CRC of type and bytes.
void check_chunks(std::span<const std::byte> file) {
  constexpr std::uint32_t end_of_picture = 0x49454e44;  // IEND
  for (std::size_t at = signature.size();;) {
    if (file.size() - at < 12)
      throw picture_error("this PNG is truncated: its last chunk is missing");
    const std::size_t length = big_endian(file, at);
    if (length > file.size() - at - 12) {
      throw picture_error("this PNG is truncated: its chunk at byte " + std::to_string(at) +
                          " has " + std::to_string(length) + " bytes, of which " +
                          std::to_string(file.size() - at - 8) + " are there");
    }
    if (crc_of(file.subspan(at + 4, 4 + length)) != big_endian(file, at + 8 + length)) {
      throw picture_error("this PNG is damaged: the checksum of its chunk at byte " +
                          std::to_string(at) + " is wrong");
    }
    if (big_endian(file, at + 4) == end_of_picture) return;
    at += 12 + length;
  }
}

// An upper bound for one allocation of the decoder. A buffer holds four 16-bit channels per pixel
// and a filter byte per row, or the compressed bytes, and may grow by doubling.
std::size_t bytes_for(const picture_header& header, std::size_t file_bytes) {
  const std::int64_t pixels = (8 * header.width + 8) * (header.height + 8);
  return std::max<std::size_t>(2 * static_cast<std::size_t>(pixels), 2 * file_bytes) + 65536;
}

}  // namespace

bool is_png(std::span<const std::byte> file) {
  return file.size() >= signature.size() &&
         std::memcmp(file.data(), signature.data(), signature.size()) == 0;
}

picture_header png_header(std::span<const std::byte> file) {
  if (file.size() < header_bytes) throw picture_error("this PNG is truncated in its header");
  const std::uint32_t width = big_endian(file, 16), height = big_endian(file, 20);
  if (std::memcmp(file.data() + 12, "IHDR", 4) != 0 || width == 0 || height == 0 ||
      std::max(width, height) > 0x7fffffff) {
    throw picture_error("this PNG is damaged: its header is invalid");
  }
  return {picture_format::png, width, height, std::to_integer<int>(file[24])};
}

picture decode_png(std::span<const std::byte> file) {
  const picture_header header = png_header(file);
  if (file.size() > 0x7fffffff) throw picture_error("it has more than 2^31 bytes");
  check_chunks(file);
  most_bytes = bytes_for(header, file.size());
  int width = 0, height = 0, channels = 0;
  const std::unique_ptr<stbi_uc, decltype(&std::free)> pixels(
      stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(file.data()),
                            static_cast<int>(file.size()), &width, &height, &channels, 4),
      std::free);
  if (!pixels || width != header.width || height != header.height) {
    const char* const why = stbi_failure_reason();
    throw picture_error(std::string("this PNG is damaged (") +
                        (!pixels && why != nullptr ? why : "two headers") + ")");
  }
  const auto* const begin = reinterpret_cast<const std::byte*>(pixels.get());
  return {width, height, 4, {begin, begin + 4 * header.width * header.height}};
}

std::string encode_png(const picture& shown) {
  std::string file;
  const auto append = [](void* to, void* bytes, int count) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(bytes),
                                          static_cast<std::size_t>(count));
  };
  const auto width = static_cast<int>(shown.width), height = static_cast<int>(shown.height),
             channels = static_cast<int>(shown.channels);
  if (stbi_write_png_to_func(append, &file, width, height, channels, shown.pixels.data(),
                             width * channels) == 0) {
    throw std::bad_alloc();
  }
  return file;
}

}  // namespace stepwise
