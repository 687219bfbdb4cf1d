// Reads numbers from untrusted bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace stepwise::image {

using bytes = std::span<const std::byte>;

// Describes an error in a file. The public functions catch this exception and return a result.
struct corrupt : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The little-endian number or plain structure at `offset`. Throws corrupt, naming `what`, if the
// number extends past the end of the bytes.
template <class T>
T read_at(bytes from, std::uint64_t offset, const char* what) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (offset > from.size() || from.size() - offset < sizeof(T)) {
    throw corrupt(std::string(what) + " at byte " + std::to_string(offset) + " is past the end (" +
                  std::to_string(from.size()) + " bytes)");
  }
  T value;
  std::memcpy(&value, from.data() + offset, sizeof(T));
  return value;
}

// The `count` bytes at `offset`. Throws corrupt if there are fewer.
inline bytes part_of(bytes from, std::uint64_t offset, std::uint64_t count, const char* what) {
  if (offset > from.size() || from.size() - offset < count) {
    throw corrupt(std::string(what) + " (" + std::to_string(count) + " bytes at byte " +
                  std::to_string(offset) + ") extends past the end (" +
                  std::to_string(from.size()) + " bytes)");
  }
  return from.subspan(offset, count);
}

}  // namespace stepwise::image
