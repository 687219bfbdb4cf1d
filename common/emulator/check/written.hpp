// The bytes of a memory that have been written, as one bit per byte.
#pragma once

#include <cstdint>
#include <cstring>

#include "common/emulator/check/reserved_array.hpp"

namespace stepwise::emulator {

class written_bytes {
 public:
  // Covers `bytes` bytes of memory, all unwritten. Uses host memory only where bits are set. Throws
  // std::bad_alloc if the address space cannot be reserved.
  explicit written_bytes(std::uint64_t bytes) : bits_(bytes / 64 + 2) {}

  bool all(std::uint64_t at, std::uint64_t bytes) const {
    for (; bytes > 64; at += 64, bytes -= 64)
      if (window(at) != ~std::uint64_t{0}) return false;
    return bytes == 0 || (window(at) | ~low(bytes)) == ~std::uint64_t{0};
  }
  // Like all(), for at most 64 bytes: a power of two, at an address aligned to it.
  bool all_aligned(std::uint64_t at, unsigned bytes) const {
    return (~(bits_[at / 64] >> (at % 64)) & low(bytes)) == 0;
  }
  // For up to 64 bytes: bit k is set if byte at + k is written.
  std::uint64_t which(std::uint64_t at, unsigned bytes) const { return window(at) & low(bytes); }

  void mark(std::uint64_t at, std::uint64_t bytes) { set(at, bytes, true); }
  void clear(std::uint64_t at, std::uint64_t bytes) { set(at, bytes, false); }
  // Copies the marks of `bytes` bytes from `from` to `to`. The areas must not overlap.
  void copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
    for (std::uint64_t k = 0; k < bytes; k += 64) {
      const std::uint64_t n = bytes - k < 64 ? bytes - k : 64;
      const std::uint64_t w = window(from + k);
      put(to + k, n, w);
    }
  }

 private:
  static std::uint64_t low(std::uint64_t n) {
    return n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
  }
  std::uint64_t window(std::uint64_t at) const {
    const std::uint64_t* const w = bits_.data() + at / 64;
    const unsigned shift = at % 64;
    return shift == 0 ? w[0] : w[0] >> shift | w[1] << (64 - shift);
  }
  // Sets the marks of the `n` bytes at `at` to the low bits of `w`.
  void put(std::uint64_t at, std::uint64_t n, std::uint64_t w) {
    std::uint64_t* const p = bits_.data() + at / 64;
    const unsigned shift = at % 64;
    const std::uint64_t m = low(n);
    p[0] = (p[0] & ~(m << shift)) | (w & m) << shift;
    if (shift != 0 && n > 64 - shift)
      p[1] = (p[1] & ~(m >> (64 - shift))) | (w & m) >> (64 - shift);
  }
  void set(std::uint64_t at, std::uint64_t bytes, bool value) {
    const std::uint64_t all = value ? ~std::uint64_t{0} : 0;
    if (const std::uint64_t head = (64 - at % 64) % 64; bytes > 64 && head != 0) {
      put(at, head, all);
      at += head;
      bytes -= head;
    }
    if (const std::uint64_t whole = bytes / 64; whole > 1) {
      std::memset(bits_.data() + at / 64, value ? 0xff : 0, whole * 8);
      at += whole * 64;
      bytes -= whole * 64;
    }
    for (; bytes > 64; at += 64, bytes -= 64) put(at, 64, all);
    if (bytes != 0) put(at, bytes, all);
  }

  reserved_array<std::uint64_t> bits_;
};

}  // namespace stepwise::emulator
