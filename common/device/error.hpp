// Errors of a device, with the CUDA runtime's numbers.
//
// idea    Every layer passes the number that a CUDA program would see, and a message for people.
// source  CUDA Toolkit 13.0, driver_types.h (enum cudaError).
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace stepwise {

enum class error : int {
  success = 0,
  invalid_value = 1,
  memory_allocation = 2,
  initialization = 3,
  invalid_configuration = 9,
  invalid_pitch_value = 12,
  invalid_symbol = 13,
  invalid_host_pointer = 16,
  invalid_device_pointer = 17,
  invalid_memcpy_direction = 21,
  insufficient_driver = 35,
  devices_unavailable = 46,
  missing_configuration = 52,
  launch_pending_count_exceeded = 69,
  invalid_device_function = 98,
  no_device = 100,
  invalid_device = 101,
  invalid_kernel_image = 200,
  no_kernel_image_for_device = 209,
  unsupported_limit = 215,
  peer_access_unsupported = 217,
  invalid_ptx = 218,
  unsupported_ptx_version = 222,
  file_not_found = 301,
  invalid_resource_handle = 400,
  illegal_state = 401,
  lossy_query = 402,
  symbol_not_found = 500,
  not_ready = 600,
  illegal_address = 700,
  launch_out_of_resources = 701,
  launch_timeout = 702,
  peer_access_not_enabled = 705,
  assert_triggered = 710,
  host_memory_already_registered = 712,
  host_memory_not_registered = 713,
  hardware_stack_error = 714,
  illegal_instruction = 715,
  misaligned_address = 716,
  invalid_address_space = 717,
  launch_failure = 719,
  cooperative_launch_too_large = 720,
  not_permitted = 800,
  not_supported = 801,
  stream_capture_unsupported = 900,
  stream_capture_invalidated = 901,
  stream_capture_merge = 902,
  stream_capture_unmatched = 903,
  stream_capture_unjoined = 904,
  stream_capture_isolation = 905,
  stream_capture_implicit = 906,
  captured_event = 907,
  stream_capture_wrong_thread = 908,
  graph_exec_update_failure = 910,
  invalid_cluster_size = 912,
  unknown = 999,
};

// True for errors that only a kernel's execution can cause. After such an error the device is lost,
// and every later call returns the same error; see device.hpp.
constexpr bool is_fault(error code) {
  switch (code) {
    case error::illegal_address:
    case error::launch_timeout:
    case error::assert_triggered:
    case error::hardware_stack_error:
    case error::illegal_instruction:
    case error::misaligned_address:
    case error::invalid_address_space:
    case error::launch_failure:
      return true;
    default:
      return false;
  }
}

// The outcome of a call: a number for programs, and a message for people (may be empty).
struct status {
  error code = error::success;
  std::string message;

  bool ok() const { return code == error::success; }
};

// A value, or the reason why there is no value.
template <class T>
class result {
 public:
  result(T value) : value_(std::move(value)) {}
  result(status failure) : failure_(std::move(failure)) {}
  result(error code, std::string message) : failure_{code, std::move(message)} {}

  bool ok() const { return value_.has_value(); }
  const status& failure() const { return failure_; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  status failure_;
};

}  // namespace stepwise
