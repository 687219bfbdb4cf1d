// Target: a module as the device loads it, as PTX text or fat binary. It is linked, its variables
// are placed, and every kernel is lowered, also for observers, and mapped to its source lines.
#include <algorithm>

#include "common/device/gpu.hpp"
#include "common/emulator/fuzz/target.hpp"
#include "common/emulator/lower/lower.hpp"
#include "common/emulator/machine/modules.hpp"
#include "common/source_map/source_map.hpp"

namespace stepwise::fuzz {
namespace {

// The minimum memory that loading needs, so that a large variable is refused instead of written.
constexpr std::uint64_t memory_bytes = 16 << 20;

void inspect(const emulator::program& p) {
  require(p.code.size() == p.instruction.size(), "an op that belongs to no instruction");
  for (const std::vector<std::uint32_t>& table : p.jump_tables)
    for (const std::uint32_t target : table)
      require(target < p.code.size(), "a jump past the end of the code");
  for (const emulator::parameter_vreg& vreg : p.parameters)
    require(std::uint64_t{vreg.parameter_offset} + vreg.bytes <= p.parameter_bytes,
            "a read outside the kernel's parameters");
  for (const emulator::call_site& site : p.calls) {
    if (site.function == emulator::call_site::indirect) continue;
    require(site.function < p.functions.size(), "a call of no function");
    const std::uint64_t room = p.functions[site.function].local_bytes;
    for (const auto* pieces : {&site.arguments, &site.results})
      for (const emulator::call_site::piece& piece : *pieces)
        require(std::uint64_t{piece.callee} + piece.bytes <= room,
                "an argument outside its function's frame");
  }
  for (const emulator::op& o : p.code) require(o.run != nullptr, "an op that does nothing");
}

// Checks the source map without a table of the machine code, and with a table in which lines lack
// instructions or have several, as happens with merged and unrolled accesses.
void inspect_sources(const emulator::linked_function& f) {
  image::kernel_resources resources;
  for (std::uint32_t n = 0; n < 200; ++n)
    if (n % 5 != 2) resources.instructions_of_ptx_line[f.function->body_line + n] = 1 + n % 3;
  for (const image::kernel_resources* machine_code :
       {static_cast<const image::kernel_resources*>(nullptr),
        static_cast<const image::kernel_resources*>(&resources)}) {
    const emulator::source_map map(*f.module, *f.function, machine_code);
    for (const emulator::instruction_source& i : map.instructions) {
      require(i.line == emulator::no_index || i.line < map.lines.size(), "a line out of range");
      require(i.inner == emulator::no_index || i.inner < map.chains.size(),
              "a chain of frames out of range");
      const std::size_t groups =
          i.role == emulator::access_role::dropped ? map.dropped.size() : map.groups.size();
      require(i.group == emulator::no_index || i.group < groups, "a group out of range");
    }
  }
}

// A kernel may be refused before its body is parsed, and only parsing shows a malformed body.
bool parses(const emulator::linked_function& f) {
  try {
    f.module->body_of(*f.function);
  } catch (const ptx::parse_error&) {
    return false;
  }
  return true;
}

}  // namespace

outcome try_input(std::span<const std::byte> input) {
  static const gpu model = [] {
    gpu g = *find_gpu("h200");
    g.memory_bytes = memory_bytes;
    return g;
  }();
  static emulator::global_memory memory(memory_bytes);
  const auto loaded = emulator::load_parts({&input, 1}, model, memory);
  if (!loaded.ok()) return {false, loaded.failure().message};
  outcome o;
  emulator::loaded_module& m = **loaded;
  for (const auto& part : m.unit.parts()) {
    for (const ptx::function& f : part.module->functions) {
      const emulator::linked_function* const kernel = m.unit.find_kernel(f.name);
      if (kernel == nullptr) continue;
      emulator::attributes_of(m, *kernel, model);
      using emulator::watched_by;
      for (const watched_by by : {watched_by::none, watched_by::profile, watched_by::checks}) {
        const auto lowered = emulator::lower(m.unit, *kernel, by);
        if (lowered.ok())
          inspect(**lowered);
        else
          o = {false, lowered.failure().message};
      }
      if (parses(*kernel)) inspect_sources(*kernel);
    }
  }
  for (const device_address a : m.allocations) require(memory.free(a), "a variable freed twice");
  return o;
}

}  // namespace stepwise::fuzz
