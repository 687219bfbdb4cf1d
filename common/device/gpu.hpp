// The description of a GPU: limits and sizes, from common/gpus/<name>.toml.
//
// source  the CUDA runtime's results on that GPU (cudaGetDeviceProperties), recorded by hand in the
//         .toml with the date. For GPUs that were not available, published values.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/device/error.hpp"

namespace stepwise {

struct gpu {
  std::string id;    // file name ("h200"), or the path of the user's own file
  std::string name;  // "NVIDIA H200"
  int compute_major = 0;
  int compute_minor = 0;
  int multiprocessors = 0;
  int clock_khz = 0;
  int memory_clock_khz = 0;
  int memory_bus_bits = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t l2_bytes = 0;
  std::uint64_t constant_bytes = 0;
  int warp_size = 32;
  int max_threads_per_block = 0;
  int max_block[3] = {0, 0, 0};
  int max_grid[3] = {0, 0, 0};
  int max_threads_per_multiprocessor = 0;
  int max_blocks_per_multiprocessor = 0;
  int registers_per_block = 0;
  int registers_per_multiprocessor = 0;
  std::uint64_t shared_bytes_per_block = 0;        // default, 48 KB
  std::uint64_t shared_bytes_per_block_optin = 0;  // after cudaFuncSetAttribute
  std::uint64_t shared_bytes_per_multiprocessor = 0;
  std::uint64_t reserved_shared_bytes_per_block = 0;
  int driver_version = 13000;  // from cudaDriverGetVersion; default if unknown
  // The value of every cudaDeviceAttr that the CUDA runtime returns on that GPU, by number.
  std::map<int, int> attributes;
  // The sizes of the groups of multiprocessors; empty if unknown. A cluster of blocks must fit into
  // one group. GPUs of one model may differ, because a chip's defective multiprocessors are
  // disabled.
  std::vector<int> cluster_groups;
  std::set<int> estimated;  // attributes neither measured nor published
  // The default value of every cudaLimit, by number.
  std::map<int, std::uint64_t> limits;
  // Results of microbenchmarks by name, in the units of common/gpus/<id>.measured.jsonl; empty if
  // nothing was measured.
  std::map<std::string, double, std::less<>> measured;

  // The theoretical bandwidth. The factor of 2 is for double data rate.
  double memory_bytes_per_s() const { return 2.0 * memory_clock_khz * 1e3 * memory_bus_bits / 8; }
  int compute_capability() const { return 10 * compute_major + compute_minor; }
};

// Sets the fields that `attributes` determines (compute_major ... reserved_shared_bytes_per_block).
// Returns 0, or the number of the first missing attribute.
int fill_from_attributes(gpu& model);

// The ids of the built-in descriptions.
std::vector<std::string> known_gpus();

// The description with this id, or in this file if it ends with ".toml" (for the format, see
// common/gpus/h200.toml). invalid_value lists the known ids or describes the problem in the file.
result<gpu> find_gpu(std::string_view id);

// Parses a description in the format of common/gpus/h200.toml. invalid_value describes the problem.
result<gpu> parse_gpu(std::string_view id, std::string_view text);

}  // namespace stepwise
