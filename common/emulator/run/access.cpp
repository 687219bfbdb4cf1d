// Checked access to a run of bytes, for operations that are not one access per lane.
#include "common/emulator/run/scheduler.hpp"

namespace stepwise::emulator {

const op* stop_with(context& x, const op* i, const access_fault& fault) {
  return x.owner->stop(i, fault);
}

std::byte* reach(context& x, const op* i, int lane, std::uint64_t at, const span& s) {
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
  if (shared) {
    const bool inside = offset <= x.shared_bytes && s.bytes <= x.shared_bytes - offset;
    if (inside && !fault.misaligned) {
      if (x.watch != nullptr) x.owner->watch_range(i, lane, fault.space, offset, s, true);
      return x.shared + offset;
    }
  } else {
    const auto found = x.memory->find(at);
    const bool inside = found && s.bytes <= found->bytes - (at - found->base);
    if (inside && !fault.misaligned) {
      if (x.watch != nullptr) x.owner->watch_range(i, lane, fault.space, at, s, true);
      return x.memory->host(at);
    }
    fault.misaligned = fault.misaligned && found;
  }
  if (x.watch != nullptr) x.owner->watch_range(i, lane, fault.space, fault.address, s, false);
  stop_with(x, i, fault);
  return nullptr;
}

void scheduler::watch_range(const op* i, int lane, memory_space space, std::uint64_t address,
                            const span& s, bool inside) {
  x_.watch->access_range(event_at(i, x_.mask),
                         {space, s.kind, s.order, s.asynchronous, address, s.bytes, lane, inside});
}

}  // namespace stepwise::emulator
