// Host memory as in a user's own program: pageable, and unknown to the device.
//
// idea    Most programs copy from memory that comes from `new` or malloc, not from pinned memory.
//         Nothing here reports a write past the end of an array, so there are guard zones, even on
//         the emulator.
// tested  common/runner/tests/memory_kind_test.cpp
#pragma once

#include <cstring>
#include <new>

#include "common/runner/machine.hpp"

namespace stepwise::runner {

class pageable_memory : public memory {
 public:
  bool needs_guards() const override { return true; }
  const char* writer() const override { return "the function"; }

  std::byte* allocate(std::uint64_t bytes) override {
    return static_cast<std::byte*>(::operator new(bytes, alignment));
  }
  void release(std::byte* allocation, std::uint64_t) noexcept override {
    ::operator delete(allocation, alignment);
  }
  void copy_in(std::byte* to, std::span<const std::byte> from) override {
    std::memcpy(to, from.data(), from.size());
  }
  void copy_out(std::span<std::byte> to, const std::byte* from) override {
    std::memcpy(to.data(), from, to.size());
  }
  void fill(std::byte* start, std::uint8_t value, std::uint64_t bytes) override {
    std::memset(start, value, bytes);
  }

 private:
  static constexpr std::align_val_t alignment{256};
};

}  // namespace stepwise::runner
