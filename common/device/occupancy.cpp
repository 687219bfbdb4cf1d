// The rules by which each GPU generation allocates warps, registers and shared memory.
#include "common/device/occupancy.hpp"

#include <algorithm>

#include "common/device/names.hpp"

namespace stepwise {
namespace {

struct allocation_rules {
  int register_unit;
  int partitions;         // each warp's registers are in one; 1.x: unit of warps
  bool of_blocks;         // 1.x: registers are allocated per block
  int shared_unit;        // bytes
  int most_registers;     // per thread
  bool has_larger_limit;  // a kernel can opt in to more shared memory
};

std::optional<allocation_rules> rules_of(int compute_capability) {
  const int major = compute_capability / 10;
  switch (major) {
    case 1:
      return allocation_rules{compute_capability < 12 ? 256 : 512, 2, true, 512, 124, false};
    case 2:
      return allocation_rules{64, 2, false, 128, 63, false};
    case 3:
      return allocation_rules{256, 4, false, 256, compute_capability == 30 ? 63 : 255, false};
    case 5:
    case 6:
      return allocation_rules{256, compute_capability == 60 ? 2 : 4, false, 256, 255, false};
    case 7:
      return allocation_rules{256, 4, false, 256, 255, true};
    default:
      if (major < 8) return std::nullopt;
      return allocation_rules{256, 4, false, 128, 255, true};
  }
}

std::uint64_t divided_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit;
}
std::uint64_t rounded_up(std::uint64_t value, std::uint64_t unit) {
  return divided_up(value, unit) * unit;
}

// 2.x allocates registers in units of 64, but in units of 128 for these numbers of registers per
// thread.
std::uint64_t register_unit(const allocation_rules& rules, int compute_capability,
                            std::uint64_t registers) {
  if (compute_capability / 10 != 2) return static_cast<std::uint64_t>(rules.register_unit);
  for (const std::uint64_t wide : {21, 22, 29, 30, 37, 38, 45, 46})
    if (registers == wide) return 128;
  return 64;
}

std::uint64_t blocks_by_registers(const gpu& model, const allocation_rules& rules,
                                  const block_room& room, std::uint64_t of_warp,
                                  std::uint64_t registers) {
  const auto partitions = static_cast<std::uint64_t>(rules.partitions);
  const auto warps = static_cast<std::uint64_t>(room.warps);
  if (registers == 0) return block_room::any_number;
  if (registers > static_cast<std::uint64_t>(rules.most_registers)) return 0;
  const auto all = static_cast<std::uint64_t>(model.registers_per_multiprocessor);
  if (rules.of_blocks) return all / static_cast<std::uint64_t>(room.registers);
  // The launch check rounds the number of warps up to a multiple of the partitions.
  if (of_warp * rounded_up(warps, partitions) >
      static_cast<std::uint64_t>(model.registers_per_block))
    return 0;
  return all / partitions / of_warp * partitions / warps;
}

status check_threads(const gpu& model, const kernel_attributes& kernel, std::uint64_t threads) {
  if (threads >= 1 && threads <= static_cast<std::uint64_t>(model.max_threads_per_block)) return {};
  return {error::invalid_value, readable_name(kernel.name) + ": " + std::to_string(threads) +
                                    " threads per block: 1 to " +
                                    std::to_string(model.max_threads_per_block) + " are possible"};
}

// The limit for static and dynamic memory together, for a kernel that may use `most_dynamic` bytes.
std::uint64_t most_shared(const gpu& model, std::uint64_t static_bytes,
                          std::uint64_t most_dynamic) {
  const auto rules = rules_of(model.compute_capability());
  const bool asked = rules && rules->has_larger_limit &&
                     static_bytes + model.reserved_shared_bytes_per_block + most_dynamic >
                         model.shared_bytes_per_block;
  return asked ? model.shared_bytes_per_block_optin : model.shared_bytes_per_block;
}

}  // namespace

int block_room::blocks() const { return std::min({by_warps, by_registers, by_shared, by_blocks}); }

int most_registers_of_thread(int compute_capability) {
  const auto rules = rules_of(compute_capability);
  return rules ? rules->most_registers : 0;
}

result<block_room> room_for(const gpu& model, const block_needs& block) {
  const int capability = model.compute_capability();
  const auto rules = rules_of(capability);
  if (!rules)
    return {error::not_supported, "the block limits of multiprocessors with compute capability " +
                                      std::to_string(model.compute_major) + "." +
                                      std::to_string(model.compute_minor) + " are unknown here"};
  if (block.threads == 0) return {error::invalid_value, "a block must have at least one thread"};
  const auto warp_size = static_cast<std::uint64_t>(model.warp_size);
  const auto fit = [](std::uint64_t blocks) {
    return static_cast<int>(std::min<std::uint64_t>(blocks, block_room::any_number));
  };
  block_room room;
  room.of_blocks = rules->of_blocks;
  room.shared_unit = rules->shared_unit;
  room.partitions = rules->partitions;
  std::uint64_t warps = divided_up(block.threads, warp_size);
  room.warps = static_cast<int>(warps);
  const auto slots = static_cast<std::uint64_t>(model.max_threads_per_multiprocessor) / warp_size;
  room.by_warps = block.threads > static_cast<std::uint64_t>(model.max_threads_per_block)
                      ? 0
                      : fit(slots / warps);

  const std::uint64_t unit = register_unit(*rules, capability, block.registers);
  room.register_unit = static_cast<int>(unit);
  const std::uint64_t of_warp = rounded_up(block.registers * warp_size, unit);
  if (rules->of_blocks) warps = rounded_up(warps, static_cast<std::uint64_t>(rules->partitions));
  room.registers = static_cast<int>(
      rules->of_blocks ? rounded_up(block.registers * warp_size * warps, unit) : of_warp * warps);
  room.by_registers = fit(blocks_by_registers(model, *rules, room, of_warp, block.registers));

  const std::uint64_t reserved = model.reserved_shared_bytes_per_block;
  const std::uint64_t shared =
      rounded_up(block.shared_bytes + reserved, static_cast<std::uint64_t>(rules->shared_unit));
  room.shared_bytes = fit(shared);
  room.by_shared = shared > block.most_shared + reserved ? 0
                   : shared == 0                         ? block_room::any_number
                                 : fit(model.shared_bytes_per_multiprocessor / shared);
  room.by_blocks = model.max_blocks_per_multiprocessor;
  return room;
}

result<occupancy> resident_blocks(const gpu& model, const kernel_attributes& kernel,
                                  std::uint64_t threads_per_block,
                                  std::uint64_t dynamic_shared_bytes) {
  if (status bad = check_threads(model, kernel, threads_per_block); !bad.ok()) return bad;
  auto room = room_for(
      model, {threads_per_block, static_cast<std::uint64_t>(kernel.registers),
              kernel.static_shared_bytes + dynamic_shared_bytes,
              most_shared(model, kernel.static_shared_bytes, kernel.max_dynamic_shared_bytes)});
  if (!room.ok()) return room.failure();
  if (dynamic_shared_bytes > kernel.max_dynamic_shared_bytes) room->by_shared = 0;
  occupancy answer;
  answer.blocks = room->blocks();
  answer.by_warps = room->by_warps == answer.blocks;
  answer.by_registers = room->by_registers == answer.blocks;
  answer.by_shared = room->by_shared == answer.blocks;
  answer.by_blocks = room->by_blocks == answer.blocks;
  return answer;
}

result<int> resident_clusters(const gpu& model, int blocks, std::uint64_t cluster_blocks) {
  if (model.cluster_groups.empty())
    return {error::not_supported,
            "the groups of multiprocessors that hold clusters are unknown for " + model.name};
  constexpr int most_blocks_counted = 8;
  const auto counted = static_cast<std::uint64_t>(std::min(blocks, most_blocks_counted));
  std::uint64_t clusters = 0;
  for (const int size : model.cluster_groups) {
    const auto multiprocessors = static_cast<std::uint64_t>(size);
    if (cluster_blocks <= multiprocessors) clusters += multiprocessors * counted / cluster_blocks;
  }
  return static_cast<int>(clusters);
}

result<std::uint64_t> available_dynamic_shared(const gpu& model, const kernel_attributes& kernel,
                                               int blocks, std::uint64_t threads_per_block) {
  const auto fits = resident_blocks(model, kernel, threads_per_block, 0);
  if (!fits.ok()) return fits.failure();
  if (blocks < 1 || fits->blocks < blocks)
    return {error::invalid_value, readable_name(kernel.name) + ": no " + std::to_string(blocks) +
                                      " blocks of it fit on a multiprocessor"};
  const std::uint64_t most = most_shared(model, 0, model.shared_bytes_per_multiprocessor) +
                             model.reserved_shared_bytes_per_block;
  const auto unit = static_cast<std::uint64_t>(rules_of(model.compute_capability())->shared_unit);
  const std::uint64_t share =
      blocks == 1 ? most : model.shared_bytes_per_multiprocessor / static_cast<unsigned>(blocks);
  const std::uint64_t each = std::min(share / unit * unit, most);
  return std::min(each - std::min(each, kernel.static_shared_bytes),
                  kernel.max_dynamic_shared_bytes);
}

}  // namespace stepwise
