// The rules of each generation, and the L1 and shared memory sizes of its multiprocessors.
#include "common/device/memory_rules.hpp"

#include <algorithm>
#include <span>

namespace stepwise {
namespace {

constexpr std::uint64_t kb = 1024;

// If L1 and shared memory share one memory, the size of that memory and the possible sizes of
// shared memory, in KB. Otherwise, the size of L1.
struct chip_memory {
  std::uint64_t kilobytes = 0;
  std::span<const std::uint64_t> shared_sizes = {};
};

constexpr std::uint64_t sizes_9[] = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};
constexpr std::uint64_t sizes_80[] = {0, 8, 16, 32, 64, 100, 132, 164};
constexpr std::uint64_t sizes_8[] = {0, 8, 16, 32, 64, 100};
constexpr std::uint64_t sizes_75[] = {32, 64};
constexpr std::uint64_t sizes_70[] = {0, 8, 16, 32, 64, 96};
// Programs could request 16 KB, but 48 KB is the default.
constexpr std::uint64_t sizes_2[] = {48};

chip_memory memory_of(int capability) {
  switch (capability / 10) {
    case 1:
      return {};
    case 2:
      return {64, sizes_2};
    case 3:
      return {48};  // read-only cache; L1 is only for the stack
    case 5:
    case 6:
      return {24};  // per half of a multiprocessor
    case 7:
      return capability < 75 ? chip_memory{128, sizes_70} : chip_memory{96, sizes_75};
    case 8:
      if (capability == 80 || capability == 87) return {192, sizes_80};
      return {128, sizes_8};
    default:
      return {256, sizes_9};
  }
}

}  // namespace

memory_rules memory_rules_of(const gpu& model) {
  const int capability = model.compute_capability(), major = capability / 10;
  memory_rules r;
  r.has_l2 = model.l2_bytes > 0;
  if (major == 1) {
    r.global = global_requests::segments;
    r.half_warps = true;
  }
  if (major == 2) r.global = global_requests::lines;
  if (major == 3) r.bank_bytes = 8;
  r.l1_keeps_loads = major == 2 || major >= 7;
  r.l1_keeps_read_only_loads = r.l1_keeps_stack = major >= 2;
  r.l1_keeps_stores = major >= 7;
  r.joins_pairs = major >= 7;
  r.cycles_of_wavefront = major <= 2 ? 2 : 1;
  // Measured on 9.0. Assumed for 8.0, whose L2 has two halves as well.
  r.l2_halves = capability == 80 || capability == 90 ? 2 : 1;
  r.sectors_of_dram = major >= 8 ? 2 : 1;
  return r;
}

std::uint64_t shared_carveout(const gpu& model, std::uint64_t bytes) {
  for (const std::uint64_t size : memory_of(model.compute_capability()).shared_sizes)
    if (size * kb >= bytes && size * kb < model.shared_bytes_per_multiprocessor) return size * kb;
  return model.shared_bytes_per_multiprocessor;
}

std::uint64_t l1_bytes_beside(const gpu& model, std::uint64_t bytes, std::uint64_t resident) {
  const chip_memory chip = memory_of(model.compute_capability());
  if (chip.shared_sizes.empty()) return chip.kilobytes * kb;
  const std::uint64_t carved =
      shared_carveout(model, (bytes + model.reserved_shared_bytes_per_block) * resident);
  return chip.kilobytes * kb - std::min(carved, chip.shared_sizes.back() * kb);
}

}  // namespace stepwise
