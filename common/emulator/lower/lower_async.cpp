// Lowering: asynchronous copies, barriers in shared memory, and the hints that come with them.
#include "common/emulator/lower/lowering.hpp"
#include "common/emulator/machine/async.hpp"

namespace stepwise::emulator {
namespace {

state_space space_of(std::string_view modifier) {
  if (modifier == "global") return state_space::global;
  if (modifier == "shared" || modifier == "shared::cta" || modifier == "shared::cluster")
    return state_space::shared;
  return state_space::none;
}

}  // namespace

// The vreg of an operand's generic addresses, with its offset added. Addresses of shared::cluster
// are addresses of shared memory, with the block in their upper bits (machine/context.hpp).
std::uint32_t lowering::generic_address(const operand& o, state_space space) {
  const address at = memory_address(o, space);
  const bool shared = space == state_space::shared;
  if (!shared && at.bits != 64) throw unsupported{"the instruction " + text()};
  if (!shared && at.offset == 0) return at.vreg;
  const std::uint32_t vreg = new_vreg(value_class::b64);
  emit(std::string(shared ? "<generic shared.a" : "<generic.a") + std::to_string(at.bits) + ">",
       vreg, at.vreg)
      .immediate = at.offset;
  return vreg;
}

// cp.async.{ca,cg}.shared.global [d], [a], size{, source-size or ignore-source}{, policy}. Groups
// are always complete, because the copy is made at once.
void lowering::async_copy() {
  const std::vector<operand>& o = i_->operands;
  if (!has("async")) throw unsupported{"the instruction " + text()};
  if (has("tensor")) return tensor_copy();
  if (has("prefetch")) return;
  if (has("commit_group") || has("wait_group") || has("wait_all")) {
    watch_copy_groups();
    if (has("bulk") && has("wait_group")) emit("<cp.async.bulk wait>");
    return;
  }
  if (has("bulk")) return bulk_copy();
  if (has("mbarrier")) {
    const std::uint32_t at = generic_address(
        o.at(0), has("shared") || has("shared::cta") ? state_space::shared : state_space::none);
    watch_step(async_step::wait_for_copies, completed_by_mbarrier);
    // Without .noinc, the pending count rises by one and the arrival lowers it again.
    if (has("noinc"))
      emit("<mbarrier arrive>", 0, at, constant(value_class::b32, 1));
    else
      emit("<mbarrier check>", 0, at);
    return;
  }
  if (!has("ca") && !has("cg")) throw unsupported{"the instruction " + text()};
  const std::uint32_t to = generic_address(o.at(0), state_space::shared);
  const std::uint32_t from = generic_address(o.at(1), state_space::global);
  if (o.at(2).kind != operand_kind::integer) throw unsupported{"the instruction " + text()};
  std::uint32_t ignore = 0, given = 0;
  const std::size_t last = o.size() - (has("L2::cache_hint") ? 1 : 0);
  if (last > 3) {
    const register_info* r = o[3].kind == operand_kind::name ? find_register(o[3].name) : nullptr;
    if (r != nullptr && r->kind == value_class::predicate)
      ignore = source(o[3], value_class::predicate);
    else
      given = source(o[3], value_class::b32);
  }
  watch_copy(to, from, ignore, given, static_cast<unsigned>(o[2].bits));
  emit("<cp.async>", ignore, to, from, given).immediate = static_cast<std::int64_t>(o[2].bits);
}

// cp.async.bulk.to.from.completion [d], [a], size{, [mbarrier]}{, blocks}{, policy}, and
// cp.reduce.async.bulk with an operation and a type.
void lowering::bulk_copy() {
  if (has("cp_mask")) throw unsupported{"the instruction " + text()};
  const std::vector<operand>& o = i_->operands;
  state_space spaces[2] = {state_space::none, state_space::none};
  std::size_t found = 0;
  for (const std::string_view m : i_->modifiers)
    if (const state_space s = space_of(m); s != state_space::none && found < 2) spaces[found++] = s;
  if (found != 2) throw unsupported{"the instruction " + text()};
  if (spaces[0] == state_space::global) out_.writes_in_bulk = true;
  const std::uint32_t to = generic_address(o.at(0), spaces[0]);
  const std::uint32_t from = generic_address(o.at(1), spaces[1]);
  const std::uint32_t size = source(o.at(2), value_class::b32);
  const std::uint32_t counted =
      has("mbarrier::complete_tx::bytes") ? generic_address(o.at(3), state_space::shared) : 0;
  watch_ranges(access_kind::load, spaces[1]);
  watch_ranges(has("reduce") ? access_kind::atomic : access_kind::store, spaces[0]);
  if (has("multicast::cluster")) {
    const std::uint32_t blocks = source(o.at(4), value_class::b16);
    emit("<cp.async.bulk multicast>", counted, to, from, size).immediate = blocks;
    return;
  }
  std::string name = "<cp.async.bulk>";
  if (has("reduce")) {
    name = "cp.reduce.async.bulk";
    for (const char* operation : reduction_names)
      if (has(operation)) name += "." + std::string(operation);
    name += "." + std::string(type());
  }
  emit(name, counted, to, from, size).immediate =
      (spaces[1] == state_space::shared ? from_shared : 0) |
      (spaces[0] == state_space::shared ? to_shared : 0);
}

void lowering::memory_barrier() {
  const std::vector<operand>& o = i_->operands;
  const auto one = [&](const char* name) { return has(name); };
  if (one("pending_count")) {
    emit("mbarrier.pending_count", destination(o.at(0), value_class::b32),
         source(o.at(1), value_class::b64));
    return;
  }
  state_space space = state_space::none;
  for (const std::string_view m : i_->modifiers)
    if (space_of(m) != state_space::none) space = space_of(m);
  const bool has_result = o.at(0).kind != operand_kind::memory;
  const std::size_t first = has_result ? 1 : 0;
  const std::uint32_t at = generic_address(o.at(first), space);
  if (one("init")) {
    emit("mbarrier.init", 0, at, source(o.at(1), value_class::b32));
  } else if (one("inval")) {
    emit("mbarrier.inval", 0, at);
  } else if (one("arrive") || one("arrive_drop")) {
    const bool is_sink = !has_result || o[0].kind == operand_kind::sink;
    const std::uint32_t state = is_sink ? 0 : destination(o[0], value_class::b64);
    const bool expects = one("expect_tx");
    const std::uint32_t operand_vreg =
        o.size() > first + 1 ? source(o[first + 1], value_class::b32) : 0;
    const std::uint32_t once = constant(value_class::b32, 1);
    const bool counts = !expects && operand_vreg != 0;
    emit("<mbarrier arrive>", state, at, counts ? operand_vreg : once, expects ? operand_vreg : 0)
        .immediate = (one("arrive_drop") ? drops : 0) | (one("noComplete") ? completes_nothing : 0);
  } else if (one("expect_tx") || one("complete_tx")) {
    emit("<mbarrier bytes>", 0, at, source(o.at(1), value_class::b32)).immediate =
        one("complete_tx") ? subtracts : 0;
  } else if (one("test_wait") || one("try_wait")) {
    const bool parity = one("parity");
    const std::uint32_t done = destination(o.at(0), value_class::predicate);
    const std::uint32_t awaited = source(o.at(2), parity ? value_class::b32 : value_class::b64);
    emit("<mbarrier wait>", done, at, awaited).immediate = parity ? is_parity : 0;
  } else {
    throw unsupported{"the instruction " + text()};
  }
}

// Instructions that do not change a program's results: hints to caches and to the launcher.
void lowering::without_effect() {
  if (i_->opcode == "createpolicy")
    emit("mov.b64", destination(i_->operands.at(0), value_class::b64),
         constant(value_class::b64, 0));
}

// griddepcontrol.wait: launches wait for each other as a whole, so there is nothing to wait for.
void lowering::launch_control() {
  if (has("wait")) watch_step(async_step::wait_for_grids);
}

// mapa{.space}.type d, a, b: the address that corresponds to a in block b of the cluster;
// getctarank{.space}.type d, a. Without a space, a is a generic address.
void lowering::cluster_address() {
  const std::vector<operand>& o = i_->operands;
  const bool wide = type() == "u64", generic = !has("shared::cluster");
  const value_class k = wide ? value_class::b64 : value_class::b32;
  if (generic && !wide) throw unsupported{"the instruction " + text()};
  const std::string width = wide ? ".b64>" : ".b32>";
  const auto window = static_cast<std::int64_t>(generic ? shared_window : 0);
  if (i_->opcode == "getctarank") {
    emit("<getctarank" + width, destination(o.at(0), value_class::b32), source(o.at(1), k))
        .immediate = window;
    return;
  }
  const std::uint32_t d = destination(o.at(0), k);
  emit("<mapa" + width, d, source(o.at(1), k), source(o.at(2), value_class::b32)).immediate =
      window;
}

// elect.sync d|p, members.
void lowering::elect() {
  const operand& pair = i_->operands.at(0);
  if (pair.kind != operand_kind::pair) throw unsupported{"the instruction " + text()};
  sync_site site{};
  site.kind = sync_kind::elect;
  site.members = source(i_->operands.at(1), value_class::b32);
  site.predicate = destination(pair.elements.at(1), value_class::predicate);
  op& e = emit("<warp-wide>", destination(pair.elements.at(0), value_class::b32), site.members);
  e.slot = static_cast<std::uint32_t>(out_.syncs.size());
  out_.syncs.push_back(site);
}

}  // namespace stepwise::emulator
