// The description of a GPU: limits and sizes, as common/gpus/<name>.toml gives them.
//
// source  the CUDA runtime's own answers on that GPU (cudaGetDeviceProperties), recorded by hand
//         in the .toml with the date; of GPUs that nobody asked, what is published of them.
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
  std::string id;    // "h200": the file's name; of the user's own file the whole path
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
  std::uint64_t shared_bytes_per_block = 0;        // without asking: 48 KB
  std::uint64_t shared_bytes_per_block_optin = 0;  // after cudaFuncSetAttribute
  std::uint64_t shared_bytes_per_multiprocessor = 0;
  std::uint64_t reserved_shared_bytes_per_block = 0;
  int driver_version = 13000;  // as cudaDriverGetVersion gives it; this one where it is unknown
  // Every cudaDeviceAttr by its number, as the CUDA runtime answers it on that GPU.
  std::map<int, int> attributes;
  std::set<int> estimated;  // of these, what is neither measured nor published
  // Every cudaLimit by its number, as it is until a program sets it.
  std::map<int, std::uint64_t> limits;
  // What microbenchmarks found (common/gpus/<id>.measured.jsonl), by name, in the units given
  // there; empty where nothing was measured.
  std::map<std::string, double, std::less<>> measured;

  // On paper: double data rate.
  double memory_bytes_per_s() const { return 2.0 * memory_clock_khz * 1e3 * memory_bus_bits / 8; }
  int compute_capability() const { return 10 * compute_major + compute_minor; }
};

// Sets the fields that `attributes` has (compute_major ... reserved_shared_bytes_per_block).
// Returns 0, or the number of the first attribute that is missing.
int fill_from_attributes(gpu& model);

// The GPUs whose descriptions are built in, by id.
std::vector<std::string> known_gpus();

// The description with this id, or in this file if it ends with ".toml" (common/gpus/h200.toml
// shows the form); invalid_value names the known ones, or what is wrong with the file.
result<gpu> find_gpu(std::string_view id);

// Reads the text of a description (the form of common/gpus/h200.toml); invalid_value says what is
// wrong with it.
result<gpu> parse_gpu(std::string_view id, std::string_view text);

}  // namespace stepwise
