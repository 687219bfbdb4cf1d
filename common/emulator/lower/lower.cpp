// Lowering: control flow, and the kernel as a whole.
//
//         Tested by ../run/tests/launch_test.cpp and ../tests/opcodes/.
#include <algorithm>
#include <optional>
#include <unordered_set>

#include "common/emulator/lower/lowering.hpp"
#include "common/ptx/flow.hpp"
#include "common/ptx/traits.hpp"

namespace stepwise::emulator {

// The block that a label begins; one past the last for a label at the end.
std::uint32_t lowering::block_at(std::string_view label) const {
  const auto at = body_.labels.find(label);
  if (at == body_.labels.end())
    throw unsupported{"a branch to " + std::string(label) + ", which is not a label"};
  return at->second < block_of_.size() ? block_of_[at->second]
                                       : static_cast<std::uint32_t>(block_start_.size());
}

void lowering::branch() {
  const std::uint32_t target = block_at(i_->operands.at(0).name);
  const std::uint32_t index = static_cast<std::uint32_t>(written_ - body_.instructions.data());
  if (out_.watched && !i_->guard.empty()) watch_branch(target);
  const auto here = static_cast<std::uint32_t>(out_.code.size());
  if (i_->guard.empty()) {
    emit("<branch>");
  } else {
    const register_info* p = find_register(i_->guard);
    if (p == nullptr) throw unsupported{"the guard " + std::string(i_->guard)};
    emit("<branch if>", 0, p->offset, i_->guard_negated ? 1 : 0);
    joins_.emplace_back(here, meets_[block_of_[index]]);
  }
  targets_.emplace_back(here, target);
}

// brx.idx index, list: every lane goes to the target that its index names.
void lowering::branch_indexed() {
  const auto list = body_.target_lists.find(i_->operands.at(1).name);
  if (list == body_.target_lists.end() || !i_->guard.empty())
    throw unsupported{"the instruction " + text()};
  const std::uint32_t index = static_cast<std::uint32_t>(written_ - body_.instructions.data());
  const std::uint32_t a = source(i_->operands[0], value_class::b32);
  if (out_.watched) watch_indexed_branch(a, list->second);
  const auto here = static_cast<std::uint32_t>(out_.code.size());
  op& e = emit("<branch indexed>", 0, a);
  e.immediate = static_cast<std::int64_t>(out_.jump_tables.size());
  joins_.emplace_back(here, meets_[block_of_[index]]);
  tables_.push_back(out_.jump_tables.size());
  std::vector<std::uint32_t>& table = out_.jump_tables.emplace_back();
  for (const std::string_view label : list->second) table.push_back(block_at(label));
}

void lowering::leave() {
  const char* const name = is_kernel() || i_->opcode == "exit" ? "exit" : "return";
  if (i_->guard.empty()) {
    emit("<" + std::string(name) + ">");
    return;
  }
  const register_info* p = find_register(i_->guard);
  if (p == nullptr) throw unsupported{"the guard " + std::string(i_->guard)};
  emit("<" + std::string(name) + " if>", 0, p->offset, i_->guard_negated ? 1 : 0);
}

void lowering::fence() {
  emit("<poll>");
  emit("<fence>");
  watch_fence();
}

// Whether PTX has such an instruction: one that ops execute, a video instruction, or one that is
// refused.
bool is_instruction(std::string_view opcode) {
  static const std::unordered_set<std::string_view> video = {
      "vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vmad", "vset", "vavrg"};
  static const std::unordered_set<std::string_view> refused = {"istypep", "sured", "tcgen05",
                                                               "multimem", "clusterlaunchcontrol"};
  const std::string_view scalar = opcode.substr(0, opcode.find_first_of("24"));
  return has_ops(opcode) || video.contains(scalar) || refused.contains(opcode);
}

void lowering::unguarded() {
  using family = void (lowering::*)();
  static const std::unordered_map<std::string_view, family> families = {
      {"ld", &lowering::load},
      {"ldu", &lowering::load},
      {"st", &lowering::store},
      {"mov", &lowering::move},
      {"setp", &lowering::set_predicate},
      {"set", &lowering::set_value},
      {"slct", &lowering::select_by_sign},
      {"isspacep", &lowering::address_space},
      {"cvt", &lowering::convert},
      {"cvta", &lowering::convert_address},
      {"atom", &lowering::atomic},
      {"red", &lowering::atomic},
      {"membar", &lowering::fence},
      {"fence", &lowering::fence},
      {"shfl", &lowering::warp_wide},
      {"vote", &lowering::warp_wide},
      {"match", &lowering::warp_wide},
      {"redux", &lowering::warp_wide},
      {"bar", &lowering::barrier},
      {"barrier", &lowering::barrier},
      {"call", &lowering::call},
      {"alloca", &lowering::stack},
      {"stacksave", &lowering::stack},
      {"stackrestore", &lowering::stack},
      {"cp", &lowering::async_copy},
      {"tensormap", &lowering::edit_tensor_map},
      {"mbarrier", &lowering::memory_barrier},
      {"mapa", &lowering::cluster_address},
      {"getctarank", &lowering::cluster_address},
      {"elect", &lowering::elect},
      {"prefetch", &lowering::without_effect},
      {"prefetchu", &lowering::without_effect},
      {"applypriority", &lowering::without_effect},
      {"discard", &lowering::without_effect},
      {"createpolicy", &lowering::without_effect},
      {"griddepcontrol", &lowering::launch_control},
      {"setmaxnreg", &lowering::move_registers},
      {"pmevent", &lowering::without_effect},
      {"ldmatrix", &lowering::matrix},
      {"stmatrix", &lowering::matrix},
      {"movmatrix", &lowering::matrix},
      {"mma", &lowering::matrix},
      {"wmma", &lowering::matrix},
      {"wgmma", &lowering::matrix},
      {"tex", &lowering::texture},
      {"tld4", &lowering::texture},
      {"txq", &lowering::texture},
      {"suld", &lowering::texture},
      {"sust", &lowering::texture},
      {"suq", &lowering::texture},
  };
  const auto found = families.find(i_->opcode);
  if (i_->opcode == "bar" && has("warp"))
    warp_wide();
  else if (i_->opcode == "nanosleep")
    emit("<sleep>", 0, source(i_->operands.at(0), value_class::b32));
  else if (found != families.end())
    (this->*found->second)();
  else if (is_instruction(i_->opcode))
    generic();
  else
    throw ptx::parse_error(i_->line, "PTX has no instruction " + text());
}

ptx::instruction in_manual_order(const ptx::instruction& i) {
  ptx::instruction ordered = i;
  std::stable_partition(ordered.modifiers.begin(), ordered.modifiers.end(),
                        [](std::string_view m) { return ptx::type_of(m) == scalar_type::none; });
  return ordered;
}

// Lowers the instruction as if it were `as`. Returns the refusal if there is no such instruction.
std::optional<unsupported> lowering::refusal_of(const ptx::instruction& as) {
  const std::size_t ops = out_.code.size();
  std::optional<unsupported> refusal;
  i_ = &as;
  try {
    unguarded();
  } catch (const unsupported& u) {
    refusal = u;
    out_.code.resize(ops);
    out_.instruction.resize(ops);
  }
  i_ = written_;
  return refusal;
}

// Lowers the instruction as written or, if it is unknown, in the manual's order.
void lowering::in_any_order() {
  const auto sum =
      fusion_.sums.find(static_cast<std::uint32_t>(written_ - body_.instructions.data()));
  if (sum != fusion_.sums.end()) return fused(sum->second);
  const auto as_written = refusal_of(*written_);
  if (!as_written) return;
  const ptx::instruction ordered = in_manual_order(*written_);
  if (ordered.modifiers == written_->modifiers || refusal_of(ordered)) throw *as_written;
}

void lowering::watched_in_any_order() {
  watch_unset();
  in_any_order();
  watch_unset_after();
}

// Lowers a fused product, or a copy of it: the sums do its work. But a block must begin with an op,
// or its first instruction would not be counted.
void lowering::leave_to_sums(std::uint32_t index) {
  const auto ops = out_.code.size();
  if (const auto p = fusion_.products.find(index); p != fusion_.products.end())
    keep_factors(index, p->second);
  if (out_.code.size() == ops && block_start_[block_of_[index]] == index) in_any_order();
}

void lowering::instruction(std::uint32_t index) {
  i_ = written_ = &body_.instructions[index];
  const std::string_view o = i_->opcode;
  watch_unset_guard();
  if (o == "bra")
    branch();
  else if (o == "brx")
    branch_indexed();
  else if (o == "ret" || o == "exit")
    leave();
  else if (fusion_.products.contains(index) || fusion_.copies.contains(index))
    watch_unset(), leave_to_sums(index);
  else if (i_->guard.empty())
    watched_in_any_order();
  else {
    const register_info* p = find_register(i_->guard);
    if (p == nullptr) throw unsupported{"the guard " + std::string(i_->guard)};
    const bool waits = ptx::traits_of(*i_).waits;
    const auto here = out_.code.size();
    if (waits) {  // the other lanes branch around it
      emit("<branch if>", 0, p->offset, i_->guard_negated ? 0 : 1);
      watched_in_any_order();
      const auto after = static_cast<std::uint32_t>(out_.code.size());
      emit("<join>");
      out_.code[here].immediate = out_.code[here].slot = after;
      out_.code[here].c = no_operand;
    } else {
      emit("<guard>", 0, p->offset, i_->guard_negated ? 1 : 0);
      watched_in_any_order();
      out_.code[here].immediate = static_cast<std::int64_t>(out_.code.size());
      emit("<end of guard>");
    }
  }
  ++ordinal_;
}

// Divides the body into blocks and finds where the paths of each branch meet.
void lowering::find_blocks() {
  const control_flow flow(body_);
  if (plan_.unit().parts()[part_].fuses && !module_.is_debug)
    fusion_ = find_fusion(body_, flow, is_kernel());
  block_of_ = flow.block_of;
  for (const basic_block& b : flow.blocks) block_start_.push_back(b.first);
  meets_ = meeting_points(flow, body_);
  is_meeting_.assign(flow.blocks.size(), false);
  for (const meeting_point& m : meets_)
    for (const std::uint32_t at : {m.inner, m.outer})
      if (at != no_block) is_meeting_[at] = true;
  if (!out_.watched) return;
  find_ways(flow);
  find_unset(flow);
}

void lowering::run() {
  frame_.first_op = static_cast<std::uint32_t>(out_.code.size());
  declare_registers();
  place_variables();
  if (!body_.instructions.empty()) find_blocks();
  const auto blocks = static_cast<std::uint32_t>(block_start_.size());
  block_op_.resize(blocks + 1);
  begin_unset();
  for (std::uint32_t n = 0; n < body_.instructions.size(); ++n) {
    const std::uint32_t b = block_of_[n];
    if (block_start_[b] == n) {
      block_op_[b] = static_cast<std::uint32_t>(out_.code.size());
      i_ = written_ = &body_.instructions[n];
      if (is_meeting_[b]) emit("<join>");
    }
    instruction(n);
  }
  block_op_[blocks] = static_cast<std::uint32_t>(out_.code.size());
  emit(is_kernel() ? "<exit>" : "<return>");  // a body may end without ret
  for (const auto& [at, block] : targets_) out_.code[at].immediate = block_op_[block];
  const auto op_at = [&](std::uint32_t b) { return b == no_block ? no_operand : block_op_[b]; };
  for (const auto& [at, m] : joins_) {
    out_.code[at].slot = op_at(m.inner);
    out_.code[at].c = op_at(m.outer);
  }
  for (const std::size_t table : tables_)
    for (std::uint32_t& block : out_.jump_tables[table]) block = block_op_[block];
  frame_.register_bytes = next_vreg_;
  if (!out_.watched) return;
  for (const auto& [name, r] : registers_)
    if (r.offset != no_operand) frame_.registers[name] = {r.offset, bits_of(r.kind) / 8};
}

std::string lowering::where() const {
  if (written_ == nullptr) return frame_.pretty;
  const auto index = static_cast<std::int32_t>(written_ - body_.instructions.data());
  const std::string line = source_line_of(frame_, index);
  return frame_.pretty + (line.empty() ? "" : " at " + line) + " (PTX line " +
         std::to_string(written_->line) + ")";
}

}  // namespace stepwise::emulator
