// Reads containers that the tests build field by field, and reports what is wrong with them.
#include <lz4.h>

#include "common/image/tests/inputs.hpp"

namespace stepwise::image {
namespace {

// A zstd frame (RFC 8878) that states its size and holds one uncompressed block, because the
// bundled zstd only decodes. compiled_test.cpp reads frames that nvcc compressed.
std::string packed_zstd(const std::string& text) {
  const auto little_endian = [](std::size_t value, int bytes) {
    std::string out;
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
    return out;
  };
  constexpr std::size_t magic = 0xfd2fb528, single_segment_with_4_byte_size = 0xa0, last_raw = 1;
  return little_endian(magic, 4) + little_endian(single_segment_with_4_byte_size, 1) +
         little_endian(text.size(), 4) + little_endian(text.size() << 3 | last_raw, 3) + text;
}

std::string packed_lz4(const std::string& text) {
  std::string out(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(text.size()))), '\0');
  out.resize(static_cast<std::size_t>(LZ4_compress_default(
      text.data(), out.data(), static_cast<int>(text.size()), static_cast<int>(out.size()))));
  return out;
}

made_entry zstd_entry(const std::string& text) {
  const std::string payload = packed_zstd(text);
  return {1, 90, 0x8011, payload, static_cast<std::uint32_t>(payload.size()), text.size()};
}

made_entry lz4_entry(const std::string& text) {
  const std::string payload = packed_lz4(text);
  return {1, 90, 0x2011, payload, static_cast<std::uint32_t>(payload.size()), text.size()};
}

std::string content_text(const made_entry& e) {
  const buffer container = make_container({e});
  const auto entries = read_container(container);
  REQUIRE(entries.ok());
  REQUIRE((*entries).size() == 1);
  const auto content = content_of((*entries)[0]);
  return content.ok() ? text_of(*content) : content.failure().message;
}

const std::string ptx = ".version 9.0\n.target sm_90\n// " + std::string(5000, 'x') + "\n";
const std::string with_nul = ptx + std::string(1, '\0');

TEST_CASE("ptxas fuses multiply-adds by default, unless its options forbid it") {
  using stepwise::image::fuses;
  for (const char* options :
       {"", " -O3  --generate-line-info ", "-O1 ", "--fmad true", "--fmad false -fmad=true"})
    CHECK_MESSAGE(fuses(options), options);
  for (const char* options : {" --fmad false ", "-fmad=false", "-O0  ", "-O 0", "--opt-level=0",
                              " -g --dont-merge-basicblocks --return-at-end "})
    CHECK_MESSAGE(!fuses(options), options);
}

TEST_CASE("raw, zstd and LZ4 entries give the same content, without the final NUL") {
  CHECK(content_text({1, 90, 0x11, with_nul, 0, 0}) == ptx);
  CHECK(content_text({1, 90, 0x11, with_nul, 0, with_nul.size()}) == ptx);
  CHECK(content_text(zstd_entry(with_nul)) == ptx);
  CHECK(content_text(lz4_entry(with_nul)) == ptx);
  CHECK(content_text({1, 90, 0x11, "", 0, 0}) == "");
}

TEST_CASE("an ELF entry keeps its bytes as they are") {
  CHECK(content_text({2, 90, 0x11, std::string("ab\0\0", 4), 0, 4}) == std::string("ab\0\0", 4));
}

TEST_CASE("the fields of an entry are read") {
  made_entry e = zstd_entry(with_nul);
  e.name = "reduction.cu";
  const buffer container = make_container({{2, 80, 0x100011, "cubin", 0, 0}, e});
  CHECK(container_bytes(container.data()) == container.size());
  const auto entries = read_container(container);
  REQUIRE(entries.ok());
  REQUIRE((*entries).size() == 2);
  const fat_entry& first = (*entries)[0];
  CHECK(first.kind == entry_kind::elf);
  CHECK(first.arch == 80);
  CHECK(first.flags == 0x100011);
  CHECK(first.payload.size() == 8);
  const fat_entry& second = (*entries)[1];
  CHECK(second.kind == entry_kind::ptx);
  CHECK(second.version_major == 9);
  CHECK(second.version_minor == 0);
  CHECK(second.source_name == "reduction.cu");
  CHECK(second.compressed_bytes == second.payload.size());
  CHECK(second.uncompressed_bytes == with_nul.size());
}

TEST_CASE("an empty container has no entries, and other bytes are not a container") {
  const buffer empty = make_container({});
  const auto entries = read_container(empty);
  REQUIRE(entries.ok());
  CHECK((*entries).empty());
  const buffer zeros(64);
  CHECK_FALSE(container_bytes(zeros.data()).has_value());
  CHECK(read_container(zeros).failure().code == error::invalid_kernel_image);
}

TEST_CASE("the message names the fault of a malformed container") {
  const auto problem = [](buffer container) { return read_container(container).failure().message; };
  const buffer good = make_container({zstd_entry(with_nul)});
  const auto with = [&](std::size_t at, std::uint32_t value) {
    buffer changed = good;
    std::memcpy(changed.data() + at, &value, sizeof value);
    return changed;
  };
  CHECK(problem(good) == "");
  CHECK(problem({}) == "fat binary: the header at byte 0 is past the end (0 bytes)");
  CHECK(problem(with(0, 1)) == "fat binary: no fat binary: its magic number is missing");
  CHECK(problem(with(4, 0x00100002)) == "fat binary: container version 2, expected 1");
  CHECK(problem(with(4, 0x00080001)) == "fat binary: a header of less than 16 bytes");
  CHECK(problem(with(8, 1u << 30)).find("the content") != std::string::npos);
  CHECK(problem(with(16 + 4, 8)) ==
        "fat binary: an entry's header of 8 bytes, expected at least 64");
  CHECK(problem(with(16 + 8, 1u << 30)).find("an entry's payload") != std::string::npos);
  CHECK(problem(with(16 + 12, ~0u)).find("an entry's payload") != std::string::npos);
  CHECK(problem(with(16 + 16, 1u << 20)) == "fat binary: a compressed payload exceeds its entry");
  CHECK(problem(with(16 + 36, 1000)).find("an entry's source name") != std::string::npos);
}

TEST_CASE("content that does not match its entry is refused") {
  made_entry e = zstd_entry(with_nul);
  e.uncompressed += 1;
  CHECK(content_text(e).find("the zstd frame holds") != std::string::npos);
  e.payload[0] = 'x';
  CHECK(content_text(e).find("no zstd frame") != std::string::npos);
  e = zstd_entry(with_nul);
  e.payload.resize(e.payload.size() / 2);
  e.compressed = static_cast<std::uint32_t>(e.payload.size());
  CHECK(content_text(e).find("zstd: ") != std::string::npos);
  // A frame that does not state its size, and an entry that claims a large size.
  const std::string frame("\x28\xB5\x2F\xFD\0\x58\x01\0\0", 9);
  CHECK(content_text({1, 90, 0x8011, frame, 9, 200u << 20}).find("impossible size") !=
        std::string::npos);
  CHECK(content_text({1, 90, 0x8011, frame, 9, 0}) == "");
  e = lz4_entry(with_nul);
  e.uncompressed += 1;
  CHECK(content_text(e).find("shorter than the entry says") != std::string::npos);
  e.uncompressed -= 2;
  CHECK(content_text(e).find("a malformed LZ4 block") != std::string::npos);
  e.uncompressed = 256 * e.payload.size() * 255;
  CHECK(content_text(e).find("an LZ4 block of an impossible size") != std::string::npos);
  e.uncompressed = 0;
  CHECK(content_text(e).find("a malformed LZ4 block") != std::string::npos);
  CHECK(content_text(lz4_entry("")) == "");
  e = lz4_entry(with_nul);
  e.flags = 0x11;
  CHECK(content_text(e).find("compressed in an unknown way") != std::string::npos);
  CHECK(content_text({1, 90, 0x11, "abc", 0, 1000}).find("shorter than") != std::string::npos);
  CHECK(content_text({1, 90, 0x11, "abc", 0, 1ull << 60}).find("256 MiB") != std::string::npos);
}

TEST_CASE("a GPU uses the best entry for it") {
  std::vector<fat_entry> entries;
  const auto add = [&](entry_kind kind, std::uint32_t arch, std::uint64_t flags = 0) {
    fat_entry& e = entries.emplace_back();
    e.kind = kind;
    e.arch = arch;
    e.flags = flags;
  };
  add(entry_kind::elf, 80);
  add(entry_kind::elf, 86);
  add(entry_kind::ptx, 80);
  add(entry_kind::ptx, 90);
  add(entry_kind::ptx, 90, 0x100000);
  add(entry_kind::ptx, 100, 0x200000);
  add(entry_kind::ptx, 100);
  add(entry_kind::elf, 90);
  const auto chosen = [&](entry_kind kind, std::uint32_t sm) -> int {
    const fat_entry* const e = choose(entries, kind, sm);
    return e ? static_cast<int>(e - entries.data()) : -1;
  };
  CHECK(chosen(entry_kind::elf, 75) == -1);
  CHECK(chosen(entry_kind::elf, 80) == 0);
  CHECK(chosen(entry_kind::elf, 87) == 1);
  CHECK(chosen(entry_kind::elf, 90) == 7);
  CHECK(chosen(entry_kind::elf, 100) == -1);
  CHECK(chosen(entry_kind::ptx, 75) == -1);
  CHECK(chosen(entry_kind::ptx, 89) == 2);
  CHECK(chosen(entry_kind::ptx, 90) == 4);
  CHECK(chosen(entry_kind::ptx, 95) == 3);
  CHECK(chosen(entry_kind::ptx, 103) == 5);
  CHECK(chosen(entry_kind::ptx, 120) == 6);
}

}  // namespace
}  // namespace stepwise::image
