// setmaxnreg: registers that warps of a block free for each other.
#include "common/emulator/run/register_pool.hpp"

#include <algorithm>

#include "common/device/occupancy.hpp"
#include "common/emulator/run/scheduler.hpp"

namespace stepwise::emulator {
namespace {

constexpr std::uint32_t register_unit = 8;  // per thread: registers are allocated 256 per warp

std::uint32_t count_wanted(const op* setmaxnreg) {
  return static_cast<std::uint32_t>(setmaxnreg->immediate);
}

// The largest count with which this many blocks fit on a multiprocessor; 0 if no count does.
std::uint32_t most_for_blocks(std::uint32_t least, const ptx::function& kernel, const gpu& model) {
  const auto& sides = kernel.max_threads[0] != 0 ? kernel.max_threads : kernel.required_threads;
  const std::uint64_t threads = std::uint64_t{sides[0]} * sides[1] * sides[2];
  if (threads == 0 || least == 0) return 0;
  auto count = static_cast<std::uint32_t>(most_registers_of_thread(model.compute_capability()));
  for (; count > 0; --count) {
    const auto room = room_for(model, {threads, count, 0, 0});
    if (!room.ok()) return 0;
    const auto blocks = static_cast<std::uint32_t>(std::min(room->by_registers, room->by_warps));
    if (blocks >= least) break;
  }
  return count;
}

}  // namespace

std::uint32_t registers_at_entry(const program& code, const gpu& model, int machine_registers) {
  const ptx::function& kernel = *code.functions.front().function;
  std::uint32_t count = most_for_blocks(kernel.min_blocks, kernel, model);
  if (const auto all = most_for_blocks(1, kernel, model);
      kernel.min_blocks == 0 && machine_registers > 0 &&
      all / register_unit * register_unit == static_cast<std::uint32_t>(machine_registers))
    count = all;
  if (kernel.max_registers != 0 && (count == 0 || kernel.max_registers < count))
    count = kernel.max_registers;
  if (code.largest_increase != 0) count = std::min(count, code.largest_increase);
  if (count != 0 && machine_registers > 0) count = static_cast<std::uint32_t>(machine_registers);
  return (count + register_unit - 1) / register_unit * register_unit;
}

std::optional<register_waiter> first_register_waiter(const block& b) {
  for (std::uint32_t n = 0; n < b.warps.size(); ++n)
    for (const auto& wait : b.warps[n].at_barrier)
      if (wait.barrier == register_wait) return register_waiter{n, &wait.waiting};
  return std::nullopt;
}

std::string words_about_registers(const block& b, const program& code) {
  const auto first = first_register_waiter(b);
  if (!first) return "";
  const std::uint32_t partition = first->warp % partitions, free = b.free_registers[partition];
  std::uint32_t all = free;
  for (std::uint32_t n = partition; n < b.warps.size(); n += partitions)
    all += b.warps[n].registers;
  const std::uint32_t wanted = count_wanted(first->waiting->at),
                      has = b.warps[first->warp].registers;
  const std::string line = code.source_line(first->waiting->at);
  return "warp " + std::to_string(first->warp) + " asks" + (line.empty() ? "" : " at " + line) +
         " for " + std::to_string(wanted) + " registers per thread instead of " +
         std::to_string(has) + ", which takes " + std::to_string((wanted - has) * lanes) +
         " more, but " + std::to_string(free * lanes) + " of the " + std::to_string(all * lanes) +
         " registers that the block has in this warp's quarter of the multiprocessor are free";
}

// --- the scheduler's part ----------------------------------------------------------------------

void scheduler::give_registers(block& b) const {
  b.free_registers.fill(0);
  for (warp& w : b.warps) w.registers = registers_at_entry_;
}

std::uint32_t& scheduler::free_registers_for(const warp& w) {
  return block_->free_registers[static_cast<std::size_t>(&w - block_->warps.data()) % partitions];
}

// Raises a warp's count to `wanted` if enough registers are free.
void scheduler::try_to_take(warp& w, std::uint32_t wanted) {
  const std::uint32_t more = wanted - std::min(wanted, w.registers);
  std::uint32_t& free = free_registers_for(w);
  if (more > free) return;
  free -= more;
  w.registers += more;
}

// setmaxnreg, for the whole warp. An increase to fewer registers than the warp has, or a decrease
// to more, changes nothing; PTX defines neither.
const op* scheduler::change_registers(const op* i, bool more) {
  warp& w = *warp_;
  const std::uint32_t wanted = count_wanted(i);
  if (registers_at_entry_ == 0) return i + 1;
  if (more) {
    try_to_take(w, wanted);
  } else if (wanted < w.registers) {
    free_registers_for(w) += w.registers - wanted;
    w.registers = wanted;
    check_registers();
  }
  return i + 1;
}

// The wait of setmaxnreg.inc, for one split of the warp.
const op* scheduler::wait_for_registers(const op* i) {
  if (registers_at_entry_ == 0 || warp_->registers >= count_wanted(i)) return i + 1;
  account(i->ordinal + 1);
  x_.segment = i + 1;
  progress_ = true;
  warp_->at_barrier.push_back({{i, x_.mask, join_, frame_}, register_wait});
  return nullptr;
}

// Called after registers were freed.
void scheduler::check_registers() {
  for (warp& w : block_->warps) {
    std::erase_if(w.at_barrier, [&](const warp::barrier_wait& wait) {
      if (wait.barrier != register_wait) return false;
      const op* const at = wait.waiting.at;
      try_to_take(w, count_wanted(at));
      if (w.registers < count_wanted(at)) return false;
      w.push_ready({at + 1, wait.waiting.mask, wait.waiting.join, wait.waiting.in});
      return true;
    });
  }
}

}  // namespace stepwise::emulator
