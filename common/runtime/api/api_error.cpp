// Errors, versions, and Stepwise's own extensions of the runtime API.
#include "common/runtime/api/api.hpp"
#include "common/runtime/stepwise.h"

using namespace stepwise;
using namespace stepwise::runtime;

namespace {

// Notes for the checks that the program has looked at this error.
void notify_checks(int code) {
  state& s = state::get();
  if (code == 0 || !s.checks) return;
  const std::lock_guard guard(s.lock);
  s.checks->error_seen();
}

}  // namespace

cudaError_t cudaGetLastError() {
  const int code = take_error();
  notify_checks(code);
  return static_cast<cudaError_t>(code);
}

cudaError_t cudaPeekAtLastError() {
  const int code = last_error();
  notify_checks(code);
  return static_cast<cudaError_t>(code);
}

const char* cudaGetErrorName(cudaError_t error) { return error_name(number_of(error)); }

const char* cudaGetErrorString(cudaError_t error) { return error_text(number_of(error)); }

cudaError_t cudaRuntimeGetVersion(int* version) {
  return call_without_device([&](state&) {
    if (!version) return invalid_value("cudaRuntimeGetVersion: the output pointer is null");
    *version = CUDART_VERSION;
    return status{};
  });
}

cudaError_t cudaDriverGetVersion(int* version) {
  return call_without_device([&](state& s) {
    if (!version) return invalid_value("cudaDriverGetVersion: the output pointer is null");
    const bool usable = s.fault.ok() ? s.ready().ok() : s.current != nullptr;
    *version = usable ? s.current->description().driver_version : 0;
    return status{};
  });
}

STEPWISE_EXPORT const char* stepwiseDeviceKind() { return "emulated"; }

STEPWISE_EXPORT int stepwiseGetCounters(stepwise_counters* counters) {
  if (!counters) return 1;
  state& s = state::get();
  const std::lock_guard guard(s.lock);
  s.wait_for_all();
  // This is not a CUDA API call. It keeps no error, and a lost device still returns its counters.
  if (s.fault.ok() && (!s.ready().ok() || !s.synchronize().ok())) {
    if (!s.current) return 1;
  }
  auto* const counting = s.current ? s.current->extras().counting : nullptr;
  const auto found = counting != nullptr ? counting->counters() : std::nullopt;
  if (!found) return 1;
  *counters = {found->launches,
               found->warp_instructions,
               found->lane_instructions,
               found->global_load_bytes,
               found->global_store_bytes,
               found->shared_load_bytes,
               found->shared_store_bytes,
               found->atomics,
               found->barriers};
  return 0;
}

STEPWISE_EXPORT void stepwiseResetCounters() {
  state& s = state::get();
  const std::lock_guard guard(s.lock);
  s.wait_for_all();
  if (!s.ready().ok() || !s.synchronize().ok()) return;
  if (auto* const counting = s.current->extras().counting) counting->reset_counters();
}

STEPWISE_EXPORT const char* stepwiseLastErrorMessage() { return last_message(); }

STEPWISE_EXPORT int stepwiseLastError() { return last_error(); }

STEPWISE_EXPORT void stepwiseNameAllocation(const void* address, const char* name) {
  state& s = state::get();
  const std::lock_guard guard(s.lock);
  auto* const checks = s.current ? s.current->extras().checks : nullptr;
  if (checks != nullptr && name) checks->name_allocation(address_of(address), name);
}

STEPWISE_EXPORT void stepwiseBeginCall() {
  state& s = state::get();
  const std::lock_guard guard(s.lock);
  s.is_in_call = true;
}

STEPWISE_EXPORT void stepwiseEndCall() {
  state& s = state::get();
  const std::lock_guard guard(s.lock);
  s.is_in_call = false;
  s.call_arrays.clear();
  auto* const process = s.current ? s.current->extras().process : nullptr;
  if (process != nullptr) process->note_host_array(nullptr, 0, 0);
}

STEPWISE_EXPORT void stepwiseHostArray(const void* first, uint64_t bytes, uint64_t place) {
  state& s = state::get();
  const std::lock_guard guard(s.lock);
  s.call_arrays[static_cast<const std::byte*>(first)] = bytes;
  auto* const process = s.ready().ok() ? s.current->extras().process : nullptr;
  if (process != nullptr)
    process->note_host_array(static_cast<const std::byte*>(first), bytes, place);
}

STEPWISE_EXPORT void stepwiseFile(const void* content, uint64_t bytes, uint64_t place,
                                  int is_result) {
  state& s = state::get();
  const std::lock_guard guard(s.lock);
  auto* const process = s.ready().ok() ? s.current->extras().process : nullptr;
  if (process != nullptr)
    process->note_file({static_cast<const std::byte*>(content), bytes}, place, is_result != 0);
}

STEPWISE_EXPORT void stepwiseForgetContents(const void* address, uint64_t bytes) {
  state& s = state::get();
  const std::lock_guard guard(s.lock);
  if (auto* const on = s.checking_device()) on->forget_contents(address_of(address), bytes);
}
