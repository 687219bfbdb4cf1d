// Examines the code on both sides of the jumps that follow a load.
#include "common/runtime/host/poll_loops.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "common/runtime/host/eax_instruction.hpp"

namespace stepwise::runtime {
namespace {

constexpr int most_poll_steps = 24;
constexpr std::uintptr_t most_poll_bytes = 256;  // length of a polling loop
constexpr std::uintptr_t bytes_around = 1024;    // examined on each side of the load
constexpr int most_way_steps = 48;
constexpr int most_way_calls = 1;          // a loop with more calls does not only wait
constexpr int most_unoptimized_calls = 4;  // if the load is a call, so are other operations

enum class next_step : std::uint8_t { plain, conditional_jump, returns, leaves };

// The effect of an instruction on control flow. source  Intel's manual, volume 2, appendix A.
next_step kind_of(const std::uint8_t* code, followed_load& load) {
  const auto is_prefix = [](std::uint8_t byte) {
    return byte == 0x66 || byte == 0xf2 || byte == 0xf3 || byte == 0x2e || byte == 0x3e ||
           (byte & 0xf0) == 0x40;
  };
  const auto jump = [&](const std::uint8_t* end, std::int64_t distance) {
    load.falls_to = reinterpret_cast<std::uintptr_t>(end);
    load.jumps_to = load.falls_to + static_cast<std::uintptr_t>(distance);
    return next_step::conditional_jump;
  };
  while (is_prefix(*code)) ++code;
  if ((code[0] & 0xf0) == 0x70) return jump(code + 2, static_cast<std::int8_t>(code[1]));
  if (code[0] == 0x0f && (code[1] & 0xf0) == 0x80) {
    std::int32_t distance = 0;
    std::memcpy(&distance, code + 2, sizeof distance);
    return jump(code + 6, distance);
  }
  if (code[0] == 0xc3 || code[0] == 0xc2) return next_step::returns;
  const bool calls = code[0] == 0xe8 || (code[0] == 0xff && (code[1] >> 3 & 7) >= 2);
  const bool is_system_call = code[0] == 0x0f && (code[1] == 0x05 || code[1] == 0x34);
  return calls || is_system_call ? next_step::leaves : next_step::plain;
}

// The code around a load, copied by a system call, because memory after a function may be
// unreadable.
class code_around {
 public:
  code_around(std::uintptr_t load, bool is_call)
      : load_(load),
        first_(load - bytes_around),
        most_calls_(is_call ? most_unoptimized_calls : most_way_calls) {
    const iovec here{bytes_.data(), bytes_.size()};
    const iovec there{reinterpret_cast<void*>(first_), bytes_.size()};
    const ssize_t copied = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
    copied_ = static_cast<std::size_t>(std::max<ssize_t>(copied, 0));
    load_length_ = from(load).empty() ? 0 : decode_eax_instruction(from(load)).length;
  }

  // Whether the code that starts at `at` jumps back to the load.
  bool comes_back(std::uintptr_t at) const { return follow(at, load_, 0); }

  // Whether the code that starts at `start` is a loop around a copy of the load.
  bool is_loop_around_copy(std::uintptr_t start) const {
    std::uintptr_t copy = start;
    return find_copy(copy) && follow(copy + load_length_, copy, start);
  }

 private:
  std::span<const std::uint8_t> from(std::uintptr_t at) const {
    if (at < first_ || at - first_ >= copied_) return {};
    return std::span(bytes_).first(copied_).subspan(at - first_);
  }

  bool is_copy(std::uintptr_t at) const {
    const auto here = from(at), load = from(load_);
    return at != load_ && load_length_ != 0 && here.size() >= load_length_ &&
           std::equal(load.begin(), load.begin() + static_cast<std::ptrdiff_t>(load_length_),
                      here.begin());
  }

  // Searches consecutive instructions and the targets of their branches.
  bool find_copy(std::uintptr_t& at) const {
    using flow = eax_instruction::flow;
    int calls = 0;
    for (int k = 0; k < most_way_steps && !from(at).empty(); ++k) {
      if (is_copy(at)) return true;
      const eax_instruction now = decode_eax_instruction(from(at));
      if (now.length == 0 || !passes(now, calls)) return false;
      at += now.length;
      const std::uintptr_t target = at + static_cast<std::uintptr_t>(now.target);
      if (now.then == flow::jump || (now.then == flow::branch && is_copy(target))) at = target;
    }
    return false;
  }

  // Whether the code at `at` jumps back to an instruction between `start` and `load`, and then
  // reaches `load`. If `start` is 0, the target only has to be near `load`.
  bool follow(std::uintptr_t at, std::uintptr_t load, std::uintptr_t start) const {
    using flow = eax_instruction::flow;
    int calls = 0;
    bool has_jumped_back = false;
    for (int k = 0; k < most_way_steps && !from(at).empty(); ++k) {
      if (has_jumped_back && at == load) return true;
      const eax_instruction now = decode_eax_instruction(from(at));
      if (now.length == 0 || !passes(now, calls)) return false;
      at += now.length;
      if (now.then != flow::jump && now.then != flow::branch) continue;
      const std::uintptr_t target = at + static_cast<std::uintptr_t>(now.target);
      const bool goes_back = target <= load && target >= start && load - target < most_poll_bytes;
      has_jumped_back |= goes_back;
      if (goes_back || now.then == flow::jump) at = target;
    }
    return false;
  }

  bool passes(const eax_instruction& now, int& calls) const {
    using flow = eax_instruction::flow;
    if (now.then == flow::call || now.then == flow::indirect_call) return ++calls <= most_calls_;
    return now.then == flow::next || now.then == flow::jump || now.then == flow::branch;
  }

  std::uintptr_t load_, first_;
  int most_calls_;
  std::size_t copied_ = 0, load_length_ = 0;
  std::array<std::uint8_t, 2 * bytes_around> bytes_;
};

}  // namespace

load_use follow_load(followed_load& load, std::uintptr_t at) {
  if (load.returns) {  // the load is in a function, so the loop returns to its call
    load.returns = false;
    load.instruction = at;
    load.is_call = true;
  }
  if (load.jumps_to != 0) {
    const bool jumped = at == load.jumps_to;
    const std::uintptr_t not_taken = jumped ? load.falls_to : load.jumps_to;
    const bool goes_back =
        load.jumps_to <= load.instruction && load.instruction - load.jumps_to < most_poll_bytes;
    load.jumps_to = 0;
    // A loop over elements, such as a sum, jumps back here, but a polling loop ends.
    if (goes_back && jumped) return load_use::plain;
    if (goes_back && load.jumps == 1) return load_use::poll;
    const code_around code(load.instruction, load.is_call);
    if (!load.is_call && code.is_loop_around_copy(not_taken)) return load_use::poll;
    if (code.comes_back(not_taken) && !code.comes_back(at)) return load_use::poll;
  }
  const next_step next = kind_of(reinterpret_cast<const std::uint8_t*>(at), load);
  load.returns = next == next_step::returns;
  load.jumps += next == next_step::conditional_jump;
  const bool ends = next == next_step::leaves || ++load.steps > most_poll_steps;
  return ends ? load_use::plain : load_use::not_known_yet;
}

}  // namespace stepwise::runtime
