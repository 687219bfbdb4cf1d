// Target: DWARF 2 line programs without the ELF file around them, which lets a fuzzer reach deeper
// code.
#include "common/image/line_program.hpp"

#include "common/emulator/fuzz/target.hpp"

namespace stepwise::fuzz {

outcome try_input(std::span<const std::byte> input) {
  try {
    image::run_line_programs(input, [&](const image::line_span& span) {
      require(span.first < span.last, "a run of no machine code");
      require(span.set_address_at <= input.size(), "an address after the section's end");
    });
  } catch (const image::corrupt& why) {
    return {false, why.what()};
  }
  return {};
}

}  // namespace stepwise::fuzz
