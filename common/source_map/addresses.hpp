// The addresses in the PTX: their alignment, and the known distances between them.
//
// idea    nvcc gives each register one definition, unless the register changes in a loop. Therefore
//         an address can be followed back to its root, through moves and additions of constants.
//         Two addresses with the same root differ by their offsets.
// cost    The time is linear. A register's address is found once for all its uses. An alignment is
//         lowered at most four times, and each time only its users are examined again.
// watch   Equal roots mean equal values only where one access dominates the other.
// Tested by tests/.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "common/ptx/ast.hpp"

namespace stepwise::emulator {

struct symbolic_address {
  std::string_view root;      // a register or a variable; empty: an absolute address
  std::uint32_t version = 0;  // the number of definitions of the root before its use in the text
  std::int64_t offset = 0;
  bool same_root(const symbolic_address& other) const {
    return root == other.root && version == other.version;
  }
};

// States that value % modulus == residue. The modulus is a power of two, at most 16. If the modulus
// is 1, nothing is known.
struct alignment {
  std::uint32_t modulus = 1, residue = 0;
  bool operator==(const alignment&) const = default;
};

class address_table {
 public:
  address_table(const ptx::module& m, const ptx::body& body);

  // The address of instruction `at`'s memory operand.
  symbolic_address resolve(const ptx::operand& memory, std::uint32_t at) const;
  // The alignment of the root. A variable in shared or local memory counts as aligned to 16 bytes,
  // because ptxas aligns it to 16 bytes wherever that helps.
  alignment alignment_of(const symbolic_address& a) const;
  // Whether any instruction reads this register.
  bool is_read(std::string_view name) const;

 private:
  struct definition {
    std::uint32_t at;
    bool guarded;
  };

  void find_definitions();
  void find_alignments();
  void find_values();
  // The register or variable, and the distance from it, to which a register's only definition
  // leads.
  struct step {
    std::string_view to;
    std::int64_t distance = 0;
  };
  std::optional<step> step_of(std::string_view name) const;
  // The version of a root that instruction `at` reads.
  std::uint32_t version_at(std::string_view root, std::uint32_t at) const;
  alignment of_value(const ptx::operand& o) const;
  alignment of_result(const ptx::instruction& i) const;
  alignment of_variable(std::string_view name) const;

  const ptx::module& module_;
  const ptx::body& body_;
  std::unordered_map<std::string_view, std::vector<definition>> definitions_;
  std::unordered_set<std::string_view> reads_;
  std::unordered_map<std::string_view, const ptx::variable*> variables_;  // the body's own
  std::unordered_map<std::string_view, symbolic_address> values_;  // by register, if it has a step
  std::unordered_map<std::string_view, alignment> alignments_;     // by register, once known
};

}  // namespace stepwise::emulator
