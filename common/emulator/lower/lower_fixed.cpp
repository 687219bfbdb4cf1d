// Lowering: makes registers that hold parameters, special registers or constants aliases of vregs
// that do not change while a block runs. Before its first access, a kernel has as many such moves
// as other instructions, and in small kernels the moves would cost more than the work.
//
//         Tested by tests/fixed_test.cpp.
#include "common/emulator/lower/lowering.hpp"
#include "common/ptx/traits.hpp"

namespace stepwise::emulator {
namespace {

template <class Act>
void for_names(const operand& o, const Act& act) {
  if (!o.name.empty()) act(o.name);
  for (const operand& e : o.elements) for_names(e, act);
}

// Whether lanes may leave or join between the instruction and the next. The next one then needs an
// op, because counting starts again there.
bool ends_straight_run(const ptx::instruction& i) {
  const ptx::traits t = ptx::traits_of(i);
  return t.waits || t.kind == ptx::instruction_kind::control ||
         t.kind == ptx::instruction_kind::barrier || t.kind == ptx::instruction_kind::other;
}

}  // namespace

const lowering::mentions& lowering::mentions_of(std::string_view name) {
  if (mentions_.empty()) {
    std::uint32_t at = 0;
    for (const ptx::instruction& i : body_.instructions) {
      const auto mention = [&](std::string_view n) { mentions_.try_emplace(n, mentions{at, 0}); };
      if (!i.guard.empty()) mention(i.guard);
      for (const operand& o : i.operands) for_names(o, mention);
      if (!i.operands.empty() && i.operands[0].kind != operand_kind::memory)
        for_names(i.operands[0], [&](std::string_view n) { ++mentions_.at(n).writes; });
      ++at;
    }
  }
  return mentions_.at(name);
}

// A register that is written once has the same value wherever it may be read. A read before the
// write, in an earlier iteration of a loop, would find another value, so no earlier instruction may
// name the register. In a watched kernel, all moves stay.
bool lowering::names_fixed_vreg(const operand& to, std::uint32_t vreg) {
  if (out_.watched || !is_kernel() || to.kind != operand_kind::name || !written_->guard.empty() ||
      !fixed_vregs_.contains(vreg))
    return false;
  const auto index = static_cast<std::uint32_t>(written_ - body_.instructions.data());
  const mentions& m = mentions_of(to.name);
  if (m.first != index || m.writes != 1) return false;
  register_info& r = registers_.at(std::string(to.name));
  if (block_start_[block_of_[index]] == index || ends_straight_run(body_.instructions[index - 1]))
    emit("mov.b" + std::to_string(bits_of(r.kind)), r.offset, vreg);
  r.offset = vreg;
  return true;
}

}  // namespace stepwise::emulator
