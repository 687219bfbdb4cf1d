// The buffers of a judged call, which only the judge and a device can reach.
//
// idea    Device memory: filled through the judge's own connection, read from there afterwards. On
//         a GPU each buffer has a random place between guard zones; the emulator reports every
//         access outside of an allocation, so there it is exact.
// Tested by tests/judged_session_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/device/remote/remote_device.hpp"
#include "grader/judge/call_file.hpp"
#include "grader/judge/verdict.hpp"

namespace stepwise {

// A number that cannot be predicted.
std::uint64_t random_number();

// By all cores, where there is much.
void copy_by_all(std::byte* to, const std::byte* from, std::size_t bytes);
// The place of the first byte that differs; the size if none does. Both have the same size.
std::size_t first_difference(std::span<const std::byte> a, std::span<const std::byte> b);

// The place of a buffer on the device; what the function is given is `address`, 0 for no bytes.
struct placed_buffer {
  device_address allocation = 0, address = 0;
  std::uint64_t guard = 0;  // bytes of each zone
};

// Allocates and fills: inputs with their content, outputs and scratch with a random byte. `kept`:
// where the call's buffers were the last time, which are used again, at another place within.
result<std::vector<placed_buffer>> place_buffers(remote::remote_device& on,
                                                 const problem_call& call, bool with_guards,
                                                 const std::vector<placed_buffer>& kept = {});

// Reads the outputs into the file, and holds inputs and guard zones against what they were. The
// status is of the device, which may be gone.
result<call_outcome> take_buffers(remote::remote_device& on, const call_file& file,
                                  std::size_t plan, const std::vector<placed_buffer>& at);

// Overwritten before, so that nobody finds there what was computed.
void give_back(remote::remote_device& on, const problem_call& call,
               const std::vector<placed_buffer>& at);

// Arrays in the host's memory: the program's copy, which it shares with the judge, and the judge's,
// which the device's server shares. What the program copies between its arrays and the device, the
// server copies from and to the judge's.
struct array_memory {
  std::span<std::byte> program, judge;
};
struct placed_array {
  std::uint64_t offset = 0;  // in both
  std::uint32_t poison = 0;  // of an output
};

// Of a call's arrays, one after the other.
std::uint64_t array_bytes(const problem_call& call);
std::vector<placed_array> place_arrays(const array_memory& memory, const problem_call& call);
// Outputs are the judge's copy; CHECK if the program has others.
call_outcome take_arrays(const array_memory& memory, const call_file& file, std::size_t plan,
                         const std::vector<placed_array>& at);

}  // namespace stepwise
