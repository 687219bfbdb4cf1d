// The device's runtime library for kernels: printf, malloc, free, assert.
//
// idea    Output appears when the host waits for the device, or when it exceeds its limit; a GPU's
//         driver may show it earlier. The heap is one allocation of global memory. It is made
//         before the first launch that may use it, because kernels run on several host threads that
//         read the list of allocations.
// source  CUDA C++ Programming Guide, "Formatted Output", "Dynamic Global Memory Allocation and
//         Operations", "Assertion". Tested by tests/call_test.cpp and common/runtime/conformance.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "common/emulator/machine/memory.hpp"
#include "common/emulator/machine/program.hpp"

namespace stepwise::emulator {

class device_library {
 public:
  explicit device_library(global_memory& memory) : memory_(memory) {}

  // Both are called before a launch. set_printf_bytes() sets the limit of kept output. make_heap()
  // makes the heap, which keeps its first size.
  void set_printf_bytes(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    printf_bytes_ = bytes;
  }
  status make_heap(std::uint64_t bytes);
  // Leaves room after each block that malloc returns, for checks of bounds.
  void set_room_between(std::uint64_t bytes) { room_between_ = bytes; }
  // Writes the output of kernels since the last call: printf to stdout, assertions to stderr.
  void flush();
  // True for addresses of the heap, which the host may neither free nor copy.
  bool is_heap(std::uint64_t address) const { return heap_ != 0 && address - heap_ < heap_bytes_; }
  access_window heap() const { return {heap_, heap_bytes_}; }

  // Runs a call for the active lanes of the context. Returns the next op, or null after a failure.
  const op* call(const library_call& site, scheduler& owner, context& x, const op* i);
  // take() returns the address of a heap block, or 0 if there is no room. give_back() frees a block
  // and returns false if the address is not the start of one.
  std::uint64_t take(std::uint64_t bytes);
  bool give_back(std::uint64_t address);

 private:
  const op* print(const library_call& site, scheduler& owner, context& x, const op* i);
  const op* allocate(const library_call& site, scheduler& owner, context& x, const op* i);
  const op* release(const library_call& site, scheduler& owner, context& x, const op* i);
  const op* fail_assertion(const library_call& site, scheduler& owner, context& x, const op* i);
  void keep(bool is_error, std::string text);
  void warn_of_format(const std::string& specification);

  struct line {
    bool is_error;
    std::string text;
  };
  global_memory& memory_;
  std::mutex mutex_;  // guards what follows while a kernel runs
  std::deque<line> lines_;
  std::set<std::string> warned_;  // unknown specifications
  std::uint64_t kept_bytes_ = 0, printf_bytes_ = 1 << 20;
  std::uint64_t room_between_ = 0;
  std::uint64_t heap_ = 0, heap_bytes_ = 0;  // heap_ is a device address
  free_ranges heap_holes_;
  std::map<std::uint64_t, std::uint64_t> heap_used_;  // address -> bytes
};

}  // namespace stepwise::emulator
