// Checked access to a run of bytes, for operations that are not one access per lane.
#include <algorithm>

#include "common/emulator/machine/matrix.hpp"
#include "common/emulator/run/scheduler.hpp"
#include "common/ptx/traits.hpp"

namespace stepwise::emulator {

const op* stop_with(context& x, const op* i, const access_fault& fault) {
  return x.owner->stop(i, fault);
}

bool has_peers(const context& x) { return x.owner->has_peers(); }

std::uint32_t warp_in_group(const context& x) { return x.owner->warp_index() % warps_in_group; }

std::byte* reach_peer(context& x, const op* i, access_fault fault) {
  return x.owner->reach_peer(i, fault);
}

std::byte* reach(context& x, const op* i, int lane, std::uint64_t at, const span& s,
                 access_window* known) {
  const std::uint64_t offset = at - shared_window;
  const bool in_window = offset < window_bytes;
  if (s.space == memory_space::shared && !in_window) {
    x.owner->stop(i, error::illegal_address,
                  std::string(s.whose) + "an address that is not in shared memory", lane);
    return nullptr;
  }
  const bool shared =
      s.space == memory_space::shared || (s.space == memory_space::generic && in_window);
  access_fault fault{(at & (s.alignment - 1)) != 0,
                     shared ? memory_space::shared : memory_space::global,
                     s.kind,
                     lane,
                     shared ? offset : at,
                     s.bytes,
                     s.alignment,
                     s.whose};
  if (shared && offset >= peer_bytes && has_peers(x)) {
    std::byte* const host = reach_peer(x, i, fault);
    if (host != nullptr && x.watch != nullptr)
      x.owner->watch_range(i, lane, fault.space, offset, s, true);
    return host;
  }
  if (shared) {
    const bool inside = offset <= x.shared_bytes && s.bytes <= x.shared_bytes - offset;
    if (inside && !fault.misaligned) {
      if (x.watch != nullptr) x.owner->watch_range(i, lane, fault.space, offset, s, true);
      return x.shared + offset;
    }
  } else {
    access_window looked_up;
    access_window& found = known != nullptr ? *known : looked_up;
    if (at - found.base >= found.bytes) found = x.memory->find(at).value_or(access_window());
    const std::uint64_t offset_in = at - found.base;
    const bool is_found = offset_in < found.bytes;
    const bool inside = is_found && s.bytes <= found.bytes - offset_in;
    if (inside && !fault.misaligned) {
      if (x.watch != nullptr) x.owner->watch_range(i, lane, fault.space, at, s, true);
      return x.memory->host(at);
    }
    fault.misaligned = fault.misaligned && is_found;
  }
  if (x.watch != nullptr) x.owner->watch_range(i, lane, fault.space, fault.address, s, false);
  stop_with(x, i, fault);
  return nullptr;
}

// Whether the instruction may access another block's memory. An instruction with .shared or
// .shared::cta may not.
bool scheduler::may_reach_peers(const op* i) {
  if (i == reaches_peers_) return true;
  const ptx::instruction& p = code_.function_of(i).body->instructions[static_cast<std::size_t>(
      code_.instruction[static_cast<std::size_t>(i - code_.code.data())])];
  const bool only_own = (ptx::has_modifier(p, "shared") || ptx::has_modifier(p, "shared::cta")) &&
                        !ptx::has_modifier(p, "shared::cluster");
  if (!only_own) reaches_peers_ = i;
  return !only_own;
}

std::byte* scheduler::reach_peer(const op* i, access_fault fault) {
  if (!may_reach_peers(i))  // as on an H200
    return stop(i, error::illegal_instruction,
                std::string(fault.whose) +
                    "an instruction with .shared::cta at an address in another block's memory",
                fault.lane,
                "Use the instruction's .shared::cluster form. A wait has no such form, so wait in "
                "the block that owns the mbarrier."),
           nullptr;
  const std::uint64_t rank = fault.address / peer_bytes - 1;
  const std::string whose = fault.whose;
  const auto stopped = [&](const std::string& why) {
    stop(i, error::launch_failure,
         whose + "an access to the shared memory of block " + std::to_string(rank) +
             " of the cluster, " + why,
         fault.lane);
    return nullptr;
  };
  constexpr std::uint64_t most_blocks = 16;
  if (rank >= most_blocks) return stop(i, fault), nullptr;  // an H200: illegal instruction
  const std::size_t size = block_->together->blocks.size();
  if (rank >= size) return stopped("which has only " + std::to_string(size) + " blocks");
  const block& peer = *block_->together->blocks[rank];
  fault.address %= peer_bytes;
  const std::uint64_t alignment = fault.alignment != 0 ? fault.alignment : fault.bytes;
  fault.misaligned = (fault.address & (alignment - 1)) != 0;
  const bool inside =
      fault.address <= x_.shared_bytes && fault.bytes <= x_.shared_bytes - fault.address;
  if (fault.misaligned || !inside) return stop(i, fault), nullptr;
  // An H200 ignores such a store. A load or an atomic operation fails there only some time after
  // the exit.
  if (peer.alive == 0 && x_.watch != nullptr)
    x_.watch->reached_exited_block(event_at(i, x_.mask), peer,
                                   {fault.space, fault.kind, memory_order::weak, false,
                                    fault.address, fault.bytes, fault.lane});
  if (fault.kind != access_kind::store && has_left_long_ago(peer, i))
    return stopped(
        "whose threads have all exited; a last cluster.sync() keeps its memory until the others "
        "are done");
  return peer.shared + fault.address;
}

// Whether a block of the cluster is known to have exited long ago. Without a clock, the time since
// the exit is unknown, because blocks do not run at the same pace as on a GPU.
bool scheduler::has_left_long_ago(const block& b, const op* i) const {
  constexpr std::uint64_t long_time = 20'000;  // cycles
  return b.alive == 0 && launch_.time != nullptr &&
         launch_.time->cycles(warp_index(), i) > b.left_at + long_time;
}

void scheduler::watch_range(const op* i, int lane, memory_space space, std::uint64_t address,
                            const span& s, bool inside) {
  x_.watch->access_range(event_at(i, x_.mask),
                         {space, s.kind, s.order, s.asynchronous, address, s.bytes, lane, inside,
                          s.of_tensor_map, s.alignment});
}

void notify_tile(context& x, const op* i, const matrix_form& f) {
  const matrix_layout& where = *f.d.layout;
  const access_site& site = x.owner->site(i->slot);
  const std::uint32_t length = f.is_column_major ? where.rows : where.cols;
  const std::uint64_t begin = x.vreg<std::uint64_t>(f.address)[0];
  const std::uint64_t stride = f.stride != 0 ? x.vreg<std::uint32_t>(f.stride)[0] : length;
  const bool is_shared = begin - shared_window < window_bytes;
  const std::uint32_t together = std::max(1u, std::uint32_t{site.bytes} * 8 / where.bits);
  const std::uint16_t* place = (f.is_column_major ? where.transposed : where.places).data();
  const bool by_blocks = is_transposed_after_load(f);
  for (std::uint32_t e = 0; e < where.registers * where.packed; e += together) {
    alignas(64) std::uint64_t address[lanes];
    for (std::uint32_t l = 0; l < lanes; ++l) {
      const std::uint32_t at =
          by_blocks ? place[e * lanes] + l / 4 * length + l % 4 * 2 : place[e * lanes + l];
      address[l] = begin + (at / length * stride + at % length) * where.bits / 8 -
                   (is_shared ? shared_window : 0);
    }
    access_shape& shape = x.owner->shape(i->slot);
    shape.describe(address, all_lanes, site.bytes);
    x.watch->access({&site, i->slot, is_shared ? memory_space::shared : memory_space::global,
                     all_lanes, x.owner->warp_index(), address, &shape, i});
  }
}

}  // namespace stepwise::emulator
