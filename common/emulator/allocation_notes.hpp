// Descriptions of allocations for when the host follows a pointer into one, in runs without checks.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "common/emulator/machine/memory.hpp"
#include "common/emulator/machine/modules.hpp"
#include "common/report/finding.hpp"

namespace stepwise::emulator {

// The size of the header that the C library keeps before a block of memory.
inline constexpr std::uint64_t most_header_bytes = 64;

using module_table = std::map<std::uint64_t, std::unique_ptr<loaded_module>>;

class allocation_notes {
 public:
  // The next allocation is made by the code at this address of the host's; 0: unknown.
  void set_origin(std::uint64_t code_address) { origin_ = code_address; }
  void allocated(device_address at, std::uint64_t bytes);
  void freed(device_address at);
  void name(device_address at, std::uint64_t bytes, std::string_view name);

  // What lies at an address of the device's, or right after or before it; of no kind if nothing
  // does. `was_freed`: it is memory that is free again, as far as it was noted.
  finding_object object_at(device_address address, const global_memory& memory,
                           const module_table& modules, bool& was_freed) const;

 private:
  struct note {
    std::uint64_t bytes = 0;
    std::string name;
    std::uint64_t allocated_by = 0;
    bool freed = false;
  };
  std::map<device_address, note> notes_;  // of those that are known
  std::uint64_t origin_ = 0;
};

}  // namespace stepwise::emulator
