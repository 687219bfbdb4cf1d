// Notes stores and copies through which the host may learn, unseen, that a stream's work has ended.
#include "common/emulator/check/host_check.hpp"

namespace stepwise::emulator {
namespace {

// A flag that the host polls is a single number. A larger copy transfers results.
constexpr std::uint64_t most_flag_bytes = 8;

}  // namespace

void host_check::begin_launch(const launch_info&) {
  flags_ = {};
  fences_system_ = false;
}

void host_check::fenced(const warp_event&, memory_order, sync_scope s) {
  if (s != sync_scope::block) flags_.fenced = true;
  fences_system_ = fences_system_ || s == sync_scope::system;
}

bool host_check::host_reads(device_address at) const {
  return !evidence_.memory.is_device(at) || evidence_.memory.is_shared(at);
}

void host_check::note_copy_to_host(std::uint64_t bytes) {
  if (bytes <= most_flag_bytes) evidence_.sequence.host_may_know(evidence_.stream.stream);
}

void host_check::note_host_memory(const access_event& e, device_address at, access_window& window) {
  if (!host_reads(at)) return;
  const access_site& s = *e.site;
  if (s.kind == access_kind::load) {
    flags_.loaded.insert(window.base);
    return;
  }
  const bool strong =
      s.kind == access_kind::store ? s.order != memory_order::weak : s.scope == sync_scope::system;
  if (strong) {
    flags_.strong = true;
    return;
  }
  auto& store =
      flags_.lone.try_emplace(e.index, host_flags::lone_store{at, window.base}).first->second;
  if (store.at != at) store.at = 0;
  if (store.at == at) window = {at, s.bytes};
}

// A flag shows that the launch is over if PTX orders the flag after the launch's other accesses, or
// seems to: the store is strong, follows a fence, or is made by a single block. Any flag shows that
// earlier work in the stream is over. A plain store to an allocation that the launch also reads is
// a result rather than a flag.
status host_check::end_launch(const status& failure) {
  bool any = flags_.strong, ends_launch = any;
  const extent& grid = evidence_.config->grid;
  const bool ordered = flags_.fenced || std::uint64_t{grid.x} * grid.y * grid.z == 1;
  for (const auto& [site, store] : flags_.lone) {
    if (store.at == 0) continue;
    any = true;
    const bool is_flag =
        evidence_.site_at(site).kind == access_kind::atomic || !flags_.loaded.contains(store.base);
    ends_launch = ends_launch || (ordered && is_flag);
  }
  if (any) evidence_.sequence.host_may_know(evidence_.stream.stream, ends_launch);
  return failure;
}

}  // namespace stepwise::emulator
