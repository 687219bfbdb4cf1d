// Checks the grid, the block, shared memory, threads and cooperative launches against the limits.
#include "common/device/launch_check.hpp"

#include "common/device/names.hpp"
#include "common/device/occupancy.hpp"

namespace stepwise {
namespace {

std::string shape(const extent& e) {
  return std::to_string(e.x) + "x" + std::to_string(e.y) + "x" + std::to_string(e.z);
}

std::uint64_t threads_of(const extent& block) {
  return std::uint64_t{block.x} * block.y * block.z;  // no overflow: the sides are checked
}

// A question that follows a message about a block that is too large, if the grid's size would be a
// valid block size.
std::string are_swapped(const extent& grid) {
  constexpr std::uint64_t warp = 32, most = 1024;
  const std::uint64_t blocks = threads_of(grid);
  return blocks % warp == 0 && blocks <= most
             ? "; the grid has " + std::to_string(blocks) +
                   " blocks: are the two swapped in <<<blocks, threads>>>?"
             : "";
}

// A message about the first side of `have` that is 0 or over its limit, or an empty string.
std::string bad_side(const char* what, const extent& have, const int (&most)[3]) {
  const std::uint32_t sides[3] = {have.x, have.y, have.z};
  for (int i = 0; i < 3; i++) {
    if (sides[i] == 0) {
      return std::string("a ") + what + " of " + shape(have) +
             ": every dimension must be at least 1 (dividing n by the block size rounds down to 0 "
             "for a partial block; (n + size - 1) / size rounds up)";
    }
    if (sides[i] > static_cast<std::uint32_t>(most[i])) {
      return std::string("a ") + what + " of " + shape(have) + ": at most " +
             std::to_string(most[i]) + " in " + "xyz"[i];
    }
  }
  return "";
}

status check_shared(const gpu& model, const kernel_attributes& kernel, std::uint64_t dynamic,
                    const std::string& who) {
  if (dynamic <= kernel.max_dynamic_shared_bytes) return {};
  std::string hint;
  if (dynamic + kernel.static_shared_bytes <= model.shared_bytes_per_block_optin) {
    hint =
        "; ask for more with cudaFuncSetAttribute("
        "..., cudaFuncAttributeMaxDynamicSharedMemorySize, ...)";
  }
  return {error::invalid_value,
          who + std::to_string(dynamic) + " bytes of dynamic shared memory: at most " +
              std::to_string(kernel.max_dynamic_shared_bytes) + " in addition to the kernel's " +
              std::to_string(kernel.static_shared_bytes) + " static bytes" + hint};
}

// Too many threads for the register file is a lack of resources. Too many threads for the kernel's
// launch bounds is an invalid argument, like a bad grid.
status check_threads(const gpu& model, const kernel_attributes& kernel, std::uint64_t threads,
                     const std::string& who) {
  if (threads <= static_cast<std::uint64_t>(kernel.max_threads_per_block)) return {};
  const std::string most = who + std::to_string(threads) +
                           " threads per block: this kernel takes at most " +
                           std::to_string(kernel.max_threads_per_block);
  const auto fits = resident_blocks(model, kernel, threads, 0);
  if (fits.ok() && fits->blocks == 0 && fits->by_registers) {
    return {error::launch_out_of_resources,
            most + ", with its " + std::to_string(kernel.registers) + " registers per thread"};
  }
  return {error::invalid_value, most + ", because of its launch bounds"};
}

status check_cooperative(const gpu& model, const kernel_attributes& kernel,
                         const launch_config& config, const std::string& who) {
  const auto resident =
      resident_blocks(model, kernel, threads_of(config.block), config.dynamic_shared_bytes);
  if (!resident.ok()) return resident.failure();
  const std::uint64_t most = std::uint64_t(resident->blocks) * model.multiprocessors;
  // The sides are at most 2^31-1, 65535 and 65535, so the product fits in 64 bits.
  const std::uint64_t blocks = std::uint64_t{config.grid.x} * config.grid.y * config.grid.z;
  if (blocks <= most) return {};
  return {error::cooperative_launch_too_large,
          who + std::to_string(blocks) + " blocks in a cooperative launch: " + model.name +
              " can hold at most " + std::to_string(most) + " at once"};
}

}  // namespace

status check_cluster(const gpu& model, const kernel_attributes& kernel,
                     const launch_config& config) {
  const std::string who = readable_name(kernel.name) + ": ";
  const extent cluster = cluster_of(kernel, config);
  if (cluster == no_cluster) return {};
  if (model.compute_capability() < 90)
    return {error::not_supported, who + model.name + " has no clusters of blocks"};
  const auto refused = [&](const std::string& why) {
    return status{error::invalid_cluster_size,
                  who + "clusters of " + shape(cluster) + " blocks" + why};
  };
  if (kernel.required_cluster != no_cluster && cluster != kernel.required_cluster)
    return refused(", but its __cluster_dims__ are " + shape(kernel.required_cluster));
  const std::uint64_t blocks = volume(cluster);
  if (blocks == 0) return refused(": every dimension must be at least 1");
  if (blocks > largest_cluster)
    return refused(": a cluster has at most " + std::to_string(largest_cluster));
  if (blocks > largest_portable_cluster && !config.allows_large_cluster)
    return refused(": more than " + std::to_string(largest_portable_cluster) +
                   " need cudaFuncAttributeNonPortableClusterSizeAllowed");
  const extent& grid = config.grid;
  if (grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0)
    return refused(", which do not divide the grid of " + shape(grid));
  return {};
}

status check_launch(const gpu& model, const kernel_attributes& kernel,
                    const launch_config& config) {
  const std::string who = readable_name(kernel.name) + ": ";
  for (const std::string& bad : {bad_side("grid", config.grid, model.max_grid),
                                 bad_side("block", config.block, model.max_block)}) {
    const bool is_block = bad.starts_with("a block");
    if (!bad.empty())
      return {error::invalid_value, who + bad + (is_block ? are_swapped(config.grid) : "")};
  }
  const std::uint64_t threads = threads_of(config.block);
  if (threads > static_cast<std::uint64_t>(model.max_threads_per_block))
    return {error::invalid_value, who + std::to_string(threads) + " threads per block: at most " +
                                      std::to_string(model.max_threads_per_block) +
                                      are_swapped(config.grid)};
  status found = check_threads(model, kernel, threads, who);
  if (found.ok()) found = check_shared(model, kernel, config.dynamic_shared_bytes, who);
  if (found.ok()) found = check_cluster(model, kernel, config);
  if (found.ok() && config.cooperative) found = check_cooperative(model, kernel, config, who);
  return found;
}

}  // namespace stepwise
