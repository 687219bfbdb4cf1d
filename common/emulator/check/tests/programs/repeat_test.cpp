// Checks and counters are deterministic: a program gives the same findings and the same profile,
// byte for byte, with any number of workers and any other load on the machine. The comparison omits
// nothing. Each argument is a shell command line; the prefix "faulty:" says that findings are
// expected.
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "common/emulator/check/tests/programs/checked_run.hpp"

namespace {

using namespace stepwise::check_tests;
namespace fs = std::filesystem;

constexpr int runs = 10;

struct outcome {
  int status = 0;
  std::string findings, profile;
};

std::string contents(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

outcome run(const std::string& command, int workers) {
  const fs::path stem = fs::temp_directory_path() / ("stepwise-repeat-" + std::to_string(getpid()));
  const fs::path findings = stem.string() + ".findings", profile = stem.string() + ".profile";
  setenv("STEPWISE_CHECK", "1", 1);
  setenv("STEPWISE_COUNTERS", "1", 1);
  setenv("STEPWISE_WORKERS", std::to_string(workers).c_str(), 1);
  setenv("STEPWISE_FINDINGS", findings.c_str(), 1);
  setenv("STEPWISE_PROFILE", profile.c_str(), 1);
  outcome o;
  o.status = std::system((with_our_runtime(command) + " >/dev/null 2>&1").c_str());
  o.findings = contents(findings);
  o.profile = contents(profile);
  fs::remove(findings);
  fs::remove(profile);
  return o;
}

// The first place where two texts differ, with the text around it.
std::string difference(const std::string& first, const std::string& other) {
  std::size_t at = 0;
  while (at < first.size() && at < other.size() && first[at] == other[at]) ++at;
  const std::size_t from = at < 60 ? 0 : at - 60;
  return "at byte " + std::to_string(at) + ": \"" + first.substr(from, 120) + "\" and \"" +
         other.substr(from, 120) + "\"";
}

// The problem with a command; empty if there is none.
std::string problem_with(const std::string& command, bool faulty) {
  const outcome first = run(command, 1);
  if (first.status != 0) return "ended with status " + std::to_string(first.status);
  if (first.profile.empty()) return "no profile was written";
  if (first.findings.empty() == faulty) return faulty ? "nothing was found" : first.findings;
  for (int i = 1; i < runs; ++i) {
    const outcome again = run(command, 1 + i % 2);
    const std::string which = "run " + std::to_string(i) + ", " + std::to_string(1 + i % 2) +
                              (i % 2 == 0 ? " worker" : " workers");
    if (again.status != 0) return which + ": ended with status " + std::to_string(again.status);
    if (again.findings != first.findings)
      return which + ": other findings " + difference(first.findings, again.findings);
    if (again.profile != first.profile)
      return which + ": another profile " + difference(first.profile, again.profile);
  }
  return "";
}

}  // namespace

int main(int count, char** words) {
  constexpr std::string_view mark = "faulty:";
  bool repeats = count > 1;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const bool faulty = word.starts_with(mark);
    const std::string command = faulty ? word.substr(mark.size()) : word;
    const std::string problem = problem_with(command, faulty);
    if (problem.empty()) continue;
    repeats = false;
    std::printf("%s: %s\n", command.c_str(), problem.c_str());
  }
  return repeats ? 0 : 1;
}
