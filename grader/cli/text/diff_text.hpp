// The differences between two sources, for diff and walk.
#pragma once

#include <string>

#include "grader/cli/context.hpp"
#include "grader/course/source.hpp"

namespace stepwise::cli {

// A side of the comparison, without its leading comment, which differs from step to step anyway.
clean_source diff_side(const std::string& text, bool headers);

// The coloured hunks between two sources, indented by two columns.
// Leading comments are omitted unless `headers` is set. Returns false if there is no difference.
bool show_diff(context& c, const std::string& before_name, const std::string& before,
               const std::string& after_name, const std::string& after, bool headers);

}  // namespace stepwise::cli
