// Launch functions, and host functions in streams.
#include "common/runtime/api/capturing.hpp"
#include "common/runtime/api/launch.hpp"

using namespace stepwise;
using namespace stepwise::runtime;

namespace {

// Applies the launch attributes that change the result or that the checks need. Hints about caches
// and priorities have no effect here.
status apply_attribute(const cudaLaunchAttribute& attribute, launch_request& request) {
  switch (number_of(attribute.id)) {
    case cudaLaunchAttributeCooperative:
      request.cooperative = attribute.val.cooperative != 0;
      return {};
    case cudaLaunchAttributeProgrammaticStreamSerialization:
      request.may_begin_early = attribute.val.programmaticStreamSerializationAllowed != 0;
      return {};
    case cudaLaunchAttributeClusterDimension: {
      const auto& cluster = attribute.val.clusterDim;
      request.cluster = {cluster.x, cluster.y, cluster.z};
      return {};
    }
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeSynchronizationPolicy:
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributeMemSyncDomain:
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
      return {};
    default:
      return {error::not_supported,
              "launch attribute " + std::to_string(number_of(attribute.id)) + " is not supported"};
  }
}

}  // namespace

status stepwise::runtime::apply_attributes(const cudaLaunchConfig_t& config,
                                           launch_request& request) {
  for (unsigned i = 0; i < config.numAttrs; i++) {
    const status outcome = apply_attribute(config.attrs[i], request);
    if (outcome.ok()) continue;
    announce(outcome.message);
    return outcome;
  }
  return {};
}

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared_bytes, cudaStream_t stream) {
  return launch_kernel({function, grid, block, arguments, shared_bytes, stream, false});
}
STEPWISE_EXPORT cudaError_t cudaLaunchKernel_ptsz(const void* function, dim3 grid, dim3 block,
                                                  void** arguments, std::size_t shared_bytes,
                                                  cudaStream_t stream) {
  return cudaLaunchKernel(function, grid, block, arguments, shared_bytes, per_thread(stream));
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block,
                                        void** arguments, std::size_t shared_bytes,
                                        cudaStream_t stream) {
  return launch_kernel({function, grid, block, arguments, shared_bytes, stream, true});
}
STEPWISE_EXPORT cudaError_t cudaLaunchCooperativeKernel_ptsz(const void* function, dim3 grid,
                                                             dim3 block, void** arguments,
                                                             std::size_t shared_bytes,
                                                             cudaStream_t stream) {
  return cudaLaunchCooperativeKernel(function, grid, block, arguments, shared_bytes,
                                     per_thread(stream));
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                void** arguments) {
  if (!config) {
    return call([](state&) { return invalid_value("cudaLaunchKernelExC: no configuration"); });
  }
  launch_request request{function,  config->gridDim,          config->blockDim,
                         arguments, config->dynamicSmemBytes, config->stream,
                         false};
  const status known = apply_attributes(*config, request);
  return known.ok() ? launch_kernel(request) : call([&](state&) { return known; });
}
STEPWISE_EXPORT cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t* config,
                                                     const void* function, void** arguments) {
  if (!config) return cudaLaunchKernelExC(config, function, arguments);
  cudaLaunchConfig_t own = *config;
  own.stream = per_thread(own.stream);
  return cudaLaunchKernelExC(&own, function, arguments);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  bool is_kept = false;  // now a graph node, or deferred until earlier work is done
  const cudaError_t outcome = call([&](state& s) {
    if (!function) return invalid_value("cudaLaunchHostFunc: no function");
    status known = check_stream(s, stream);
    if (known.ok() && s.current->is_remote()) known = no_callbacks("cudaLaunchHostFunc");
    if (known.ok() && s.captures != 0) {
      const auto captured = capture_host_function(s, function, data, stream);
      is_kept = captured.has_value();
      if (is_kept) return *captured;
    }
    if (known.ok()) may_delay(s, stream);
    if (known.ok() && must_wait(s, stream)) {
      is_kept = true;
      call_in_stream_order(s, stream, [=] { function(data); });
      return status{};
    }
    if (known.ok()) host_may_know(s, stream);
    return known.ok() ? s.synchronize() : known;
  });
  // Called without the lock, because the function may run for a long time.
  if (outcome == cudaSuccess && !is_kept) function(data);
  return outcome;
}
STEPWISE_OWN_STREAM(cudaLaunchHostFunc_ptsz, cudaLaunchHostFunc,
                    (cudaStream_t stream, cudaHostFn_t function, void* data), stream, function,
                    data)
