// A hash that tells whether inputs are still the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

// FNV-1a, 64 bits.
inline std::uint64_t hash_of(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::byte byte : bytes) {
    hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3;
  }
  return hash;
}
