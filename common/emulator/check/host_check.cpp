#include "common/emulator/check/host_check.hpp"

#include <algorithm>

namespace stepwise::emulator {
namespace {

constexpr std::size_t most_copy_uses = 256;  // older ones are forgotten

}  // namespace

void host_check::kernel_uses(const access_window& area, bool writes) {
  if (!shares_memory_ || !evidence_.memory.is_shared(area.base)) return;
  shared_use& use = kernel_uses_[{area.base, evidence_.stream.stream}];
  use = {evidence_.sequence.current_work(), area.base, area.bytes, use.written || writes};
}

void host_check::copy_uses(device_address at, std::uint64_t bytes, bool writes) {
  if (!shares_memory_ || !evidence_.memory.is_shared(at)) return;
  if (copy_uses_.size() == most_copy_uses) copy_uses_.pop_front();
  copy_uses_.push_back({evidence_.sequence.current_work(), at, bytes, writes});
}

void host_check::last_use_is_fill() {
  if (!copy_uses_.empty() && copy_uses_.back().work == evidence_.sequence.current_work())
    copy_uses_.back().is_fill = true;
}

void host_check::forget_finished_uses() {
  std::erase_if(kernel_uses_,
                [&](const auto& use) { return evidence_.sequence.host_knows(use.second.work); });
  std::erase_if(copy_uses_,
                [&](const shared_use& use) { return evidence_.sequence.host_knows(use.work); });
}

std::vector<unfinished_area> host_check::unfinished_areas() {
  if (kernel_uses_.empty() && copy_uses_.empty()) return {};
  forget_finished_uses();
  std::vector<unfinished_area> areas;
  for (const auto& [key, use] : kernel_uses_) areas.push_back({use.first, use.bytes, use.written});
  for (const shared_use& use : copy_uses_) areas.push_back({use.first, use.bytes, use.written});
  return areas;
}

// Searches the cell at an address. Two readers do not race.
std::optional<host_check::unfinished_access> host_check::kernel_unordered_with_host(
    device_address at, bool writes) const {
  const std::uint64_t offset = at - evidence_.device_base;
  if (evidence_.global.cells.grain_at(offset) == grain::untouched) return std::nullopt;
  const cell c = evidence_.global.cells.at(offset);
  std::optional<unfinished_access> found;
  const auto look = [&](tick when, std::uint32_t warp, unsigned lane, std::uint32_t site,
                        bool kernel_writes) {
    if (found || when == 0 || site == no_site || evidence_.is_of_freed_memory(offset, when)) return;
    const std::uint32_t work = evidence_.sequence.work_of(when);
    const past_launch* const launch = evidence_.launch_of(work);
    if (launch == nullptr || evidence_.sequence.host_knows(work)) return;
    found = {work, kernel_writes, false, launch, warp, static_cast<int>(lane), site};
  };
  const auto first = [](std::uint32_t lanes) {
    return static_cast<unsigned>(__builtin_ctz(lanes | (1u << 31)));
  };
  look(c.write_time(), c.writer() / 32, c.writer() % 32, c.write_site(), true);
  if (!writes) return found;
  look(c.read_time(), c.reader(), first(c.read_lanes()), c.read_site(), false);
  look(c.older_time(), c.older_reader(), first(c.older_lanes()), c.older_site(), false);
  return found;
}

std::optional<host_check::unfinished_access> host_check::access_unordered_with_host(
    device_address at, bool writes) const {
  for (const shared_use& use : copy_uses_) {
    if (at - use.first < use.bytes && (writes || use.written) &&
        !evidence_.sequence.host_knows(use.work))
      return unfinished_access{use.work, use.written, use.is_fill};
  }
  return kernel_unordered_with_host(at, writes);
}

// Whether the host may wait for the kernel through this word: any word after a system fence.
bool host_check::unfinished_access::is_flag() const {
  if (launch == nullptr) return false;
  if (launch->fences_system) return true;
  const access_site* const s = details();
  return s != nullptr && s->order != memory_order::weak &&
         (s->is_volatile || s->scope == sync_scope::system);
}

host_touch host_check::host_touches(device_address at, bool writes) const {
  if (const auto other = access_unordered_with_host(at, writes))
    return other->is_flag() ? host_touch::flag : host_touch::early;
  constexpr std::uint64_t page_bytes = memory_cells::page_bytes;
  const device_address page = at / page_bytes * page_bytes;
  const bool is_copied = std::ranges::any_of(copy_uses_, [&](const shared_use& use) {
    return use.first < page + page_bytes && page < use.first + use.bytes;
  });
  const bool is_used =
      is_copied || evidence_.global.cells.grain_at(at - evidence_.device_base) != grain::untouched;
  return is_used ? host_touch::harmless : host_touch::elsewhere;
}

void host_check::host_waited_by(device_address at, bool writes) {
  if (const auto other = access_unordered_with_host(at, writes))
    evidence_.sequence.host_learned(evidence_.sequence.stream_of(other->work));
}

void host_check::host_was_early(device_address at, bool writes, std::uint64_t origin) {
  const auto other = access_unordered_with_host(at, writes);
  if (!other) return;
  const access_site* const site = other->details();
  const std::uint64_t element = site != nullptr ? site->element_bytes : 1;
  finding f;
  f.object = evidence_.describe_global(at - at % element, element).object;
  const finding_key k{finding_kind::race, origin, -3, other->work, f.object.address};
  // Counted once, since it is not known how many accesses follow while the page is open.
  if (!evidence_.log.is_new(k, 0)) return;
  f.kind = finding_kind::race;
  f.between = race_between::host;
  std::string whom = other->is_fill ? "the fill" : "the copy";
  if (other->launch != nullptr) {
    finding_party p = evidence_.party_of_past(*other->launch, other->warp, other->lane, other->site,
                                              other->writes);
    if (site != nullptr) p.action = evidence_.action_words(*site, other->writes);
    whom = "kernel " + p.kernel;
    f.parties.push_back(std::move(p));
  }
  f.message = std::string("the host ") + (writes ? "writes" : "reads") +
              " memory before it has waited for " + whom + ", which " +
              (other->writes ? "writes it" : "reads it");
  f.advice =
      "Call cudaStreamSynchronize(stream), cudaEventSynchronize(event) or cudaDeviceSynchronize() "
      "first.";
  f.origin = origin;
  f.unfinished = evidence_.work_origins[other->work];
  evidence_.log.add(k, std::move(f));
}

}  // namespace stepwise::emulator
