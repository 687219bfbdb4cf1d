// Keeps the notes by address, and finds the allocation or variable that contains an address or is
// near it.
#include "common/emulator/allocation_notes.hpp"

#include <algorithm>
#include <utility>

#include "common/device/names.hpp"

namespace stepwise::emulator {
namespace {

// An address at least this close to an allocation, in bytes, is described as outside of that
// allocation.
constexpr std::uint64_t least_near = 256;

}  // namespace

void allocation_notes::allocated(device_address at, std::uint64_t bytes) {
  if (const std::uint64_t origin = std::exchange(origin_, 0); origin != 0)
    notes_[at] = {bytes, "", origin, false};
  else
    notes_.erase(at);
}

void allocation_notes::freed(device_address at) {
  if (const auto n = notes_.find(at); n != notes_.end()) n->second.freed = true;
}

void allocation_notes::name(device_address at, std::uint64_t bytes, std::string_view name) {
  notes_[at].bytes = bytes;
  notes_[at].name = name;
}

finding_object allocation_notes::object_at(device_address address, const global_memory& memory,
                                           const module_table& modules, bool& was_freed) const {
  auto area = memory.allocation_at(address);
  auto noted = notes_.upper_bound(address);
  if (noted != notes_.begin()) --noted;
  was_freed = !area && noted != notes_.end() && noted->second.freed &&
              address - noted->first < noted->second.bytes;
  if (was_freed) area = access_window{noted->first, noted->second.bytes};
  finding_object object;
  if (!area) {
    area = memory.before(address + most_header_bytes);
    if (!area) return object;
    // An address further away may well belong to another allocation.
    const std::uint64_t end = area->base + area->bytes, near = std::max(area->bytes, least_near);
    if (address > end && address - end > near) return object;
  }
  object.what = finding_object::kind::allocation;
  object.address = area->base;
  object.bytes = area->bytes;
  object.offset = static_cast<std::int64_t>(address - area->base);
  object.element_bytes = 1;
  if (const auto n = notes_.find(area->base); n != notes_.end()) {
    object.name = n->second.name;
    object.allocated_by = n->second.allocated_by;
  }
  for (const auto& [handle, module] : modules) {
    for (const auto& [name, symbol] : module->variables) {
      if (symbol.address != area->base) continue;
      object.what = finding_object::kind::variable;
      object.name = readable_name(name);
    }
  }
  return object;
}

}  // namespace stepwise::emulator
