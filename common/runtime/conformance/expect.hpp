// Helpers for programs about errors: calls with expected errors, and cases that run in separate
// processes because a kernel's fault lasts as long as its process.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "common/emulator/tests/programs/program.hpp"

inline int expectations = 0, broken_expectations = 0;

// Counts a call. If its result is not as expected, prints the line and the result.
inline void expect_error(const char* call, int line, cudaError_t found, cudaError_t wanted) {
  ++expectations;
  if (found == wanted) return;
  if (found == cudaErrorNoDevice || found == cudaErrorInsufficientDriver) std::exit(77);
  ++broken_expectations;
  std::printf("line %d: %s: %s, expected %s\n", line, call, cudaGetErrorName(found),
              cudaGetErrorName(wanted));
}

inline void expect_true(const char* what, int line, bool found) {
  ++expectations;
  if (found) return;
  ++broken_expectations;
  std::printf("line %d: not so: %s\n", line, what);
}

#define EXPECT(call, wanted) expect_error(#call, __LINE__, call, wanted)
#define EXPECT_TRUE(condition) expect_true(#condition, __LINE__, condition)

// Runs `body` in a new process of this program that runs only this case. A plain fork is not
// enough, because check_runtime() has already called CUDA, which then does not work in the child.
// The case counts as one expectation, which holds if all of its own expectations hold and the
// process exits normally.
inline void in_child(const char* name, void (*body)()) {
  constexpr const char* variable = "STEPWISE_TEST_CASE";
  if (const char* const only = std::getenv(variable)) {
    if (std::strcmp(only, name) != 0) return;
    expectations = broken_expectations = 0;
    body();
    if (expectations == 0) ++broken_expectations;
    std::fflush(stdout);
    _exit(broken_expectations == 0 ? 0 : 1);
  }
  std::ifstream file("/proc/self/cmdline");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<char*> words;
  for (std::size_t at = 0; at < text.size(); at += std::strlen(&text[at]) + 1)
    words.push_back(const_cast<char*>(&text[at]));
  words.push_back(nullptr);
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    setenv(variable, name, 1);
    execv("/proc/self/exe", words.data());
    _exit(126);
  }
  int state = 0;
  waitpid(child, &state, 0);
  if (WIFEXITED(state) && WEXITSTATUS(state) == 77) std::exit(77);
  ++expectations;
  if (WIFEXITED(state) && WEXITSTATUS(state) == 0) return;
  ++broken_expectations;
  std::printf("%s: %s\n", name, WIFEXITED(state) ? "as reported above" : "the process was ended");
}

// Prints the program's summary line, and returns its exit status.
inline int outcome(const char* name) {
  if (expectations == 0) ++broken_expectations;
  if (broken_expectations == 0) std::printf("%s: %d, all right\n", name, expectations);
  return broken_expectations == 0 ? 0 : 1;
}
