// A buffer of a call, in some memory, between two guard zones.
//
// idea    On a GPU and on the CPU, nothing stops code that runs past the end of a buffer, but a
//         known byte pattern before and after the buffer reveals it afterwards. The emulator
//         reports the exact line that leaves an allocation, so on the emulator the allocation is
//         exact.
// watch   Guard zones hide short overruns from compute-sanitizer. STEPWISE_EXACT_ALLOCATIONS=1 in
//         the environment removes the zones.
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
  // Allocates in `where`, which must outlive the buffer. All functions pass on exceptions from
  // `where`.
  call_buffer(memory& where, std::uint64_t bytes);
  ~call_buffer();
  call_buffer(call_buffer&& other) noexcept;
  call_buffer(const call_buffer&) = delete;
  call_buffer& operator=(const call_buffer&) = delete;

  // Null if the buffer has no bytes; otherwise aligned to 256 bytes.
  std::byte* address() const { return address_; }
  std::span<std::byte> bytes() const { return {address_, bytes_}; }

  void upload(std::span<const std::byte> from);
  void download(std::span<std::byte> to) const;
  void poison(std::uint8_t value);
  // The offset of the first byte that differs from `content`, which has the buffer's size. Returns
  // the size if there is no difference.
  std::uint64_t first_difference(std::span<const std::byte> content) const;
  // The guard zones that are not intact, as in buffer_record::guard_broken.
  std::uint32_t broken_guards() const;

 private:
  memory* where_;
  std::uint64_t bytes_;
  std::uint64_t guard_;  // bytes per zone, 0 or guard_bytes
  std::byte* allocation_ = nullptr;
  std::byte* address_ = nullptr;
};

}  // namespace stepwise::runner
