// Target: cubins, with ELF sections and symbols, attributes, and the line table with relocations.
#include "common/emulator/fuzz/target.hpp"
#include "common/image/image.hpp"

namespace stepwise::fuzz {

outcome try_input(std::span<const std::byte> input) {
  const auto cubin = image::read_cubin(input);
  if (!cubin.ok()) return {false, cubin.failure().message};
  for (const auto& [name, k] : cubin->kernels) {
    require(k.registers >= 0 && k.barriers >= 0 && k.max_threads >= 0, "a resource below 0");
    for (const auto& [line, count] : k.instructions_of_ptx_line)
      require(count > 0, "a line of no instructions");
  }
  return {};
}

}  // namespace stepwise::fuzz
