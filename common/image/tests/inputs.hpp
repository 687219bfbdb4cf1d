// Files and byte patterns that the image tests read.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "common/image/image.hpp"

namespace stepwise::image {

using buffer = std::vector<std::byte>;

inline std::string text_of(const buffer& b) {
  return {reinterpret_cast<const char*>(b.data()), b.size()};
}

// The folder that compile_inputs.py filled; empty without nvcc.
inline std::string compiled_folder() {
  const char* const folder = std::getenv("STEPWISE_COMPILED_INPUTS");
  return folder ? folder : "";
}

inline buffer compiled(const std::string& name) {
  std::ifstream file(compiled_folder() + "/" + name, std::ios::binary);
  REQUIRE_MESSAGE(file.is_open(), "no compiled input ", name);
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  const auto* const first = reinterpret_cast<const std::byte*>(all.data());
  return {first, first + all.size()};
}

template <class T>
void append(buffer& out, T value) {
  const std::size_t at = out.size();
  out.resize(at + sizeof value);
  std::memcpy(out.data() + at, &value, sizeof value);
}

// The properties of a container entry that a test creates.
struct made_entry {
  std::uint16_t kind = 1;
  std::uint32_t arch = 90;
  std::uint64_t flags = 0x11;
  std::string payload;
  std::uint32_t compressed = 0;
  std::uint64_t uncompressed = 0;
  std::string name = {};
};

inline buffer make_container(const std::vector<made_entry>& entries) {
  buffer out;
  append<std::uint32_t>(out, 0xBA55ED50);
  append<std::uint16_t>(out, 1);
  append<std::uint16_t>(out, 16);
  append<std::uint64_t>(out, 0);  // the size, set at the end
  const auto padded = [](std::size_t size) { return (size + 7) / 8 * 8; };
  const auto text = [&](const std::string& what) {
    for (const char c : what) append(out, c);
    out.resize(padded(out.size()));
  };
  for (const made_entry& e : entries) {
    append<std::uint16_t>(out, e.kind);
    append<std::uint16_t>(out, 0x101);
    append<std::uint32_t>(out, static_cast<std::uint32_t>(64 + padded(e.name.size())));
    append<std::uint64_t>(out, padded(e.payload.size()));
    append<std::uint32_t>(out, e.compressed);
    append<std::uint32_t>(out, 0);
    append<std::uint16_t>(out, 0);
    append<std::uint16_t>(out, 9);
    append<std::uint32_t>(out, e.arch);
    append<std::uint32_t>(out, e.name.empty() ? 0 : 64);
    append<std::uint32_t>(out, static_cast<std::uint32_t>(e.name.size()));
    append<std::uint64_t>(out, e.flags);
    append<std::uint64_t>(out, 0);
    append<std::uint64_t>(out, e.uncompressed);
    text(e.name);
    text(e.payload);
  }
  const std::uint64_t size = out.size() - 16;
  std::memcpy(out.data() + 8, &size, sizeof size);
  return out;
}

}  // namespace stepwise::image
