// Kernel launches. Packs the arguments as the kernel expects them, and rejects every launch that
// hardware rejects.
//
// tests   ../tests/launch_test.cpp
#pragma once

#include "common/runtime/api/api.hpp"

namespace stepwise::runtime {

struct launch_request {
  const void* function = nullptr;  // host stub, or a cudaKernel_t
  dim3 grid, block;
  void** arguments = nullptr;  // one pointer per parameter
  std::size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
  bool cooperative = false;
  bool may_begin_early = false;
  extent cluster = no_cluster;
};

// `kernel`: its attributes, some of which the program sets before the launch.
launch_config config_of(const launch_request& request, const kernel_attributes& kernel);

// Adds a configuration's attributes to a request. not_supported, with a message on stderr, for an
// attribute that changes the result in a way that no device here offers.
status apply_attributes(const cudaLaunchConfig_t& config, launch_request& request);

// Starts a kernel whose launch was checked. `parameters` is the packed parameter buffer.
status start_kernel(state& s, const registered_kernel& kernel, const launch_config& config,
                    std::span<const std::byte> parameters, cudaStream_t stream);

// A complete API call.
cudaError_t launch_kernel(const launch_request& request,
                          std::source_location at = std::source_location::current()) noexcept;

// The parameter buffer of a kernel; invalid_value if there are parameters but no arguments.
result<std::vector<std::byte>> pack_arguments(const kernel_attributes& kernel,
                                              const void* const* arguments);

}  // namespace stepwise::runtime
