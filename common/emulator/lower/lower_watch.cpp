// Lowering for observers: an op before each memory access that describes it.
#include <algorithm>

#include "common/emulator/lower/lowering.hpp"
#include "common/ptx/dependence.hpp"

namespace stepwise::emulator {
namespace {

memory_space memory_space_of(state_space s) {
  switch (s) {
    case state_space::global:
    case state_space::constant:
      return memory_space::global;
    case state_space::shared:
      return memory_space::shared;
    case state_space::local:
      return memory_space::local;
    case state_space::param:
      return memory_space::parameter;
    default:
      return memory_space::generic;
  }
}

}  // namespace

// The site of an access of `bytes` bytes per lane, by the instruction's modifiers.
access_site lowering::site_of(access_kind kind, state_space space, unsigned bytes) const {
  access_site s;
  s.function = static_cast<std::uint32_t>(out_.functions.size() - 1);
  s.instruction = static_cast<std::int32_t>(written_ - body_.instructions.data());
  s.ordinal = ordinal_;
  s.space = memory_space_of(space);
  s.kind = kind;
  s.bytes = s.element_bytes = static_cast<std::uint8_t>(bytes);
  s.is_volatile = has("volatile");
  s.constant = space == state_space::constant;
  s.reduction = i_->opcode == "red";
  if (kind == access_kind::atomic || s.is_volatile || has("relaxed") || has("mmio"))
    s.order = memory_order::relaxed;
  if (has("acquire")) s.order = memory_order::acquire;
  if (has("release")) s.order = memory_order::release;
  if (has("acq_rel") || has("sc")) s.order = memory_order::acquire_release;
  // Atomic operations without a scope have GPU scope.
  s.scope = has("cta")                                                   ? sync_scope::block
            : has("gpu") || (kind == access_kind::atomic && !has("sys")) ? sync_scope::gpu
                                                                         : sync_scope::system;
  return s;
}

void lowering::watch(access_site site, const address& at, std::uint32_t address_lanes) {
  if (!out_.watched) return;
  const char* const space = site.space == memory_space::global      ? "global"
                            : site.space == memory_space::shared    ? "shared"
                            : site.space == memory_space::local     ? "local"
                            : site.space == memory_space::parameter ? "param"
                                                                    : "generic";
  op& e = emit("<watch." + std::string(space) + ".a" + std::to_string(at.bits) + ">", 0, at.vreg,
               address_lanes);
  e.immediate = at.offset;
  e.slot = static_cast<std::uint32_t>(out_.accesses.size());
  out_.accesses.push_back(site);
}

// Adds a site at which the instruction's access_range() events are counted.
void lowering::watch_ranges(access_kind kind, state_space space) {
  if (!out_.watched) return;
  access_site site = site_of(kind, space, 0);
  site.ranged = true;
  out_.accesses.push_back(site);
}

// cp.async: two ops directly before it describe its read and its write. These events are for
// counting. For lanes that are not in whole rows, the checks are notified when the copy is made.
void lowering::watch_copy(std::uint32_t to, std::uint32_t from, std::uint32_t ignore,
                          std::uint32_t given, unsigned bytes) {
  if (!out_.watched) return;
  access_site read = site_of(access_kind::load, state_space::global, bytes);
  read.counted_only = true;
  op& e = emit("<watch copied>", ignore, from, all_lanes, given);
  e.slot = static_cast<std::uint32_t>(out_.accesses.size());
  out_.accesses.push_back(read);
  access_site write = site_of(access_kind::store, state_space::none, bytes);
  write.counted_only = write.asynchronous = true;
  watch(write, {to, 0, 64});
}

// cp.async.commit_group, cp.async.wait_group n, cp.async.wait_all; cp.async.bulk.commit_group,
// cp.async.bulk.wait_group{.read} n.
void lowering::watch_copy_groups() {
  const bool is_bulk = has("bulk");
  if (has("commit_group"))
    return watch_step(is_bulk ? async_step::commit_bulk : async_step::commit_copies);
  watch_step(!is_bulk      ? async_step::wait_for_copies
             : has("read") ? async_step::wait_for_bulk_reads
                           : async_step::wait_for_bulk,
             has("wait_group") ? static_cast<std::int64_t>(i_->operands.at(0).bits) : -1);
}

// `vreg` holds the generic addresses of tensor maps, if the step has any.
void lowering::watch_step(async_step step, std::int64_t value, std::uint32_t vreg) {
  if (!out_.watched) return;
  op& e = emit("<watch step>", 0, vreg);
  e.b = static_cast<std::uint32_t>(step);
  e.immediate = value;
}

// Finds the paths that lead towards barriers, or towards calls, which may lead to barriers.
void lowering::find_ways(const control_flow& flow) {
  std::vector<std::uint32_t> wanted;
  for (std::uint32_t n = 0; n < body_.instructions.size(); ++n) {
    const std::string_view o = body_.instructions[n].opcode;
    if (o == "bar" || o == "barrier" || o == "call") wanted.push_back(block_of_[n]);
  }
  ways_ = ways_towards(flow, wanted);
}

// Before a block's branch, reports lanes that take one path if the other leads towards a barrier.
void lowering::watch_branch(std::uint32_t target) {
  const std::uint32_t block =
      block_of_[static_cast<std::size_t>(written_ - body_.instructions.data())];
  const std::vector<std::uint32_t>& towards = ways_[block];
  const std::uint32_t after = block + 1;
  const register_info* p = find_register(i_->guard);
  if (p == nullptr || target == after) return;
  const auto leads = [&](std::uint32_t to) { return std::ranges::binary_search(towards, to); };
  for (const bool taken : {false, true}) {
    if (!leads(taken ? after : target)) continue;
    op& e = emit("<watch path>", 0, p->offset, (i_->guard_negated ? 1 : 0) ^ (taken ? 0 : 1));
    e.slot = taken ? target : after;
  }
}

void lowering::watch_indexed_branch(std::uint32_t index,
                                    const std::vector<std::string_view>& labels) {
  if (ways_[block_of_[static_cast<std::size_t>(written_ - body_.instructions.data())]].empty())
    return;
  op& e = emit("<watch path indexed>", 0, index);
  e.immediate = static_cast<std::int64_t>(out_.jump_tables.size());
  std::vector<std::uint32_t>& table = out_.jump_tables.emplace_back();
  for (const std::string_view label : labels) table.push_back(block_at(label));
}

// membar.{cta,gl,sys}; fence.{sc,acq_rel,acquire,release}.{cta,cluster,gpu,sys}. A proxy fence
// without such semantics, for example fence.proxy.async, orders one thread's accesses through two
// proxies. It is part of no release or acquire pattern, so it makes no flag pass data to another
// thread. fence.proxy.tensormap::generic.acquire.scope [map], 128 acquires a tensor map, too.
// source: PTX ISA 9.0, "membar, fence" and "Memory Consistency Model".
void lowering::watch_fence() {
  if (!out_.watched) return;
  if (has("proxy") && has("async")) watch_step(async_step::fence_copies);
  if (has("proxy") && has("release")) watch_step(async_step::release_maps);
  if (has("proxy") && has("acquire") && !i_->operands.empty())
    watch_step(async_step::acquire_map, 0, generic_address(i_->operands[0], state_space::none));
  if (has("proxy") && !has("acquire") && !has("release")) return;
  op& e = emit("<watch fence>");
  const auto order = has("acquire")   ? memory_order::acquire
                     : has("release") ? memory_order::release
                                      : memory_order::acquire_release;
  const auto scope = has("cta") || has("cluster") ? sync_scope::block
                     : has("gpu") || has("gl")    ? sync_scope::gpu
                                                  : sync_scope::system;
  e.a = static_cast<std::uint32_t>(order);
  e.b = static_cast<std::uint32_t>(scope);
}

}  // namespace stepwise::emulator
