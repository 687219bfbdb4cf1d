// Finds a Python, and replaces this process with a Python module of the repository.
#include "grader/cli/python/python_module.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "grader/cli/context.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"
#include "grader/system/process.hpp"

namespace stepwise::cli {

std::string find_python(const context& c, const std::string& verb) {
  const fs::path own = c.where.root / ".venv" / "bin" / "python";
  if (fs::exists(own)) return own;
  const std::string found = on_path("python3");
  if (found.empty()) {
    throw failure(exit_code::environment,
                  "`lab " + verb + "` needs Python 3.9 or newer: apt-get install python3");
  }
  return found;
}

void become_python_module(const context& c, const char* verb, const char* module,
                          const std::vector<std::string>& words) {
  std::vector<std::string> all = {find_python(c, verb), "-B", "-m", module};
  all.insert(all.end(), words.begin(), words.end());
  if (c.as_json) all.push_back("--json");
  if (chdir(c.where.root.c_str()) != 0) {
    throw failure(exit_code::environment, c.where.root.string() + ": " + std::strerror(errno));
  }
  std::vector<char*> arguments;
  for (auto& word : all) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(arguments[0], arguments.data());
  throw failure(exit_code::environment, all[0] + ": " + std::strerror(errno));
}

}  // namespace stepwise::cli
