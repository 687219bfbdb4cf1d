// What a runner's calls are made on: a CUDA device, or the CPU itself.
//
// idea    Memory, a clock, and what went wrong is all that differs. The linker decides: a lab's
//         runner library has cuda_machine.cpp, its host runner library host_machine.cpp.
// tested  common/runner/tests/runner_test.cpp on the CPU, by every lab on a device
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>

#include "common/lab/call_file.hpp"

namespace stepwise::runner {

// A failure that is the call's, in words for its record.
struct call_failure {
  int code = 0;  // cudaError_t; 0 where CUDA has no part in it
  std::string message;
};

// What a call's arrays lie in.
class memory {
 public:
  virtual ~memory() = default;

  // Whether buffers need guard zones, since nothing else reports wrong addresses.
  virtual bool needs_guards() const = 0;
  // Who writes where it must not: "a kernel".
  virtual const char* writer() const = 0;

  // Aligned to 256 bytes, at least 1 byte. Each throws if it fails, but release.
  virtual std::byte* allocate(std::uint64_t bytes) = 0;
  virtual void release(std::byte* allocation, std::uint64_t bytes) noexcept = 0;
  virtual void copy_in(std::byte* to, std::span<const std::byte> from) = 0;
  virtual void copy_out(std::span<std::byte> to, const std::byte* from) = 0;
  virtual void fill(std::byte* start, std::uint8_t value, std::uint64_t bytes) = 0;
  // For the reports of checks: the parameter's name, and that nothing was written there yet.
  virtual void name_allocation(const std::byte*, const char* /*name*/) {}
  virtual void forget_contents(const std::byte*, std::uint64_t /*bytes*/) {}
};

// As a memory, it is the device's own.
class machine : public memory {
 public:
  // The host's, for a contract that takes its arrays there.
  virtual memory& host_memory() = 0;

  // What the header of a call file says about the device.
  virtual void describe(call_file_header& header) const = 0;

  // Takes care that the next call finds nothing of these buffers in a cache.
  virtual void make_cold(std::span<const std::span<std::byte>> buffers) = 0;

  // Around a call: what stop_clock returns is the time in ms since start_clock. It waits for the
  // call's end, and throws call_failure if it failed; `function` is its name.
  virtual void start_clock() = 0;
  virtual float stop_clock(const char* function) = 0;

  // Counters of what runs between the two; left as they are where none are kept.
  virtual void start_counting() {}
  virtual void stop_counting(counter_record&) {}

  // Of a judged call: an array in the host's memory, and the place of the judge's copy of it.
  // Without bytes: those of the call before are gone.
  virtual void note_host_array(const std::byte*, std::uint64_t /*bytes*/, std::uint64_t /*place*/) {
  }

  // Before a call: errors of the one before are not its.
  virtual void begin_call() {}
  // What the exception that a call threw says; an empty message if it is nothing of this machine's.
  virtual call_failure failure_of(const std::exception&) const { return {}; }
  // After a failed call: the error that every later one would return; 0 if there is none.
  virtual int lasting_error() { return 0; }
};

// The one that is linked in. Throws std::runtime_error if there is none to run on.
std::unique_ptr<machine> make_machine();

}  // namespace stepwise::runner
