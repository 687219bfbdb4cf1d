// Commands implemented by a Python module of the repository: slides, site, and part of release.
#pragma once

#include <string>
#include <vector>

namespace stepwise::cli {

struct context;

// The clone's own Python, which a copy of a built clone may lack, or otherwise the system's. Throws
// failure(environment), which names `verb`, if there is none.
std::string find_python(const context& c, const std::string& verb);

// Replaces this process with `python -B -m MODULE WORDS...` in the repository's root.
[[noreturn]] void become_python_module(const context& c, const char* verb, const char* module,
                                       const std::vector<std::string>& words);

}  // namespace stepwise::cli
