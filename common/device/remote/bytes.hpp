// Serialisation of numbers, texts and structures between processes on one machine.
//
// idea    A structure lists its fields once (`fields(of)` calls `of` with all of them). Writing and
//         reading both walk that list, so they cannot differ.
// watch   The reader trusts nothing. It checks every length against the remaining bytes and against
//         a bound, a bool must be 0 or 1, and an enumeration stays a number. One wrong byte makes
//         the reader fail permanently; then values that were read must not be used.
// tests   tests/message_test.cpp; fuzzed by common/emulator/fuzz/remote_messages.cpp
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/device/device.hpp"

namespace stepwise::remote {

inline constexpr std::size_t most_text_bytes = 16 << 10;
inline constexpr std::size_t most_elements = 64 << 10;  // in a list or a map

// A text that may be as long as a whole reply.
struct long_text {
  std::string text;
};

template <class T>
concept has_fields = requires(T& t) {
  t.fields([](auto&...) {});
};

class byte_writer {
 public:
  template <class T>
  requires std::is_arithmetic_v<T>
  void put(T value) {
    if constexpr (std::same_as<T, bool>) return put(static_cast<std::uint8_t>(value));
    const auto* first = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), first, first + sizeof value);
  }
  // Truncates the text at the bound, which is harmless since texts are for people.
  void put(const std::string& text) {
    const std::size_t size = std::min(text.size(), most_text_bytes);
    put(static_cast<std::uint32_t>(size));
    const auto* first = reinterpret_cast<const std::byte*>(text.data());
    bytes_.insert(bytes_.end(), first, first + size);
  }
  void put(const long_text& long_one) {
    put(static_cast<std::uint32_t>(long_one.text.size()));
    const auto* first = reinterpret_cast<const std::byte*>(long_one.text.data());
    bytes_.insert(bytes_.end(), first, first + long_one.text.size());
  }
  void put(const extent& e) { put(e.x), put(e.y), put(e.z); }
  template <class T>
  void put(const std::vector<T>& values) {
    put(static_cast<std::uint32_t>(values.size()));
    for (const T& value : values) put(value);
  }
  void put(const std::vector<std::byte>& values) {
    put(static_cast<std::uint32_t>(values.size()));
    bytes_.insert(bytes_.end(), values.begin(), values.end());
  }
  template <class T, std::size_t Count>
  void put(const std::array<T, Count>& values) {
    for (const T& value : values) put(value);
  }
  void put(std::byte value) { bytes_.push_back(value); }
  template <class K, class V>
  void put(const std::map<K, V>& values) {
    put(static_cast<std::uint32_t>(values.size()));
    for (const auto& [key, value] : values) put(key), put(value);
  }
  template <has_fields T>
  void put(const T& value) {
    const_cast<T&>(value).fields([&](const auto&... field) { (put(field), ...); });
  }

  const std::vector<std::byte>& bytes() const { return bytes_; }
  std::vector<std::byte> take() { return std::exchange(bytes_, {}); }
  void clear() { bytes_.clear(); }

 private:
  std::vector<std::byte> bytes_;
};

class byte_reader {
 public:
  explicit byte_reader(std::span<const std::byte> bytes) : left_(bytes) {}

  bool ok() const { return ok_; }
  bool at_end() const { return left_.empty(); }
  std::size_t left() const { return left_.size(); }
  // True if everything was read without an error.
  bool complete() const { return ok_ && left_.empty(); }

  template <class T>
  requires std::is_arithmetic_v<T>
  void get(T& value) {
    if constexpr (std::same_as<T, bool>) {
      std::uint8_t number = 0;
      get(number);
      if (number > 1) ok_ = false;
      value = number == 1;
    } else {
      const auto from = take(sizeof value);
      if (ok_) std::memcpy(&value, from.data(), sizeof value);
    }
  }
  void get(std::string& text) {
    const auto from = take(length(most_text_bytes, 1));
    if (ok_) text.assign(reinterpret_cast<const char*>(from.data()), from.size());
  }
  void get(long_text& long_one) {
    const auto from = take(length(left_.size(), 1));
    if (ok_) long_one.text.assign(reinterpret_cast<const char*>(from.data()), from.size());
  }
  void get(extent& e) { get(e.x), get(e.y), get(e.z); }
  template <class T>
  void get(std::vector<T>& values) {
    const std::size_t count = length(most_elements, 1);
    values.clear();
    for (std::size_t i = 0; ok_ && i < count; ++i) get(values.emplace_back());
  }
  void get(std::vector<std::byte>& values) {
    const auto from = take(length(most_elements, 1));
    if (ok_) values.assign(from.begin(), from.end());
  }
  template <class T, std::size_t Count>
  void get(std::array<T, Count>& values) {
    for (T& value : values) get(value);
  }
  template <class K, class V>
  void get(std::map<K, V>& values) {
    const std::size_t count = length(most_elements, 2);
    values.clear();
    for (std::size_t i = 0; ok_ && i < count; ++i) {
      K key{};
      V value{};
      get(key), get(value);
      values[key] = value;
    }
  }
  template <has_fields T>
  void get(T& value) {
    value.fields([&](auto&... field) { (get(field), ...); });
  }

 private:
  std::span<const std::byte> take(std::size_t bytes) {
    if (!ok_ || bytes > left_.size()) {
      ok_ = false;
      return {};
    }
    const auto taken = left_.first(bytes);
    left_ = left_.subspan(bytes);
    return taken;
  }
  // Reads a count of elements, each of which takes at least `least_bytes` bytes.
  std::size_t length(std::size_t most, std::size_t least_bytes) {
    std::uint32_t count = 0;
    get(count);
    if (count > most || count * least_bytes > left_.size()) ok_ = false;
    return ok_ ? count : 0;
  }

  std::span<const std::byte> left_;
  bool ok_ = true;
};

}  // namespace stepwise::remote
