// The addresses in the PTX: which ones differ by a known distance, and how they are aligned.
//
// idea    nvcc gives each register one definition, except for those that change in loops. An
//         address is therefore followed back through moves and additions of constants to its root;
//         two addresses with one root differ by their offsets.
// cost    Linear: a register's address is found once for all its uses. Alignments sink at most four
//         times, and only the users of a lowered alignment are examined again.
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
  std::uint32_t version = 0;  // how many definitions of the root stand before its use in the text
  std::int64_t offset = 0;
  bool same_root(const symbolic_address& other) const {
    return root == other.root && version == other.version;
  }
};

// value % modulus == residue; modulus is a power of two up to 16. 1: nothing is known.
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
  // because ptxas aligns it so wherever that helps.
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
  // The target of a register's only definition: another register or a variable, a distance away.
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
  std::unordered_map<std::string_view, symbolic_address> values_;  // of registers that have a step
  std::unordered_map<std::string_view, alignment> alignments_;     // absent: not known yet
};

}  // namespace stepwise::emulator
