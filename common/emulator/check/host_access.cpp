// Names the place in an allocation, or the kernel's own memory, which the host cannot reach. Finds
// host accesses to memory that unfinished work uses.
#include "common/emulator/check/host_access.hpp"

#include <algorithm>
#include <cstdio>

#include "common/emulator/check/checker.hpp"
#include "common/emulator/machine/context.hpp"
#include "common/emulator/machine/link.hpp"
#include "common/report/finding_text.hpp"

namespace stepwise::emulator {
namespace {

std::string bytes_words(std::uint64_t n) { return grouped(n) + (n == 1 ? " byte" : " bytes"); }

std::string object_words(const finding_object& o) {
  const std::string size = bytes_words(o.bytes);
  const char* const kind = o.what == finding_object::kind::variable ? "a variable of "
                           : o.what == finding_object::kind::constant
                               ? "a __constant__ variable of "
                               : "an allocation of ";
  return (o.name.empty() ? "" : o.name + ", ") + kind + size;
}

std::string place_words(const finding_object& o) {
  if (const std::string distance = distance_words(o); !distance.empty())
    return distance + " of " + object_words(o);
  return "byte " + grouped(static_cast<std::uint64_t>(o.offset)) + " of " + object_words(o);
}

const char* own_memory_words(device_address at) {
  if (at >= code_window) return "the address of a function on the device";
  if (at >= parameter_window) return "an address among a kernel's parameters";
  return at >= local_window ? "an address in a thread's local memory"
                            : "an address in a block's shared memory";
}

}  // namespace

bool is_kernels_own(device_address at) {
  return at >= shared_window && at < code_window + window_bytes;
}

finding host_access(const finding_object& object, bool freed, device_address at, bool writes) {
  finding f;
  f.kind = finding_kind::wrong_pointer;
  f.message = std::string("the host ") + (writes ? "writes " : "reads ");
  char address[20];
  std::snprintf(address, sizeof address, "0x%llx", static_cast<unsigned long long>(at));
  if (is_kernels_own(at)) {
    f.message += std::string(address) + ", " + own_memory_words(at);
    f.advice = "Only kernels can use such an address.";
    return f;
  }
  f.object = object;
  if (object.what == finding_object::kind::none) {
    f.message += std::string("device memory: ") + address + ", which no allocation holds";
  } else {
    f.message +=
        std::string(freed ? "memory that was freed: " : "device memory: ") + place_words(object);
  }
  // What free() and delete look at lies right before the memory.
  const bool may_free = object.offset < 0 && object.offset >= -16 && !writes;
  f.advice = freed      ? "Free it after its last use."
             : may_free ? "Device memory is freed by cudaFree, not by free() or delete."
             : writes   ? "Write to memory of the host's, and copy that with cudaMemcpy."
                        : "Copy it to the host with cudaMemcpy first.";
  return f;
}

// --- memory shared with the host -----------------------------------------------------------------

namespace {

constexpr std::size_t most_copy_uses = 256;  // older ones are forgotten

}  // namespace

void checker::kernel_uses(device_address base, std::uint64_t bytes, bool writes) {
  if (!memory_.is_shared(base)) return;
  shared_use& use = kernel_uses_[{base, stream_.stream}];
  use = {order_.current_work(), base, bytes, use.written || writes};
}

void checker::copy_uses(device_address at, std::uint64_t bytes, bool writes) {
  if (!shares_memory_ || !memory_.is_shared(at)) return;
  if (copy_uses_.size() == most_copy_uses) copy_uses_.pop_front();
  copy_uses_.push_back({order_.current_work(), at, bytes, writes});
}

void checker::forget_finished_uses() {
  std::erase_if(kernel_uses_, [&](const auto& use) { return order_.host_knows(use.second.work); });
  std::erase_if(copy_uses_, [&](const shared_use& use) { return order_.host_knows(use.work); });
}

std::vector<unfinished_area> checker::unfinished_areas() {
  if (kernel_uses_.empty() && copy_uses_.empty()) return {};
  forget_finished_uses();
  std::vector<unfinished_area> areas;
  for (const auto& [key, use] : kernel_uses_) areas.push_back({use.first, use.bytes, use.written});
  for (const shared_use& use : copy_uses_) areas.push_back({use.first, use.bytes, use.written});
  return areas;
}

// Searches the cell at an address. Two readers do not race.
std::optional<checker::unfinished_access> checker::kernel_unordered_with_host(device_address at,
                                                                              bool writes) const {
  const std::uint64_t offset = at - device_base_;
  if (global_->cells.grain_at(offset) == grain::untouched) return std::nullopt;
  const cell c = global_->cells.at(offset);
  std::optional<unfinished_access> found;
  const auto look = [&](tick when, std::uint32_t warp, unsigned lane, std::uint32_t site,
                        bool kernel_writes) {
    if (found || when == 0 || site == no_site || is_of_freed_memory(offset, when)) return;
    const std::uint32_t work = order_.work_of(when);
    const past_launch* const launch = launch_of(work);
    if (launch == nullptr || order_.host_knows(work)) return;
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

std::optional<checker::unfinished_access> checker::access_unordered_with_host(device_address at,
                                                                              bool writes) const {
  for (const shared_use& use : copy_uses_) {
    if (at - use.first < use.bytes && (writes || use.written) && !order_.host_knows(use.work))
      return unfinished_access{use.work, use.written, use.is_fill};
  }
  return kernel_unordered_with_host(at, writes);
}

// Whether the host may wait for the kernel through this word. After a system fence it may be any.
bool checker::unfinished_access::is_flag() const {
  if (launch == nullptr) return false;
  if (launch->fences_system) return true;
  const access_site* const s = details();
  return s != nullptr && s->order != memory_order::weak &&
         (s->is_volatile || s->scope == sync_scope::system);
}

host_touch checker::host_touches(device_address at, bool writes) const {
  if (const auto other = access_unordered_with_host(at, writes))
    return other->is_flag() ? host_touch::flag : host_touch::early;
  constexpr std::uint64_t page_bytes = memory_cells::page_bytes;
  const device_address page = at / page_bytes * page_bytes;
  const bool is_copied = std::ranges::any_of(copy_uses_, [&](const shared_use& use) {
    return use.first < page + page_bytes && page < use.first + use.bytes;
  });
  const bool is_used = is_copied || global_->cells.grain_at(at - device_base_) != grain::untouched;
  return is_used ? host_touch::harmless : host_touch::elsewhere;
}

void checker::host_waited_by(device_address at, bool writes) {
  if (const auto other = access_unordered_with_host(at, writes))
    order_.host_was_told(order_.stream_of(other->work));
}

void checker::host_was_early(device_address at, bool writes, std::uint64_t origin) {
  const auto other = access_unordered_with_host(at, writes);
  if (!other) return;
  const access_site* const site = other->details();
  const std::uint64_t element = site != nullptr ? site->element_bytes : 1;
  finding f;
  f.object = describe_global(at - at % element, element).object;
  const finding_key k{finding_kind::race, origin, -3, other->work, f.object.address};
  // Counted once, since it is not known how many accesses follow while the page is open.
  if (!log_.is_new(k, 0)) return;
  f.kind = finding_kind::race;
  f.between = race_between::host;
  std::string whom = other->is_fill ? "the fill" : "the copy";
  if (other->launch != nullptr) {
    finding_party p =
        party_of_past(*other->launch, other->warp, other->lane, other->site, other->writes);
    if (site != nullptr) p.action = action_words(*site, other->writes);
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
  f.unfinished = work_origins_[other->work];
  log_.add(k, std::move(f));
}

}  // namespace stepwise::emulator
