// Lowering: barriers and warp-wide operations.
#include <algorithm>

#include "common/emulator/lower/lowering.hpp"

namespace stepwise::emulator {

// bar.sync a[, b]; bar.arrive a, b; bar.red.op.type d, a[, b], [!]p; barrier[.cta].* likewise.
void lowering::barrier() {
  if (has("cluster")) {
    emit(has("arrive") ? "<cluster arrive>" : "<cluster wait>");
    return;
  }
  const std::vector<operand>& o = i_->operands;
  barrier_site site{};
  std::size_t next = 0;
  std::uint32_t d = 0;
  std::size_t last = o.size();
  if (has("red")) {
    site.reduction = has("popc")  ? barrier_reduction::popc
                     : has("and") ? barrier_reduction::logical_and
                                  : barrier_reduction::logical_or;
    d = destination(o.at(next++), has("popc") ? value_class::b32 : value_class::predicate);
    operand p = o.at(--last);
    site.source_negated = p.negated;
    p.negated = false;
    site.source = source(p, value_class::predicate);
  } else if (has("arrive")) {
    site.arrive_only = true;
  } else if (!has("sync")) {
    throw unsupported{"the instruction " + text()};
  }
  site.aligned = i_->opcode == "bar" || has("aligned");
  site.id = source(o.at(next++), value_class::b32);
  site.count = next < last ? source(o[next], value_class::b32) : no_operand;
  op& e = emit("<barrier>", d);
  e.slot = static_cast<std::uint32_t>(out_.barriers.size());
  out_.barriers.push_back(site);
}

// setmaxnreg.action.sync.aligned.u32 count
void lowering::move_registers() {
  constexpr std::uint64_t least = 24, most = 256, unit = 8;
  const operand& count = i_->operands.at(0);
  if (count.kind != operand_kind::integer || count.bits < least || count.bits > most ||
      count.bits % unit != 0)
    throw unsupported{"the instruction " + text()};
  out_.moves_registers = true;
  if (has("inc"))
    out_.largest_increase = std::max(out_.largest_increase, static_cast<std::uint32_t>(count.bits));
  const auto emit_with_count = [&](const char* name) {
    emit(name).immediate = static_cast<std::int64_t>(count.bits);
  };
  whole_warp();
  emit_with_count(has("inc") ? "<more registers>" : "<fewer registers>");
  if (has("inc")) emit_with_count("<register wait>");
}

void lowering::warp_wide() {
  const std::vector<operand>& o = i_->operands;
  if (!has("sync")) throw unsupported{"the instruction " + text()};
  sync_site site{};
  std::uint32_t d = 0, a = 0, b = 0, c = 0;
  const auto kind_of = [&](std::initializer_list<std::pair<const char*, sync_kind>> kinds) {
    for (const auto& [name, kind] : kinds)
      if (has(name)) return kind;
    throw unsupported{"the instruction " + text()};
  };
  if (i_->opcode == "bar") {
    site.kind = sync_kind::warp_barrier;
    site.members = source(o.at(0), value_class::b32);
  } else if (i_->opcode == "shfl") {
    site.kind = kind_of({{"up", sync_kind::shfl_up},
                         {"down", sync_kind::shfl_down},
                         {"bfly", sync_kind::shfl_bfly},
                         {"idx", sync_kind::shfl_idx}});
    const bool pair = o.at(0).kind == operand_kind::pair;
    a = source(o.at(1), value_class::b32);
    b = source(o.at(2), value_class::b32);
    c = source(o.at(3), value_class::b32);
    site.members = source(o.at(4), value_class::b32);
    d = destination(pair ? o[0].elements.at(0) : o[0], value_class::b32);
    if (pair) site.predicate = destination(o[0].elements.at(1), value_class::predicate);
  } else if (i_->opcode == "vote") {
    site.kind = kind_of({{"all", sync_kind::vote_all},
                         {"any", sync_kind::vote_any},
                         {"uni", sync_kind::vote_uni},
                         {"ballot", sync_kind::vote_ballot}});
    operand p = o.at(1);
    site.source_negated = p.negated;
    p.negated = false;
    a = source(p, value_class::predicate);
    site.members = source(o.at(2), value_class::b32);
    d = destination(
        o[0], site.kind == sync_kind::vote_ballot ? value_class::b32 : value_class::predicate);
  } else if (i_->opcode == "match") {
    const bool wide = has("b64");
    site.kind = has("any") ? (wide ? sync_kind::match_any64 : sync_kind::match_any32)
                           : (wide ? sync_kind::match_all64 : sync_kind::match_all32);
    const bool pair = o.at(0).kind == operand_kind::pair;
    a = source(o.at(1), wide ? value_class::b64 : value_class::b32);
    site.members = source(o.at(2), value_class::b32);
    d = destination(pair ? o[0].elements.at(0) : o[0], value_class::b32);
    if (pair) site.predicate = destination(o[0].elements.at(1), value_class::predicate);
  } else {  // redux
    const bool is_signed = has("s32");
    if (has("f32")) throw unsupported{"the instruction " + text()};
    site.kind = kind_of({{"add", sync_kind::redux_add},
                         {"and", sync_kind::redux_and},
                         {"or", sync_kind::redux_or},
                         {"xor", sync_kind::redux_xor},
                         {"min", is_signed ? sync_kind::redux_min_s32 : sync_kind::redux_min_u32},
                         {"max", is_signed ? sync_kind::redux_max_s32 : sync_kind::redux_max_u32}});
    a = source(o.at(1), value_class::b32);
    site.members = source(o.at(2), value_class::b32);
    d = destination(o[0], value_class::b32);
  }
  op& e = emit("<warp-wide>", d, a, b, c);
  e.slot = static_cast<std::uint32_t>(out_.syncs.size());
  out_.syncs.push_back(site);
}

}  // namespace stepwise::emulator
