// Checks that the cubin's line table and the PTX of the same program agree. On every line that has
// machine instructions in the table, the parser must see an instruction of that kernel or of a
// function that it may call, or the kernel's '{' (for the work before its first instruction).
// Neither of the two was made from the other.
#include <set>

#include "common/image/tests/inputs.hpp"
#include "common/ptx/ast.hpp"

namespace stepwise::ptx {
namespace {

std::set<std::uint32_t> instruction_lines(const module& m, std::string_view kernel) {
  std::set<std::uint32_t> out;
  for (const function& f : m.functions) {
    if (f.is_declaration || (f.is_entry && f.name != kernel)) continue;
    out.insert(f.body_line);
    for (const instruction& i : m.body_of(f).instructions) out.insert(i.line);
  }
  return out;
}

TEST_CASE("lines with machine instructions are lines with PTX instructions") {
  for (const std::uint32_t sm : {80u, 90u}) {
    const image::buffer file = image::compiled("default.fatbin");
    const auto entries = image::read_container(file);
    REQUIRE(entries.ok());
    const auto text = image::content_of(*image::choose(*entries, image::entry_kind::ptx, sm));
    const auto elf = image::content_of(*image::choose(*entries, image::entry_kind::elf, sm));
    REQUIRE(text.ok());
    REQUIRE(elf.ok());
    const auto cubin = image::read_cubin(*elf);
    REQUIRE(cubin.ok());
    const module m(image::text_of(*text));
    CHECK((*cubin).kernels.size() == 9);
    for (const auto& [name, kernel] : (*cubin).kernels) {
      const std::set<std::uint32_t> lines = instruction_lines(m, name);
      REQUIRE_FALSE(lines.empty());
      for (const auto& [line, count] : kernel.instructions_of_ptx_line) {
        CHECK_MESSAGE(lines.count(line) == 1, "sm_", sm, " ", name, ": no instruction in line ",
                      line);
      }
    }
  }
}

TEST_CASE("instructions that the compiler merged or dropped have no machine instruction") {
  const image::buffer file = image::compiled("default.fatbin");
  const auto entries = image::read_container(file);
  const auto text = image::content_of(*image::choose(*entries, image::entry_kind::ptx, 90));
  const auto elf = image::content_of(*image::choose(*entries, image::entry_kind::elf, 90));
  const auto cubin = image::read_cubin(*elf);
  REQUIRE(cubin.ok());
  const module m(image::text_of(*text));
  const char* const name = "_Z11shared_tilePf";
  const auto& counts = (*cubin).kernels.at(name).instructions_of_ptx_line;
  // Loads, stores and the barrier have machine instructions. Address conversions have none.
  int memory = 0, conversions = 0;
  for (const instruction& i : m.body_of(*m.find_function(name)).instructions) {
    const auto found = counts.find(i.line);
    const std::uint32_t count = found == counts.end() ? 0 : found->second;
    if ((i.opcode == "ld" && i.modifiers[0] != "param") || i.opcode == "st" || i.opcode == "bar") {
      CHECK_MESSAGE(count >= 1, std::string(i.text), " in line ", i.line);
      ++memory;
    }
    if (i.opcode == "cvta") {
      CHECK(count == 0);
      ++conversions;
    }
  }
  CHECK(memory == 5);
  CHECK(conversions == 1);
}

}  // namespace
}  // namespace stepwise::ptx
