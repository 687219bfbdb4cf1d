// Commands whose work a Python module of the repository does: slides, site; and release in part.
#pragma once

#include <string>
#include <vector>

namespace stepwise::cli {

struct context;

// The clone's own Python, which a built clone that was copied may lack, else the system's. Throws a
// failure of the environment, which names `verb`, if there is none.
std::string find_python(const context& c, const std::string& verb);

// Runs `python -B -m MODULE WORDS...` in the repository's root and in our place; never returns.
[[noreturn]] void become_python_module(const context& c, const char* verb, const char* module,
                                       const std::vector<std::string>& words);

}  // namespace stepwise::cli
