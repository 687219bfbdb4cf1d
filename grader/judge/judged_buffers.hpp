// The buffers of a judged call, which only the judge and a device can access.
//
// idea    Device memory is filled and read through the judge's own connection. On a GPU, each
//         buffer has a random offset between guard zones. The emulator reports every access outside
//         an allocation, so on the emulator buffers have their exact size.
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

// Copies with all cores if there is enough to copy.
void copy_by_all(std::byte* to, const std::byte* from, std::size_t bytes);
// The index of the first byte that differs, or the size. Both areas must have the same size.
std::size_t first_difference(std::span<const std::byte> a, std::span<const std::byte> b);

// The position of a buffer on the device. The function gets `address`, which is 0 for no bytes.
struct placed_buffer {
  device_address allocation = 0, address = 0;
  std::uint64_t guard = 0;  // bytes of each zone
};

// Allocates and fills buffers: inputs with their content, outputs and scratch with a random byte.
// `kept` holds the call's previous buffers, which are reused at another offset.
result<std::vector<placed_buffer>> place_buffers(remote::remote_device& on,
                                                 const problem_call& call, bool with_guards,
                                                 const std::vector<placed_buffer>& kept = {});

// Reads the outputs into the file, and checks that inputs and guard zones are unchanged. The status
// is that of the device, which may be gone.
result<call_outcome> take_buffers(remote::remote_device& on, const call_file& file,
                                  std::size_t plan, const std::vector<placed_buffer>& at);

// Overwrites the buffers first, so that no later call finds the results there.
void give_back(remote::remote_device& on, const problem_call& call,
               const std::vector<placed_buffer>& at);

// Arrays in the host's memory: the program's copy, which it shares with the judge, and the judge's
// copy, which it shares with the device's server. When the program copies between its arrays and
// the device, the server copies from and to the judge's arrays.
struct array_memory {
  std::span<std::byte> program, judge;
};
struct placed_array {
  std::uint64_t offset = 0;  // in both copies
  std::uint32_t poison = 0;  // for an output
};

// The total bytes of a call's arrays, one after the other.
std::uint64_t array_bytes(const problem_call& call);
std::vector<placed_array> place_arrays(const array_memory& memory, const problem_call& call);
// Takes outputs from the judge's copy. CHECK if the program's copy differs.
call_outcome take_arrays(const array_memory& memory, const call_file& file, std::size_t plan,
                         const std::vector<placed_array>& at);

}  // namespace stepwise
