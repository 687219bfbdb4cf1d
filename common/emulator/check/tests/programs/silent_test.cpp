// Runs correct programs with all checks on. No program may be reported. Arguments: the programs,
// each with its own arguments, followed by "--".
#include <cstdio>
#include <string>
#include <vector>

#include "common/emulator/check/tests/programs/checked_run.hpp"

int main(int count, char** words) {
  using namespace stepwise::check_tests;
  std::vector<std::string> programs;  // quoted for the shell
  for (int k = 1; k < count; ++k) {
    std::string command;
    for (; k < count && std::string(words[k]) != "--"; ++k)
      command += "'" + std::string(words[k]) + "' ";
    programs.push_back(command);
  }
  std::vector<std::string> problems(programs.size());
  in_parallel(programs.size(), [&](std::size_t i) {
    const auto result = run_checked(programs[i], 100);
    if (result.exit_code != 0) problems[i] = "ended with " + std::to_string(result.exit_code);
    for (const auto& found : result.findings) problems[i] += "\n  " + in_words(found);
  });
  bool silent = !programs.empty();
  for (std::size_t i = 0; i < programs.size(); ++i) {
    if (problems[i].empty()) continue;
    silent = false;
    std::printf("%s: %s\n", programs[i].c_str(), problems[i].c_str());
  }
  return silent ? 0 : 1;
}
