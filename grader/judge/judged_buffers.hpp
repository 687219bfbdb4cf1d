// The buffers of a judged call, where nobody but the judge and a device reaches them.
//
// idea    Device memory: filled through the judge's own connection, read from there afterwards. On
// a
//         GPU each buffer has a random place between guard zones; the emulator tells of every
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

// A number that nobody can foresee.
std::uint64_t random_number();

// The place of a buffer on the device; what the function is given is `address`, 0 for no bytes.
struct placed_buffer {
  device_address allocation = 0, address = 0;
  std::uint64_t guard = 0;  // bytes of each zone
};

// Allocates and fills: inputs with their content, outputs and scratch with a random byte.
result<std::vector<placed_buffer>> place_buffers(device& on, const problem_call& call,
                                                 bool with_guards);

// Reads the outputs into the file, and holds inputs and guard zones against what they were. The
// status is of the device, which may be gone.
result<call_outcome> take_buffers(device& on, const call_file& file, std::size_t plan,
                                  const std::vector<placed_buffer>& at);

void give_back(device& on, const std::vector<placed_buffer>& at);

// The same for arrays in the host's memory, which lie one behind the other in `shared`.
std::uint64_t array_bytes(const problem_call& call);
std::vector<std::uint64_t> place_arrays(std::span<std::byte> shared, const problem_call& call);
void take_arrays(std::span<const std::byte> shared, const call_file& file, std::size_t plan);

}  // namespace stepwise
