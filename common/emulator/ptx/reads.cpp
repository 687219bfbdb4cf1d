#include "common/emulator/ptx/reads.hpp"

namespace stepwise::ptx {
namespace {

bool has_result(const instruction& i) {
  return i.operands.size() > 1 && i.operands[0].kind != operand_kind::memory && i.opcode != "brx" &&
         i.opcode != "bar" && i.opcode != "barrier";
}

void add_names(const operand& o, std::unordered_set<std::string_view>& to) {
  if (!o.name.empty()) to.insert(o.name);
  for (const operand& e : o.elements) add_names(e, to);
}

}  // namespace

std::unordered_set<std::string_view> names_read(const body& b) {
  std::unordered_set<std::string_view> read;
  for (const instruction& i : b.instructions) {
    if (!i.guard.empty()) read.insert(i.guard);
    for (std::size_t n = has_result(i) ? 1 : 0; n < i.operands.size(); ++n)
      add_names(i.operands[n], read);
  }
  return read;
}

}  // namespace stepwise::ptx
