// One buffer of a call in device memory, between two guard zones.
//
// idea    On a GPU nothing stops a kernel that runs past the end of a buffer: bytes of a known
//         pattern before and behind it tell afterwards. The emulator itself reports the very
//         line that leaves an allocation, so there the allocation is exact.
// watch   A guard zone hides short overruns from compute-sanitizer: STEPWISE_EXACT_ALLOCATIONS=1
//         in the environment leaves the zones out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/runner/call_file.hpp"

namespace stepwise::runner {

class device_buffer {
 public:
  // Allocates device memory. Throws cuda_error.
  device_buffer(std::uint64_t bytes, bool guarded);
  ~device_buffer();
  device_buffer(device_buffer&& other) noexcept;
  device_buffer(const device_buffer&) = delete;
  device_buffer& operator=(const device_buffer&) = delete;

  // Null if the buffer has no bytes; else aligned to 256 bytes.
  void* address() const { return address_; }

  // Each throws cuda_error.
  void upload(std::span<const std::byte> from);
  void download(std::span<std::byte> to) const;
  void poison(std::uint8_t value);
  // Whether the device still holds `content`, which has the buffer's size; the position of the
  // first byte that differs, or the size.
  std::uint64_t first_difference(std::span<const std::byte> content) const;
  // Which guard zones are no longer intact, as in buffer_record::guard_broken.
  std::uint32_t broken_guards() const;

 private:
  std::uint64_t bytes_;
  std::uint64_t guard_;  // bytes of each zone: 0 or guard_bytes
  std::byte* allocation_ = nullptr;
  void* address_ = nullptr;
};

}  // namespace stepwise::runner
