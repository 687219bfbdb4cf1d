// Calls and returns: frames for the lanes that are in a function.
//
// idea    A call gives the lanes of its split a frame of registers and a piece of each lane's stack
//         in local memory, and makes a join at the next op. Lanes return in separate splits, which
//         the join merges. Recursion therefore needs nothing special, and lanes that call different
//         functions through one pointer are splits of one join.
//         Tested by tests/call_test.cpp.
#include <algorithm>
#include <cstring>

#include "common/emulator/run/grid_launches.hpp"
#include "common/emulator/run/scheduler.hpp"

namespace stepwise::emulator {

void scheduler::enter(frame* f) {
  frame_ = f;
  x_.registers = f->registers;
}

frame* scheduler::take_frame(warp& w, std::uint32_t function) {
  if (w.unused_frames.empty()) w.unused_frames.resize(code_.functions.size());
  std::vector<frame*>& unused = w.unused_frames[function];
  if (!unused.empty()) {
    frame* const f = unused.back();
    unused.pop_back();
    return f;
  }
  const program_function& code = code_.functions[function];
  auto f = std::make_unique<frame>();
  f->function = function;
  f->storage = std::make_unique_for_overwrite<std::byte[]>(code.register_bytes + 64);
  const auto start = reinterpret_cast<std::uint64_t>(f->storage.get());
  f->registers = f->storage.get() + ((start + 63) / 64 * 64 - start);
  maker_.fill_frame(f->registers, code, static_cast<std::uint32_t>(&w - block_->warps.data()));
  maker_.fill_block_values(f->registers, code, block_->index,
                           place(block_->index, launch_.config.grid));
  return w.frames.emplace_back(std::move(f)).get();
}

// Copies the arguments (or, if `back`, the results) of some lanes between two frames.
void scheduler::copy_local(const std::vector<call_site::piece>& pieces, std::uint64_t caller,
                           std::uint64_t callee, bool back, std::uint32_t mask) {
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    std::byte* lane = x_.local + static_cast<std::uint64_t>(first_lane(m)) * x_.local_bytes;
    for (const call_site::piece& p : pieces) {
      std::byte* outside = lane + caller + p.caller;
      std::byte* inside = lane + callee + p.callee;
      std::memcpy(back ? outside : inside, back ? inside : outside, p.bytes);
    }
  }
}

bool scheduler::overflows(const op* i, std::uint64_t stack_bytes) {
  if (stack_bytes <= launch_.stack_limit) return false;
  stop(i, error::illegal_address,
       "stack overflow: more than the " + std::to_string(launch_.stack_limit) +
           " bytes of stack that each thread has (cudaLimitStackSize); does the recursion end?",
       first_lane(x_.mask));
  return true;
}

std::optional<std::uint64_t> scheduler::extend_frame(const op* i, std::uint64_t bytes) {
  const std::uint64_t align = std::max<std::uint64_t>(16, static_cast<std::uint64_t>(i->immediate));
  const std::uint64_t at = (frame_->local_end + align - 1) / align * align;
  const std::uint64_t end = (at + bytes + 15) / 16 * 16;
  const std::uint64_t more = end < at ? ~std::uint64_t{0} - frame_->stack_bytes  // it wrapped
                                      : end - frame_->local_end;
  if (overflows(i, frame_->stack_bytes + more)) return std::nullopt;
  frame_->stack_bytes += more;
  frame_->local_end = end;
  return at;
}

void scheduler::cut_frame(std::uint64_t end) {
  if (end > frame_->local_end || end < frame_->local_base) return;
  frame_->stack_bytes -= frame_->local_end - end;
  frame_->local_end = end;
}

const op* scheduler::call(const op* i) {
  const call_site& site = code_.calls[i->slot];
  std::uint32_t function = site.function;
  if (function == call_site::indirect) {
    const std::uint64_t* targets = x_.vreg<std::uint64_t>(site.target);
    const std::uint64_t target = targets[first_lane(x_.mask)];
    std::uint32_t others = 0;
    for (std::uint32_t m = x_.mask; m != 0; m &= m - 1)
      if (targets[first_lane(m)] != target) others |= m & -m;
    if (others != 0) {  // these run this op again, as a separate split
      account(i->ordinal);
      join_ = join_at(i + 1);
      x_.segment = i;
      warp_->ready.push_back({i, others, join_, frame_});
      x_.mask = x_.active = x_.mask & ~others;
    }
    const auto found = code_.by_address.find(target);
    if (found == code_.by_address.end() ||
        code_.functions[found->second].signature != site.signature) {
      return stop(i, error::illegal_instruction,
                  found == code_.by_address.end()
                      ? "a call through a pointer that is not the address of a function"
                      : "a call through a pointer to " + code_.functions[found->second].pretty +
                            ", which has other parameters",
                  first_lane(x_.mask));
    }
    function = found->second;
  }
  const program_function& callee = code_.functions[function];
  if (!callee.failure.ok())
    return stop(i, callee.failure.code, callee.failure.message, first_lane(x_.mask));
  const std::uint64_t stack = frame_->stack_bytes + callee.stack_bytes;
  if (code_.limited_stack && overflows(i, stack)) return nullptr;
  account(i->ordinal + 1);
  const int join = join_at(i + 1);
  frame* const f = take_frame(*warp_, function);
  f->caller = frame_;
  f->call = i;
  f->join = join;
  f->lanes = x_.mask;
  f->local_base = frame_->local_end;
  f->local_end = f->local_base + callee.local_bytes;
  f->stack_bytes = stack;
  copy_local(site.arguments, frame_->local_base, f->local_base, false, x_.mask);
  for (const special_vreg& s : callee.specials) {
    if (s.which != special::frame_base) continue;
    for (int l = 0; l < lanes; ++l) {
      if (s.bytes == 4)
        reinterpret_cast<std::uint32_t*>(f->registers + s.offset)[l] =
            static_cast<std::uint32_t>(f->local_base);
      else
        reinterpret_cast<std::uint64_t*>(f->registers + s.offset)[l] = f->local_base;
    }
  }
  join_ = join;
  enter(f);
  const op* entry = x_.code + callee.first_op;
  x_.segment = entry;
  return x_.budget > 0 ? entry : yield(entry);
}

const op* scheduler::return_lanes(const op* i, std::uint32_t mask) {
  account(i->ordinal + 1);
  warp& w = *warp_;
  frame* const f = frame_;
  const call_site& site = code_.calls[f->call->slot];
  w.leave_joins(mask, f);
  if (const std::uint32_t rest = x_.mask & ~mask; rest != 0) w.push_ready({i + 1, rest, join_, f});
  copy_local(site.results, f->caller->local_base, f->local_base, true, mask);
  x_.mask = x_.active = mask;
  join_ = f->join;
  const op* const next = f->call + 1;
  enter(f->caller);
  f->lanes &= ~mask;
  if (f->lanes == 0) w.unused_frames[f->function].push_back(f);
  x_.segment = next;
  return next;
}

// Lanes that exit inside functions leave every function that they are in.
void scheduler::leave_frames(warp& w, std::uint32_t mask) {
  for (frame* f = frame_; f->caller != nullptr;) {
    frame* const caller = f->caller;
    f->lanes &= ~mask;
    if (f->lanes == 0) w.unused_frames[f->function].push_back(f);
    f = caller;
  }
}

const op* scheduler::call_library(const op* i) {
  const library_call& site = code_.library_calls[i->slot];
  if (site.which == device_function::runtime) return launch_.launches->call(site, *this, x_, i);
  return launch_.library->call(site, *this, x_, i);
}

}  // namespace stepwise::emulator
