// Kernel attributes, and how many blocks of a kernel fit on a multiprocessor.
#include <algorithm>
#include <climits>
#include <cstring>

#include "common/device/launch_check.hpp"
#include "common/device/names.hpp"
#include "common/device/occupancy.hpp"
#include "common/runtime/api/api.hpp"
#include "common/runtime/api/launch.hpp"

using namespace stepwise;
using namespace stepwise::runtime;

namespace {

// Runs `body(state&, registered_kernel&)` for one of the program's kernels.
template <class Body>
cudaError_t with_kernel(const void* function, Body&& body) {
  return call([&](state& s) {
    const auto found = s.registered.use_kernel(*s.current, function);
    return found.ok() ? body(s, **found) : found.failure();
  });
}

cudaFuncAttributes attributes_of(const kernel_attributes& kernel) {
  cudaFuncAttributes out;
  std::memset(&out, 0, sizeof out);
  out.sharedSizeBytes = kernel.static_shared_bytes;
  out.constSizeBytes = kernel.constant_bytes;
  out.localSizeBytes = kernel.local_bytes;
  out.maxThreadsPerBlock = kernel.max_threads_per_block;
  out.numRegs = kernel.registers;
  out.ptxVersion = kernel.ptx_version;
  out.binaryVersion = kernel.binary_version;
  out.maxDynamicSharedSizeBytes = static_cast<int>(kernel.max_dynamic_shared_bytes);
  out.preferredShmemCarveout = cudaSharedmemCarveoutDefault;
  out.clusterDimMustBeSet = kernel.required_cluster != no_cluster;
  out.requiredClusterWidth = static_cast<int>(kernel.required_cluster.x);
  out.requiredClusterHeight = static_cast<int>(kernel.required_cluster.y);
  out.requiredClusterDepth = static_cast<int>(kernel.required_cluster.z);
  out.nonPortableClusterSizeAllowed = kernel.allows_large_cluster;
  out.clusterSchedulingPolicyPreference = kernel.cluster_scheduling_policy;
  return out;
}

// The number of a kernel's blocks that can be resident on one multiprocessor. The number is 0, not
// an error, if the block cannot be launched.
status blocks_that_fit(state& s, const kernel_attributes& kernel, int threads,
                       std::size_t dynamic_bytes, int* blocks) {
  if (!blocks) return invalid_value("the pointer for the number of blocks is null");
  if (threads <= 0) return invalid_value("a block must have at least one thread");
  *blocks = 0;
  const gpu& model = s.current->description();
  if (threads > model.max_threads_per_block) return {};
  const auto found =
      resident_blocks(model, kernel, static_cast<std::uint64_t>(threads), dynamic_bytes);
  if (!found.ok()) return found.failure();
  *blocks = found->blocks;
  return {};
}

// A query for the largest cluster or for the number of clusters.
struct cluster_question {
  std::uint64_t cluster_blocks = 0;  // 0: no cluster is requested
  int resident_blocks = 0;           // per multiprocessor
  bool allows_large = false;
};

// Runs `body(state&, cluster_question)`. Unlike a launch, such a query on an H200 accepts blocks
// that do not fit on a multiprocessor, and clusters of any size if the kernel allows large ones.
// NVIDIA's library crashes on a null configuration.
template <class Body>
cudaError_t with_clusters(const void* function, const cudaLaunchConfig_t* config, Body&& body) {
  return with_kernel(function, [&](state& s, registered_kernel& kernel) {
    if (!config) return invalid_value("the configuration is null");
    launch_request request{function, config->gridDim, config->blockDim};
    request.shared_bytes = config->dynamicSmemBytes;
    if (const status known = apply_attributes(*config, request); !known.ok()) return known;
    const launch_config asked = config_of(request, kernel.attributes);
    const auto is_empty = [](const extent& e) { return e.x == 0 || e.y == 0 || e.z == 0; };
    if (is_empty(asked.grid) || is_empty(asked.block))
      return invalid_value("the grid or the block is empty");
    const extent cluster = cluster_of(kernel.attributes, asked);
    cluster_question question{cluster == no_cluster ? 0 : volume(cluster), 0,
                              asked.allows_large_cluster};
    if (!question.allows_large || question.cluster_blocks <= largest_cluster) {
      const status allowed = check_cluster(s.current->description(), kernel.attributes, asked);
      if (!allowed.ok()) return allowed;
    }
    const auto threads = std::min<std::uint64_t>(volume(asked.block), INT_MAX);
    const status fits = blocks_that_fit(s, kernel.attributes, static_cast<int>(threads),
                                        asked.dynamic_shared_bytes, &question.resident_blocks);
    return fits.ok() ? body(s, question) : fits;
  });
}

status allow_dynamic_shared(state& s, registered_kernel& kernel, int bytes) {
  if (bytes < 0)
    return invalid_value(readable_name(kernel.name) + ": a negative amount of shared memory");
  status outcome =
      s.current->set_max_dynamic_shared_bytes(*kernel.handle, static_cast<std::uint64_t>(bytes));
  if (outcome.ok()) kernel.attributes.max_dynamic_shared_bytes = static_cast<std::uint64_t>(bytes);
  return outcome;
}

// An H200 accepts only the side that __cluster_dims__ has.
status require_cluster(const registered_kernel& kernel, std::uint32_t side, int value) {
  if (value < 0 || (kernel.attributes.required_cluster != no_cluster &&
                    side != static_cast<std::uint32_t>(value)))
    return invalid_value(readable_name(kernel.name) + ": its clusters cannot have a side of " +
                         std::to_string(value));
  if (kernel.attributes.required_cluster != no_cluster) return {};
  return {error::not_supported,
          readable_name(kernel.name) +
              ": a required cluster that is set at run time is not supported; use the launch "
              "attribute cudaLaunchAttributeClusterDimension"};
}

}  // namespace

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  return with_kernel(function, [&](state&, registered_kernel& kernel) {
    if (!attributes) return invalid_value("cudaFuncGetAttributes: the output pointer is null");
    *attributes = attributes_of(kernel.attributes);
    return status{};
  });
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  return with_kernel(function, [&](state& s, registered_kernel& kernel) {
    switch (number_of(attribute)) {
      case cudaFuncAttributeMaxDynamicSharedMemorySize:
        return allow_dynamic_shared(s, kernel, value);
      case cudaFuncAttributePreferredSharedMemoryCarveout:  // only a hint, on hardware too
        return value < -1 || value > 100
                   ? invalid_value(readable_name(kernel.name) +
                                   ": the carve-out must be -1, or 0 to 100 %")
                   : status{};
      case cudaFuncAttributeClusterDimMustBeSet:
        return invalid_value(readable_name(kernel.name) +
                             ": only __cluster_dims__ can require a cluster");
      case cudaFuncAttributeRequiredClusterWidth:
        return require_cluster(kernel, kernel.attributes.required_cluster.x, value);
      case cudaFuncAttributeRequiredClusterHeight:
        return require_cluster(kernel, kernel.attributes.required_cluster.y, value);
      case cudaFuncAttributeRequiredClusterDepth:
        return require_cluster(kernel, kernel.attributes.required_cluster.z, value);
      case cudaFuncAttributeNonPortableClusterSizeAllowed:
        kernel.attributes.allows_large_cluster = value;
        return status{};
      case cudaFuncAttributeClusterSchedulingPolicyPreference:
        if (value < cudaClusterSchedulingPolicyDefault ||
            value > cudaClusterSchedulingPolicyLoadBalancing)
          return invalid_value(readable_name(kernel.name) + ": there is no scheduling policy " +
                               std::to_string(value));
        kernel.attributes.cluster_scheduling_policy = value;
        return status{};
      default:
        return invalid_value(readable_name(kernel.name) + ": there is no function attribute " +
                             std::to_string(number_of(attribute)));
    }
  });
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute,
                                            int value, int number) {
  if (number != 0) {
    return call([](state&) {
      return status{error::invalid_device, "there is only one device, number 0"};
    });
  }
  return cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), attribute, value);
}

cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache) {
  return with_kernel(function, [](state&, registered_kernel&) { return status{}; });
}

// Shared memory has had banks of one size since compute capability 5.0.
cudaError_t cudaFuncSetSharedMemConfig(const void* function, cudaSharedMemConfig) {
  return with_kernel(function, [](state&, registered_kernel&) { return status{}; });
}

cudaError_t cudaFuncGetName(const char** name, const void* function) {
  return call_even_lost([&](state& s) {
    if (!name) return invalid_value("cudaFuncGetName: the output pointer is null");
    if (s.fault.ok()) {
      const auto usable = s.registered.use_kernel(*s.current, function);
      if (!usable.ok()) return usable.failure();
    }
    const registered_kernel* const found = s.registered.find_kernel(function);
    if (!found) {
      return status{error::invalid_device_function, "this function is not a kernel of the program"};
    }
    *name = found->name.c_str();
    return status{};
  });
}

cudaError_t cudaFuncGetParamInfo(const void* function, std::size_t index, std::size_t* offset,
                                 std::size_t* bytes) {
  return with_kernel(function, [&](state&, registered_kernel& kernel) {
    const auto& parameters = kernel.attributes.parameters;
    if (!offset || index >= parameters.size()) {
      return invalid_value(readable_name(kernel.name) + " has " +
                           std::to_string(parameters.size()) + " parameters");
    }
    *offset = parameters[index].offset;
    if (bytes) *bytes = parameters[index].bytes;
    return status{};
  });
}

cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  return call([&](state& s) {
    registered_kernel* const found = s.registered.find_kernel(function);
    if (!kernel) return invalid_value("cudaGetKernel: the output pointer is null");
    if (!found) {
      return status{error::invalid_device_function, "this function is not a kernel of the program"};
    }
    *kernel = reinterpret_cast<cudaKernel_t>(found);
    return status{};
  });
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* kernel, const void* function) {
  return with_kernel(function, [&](state&, registered_kernel& found) {
    if (!kernel) return invalid_value("cudaGetFuncBySymbol: the output pointer is null");
    *kernel = reinterpret_cast<cudaFunction_t>(&found);
    return status{};
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                          int threads, std::size_t dynamic_bytes) {
  return with_kernel(function, [&](state& s, registered_kernel& kernel) {
    return blocks_that_fit(s, kernel.attributes, threads, dynamic_bytes, blocks);
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* function, int threads, std::size_t dynamic_bytes, unsigned flags) {
  return with_kernel(function, [&](state& s, registered_kernel& kernel) {
    if (flags & ~cudaOccupancyDisableCachingOverride) return invalid_value("unknown flags");
    return blocks_that_fit(s, kernel.attributes, threads, dynamic_bytes, blocks);
  });
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* function,
                                                      int blocks, int threads) {
  return with_kernel(function, [&](state& s, registered_kernel& kernel) {
    if (!bytes || threads <= 0) return invalid_value("a null pointer, or no threads");
    const auto found = available_dynamic_shared(s.current->description(), kernel.attributes, blocks,
                                                static_cast<std::uint64_t>(threads));
    if (found.ok()) *bytes = *found;
    return found.ok() ? status{} : found.failure();
  });
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* blocks, const void* function,
                                                 const cudaLaunchConfig_t* config) {
  return with_clusters(function, config, [&](state&, const cluster_question& asked) {
    if (!blocks) return invalid_value("the pointer for the number of blocks is null");
    // The largest portable size, or the largest size of all if the kernel allows large clusters.
    const auto most = asked.allows_large ? largest_cluster : largest_portable_cluster;
    *blocks = asked.resident_blocks == 0 ? 0 : static_cast<int>(most);
    return status{};
  });
}

cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function,
                                           const cudaLaunchConfig_t* config) {
  return with_clusters(function, config, [&](state& s, const cluster_question& asked) {
    if (!clusters) return invalid_value("the pointer for the number of clusters is null");
    *clusters = 0;
    if (asked.cluster_blocks == 0) return status{};
    const auto found =
        resident_clusters(s.current->description(), asked.resident_blocks, asked.cluster_blocks);
    if (found.ok()) *clusters = *found;
    if (!found.ok()) announce("cudaOccupancyMaxActiveClusters: " + found.failure().message);
    return found.ok() ? status{} : found.failure();
  });
}
