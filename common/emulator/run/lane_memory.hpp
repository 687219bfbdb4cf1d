// The memory that a library call reads for a lane: bytes at generic addresses, and arguments.
#pragma once

#include <cstring>
#include <span>

#include "common/emulator/run/scheduler.hpp"

namespace stepwise::emulator {

// The bytes that a lane sees from a generic address on; fewer than `most` where the memory ends.
inline std::span<const std::byte> bytes_at(const context& x, std::uint64_t address, int lane,
                                           std::uint64_t most) {
  const auto part = [&](const std::byte* base, std::uint64_t offset, std::uint64_t limit) {
    if (offset >= limit) return std::span<const std::byte>();
    return std::span(base + offset, std::min(most, limit - offset));
  };
  const std::uint64_t offset = address & (window_bytes - 1);
  switch ((address - shared_window) / window_bytes) {
    case 0:
      return part(x.shared, offset, x.shared_bytes);
    case 1:
      return part(x.local + static_cast<std::uint64_t>(lane) * x.local_bytes, offset,
                  x.local_bytes);
    case 2:
      return part(x.parameters, offset, x.parameter_bytes);
    default:
      break;
  }
  const auto found = x.memory->find(address);
  if (!found) return {};
  return part(x.memory->host(found->base), address - found->base, found->bytes);
}

// A lane's argument, of at most 8 bytes.
inline std::uint64_t argument(const context& x, const scheduler& owner, const library_call& site,
                              std::size_t n, int lane, unsigned bytes = 8) {
  std::uint64_t value = 0;
  std::memcpy(&value, owner.frame_bytes(x, lane) + site.arguments[n], bytes);
  return value;
}

}  // namespace stepwise::emulator
