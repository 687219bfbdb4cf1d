// One buffer of a call in some memory, between two guard zones.
//
// idea    On a GPU, and on the CPU, nothing stops who runs past the end of a buffer: bytes of a
//         known pattern before and after it shows that afterwards. The emulator itself reports the
//         very line that leaves an allocation, so there the allocation is exact.
// watch   A guard zone hides short overruns from compute-sanitizer: STEPWISE_EXACT_ALLOCATIONS=1
//         in the environment leaves the zones out.
// tested  common/runner/tests/runner_test.cpp
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/lab/call_file.hpp"
#include "common/runner/machine.hpp"

namespace stepwise::runner {

class call_buffer {
 public:
  // Allocates in `where`, which must outlive the buffer. This and the others throw what that
  // throws.
  call_buffer(memory& where, std::uint64_t bytes);
  ~call_buffer();
  call_buffer(call_buffer&& other) noexcept;
  call_buffer(const call_buffer&) = delete;
  call_buffer& operator=(const call_buffer&) = delete;

  // Null if the buffer has no bytes; else aligned to 256 bytes.
  std::byte* address() const { return address_; }
  std::span<std::byte> bytes() const { return {address_, bytes_}; }

  void upload(std::span<const std::byte> from);
  void download(std::span<std::byte> to) const;
  void poison(std::uint8_t value);
  // Whether it still holds `content`, which has the buffer's size; the position of the
  // first byte that differs, or the size.
  std::uint64_t first_difference(std::span<const std::byte> content) const;
  // Which guard zones are no longer intact, as in buffer_record::guard_broken.
  std::uint32_t broken_guards() const;

 private:
  memory* where_;
  std::uint64_t bytes_;
  std::uint64_t guard_;  // bytes of each zone: 0 or guard_bytes
  std::byte* allocation_ = nullptr;
  std::byte* address_ = nullptr;
};

}  // namespace stepwise::runner
