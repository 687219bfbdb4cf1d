// Finds the instructions of a PTX body that compute a value or an address, for advice about
// statements.
//
// idea    A register's value is followed back through the instructions that define it. Loads and
//         atomic operations end the search, since the value came from there. PTX from nvcc defines
//         most registers once. A register with several definitions merges paths, as in a loop.
// watch   The answers are used only to word messages. A wrong answer can only make advice less
//         specific.
//         Tested by ../tests/programs/faulty/.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/ptx/ast.hpp"

namespace stepwise::emulator {

class register_flow {
 public:
  explicit register_flow(const ptx::body& body);

  struct sources {
    std::vector<std::int32_t> instructions;  // each listed once
    std::vector<std::string_view> names;     // variables and special registers
    bool merges = false;                     // one of the registers has several definitions
    bool contains(std::int32_t instruction) const;
  };
  sources of(const ptx::operand& value) const;
  // The sources of an instruction's guard; empty if it has none.
  sources of_guard(std::int32_t instruction) const;
  sources of_address(std::int32_t access) const;

  // Whether any instruction reads this register.
  bool is_read(std::string_view name) const;

  // Whether two accesses compute their addresses in the same way.
  bool same_address(std::int32_t a, std::int32_t b) const;
  // The variables and pointers from which an access's address is computed.
  std::vector<std::string> bases_of(std::int32_t access) const;

  const std::vector<std::int32_t>& definitions_of(std::string_view name) const;
  const ptx::instruction& at(std::int32_t n) const {
    return body_.instructions[static_cast<std::size_t>(n)];
  }
  std::int32_t size() const { return static_cast<std::int32_t>(body_.instructions.size()); }
  // The memory operand of an access; null if it has none.
  const ptx::operand* address_of(std::int32_t access) const;

 private:
  void follow(const ptx::operand& o, sources& into) const;
  void follow(std::string_view name, sources& into) const;
  bool same_value(const ptx::operand& a, const ptx::operand& b, int depth) const;
  void add_bases(std::int32_t access, const std::string& prefix, int depth,
                 std::vector<std::string>& into) const;

  const ptx::body& body_;
  std::unordered_map<std::string_view, std::vector<std::int32_t>> definitions_;
};

}  // namespace stepwise::emulator
