// The machine that makes a runner's calls: a CUDA device, or the CPU.
//
// idea    Only memory, the clock and the errors differ. The linker selects the machine: a lab's
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

// A failure of the call, with a message for its record.
struct call_failure {
  int code = 0;  // cudaError_t; 0 if not from CUDA
  std::string message;
};

// The memory of a call's arrays.
class memory {
 public:
  virtual ~memory() = default;

  // Whether buffers need guard zones because nothing else reports out-of-bounds accesses.
  virtual bool needs_guards() const = 0;
  // The name of the writer in messages about broken guard zones, for example "a kernel".
  virtual const char* writer() const = 0;

  // Allocates at least 1 byte, aligned to 256 bytes. All functions except release throw on failure.
  virtual std::byte* allocate(std::uint64_t bytes) = 0;
  virtual void release(std::byte* allocation, std::uint64_t bytes) noexcept = 0;
  virtual void copy_in(std::byte* to, std::span<const std::byte> from) = 0;
  virtual void copy_out(std::span<std::byte> to, const std::byte* from) = 0;
  virtual void fill(std::byte* start, std::uint8_t value, std::uint64_t bytes) = 0;
  // For the checks: names an allocation after its parameter, and marks bytes as uninitialised.
  virtual void name_allocation(const std::byte*, const char* /*name*/) {}
  virtual void forget_contents(const std::byte*, std::uint64_t /*bytes*/) {}
};

// As a `memory`, a machine is the device's own memory.
class machine : public memory {
 public:
  // Host memory, for a contract with arrays in host memory.
  virtual memory& host_memory() = 0;

  // Fills in the fields about the device in the header of a call file.
  virtual void describe(call_file_header& header) const = 0;

  // Ensures that no data of these buffers is in a cache when the next call begins.
  virtual void make_cold(std::span<const std::span<std::byte>> buffers) = 0;

  // Called before and after a call. stop_clock waits for the end of the call, and returns the time
  // since start_clock in ms. It throws call_failure if the call failed. `function` is its name.
  virtual void start_clock() = 0;
  virtual float stop_clock(const char* function) = 0;

  // Counts the work between these two calls. The record is unchanged if the machine does not count.
  virtual void start_counting() {}
  virtual void stop_counting(counter_record&) {}

  // Between these two calls, a call uses the caller's arrays and events, so it must not reset the
  // device.
  virtual void note_begin() {}
  virtual void note_end() {}
  // Adds a host array of the call, which copies must not leave. `place` is the offset of the
  // judge's copy, or 0 without a judge.
  virtual void note_host_array(const std::byte*, std::uint64_t /*bytes*/, std::uint64_t /*place*/) {
  }

  // Adds the content of a file that the call reads or writes, and the place of the judge's copy.
  virtual void note_file(std::span<const std::byte>, std::uint64_t /*place*/, bool /*is_result*/) {}

  // Called before a call. Clears errors of the previous call.
  virtual void begin_call() {}
  // Describes an exception that a call threw. The message is empty if the exception is not from
  // this machine.
  virtual call_failure failure_of(const std::exception&) const { return {}; }
  // Called after a failed call. Returns the error that every later call would return, or 0.
  virtual int lasting_error() { return 0; }
};

// Notes a call and its host arrays while the call lasts.
class noted_call {
 public:
  explicit noted_call(machine& where) : where_(where) { where_.note_begin(); }
  ~noted_call() { where_.note_end(); }
  noted_call(const noted_call&) = delete;
  void add(std::span<const std::byte> array, std::uint64_t place) {
    if (!array.empty()) where_.note_host_array(array.data(), array.size(), place);
  }
  void add_file(std::span<const std::byte> content, std::uint64_t place, bool is_result) {
    where_.note_file(content, place, is_result);
  }

 private:
  machine& where_;
};

// Creates the machine that is linked in. Throws std::runtime_error if there is no device.
std::unique_ptr<machine> make_machine();

}  // namespace stepwise::runner
