// Any bytes as a PTX module: an error or an AST whose references hold, nothing else.
#include <cstdio>
#include <cstdlib>

#include "common/emulator/ptx/ast.hpp"

namespace {

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "fuzz_ptx: %s\n", what);
  std::abort();
}

void inspect(const stepwise::ptx::body& b) {
  for (const auto& i : b.instructions) {
    require(i.position >= -1 && i.position < static_cast<std::int64_t>(b.positions.size()),
            "an instruction's position is no record");
    require(!i.opcode.empty(), "an instruction without an opcode");
  }
  for (std::size_t k = 0; k < b.positions.size(); ++k) {
    require(b.positions[k].inlined_at < static_cast<std::int64_t>(k),
            "a record is inlined at a later one: its chain may have no end");
  }
  for (const auto& [name, at] : b.labels) {
    require(at <= b.instructions.size(), "a label behind the end");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const stepwise::ptx::module m(std::string(reinterpret_cast<const char*>(data), size));
    for (const auto& v : m.variables) {
      require(v.initial.size() <= v.bytes, "an initialiser longer than its variable");
      for (const auto& r : v.relocations) {
        require(r.at + r.bytes <= v.bytes, "an address behind the end of its variable");
      }
    }
    for (const auto& f : m.functions) {
      if (f.is_declaration) continue;
      try {
        inspect(m.body_of(f));
      } catch (const stepwise::ptx::parse_error&) {
      }
    }
  } catch (const stepwise::ptx::parse_error&) {
  }
  return 0;
}
