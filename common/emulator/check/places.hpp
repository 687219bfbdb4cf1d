// Lines of device code with their text, for findings.
#pragma once

#include <map>
#include <memory>

#include "common/emulator/machine/program.hpp"
#include "common/report/finding.hpp"
#include "common/source_map/source_map.hpp"
#include "common/source_map/source_text.hpp"

namespace stepwise::emulator {

class places {
 public:
  // The line of the user's file that an instruction comes from.
  code_place of(const program& code, std::uint32_t function, std::int32_t instruction);
  code_place of(const program& code, const op* at);
  // The line of an instruction in its own function, after the lines at which that function was
  // inlined, from the outermost in. Empty if nothing is known.
  std::vector<source_line> chain_of(const program& code, const op* at);
  // Lines `first` to `last` of a file, as far as it has them.
  std::vector<std::string> lines(const std::string& file, std::uint32_t first, std::uint32_t last);
  // Whether the line is known and in a header of CUDA or its libraries.
  bool is_library(const program& code, std::uint32_t function, std::int32_t instruction);
  // Called when programs were unloaded, because new programs may reuse their addresses.
  void forget() { maps_.clear(); }

 private:
  const source_map& map_of(const program_function& f);

  std::map<const ptx::function*, std::unique_ptr<source_map>> maps_;
  source_text text_;
};

}  // namespace stepwise::emulator
