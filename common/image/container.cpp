// Reads the entries of fat binary containers, and their content. FORMATS.md lists the fields.
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <memory>

#include "common/image/bytes.hpp"
#include "common/image/image.hpp"

namespace stepwise::image {
namespace {

constexpr std::uint32_t container_magic = 0xBA55ED50;
constexpr std::uint16_t container_version = 1;
constexpr std::uint64_t container_header_bytes = 16;

struct container_header {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t header_bytes;
  std::uint64_t content_bytes;
};
static_assert(sizeof(container_header) == container_header_bytes);

struct entry_header {
  std::uint16_t kind;
  std::uint16_t version;
  std::uint32_t header_bytes;
  std::uint64_t padded_payload_bytes;
  std::uint32_t compressed_bytes;
  std::uint32_t options_offset;
  std::uint16_t minor;
  std::uint16_t major;
  std::uint32_t arch;
  std::uint32_t name_offset;
  std::uint32_t name_bytes;
  std::uint64_t flags;
  std::uint64_t reserved;
  std::uint64_t uncompressed_bytes;
};
static_assert(sizeof(entry_header) == 64);

constexpr std::uint64_t flag_lz4 = 0x2000;
constexpr std::uint64_t flag_zstd = 0x8000;
constexpr std::uint64_t flag_arch_specific = 0x100000;
constexpr std::uint64_t flag_family_specific = 0x200000;

// The maximum size of an entry, so a corrupt size cannot exhaust memory.
constexpr std::uint64_t content_limit = std::uint64_t{256} << 20;

status failure(const char* what, const corrupt& why) {
  return {error::invalid_kernel_image, std::string(what) + ": " + why.what()};
}

// Returns no options if they are unreadable, because options do not affect the code in the entry.
std::string options_of(bytes header, std::uint32_t place) {
  if (place == 0 || place > header.size() || header.size() - place < 8) return {};
  const auto at = read_at<std::uint32_t>(header, place, "the options' place");
  const auto count = read_at<std::uint32_t>(header, place + 4, "the options' length");
  if (at > header.size() || count > header.size() - at) return {};
  return {reinterpret_cast<const char*>(header.data()) + at, count};
}

// Reads the entry at `offset`, and moves `offset` past it.
fat_entry read_entry(bytes container, std::uint64_t& offset) {
  const auto h = read_at<entry_header>(container, offset, "an entry's header");
  if (h.header_bytes < sizeof(entry_header)) {
    throw corrupt("an entry's header of " + std::to_string(h.header_bytes) +
                  " bytes, expected at least 64");
  }
  const bytes header = part_of(container, offset, h.header_bytes, "an entry's header");
  fat_entry entry;
  entry.kind = static_cast<entry_kind>(h.kind);
  entry.version_major = h.major;
  entry.version_minor = h.minor;
  entry.arch = h.arch;
  entry.flags = h.flags;
  entry.compressed_bytes = h.compressed_bytes;
  entry.uncompressed_bytes = h.uncompressed_bytes;
  if (h.name_bytes != 0) {
    const bytes name = part_of(header, h.name_offset, h.name_bytes, "an entry's source name");
    entry.source_name.assign(reinterpret_cast<const char*>(name.data()), name.size());
  }
  entry.options = options_of(header, h.options_offset);
  const bytes padded =
      part_of(container, offset + h.header_bytes, h.padded_payload_bytes, "an entry's payload");
  if (h.compressed_bytes > padded.size()) throw corrupt("a compressed payload exceeds its entry");
  entry.payload = h.compressed_bytes ? padded.first(h.compressed_bytes) : padded;
  offset += h.header_bytes + h.padded_payload_bytes;
  return entry;
}

std::vector<std::byte> unpack_zstd(const fat_entry& entry) {
  const auto stated = ZSTD_getFrameContentSize(entry.payload.data(), entry.payload.size());
  if (stated == ZSTD_CONTENTSIZE_ERROR) throw corrupt("no zstd frame in an entry marked as zstd");
  if (stated != ZSTD_CONTENTSIZE_UNKNOWN && stated != entry.uncompressed_bytes) {
    throw corrupt("the zstd frame holds " + std::to_string(stated) + " bytes, the entry says " +
                  std::to_string(entry.uncompressed_bytes));
  }
  // A block takes at least 4 bytes and holds at most 128 KiB (RFC 8878, 3.1.1.2), so check that a
  // few bytes do not request much memory.
  if (entry.uncompressed_bytes >> 15 > entry.payload.size())
    throw corrupt("a zstd frame of an impossible size");
  std::vector<std::byte> out(entry.uncompressed_bytes);
  const std::size_t got =
      ZSTD_decompress(out.data(), out.size(), entry.payload.data(), entry.payload.size());
  if (ZSTD_isError(got)) throw corrupt(std::string("zstd: ") + ZSTD_getErrorName(got));
  if (got != out.size()) throw corrupt("the zstd frame is shorter than the entry says");
  return out;
}

std::vector<std::byte> unpack_lz4(const fat_entry& entry) {
  // A block of n bytes cannot expand to more than 255 n bytes.
  if (entry.payload.size() > LZ4_MAX_INPUT_SIZE ||
      entry.uncompressed_bytes / 255 > entry.payload.size()) {
    throw corrupt("an LZ4 block of an impossible size");
  }
  // The library computes with the address even if it writes nothing, so it must not be null.
  std::vector<std::byte> out(std::max<std::uint64_t>(entry.uncompressed_bytes, 1));
  const int got = LZ4_decompress_safe(
      reinterpret_cast<const char*>(entry.payload.data()), reinterpret_cast<char*>(out.data()),
      static_cast<int>(entry.payload.size()), static_cast<int>(entry.uncompressed_bytes));
  if (got < 0) throw corrupt("a malformed LZ4 block");
  out.resize(static_cast<std::size_t>(got));
  if (out.size() != entry.uncompressed_bytes)
    throw corrupt("the LZ4 block is shorter than the entry says");
  return out;
}

std::vector<std::byte> unpack(const fat_entry& entry) {
  const bool packed = entry.compressed_bytes != 0;
  if (entry.uncompressed_bytes > content_limit) {
    throw corrupt("an entry of " + std::to_string(entry.uncompressed_bytes) +
                  " bytes, more than 256 MiB");
  }
  if (packed && (entry.flags & flag_zstd)) return unpack_zstd(entry);
  if (packed && (entry.flags & flag_lz4)) return unpack_lz4(entry);
  if (packed || (entry.flags & (flag_zstd | flag_lz4))) {
    throw corrupt("an entry that is compressed in an unknown way (flags " +
                  std::to_string(entry.flags) + ")");
  }
  // Raw entries may omit their size; in that case, the padding is part of the content.
  if (entry.uncompressed_bytes > entry.payload.size()) {
    throw corrupt("an entry's payload is shorter than the entry says");
  }
  const bytes content =
      entry.uncompressed_bytes ? entry.payload.first(entry.uncompressed_bytes) : entry.payload;
  return {content.begin(), content.end()};
}

bool is_for(const fat_entry& entry, entry_kind kind, std::uint32_t sm) {
  if (entry.kind != kind || entry.arch > sm) return false;
  if (entry.flags & flag_arch_specific) return entry.arch == sm;
  const bool same_major = entry.arch / 10 == sm / 10;
  return same_major || (kind == entry_kind::ptx && !(entry.flags & flag_family_specific));
}

// A GPU prefers code for its exact architecture to code for a family, and code for a family to
// generic code.
int specificity(const fat_entry& entry) {
  if (entry.flags & flag_arch_specific) return 2;
  return entry.flags & flag_family_specific ? 1 : 0;
}

}  // namespace

std::optional<std::uint64_t> container_bytes(const void* data) {
  // Data that is not a container may end after 4 bytes, so read only the magic number first.
  container_header h;
  std::memcpy(&h.magic, data, sizeof h.magic);
  if (h.magic != container_magic) return std::nullopt;
  std::memcpy(&h, data, sizeof h);
  if (h.header_bytes < container_header_bytes) return std::nullopt;
  if (h.content_bytes > ~std::uint64_t{0} - h.header_bytes) return std::nullopt;
  return h.header_bytes + h.content_bytes;
}

result<std::vector<fat_entry>> read_container(std::span<const std::byte> container) {
  try {
    const auto h = read_at<container_header>(container, 0, "the header");
    if (h.magic != container_magic) throw corrupt("no fat binary: its magic number is missing");
    if (h.version != container_version) {
      throw corrupt("container version " + std::to_string(h.version) + ", expected 1");
    }
    if (h.header_bytes < container_header_bytes) throw corrupt("a header of less than 16 bytes");
    const bytes content = part_of(container, h.header_bytes, h.content_bytes, "the content");
    std::vector<fat_entry> entries;
    for (std::uint64_t offset = 0; offset < content.size();) {
      entries.push_back(read_entry(content, offset));
    }
    return entries;
  } catch (const corrupt& why) {
    return failure("fat binary", why);
  }
}

result<std::vector<std::byte>> content_of(const fat_entry& entry) {
  try {
    std::vector<std::byte> content = unpack(entry);
    if (entry.kind == entry_kind::ptx) {
      while (!content.empty() && content.back() == std::byte{0}) content.pop_back();
    }
    return content;
  } catch (const corrupt& why) {
    return failure("fat binary entry", why);
  }
}

const fat_entry* choose(const std::vector<fat_entry>& entries, entry_kind kind, std::uint32_t sm) {
  const fat_entry* best = nullptr;
  for (const fat_entry& entry : entries) {
    if (!is_for(entry, kind, sm)) continue;
    if (best == nullptr || entry.arch > best->arch ||
        (entry.arch == best->arch && specificity(entry) > specificity(*best))) {
      best = &entry;
    }
  }
  return best;
}

bool fuses(std::string_view options) {
  std::vector<std::string_view> words;
  while (!options.empty()) {
    const auto end = std::min(options.find_first_of(" ="), options.size());
    if (end != 0) words.push_back(options.substr(0, end));
    options.remove_prefix(std::min(end + 1, options.size()));
  }
  bool contracts = true, optimises = true, debug = false;
  for (std::size_t n = 0; n < words.size(); ++n) {
    const std::string_view word = words[n];
    const std::string_view next = n + 1 < words.size() ? words[n + 1] : std::string_view();
    if (word == "-fmad" || word == "--fmad") contracts = next != "false";
    if (word == "-O" || word == "--opt-level") optimises = next != "0";
    if (word.starts_with("-O") && word.size() > 2) optimises = word != "-O0";
    debug |= word == "-g" || word == "--device-debug";
  }
  return contracts && optimises && !debug;
}

}  // namespace stepwise::image
