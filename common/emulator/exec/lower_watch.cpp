// Lowering for observers: an op before each memory access that describes it.
#include "common/emulator/exec/lowering.hpp"

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

// What the modifiers say of an access of `bytes` bytes per lane.
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
  // Atomic operations without a scope have the GPU's.
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
  op& e = emit("<watch." + std::string(space) + ".a" + std::to_string(at.bits) + ">", 0, at.row,
               address_lanes);
  e.immediate = at.offset;
  e.slot = static_cast<std::uint32_t>(out_.accesses.size());
  out_.accesses.push_back(site);
}

// cp.async: what it reads and what it writes. The checks learn of both, lane by lane, when the copy
// is done; these events are for counting.
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

// cp.async.commit_group, cp.async.wait_group n, cp.async.wait_all.
void lowering::watch_copy_groups() {
  const bool commits = has("commit_group");
  op& e = emit(commits ? "<watch commit>" : "<watch wait>");
  e.immediate = has("wait_group") ? static_cast<std::int64_t>(i_->operands.at(0).bits) : -1;
}

// membar.{cta,gl,sys}; fence.{sc,acq_rel,acquire,release}.{cta,cluster,gpu,sys}.
void lowering::watch_fence() {
  if (!out_.watched) return;
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
