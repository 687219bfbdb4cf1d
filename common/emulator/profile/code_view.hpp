// The profiler's view of a program before it runs: the line and pipe of each instruction, and how
// the machine code performs each access and how it is counted.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/device/memory_rules.hpp"
#include "common/emulator/machine/program.hpp"
#include "common/emulator/profile/requests.hpp"
#include "common/emulator/time/code_costs.hpp"
#include "common/image/image.hpp"
#include "common/report/profile.hpp"

namespace stepwise::emulator {

// The caches that an access uses.
enum class cache_use : std::uint8_t {
  cached,   // L1 and L2
  l2_only,  // volatile, .cg, ordered accesses
  atomic,   // executed in L2
};

struct site_plan {
  bool counted = false;
  bool constant = false;  // ld.const: its requests are counted, but it reaches no cache or pipe
  shared_use shared = shared_use::load;
  bool combined = false;  // an atomic that one lane executes for its warp in the machine code
  bool loops = false;     // a shared-memory atomic that is a loop in the machine code
  cache_use cache = cache_use::cached;
  access_kind kind = access_kind::load;
  bool copies = false;      // cp.async: a load, then a store
  bool ranged = false;      // reported by access_range() only
  std::uint8_t bytes = 0;   // per lane; for the leader of a group, the bytes of the whole group
  std::int32_t offset = 0;  // of the group's first byte from the leader's address
  std::uint32_t ordinal = 0;
};

struct instruction_place {
  static constexpr std::uint32_t none = 0xffffffffu;
  std::uint32_t line = none;   // into code_view::lines
  std::uint32_t inner = none;  // into code_view::inner
  pipe on = pipe::other;
  std::uint32_t site = none;  // its first site, an index into code_view::sites
  bool branches = false;
  tensor_work tensor;
  step_kind kind = step_kind::compute;
};

struct code_view {
  // `machine_code`: tables of the kernel's machine code, or null. `rules`: the emulated GPU's.
  code_view(const program& code, const image::kernel_resources* machine_code,
            const memory_rules& rules);

  std::vector<instruction_place> places;  // by ordinal
  std::vector<site_plan> sites;           // as program::accesses
  struct line_place {
    std::string path;  // empty: unknown
    std::uint32_t line = 0;
    std::vector<std::string> notes;
  };
  std::vector<line_place> lines;
  struct inner_place {  // a function inlined into a line, and the line in it
    std::string function, path;
    std::uint32_t line = 0;
    bool operator==(const inner_place&) const = default;
  };
  std::vector<inner_place> inner;
  bool knows_machine_code = false;
  std::uint64_t own_local_bytes = 0;  // requested by the PTX, per thread

 private:
  void add_function(const program& code, std::size_t index,
                    const image::kernel_resources* machine_code);
  void plan_sites(const program& code, std::size_t index, const class source_map& map,
                  const std::vector<std::uint32_t>& line_numbers);
  std::uint32_t line_of(const std::string& path, std::uint32_t line);
  std::uint32_t inner_of(inner_place place);

  memory_rules rules_;
  std::unordered_map<std::string, std::uint32_t> line_index_, inner_index_;
  std::vector<std::vector<std::uint32_t>> sites_of_;  // by function
};

}  // namespace stepwise::emulator
