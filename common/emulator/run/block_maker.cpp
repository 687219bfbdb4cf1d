// Makes blocks: their registers, shared and local memory, and their initial contents.
#include "common/emulator/run/block_maker.hpp"

#include <algorithm>
#include <cstring>

namespace stepwise::emulator {
namespace {

std::uint64_t round_up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

template <class T>
void fill_vreg(std::byte* vreg, std::uint64_t value) {
  T* d = reinterpret_cast<T*>(vreg);
  for (int l = 0; l < lanes; ++l) d[l] = static_cast<T>(value);
}

void write_vreg(std::byte* vreg, unsigned bytes, std::uint64_t value) {
  switch (bytes) {
    case 0:
      *reinterpret_cast<std::uint32_t*>(vreg) = value != 0 ? all_lanes : 0;
      break;
    case 2:
      fill_vreg<std::uint16_t>(vreg, value);
      break;
    case 4:
      fill_vreg<std::uint32_t>(vreg, value);
      break;
    default:
      fill_vreg<std::uint64_t>(vreg, value);
      break;
  }
}

void write_lane(std::byte* vreg, unsigned bytes, int lane, std::uint64_t value) {
  if (bytes == 2)
    reinterpret_cast<std::uint16_t*>(vreg)[lane] = static_cast<std::uint16_t>(value);
  else if (bytes == 4)
    reinterpret_cast<std::uint32_t*>(vreg)[lane] = static_cast<std::uint32_t>(value);
  else
    reinterpret_cast<std::uint64_t*>(vreg)[lane] = value;
}

// The clusters of a grid.
extent clusters_of(const launch_state& launch) {
  const extent &grid = launch.config.grid, &cluster = launch.cluster;
  return {grid.x / cluster.x, grid.y / cluster.y, grid.z / cluster.z};
}

}  // namespace

std::uint64_t nth_block(std::uint64_t n, const extent& grid, const extent& cluster) {
  const std::uint64_t size = volume(cluster);
  if (size == 1) return n;
  const extent outer =
      place(n / size, {grid.x / cluster.x, grid.y / cluster.y, grid.z / cluster.z});
  const extent inner = place(n % size, cluster);
  const std::uint64_t x = std::uint64_t{outer.x} * cluster.x + inner.x,
                      y = std::uint64_t{outer.y} * cluster.y + inner.y,
                      z = std::uint64_t{outer.z} * cluster.z + inner.z;
  return x + grid.x * (y + grid.y * z);
}

// A special register of one lane that is the same for every block. Registers that depend on the
// block are 0 here; start() sets them.
std::uint64_t block_maker::special_value(special which, std::uint32_t warp, int lane) const {
  const extent& size = launch_.config.block;
  const extent& grid = launch_.config.grid;
  const extent at = place(std::uint64_t{warp} * lanes + static_cast<std::uint64_t>(lane), size);
  const std::uint32_t bit = std::uint32_t{1} << lane;
  switch (which) {
    case special::tid_x:
      return at.x;
    case special::tid_y:
      return at.y;
    case special::tid_z:
      return at.z;
    case special::ntid_x:
      return size.x;
    case special::ntid_y:
      return size.y;
    case special::ntid_z:
      return size.z;
    case special::nctaid_x:
      return grid.x;
    case special::nctaid_y:
      return grid.y;
    case special::nctaid_z:
      return grid.z;
    case special::laneid:
      return static_cast<std::uint64_t>(lane);
    case special::warpid:
      return warp;
    case special::nwarpid:
      return 64;
    case special::nsmid:
      return static_cast<std::uint64_t>(launch_.model->multiprocessors);
    case special::lanemask_eq:
      return bit;
    case special::lanemask_lt:
      return bit - 1;
    case special::lanemask_le:
      return bit | (bit - 1);
    case special::lanemask_gt:
      return ~(bit | (bit - 1));
    case special::lanemask_ge:
      return ~(bit - 1);
    case special::dynamic_smem_size:
      return launch_.config.dynamic_shared_bytes;
    case special::total_smem_size:
      return x_.shared_bytes - code_.shared_gap_bytes;
    case special::grid_workspace_low:
      return launch_.grid_workspace & 0xffffffffu;
    case special::grid_workspace_high:
      return launch_.grid_workspace >> 32;
    case special::nclusterid_x:
      return clusters_of(launch_).x;
    case special::nclusterid_y:
      return clusters_of(launch_).y;
    case special::nclusterid_z:
      return clusters_of(launch_).z;
    case special::cluster_nctaid_x:
      return launch_.cluster.x;
    case special::cluster_nctaid_y:
      return launch_.cluster.y;
    case special::cluster_nctaid_z:
      return launch_.cluster.z;
    case special::cluster_nctarank:
      return volume(launch_.cluster);
    case special::is_explicit_cluster:
      return launch_.is_explicit_cluster ? 1 : 0;
    default:
      return 0;
  }
}

// Sets constants and the special registers that are the same for every block.
void block_maker::fill_frame(std::byte* registers, const program_function& f,
                             std::uint32_t warp) const {
  std::memset(registers, 0, f.register_bytes);
  for (const constant_vreg& c : f.constants) write_vreg(registers + c.offset, c.bytes, c.value);
  for (const special_vreg& s : f.specials) {
    if (s.bytes == 0) write_vreg(registers + s.offset, 0, special_value(s.which, warp, 0));
    for (int l = 0; s.bytes != 0 && l < lanes; ++l)
      write_lane(registers + s.offset, s.bytes, l, special_value(s.which, warp, l));
  }
}

void block_maker::fill_block_values(std::byte* registers, const program_function& f,
                                    std::uint64_t index, const extent& at) const {
  for (const special_vreg& s : f.specials) {
    std::uint64_t v;
    switch (s.which) {
      case special::ctaid_x:
        v = at.x;
        break;
      case special::ctaid_y:
        v = at.y;
        break;
      case special::ctaid_z:
        v = at.z;
        break;
      case special::clusterid_x:
        v = at.x / launch_.cluster.x;
        break;
      case special::clusterid_y:
        v = at.y / launch_.cluster.y;
        break;
      case special::clusterid_z:
        v = at.z / launch_.cluster.z;
        break;
      case special::cluster_ctaid_x:
        v = at.x % launch_.cluster.x;
        break;
      case special::cluster_ctaid_y:
        v = at.y % launch_.cluster.y;
        break;
      case special::cluster_ctaid_z:
        v = at.z % launch_.cluster.z;
        break;
      case special::cluster_ctarank:
        v = at.x % launch_.cluster.x +
            launch_.cluster.x *
                (at.y % launch_.cluster.y + launch_.cluster.y * (at.z % launch_.cluster.z));
        break;
      case special::smid:
        v = index % static_cast<std::uint64_t>(launch_.model->multiprocessors);
        break;
      default:
        continue;
    }
    write_vreg(registers + s.offset, s.bytes, v);
  }
}

std::unique_ptr<block> block_maker::make() const {
  auto b = std::make_unique<block>();
  const program_function& kernel = code_.functions.front();
  const std::uint64_t registers = round_up(kernel.register_bytes, 64);
  const std::uint64_t local = round_up(x_.local_bytes * lanes, 64);
  const std::uint64_t shared = round_up(x_.shared_bytes, 64);
  const std::uint64_t bytes = warps_ * (registers + local) + shared + 64;
  b->storage = std::make_unique_for_overwrite<std::byte[]>(bytes);
  std::byte* next =
      reinterpret_cast<std::byte*>(round_up(reinterpret_cast<std::uint64_t>(b->storage.get()), 64));
  b->warps.resize(warps_);
  b->shared = next + warps_ * (registers + local);
  // These bytes are NaN and -1. Zeros would hide that no thread has written them.
  std::memset(b->shared, 0xff, shared);
  for (std::uint32_t k = 0; k < warps_; ++k) {
    warp& w = b->warps[k];
    w.kernel.registers = next + k * registers;
    w.local = next + warps_ * registers + k * local;
    fill_frame(w.kernel.registers, kernel, k);
    for (const parameter_vreg& p : code_.parameters) {
      std::uint64_t value = 0;
      std::memcpy(&value, x_.parameters + p.parameter_offset, p.bytes);
      if (p.is_signed && p.bytes < 8 && (value >> (8 * p.bytes - 1)) != 0)
        value |= ~std::uint64_t{0} << (8 * p.bytes);
      write_vreg(w.kernel.registers + p.offset, p.vreg_bytes, value);
    }
  }
  return b;
}

void block_maker::start(block& b, std::uint64_t index) const {
  const extent at = place(index, launch_.config.grid);
  b.index = index;
  b.alive = threads_;
  b.idle_rounds = 0;
  b.only_polled = false;
  b.polling_rounds = 0;
  for (block_barrier& barrier : b.barriers) barrier = {};
  b.barriers_waited_at = 0;
  b.in_cluster = false;
  b.waiting_warpgroups = 0;
  b.together = nullptr;
  b.rank = 0;
  for (std::uint32_t k = 0; k < warps_; ++k) {
    warp& w = b.warps[k];
    const std::uint32_t threads = std::min<std::uint32_t>(threads_ - k * lanes, lanes);
    w.alive = threads == lanes ? all_lanes : (std::uint32_t{1} << threads) - 1;
    w.kernel.local_end = code_.functions.front().local_bytes;
    w.kernel.stack_bytes = 0;
    w.ready.assign(1, {code_.code.data(), w.alive, -1, &w.kernel});
    w.parked.clear();
    w.at_barrier.clear();
    w.in_cluster = 0;
    w.joins.clear();
    w.since_arrival = {};
    fill_block_values(w.kernel.registers, code_.functions.front(), index, at);
    for (const auto& f : w.frames)
      fill_block_values(f->registers, code_.functions[f->function], index, at);
  }
}

// Whether another block may begin while the resident ones wait. A warp that exits makes room for a
// warp of another block at once, but a block keeps its slot until its last warp exits (as on an
// H100 and an H200). The multiprocessor of a block is not known here, so this counts the warps of
// the whole GPU. It may find room too early, but never too late.
bool has_room(const launch_state& launch, const block_queue& resident) {
  if (resident.size() < launch.resident_blocks) return true;
  const auto on_all = [&](int of_one) {
    return static_cast<std::uint64_t>(of_one) *
           static_cast<std::uint64_t>(launch.model->multiprocessors);
  };
  if (resident.size() >= on_all(launch.model->max_blocks_per_multiprocessor)) return false;
  std::uint64_t begun = 0, alive = 0;
  for (const auto& b : resident) {
    begun += b->warps.size();
    alive += static_cast<std::uint64_t>(
        std::ranges::count_if(b->warps, [](const warp& w) { return w.alive != 0; }));
  }
  return alive < begun && alive + resident.front()->warps.size() <=
                              on_all(launch.model->max_threads_per_multiprocessor / lanes);
}

}  // namespace stepwise::emulator
