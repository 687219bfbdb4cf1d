// One verdict with all that it was made of, as text for a terminal.
//
// Tested by tests/publish_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "grader/publish/entry.hpp"

namespace stepwise::publish {

// `file`: where the content is kept; `again`: the command that grades it again; `differing`: parts
// of the key that are other ones today.
std::string explanation(const entry& e, const std::string& file, const std::string& again,
                        const std::vector<std::string>& differing);

}  // namespace stepwise::publish
