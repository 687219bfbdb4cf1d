// Describes allocations when the host follows a pointer into device memory, in runs without checks.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "common/emulator/machine/memory.hpp"
#include "common/emulator/machine/modules.hpp"
#include "common/report/finding.hpp"

namespace stepwise::emulator {

// The largest header that the C library keeps before a block of memory, in bytes.
inline constexpr std::uint64_t most_header_bytes = 64;

using module_table = std::map<std::uint64_t, std::unique_ptr<loaded_module>>;

class allocation_notes {
 public:
  // The host code at this address makes the next allocation; 0: unknown.
  void set_origin(std::uint64_t code_address) { origin_ = code_address; }
  void allocated(device_address at, std::uint64_t bytes);
  void freed(device_address at);
  void name(device_address at, std::uint64_t bytes, std::string_view name);

  // The object at a device address, or right after or before it, or an object of kind `none`.
  // `was_freed` is set if the memory is known to have been freed.
  finding_object object_at(device_address address, const global_memory& memory,
                           const module_table& modules, bool& was_freed) const;

 private:
  struct note {
    std::uint64_t bytes = 0;
    std::string name;
    std::uint64_t allocated_by = 0;
    bool freed = false;
  };
  std::map<device_address, note> notes_;  // by address
  std::uint64_t origin_ = 0;
};

}  // namespace stepwise::emulator
