// The types of a device's parameters and results.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "common/device/access_counts.hpp"
#include "common/device/error.hpp"

namespace stepwise {

// An address in device memory. The host faults if it dereferences it, except for addresses of
// managed variables or from allocate_shared().
using device_address = std::uint64_t;

enum class module_handle : std::uint64_t {};
enum class kernel_handle : std::uint64_t {};
enum class event_handle : std::uint64_t {};

struct extent {
  std::uint32_t x = 1, y = 1, z = 1;
  bool operator==(const extent&) const = default;
};

// The number of blocks or threads in an extent. No valid grid overflows it.
inline std::uint64_t volume(const extent& e) { return std::uint64_t{e.x} * e.y * e.z; }

// The bytes of a CUtensorMap. Only the device that made the map knows their format.
using opaque_tensor_map = std::array<std::uint64_t, 16>;

// No cluster of blocks is requested.
inline constexpr extent no_cluster{0, 0, 0};

struct launch_config {
  extent grid;
  extent block;
  std::uint64_t dynamic_shared_bytes = 0;
  bool cooperative = false;  // grid.sync needs every block resident at once
  // Programmatic dependent launch: the kernel may begin before earlier work of its stream has
  // ended. No device does that, but checks must know that the program allows it.
  bool may_begin_early = false;
  extent cluster = no_cluster;  // blocks of a cluster that the launch requests
  // cudaFuncAttributeNonPortableClusterSizeAllowed: more than 8 blocks, up to 16.
  bool allows_large_cluster = false;
};

// The offset and size of a kernel parameter in the parameter buffer of a launch, in bytes.
struct kernel_parameter {
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
};

// The compiler's decisions for a kernel. Registers and static shared memory come from the machine
// code (cubin) if the module has some for this GPU.
struct kernel_attributes {
  std::string name;
  int registers = 0;                      // 32-bit registers per thread
  std::uint64_t static_shared_bytes = 0;  // per block
  std::uint64_t local_bytes = 0;          // per thread
  std::uint64_t constant_bytes = 0;       // user __constant__ memory of the module
  int max_threads_per_block = 0;
  int ptx_version = 0;     // 10 * major + minor of the virtual architecture
  int binary_version = 0;  // 10 * major + minor of the machine code
  std::uint64_t max_dynamic_shared_bytes = 0;
  extent required_cluster = no_cluster;  // blocks, by __cluster_dims__
  // The values that the program set, which the runtime returns as they are.
  int allows_large_cluster = 0, cluster_scheduling_policy = 0;
  std::vector<kernel_parameter> parameters;
};

// The cluster that a launch requests, or the one that its kernel requires; no_cluster if there is
// neither.
inline extent cluster_of(const kernel_attributes& kernel, const launch_config& config) {
  return config.cluster == no_cluster ? kernel.required_cluster : config.cluster;
}

struct module_symbol {
  device_address address = 0;
  std::uint64_t bytes = 0;
  bool shared = false;  // the host may access it
};

// The limits that a program may set before its kernels run, numbered as enum cudaLimit.
enum class device_limit : int {
  stack_bytes = 0,   // local memory for the calls of one thread
  printf_bytes = 1,  // buffer for the output of kernels
  heap_bytes = 2,    // memory from which kernels allocate
};

// Counts over all kernels since reset_counters(). Only emulated devices count.
struct execution_counters : access_counts {
  std::uint64_t launches = 0;
  std::uint64_t warp_instructions = 0;  // PTX instructions that a warp issued
  std::uint64_t lane_instructions = 0;  // the same instructions, times the active lanes
  std::uint64_t barriers = 0;           // warps that reached a block barrier

  execution_counters& operator+=(const access_counts& more) {
    global_load_bytes += more.global_load_bytes;
    global_store_bytes += more.global_store_bytes;
    shared_load_bytes += more.shared_load_bytes;
    shared_store_bytes += more.shared_store_bytes;
    atomics += more.atomics;
    return *this;
  }
  execution_counters& operator+=(const execution_counters& more) {
    *this += static_cast<const access_counts&>(more);
    launches += more.launches;
    warp_instructions += more.warp_instructions;
    lane_instructions += more.lane_instructions;
    barriers += more.barriers;
    return *this;
  }
};

// The modelled time of a launch.
struct modelled_launch {
  double us = 0;     // on the emulated GPU, with the launch overhead
  double fills = 1;  // the fraction of the GPU that its blocks fill
};

// The stream of the next launch or copy, for devices that check the order of accesses.
inline constexpr std::uint64_t no_stream = ~std::uint64_t{0};
struct stream_use {
  std::uint64_t stream = 0;   // a number chosen by the caller; 0: legacy default stream
  bool non_blocking = false;  // cudaStreamNonBlocking: not ordered with stream 0
  bool is_alone = false;      // no other stream's work could run at the same time
};

// A part of the memory shared with the host, and its use by work that the host has not waited for.
struct unfinished_area {
  device_address first = 0;
  std::uint64_t bytes = 0;
  bool written = false;  // false: only read

  bool operator==(const unfinished_area&) const = default;
};

// The verdict on a host access to such memory.
enum class host_touch : std::uint8_t {
  elsewhere,  // the page is not used by such work
  harmless,   // such work does not use the bytes, or both the host and the work only read them
  early,      // a race, unless this access is how the host waits
  flag        // the host waits through this word
};

}  // namespace stepwise
