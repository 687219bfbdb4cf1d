// Makes the calls of a call file on a machine: a CUDA device, or the CPU.
//
// idea    Allocates, copies in, poisons, calls, times and copies out, as a CUDA program would,
//         through the CUDA runtime that is loaded. The expected results are not known here.
// tested  common/runner/tests/runner_test.cpp, and by every lab on its steps and mutants.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "common/runner/call_buffer.hpp"
#include "common/runner/contract.hpp"
#include "common/runner/machine.hpp"
#include "common/runner/mapped_call_file.hpp"

namespace stepwise::runner {

// Runs `call`, and describes the exception that it throws. The message is empty if the call throws
// none.
call_failure outcome_of(const contract& function, const machine& where,
                        const std::function<void()>& call);

class call_maker {
 public:
  // `where` and the function must outlive this.
  call_maker(const contract& function, machine& where) : function_(function), where_(where) {}

  // Makes one call and stores the outcome in its record: done, or failed with a message. After a
  // fault in a kernel, the device is lost, and later calls fail with a message that explains this.
  // Throws file_error if the record is invalid.
  void make(mapped_call_file& file, std::uint32_t number);

 private:
  void run(mapped_call_file& file, const call_record& request, call_record& answer);
  memory& memory_of(const call_record& request) const;
  void make_buffers(mapped_call_file& file, const call_record& request);
  bool has_buffers_of(const call_record& request) const;
  void repeat(mapped_call_file& file, const call_record& request, call_record& answer);
  void keep_busy(const call_record& request, call_record& answer, std::span<void* const> pointers);
  void hand_back(mapped_call_file& file, const call_record& request, call_record& answer) const;

  const contract& function_;
  machine& where_;
  std::vector<call_buffer> buffers_;  // of the current call, or kept from the last
  std::vector<buffer_record> made_for_;
  memory_kind made_in_ = memory_kind::device;
  int lost_ = 0;  // the error that every call has returned since a fault
};

}  // namespace stepwise::runner
