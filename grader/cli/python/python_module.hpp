// A command whose work a Python module of the repository does: slides, site.
#pragma once

#include <string>
#include <vector>

namespace stepwise::cli {

struct context;

// Runs `python -B -m MODULE WORDS...` in the repository's root and in our place; never returns. The
// clone's own Python, which a built clone that was copied may lack, else the system's. Throws a
// failure of the environment, which names `verb`, if there is none.
[[noreturn]] void become_python_module(const context& c, const char* verb, const char* module,
                                       const std::vector<std::string>& words);

}  // namespace stepwise::cli
