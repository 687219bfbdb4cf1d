// Runs a program on our runtime with all checks, and reads the findings.
#include "common/emulator/check/tests/programs/checked_run.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

namespace stepwise::check_tests {
namespace {

namespace fs = std::filesystem;

}  // namespace

std::string with_our_runtime(const std::string& command) {
  const char* const folder = std::getenv("STEPWISE_RUNTIME");
  if (folder == nullptr) throw std::runtime_error("run this test through `meson test`");
  return "env LD_LIBRARY_PATH='" + std::string(folder) + "' " + command;
}

checked_run run_checked(const std::string& command, double time_limit_s) {
  static std::atomic<int> runs{0};
  const fs::path file =
      fs::temp_directory_path() /
      ("stepwise-findings-" + std::to_string(getpid()) + "-" + std::to_string(++runs));
  const std::string settings =
      "STEPWISE_CHECK=1 STEPWISE_TIME_LIMIT_S=" + std::to_string(time_limit_s) +
      " STEPWISE_FINDINGS='" + file.string() + "' ";
  // The time limit applies to one launch. `timeout` ends a program that hangs in any other way.
  const std::string patience = "timeout -k 1 " + std::to_string(2 * time_limit_s + 20) + " ";
  const int status =
      std::system((settings + patience + with_our_runtime(command) + " >/dev/null 2>&1").c_str());
  checked_run result;
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    auto found = parse_json_line(line);
    if (!found) throw std::runtime_error("not a finding: " + line);
    merge_into(result.findings, std::move(*found));
  }
  fs::remove(file);
  return result;
}

std::vector<std::string> lines_of(const std::string& command) {
  FILE* const output = popen(with_our_runtime(command).c_str(), "r");
  if (output == nullptr) throw std::runtime_error("cannot run " + command);
  std::vector<std::string> lines;
  char line[4096];
  while (std::fgets(line, sizeof line, output) != nullptr) {
    lines.emplace_back(line);
    while (!lines.back().empty() && lines.back().back() == '\n') lines.back().pop_back();
  }
  if (pclose(output) != 0) throw std::runtime_error("failed: " + command);
  return lines;
}

void in_parallel(std::size_t count, const std::function<void(std::size_t)>& task) {
  std::atomic<std::size_t> next{0};
  std::vector<std::jthread> workers;
  for (unsigned k = 0; k < std::max(1u, std::thread::hardware_concurrency()); ++k) {
    workers.emplace_back([&] {
      for (std::size_t i; (i = next++) < count;) task(i);
    });
  }
}

std::string in_words(const located_finding& found) {
  const finding& f = found.what;
  const auto line = [](const char* what, int number) {
    return number == 0 ? "" : std::string(", ") + what + " " + std::to_string(number);
  };
  std::string text = name_of(f.kind);
  for (const auto& p : f.parties) text += ", " + std::to_string(p.at.line) + " " + p.action;
  text += line("allocated", found.allocated.line) + line("freed", found.freed.line) +
          line("called", found.host.line) + line("unfinished", found.unfinished.line);
  if (f.object.what != finding_object::kind::none) {
    text += ", object=" + f.object.name + ", bytes=" + std::to_string(f.object.bytes) +
            ", offset=" + std::to_string(f.object.offset);
  }
  return text + ", count=" + std::to_string(f.count) + ": " + f.message;
}

}  // namespace stepwise::check_tests
