// The allocations and variables in a device's memory, with the freed ones that can still be named.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "common/emulator/check/order.hpp"
#include "common/emulator/machine/memory.hpp"
#include "common/report/finding.hpp"

namespace stepwise::emulator {

struct allocation {
  std::uint64_t bytes = 0;
  std::string name = {};
  bool variable = false, constant = false;
  std::uint64_t allocated_by = 0, freed_by = 0;
  std::shared_ptr<const finding_party> by_kernel = {};  // null: the host allocated it
  bool mapped = false;
  tick allocated_at = 0;  // accesses before this tick were to another allocation
};

class allocations {
 public:
  using map = std::map<device_address, allocation>;
  using entry = map::value_type;

  explicit allocations(const global_memory& memory) : memory_(memory) {}

  // The heap from which kernels allocate. Only the parts that malloc returned may be used.
  void set_heap(const access_window& heap) { heap_ = heap; }
  allocation& allocated(device_address at, allocation a);
  void placed(device_address at, allocation variable) { live_[at] = std::move(variable); }
  void name(device_address at, std::string_view name);
  void freed(device_address at, std::uint64_t origin);

  const map& live() const { return live_; }
  // The allocation that holds an address; null if there is none.
  const entry* live_at(device_address at) const { return holder(live_, at); }
  const entry* freed_at(device_address at) const { return holder(freed_, at); }
  // The allocation that holds an address (or `wanted`, if not 0), or held it, or is the nearest
  // one; null if none is near.
  const entry* near(device_address at, device_address wanted) const;
  // The range that may be accessed around an address.
  std::optional<access_window> usable(device_address at) const;

 private:
  static const entry* holder(const map& all, device_address at);

  const global_memory& memory_;
  access_window heap_;
  map live_, freed_;
};

}  // namespace stepwise::emulator
