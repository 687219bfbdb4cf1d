// One verdict with all of its inputs, as text for a terminal.
//
// Tested by tests/publish_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "grader/publish/entry.hpp"

namespace stepwise::publish {

// `file` is where the content is kept, `again` is the command that grades it again, and `differing`
// are the parts of the key that have changed since then.
std::string explanation(const entry& e, const std::string& file, const std::string& again,
                        const std::vector<std::string>& differing);

}  // namespace stepwise::publish
