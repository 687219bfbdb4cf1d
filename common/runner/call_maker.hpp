// Makes the calls of a call file on the CUDA device of this process.
//
// idea    Allocate, copy in, poison, call, time, copy out: what a CUDA program does by hand,
//         through whichever CUDA runtime is loaded. Nothing of what is expected is known here.
// tested  common/runner/tests/runner_test.cpp, and by every lab on its steps and mutants.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/runner/contract.hpp"
#include "common/runner/device_buffer.hpp"
#include "common/runner/mapped_call_file.hpp"

namespace stepwise::runner {

// Our runtime's additions, looked up at run time: absent under NVIDIA's.
struct runtime_additions {
  bool emulated = false;
  int (*get_counters)(void*) = nullptr;
  void (*reset_counters)() = nullptr;
  const char* (*last_error_message)() = nullptr;
  void (*name_allocation)(const void*, const char*) = nullptr;
  void (*forget_contents)(const void*, std::uint64_t) = nullptr;
};

class call_maker {
 public:
  // Throws std::runtime_error if there is no CUDA device to run on.
  explicit call_maker(const contract& function);

  // What the header of a call file says about the device.
  void describe_device(call_file_header& header) const;

  // Makes one call and writes the answer into its record: done, or failed with a message. After a
  // fault in a kernel the device is lost, and the calls that follow fail with a message that says
  // so. Throws file_error if the record cannot be acted upon.
  void make(mapped_call_file& file, std::uint32_t number);

 private:
  void run(mapped_call_file& file, const call_record& request, call_record& answer);
  void make_buffers(mapped_call_file& file, const call_record& request);
  bool has_buffers_of(const call_record& request) const;
  void repeat(mapped_call_file& file, const call_record& request, call_record& answer);
  void keep_busy(const call_record& request, call_record& answer,
                 std::span<void* const> pointers) const;
  void hand_back(mapped_call_file& file, const call_record& request, call_record& answer) const;
  void invoke(const call_record& request, std::span<void* const> pointers) const;
  std::string sentence_for(int code) const;

  const contract& function_;
  runtime_additions additions_;
  bool guarded_ = true;
  std::vector<device_buffer> buffers_;  // of the call, or left by the last one
  std::vector<buffer_record> made_for_;
  int lost_ = 0;  // the cudaError_t that every call has returned since a fault
  std::uint64_t l2_bytes_ = 0;
  std::string device_name_;
};

}  // namespace stepwise::runner
