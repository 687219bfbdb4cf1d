// Generates the PTX around the instructions of an opcode test, as described in opcodes/README.md.
#include "common/emulator/tests/opcode_case.hpp"

namespace stepwise::opcodes {
namespace {

// PTX has no registers of 8 bits.
std::string register_type(const element_type& type) {
  if (type.name == "pred") return ".pred";
  return ".b" + std::to_string(std::max(16u, 8 * type.bytes));
}

// A predicate is stored as a word.
std::string store(const element_type& type, const std::string& memory, const std::string& value) {
  if (type.name == "pred") {
    return " { .reg .b32 %word; selp.u32 %word, 1, 0, " + value + "; st.global.u32 " + memory +
           ", %word; }";
  }
  return " st.global." + type.name + " " + memory + ", " + value + ";";
}

std::string address_into(const std::string& target, const parameter& p) {
  return " ld.param.u64 " + target + ", [" + p.name + "];";
}

std::string own_address_into(const std::string& target, const parameter& p, std::size_t values) {
  return address_into(target, p) + " mad.wide.u32 " + target + ", %i, " +
         std::to_string(values * p.type.bytes) + ", " + target + ";";
}

}  // namespace

kernel_frame frame_of(const test_case& test) {
  std::string parameters, registers, loads, stores;
  for (const parameter& p : test.parameters) {
    parameters += (parameters.empty() ? ".param .u64 " : ", .param .u64 ") + p.name;
    const std::size_t values = p.count() / test.threads.x;
    const std::string name = '%' + p.name;
    if (p.access != buffer_access::value) {
      registers += " .reg .b64 " + name + ";";
      loads += p.access == buffer_access::address ? address_into(name, p)
                                                  : own_address_into(name, p, values);
      continue;
    }
    std::string& moves = p.role == array_role::in ? loads : stores;
    moves += own_address_into("%at", p, values);
    for (std::size_t i = 0; i < values; ++i) {
      const std::string value = values == 1 ? name : name + std::to_string(i);
      const std::string offset = i == 0 ? "" : "+" + std::to_string(i * p.type.bytes);
      const std::string memory = "[%at" + offset + "]";
      registers += " .reg " + register_type(p.type) + " " + value + ";";
      moves += p.role == array_role::in
                   ? " ld.global." + p.type.name + " " + value + ", " + memory + ";"
                   : store(p.type, memory, value);
    }
  }
  return {".visible .entry " + test.kernel + "(" + parameters +
              ") { .reg .b32 %i; .reg .b64 %at; .reg .pred %p;" + registers +
              " mov.u32 %i, %tid.x;" + loads,
          stores + " ret; }"};
}

}  // namespace stepwise::opcodes
