// Target: PTX modules, with directives, variables with initialisers, and all function bodies.
#include "common/emulator/fuzz/target.hpp"
#include "common/ptx/ast.hpp"

namespace stepwise::fuzz {
namespace {

void inspect(const ptx::body& b) {
  for (const ptx::instruction& i : b.instructions) {
    require(i.position >= -1 && i.position < static_cast<std::int64_t>(b.positions.size()),
            "an instruction's position is no record");
    require(!i.opcode.empty(), "an instruction without an opcode");
  }
  for (std::size_t k = 0; k < b.positions.size(); ++k) {
    require(b.positions[k].inlined_at < static_cast<std::int64_t>(k),
            "a record is inlined at a later one: its chain may have no end");
  }
  for (const auto& [name, at] : b.labels)
    require(at <= b.instructions.size(), "a label past the end");
}

void inspect(const ptx::variable& v) {
  require(v.alignment != 0 && (v.alignment & (v.alignment - 1)) == 0, "an impossible alignment");
  require(v.initial.size() <= v.bytes, "an initialiser longer than its variable");
  for (const ptx::relocation& r : v.relocations)
    require(r.at + r.bytes <= v.bytes, "an address past the end of its variable");
}

}  // namespace

outcome try_input(std::span<const std::byte> input) {
  outcome o;
  try {
    const ptx::module m(std::string(reinterpret_cast<const char*>(input.data()), input.size()));
    for (const ptx::variable& v : m.variables) inspect(v);
    for (const ptx::function& f : m.functions) {
      require(m.find_function(f.name) != nullptr || f.is_declaration, "a function is not found");
      if (f.is_declaration) continue;
      try {
        inspect(m.body_of(f));
      } catch (const ptx::parse_error& e) {
        o = {false, e.what()};
      }
    }
  } catch (const ptx::parse_error& e) {
    o = {false, e.what()};
  }
  return o;
}

}  // namespace stepwise::fuzz
