// lab grade, for commands that keep its document.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "grader/cli/context.hpp"

namespace stepwise::cli {

struct grade_options {
  std::string lab, file, step;
  std::optional<std::uint64_t> seed;
  bool practice = false;  // in the program's own process, on trust
  std::string key;        // a file; empty: the public key
};

// The document that `grade --json` prints for a file.
json grade_document(context& c, const lab& l, const grade_options& o);

}  // namespace stepwise::cli
