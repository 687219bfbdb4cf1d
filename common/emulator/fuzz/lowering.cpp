// A module as the device loads it, PTX text or fat binary: linked, its variables placed, and every
// kernel lowered. Nothing runs.
#include <algorithm>

#include "common/device/gpu.hpp"
#include "common/emulator/exec/modules.hpp"
#include "common/emulator/fuzz/target.hpp"

namespace stepwise::fuzz {
namespace {

// As little memory as loading needs, so that a large variable is refused and not written.
constexpr std::uint64_t memory_bytes = 16 << 20;

void inspect(const emulator::program& p) {
  require(p.code.size() == p.instruction.size(), "an op that belongs to no instruction");
  for (const std::vector<std::uint32_t>& table : p.jump_tables)
    for (const std::uint32_t target : table)
      require(target < p.code.size(), "a jump behind the end of the code");
  for (const emulator::parameter_row& row : p.parameters)
    require(std::uint64_t{row.parameter_offset} + row.bytes <= p.parameter_bytes,
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
      const auto lowered = emulator::lower(m.unit, *kernel);
      if (lowered.ok())
        inspect(**lowered);
      else
        o = {false, lowered.failure().message};
    }
  }
  for (const device_address a : m.allocations) require(memory.free(a), "a variable freed twice");
  return o;
}

}  // namespace stepwise::fuzz
