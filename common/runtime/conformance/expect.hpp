// For programs about errors: calls with the errors that they must return, and cases in processes of
// their own, since a kernel's fault lasts as long as its process.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include "common/emulator/tests/programs/program.hpp"

inline int expectations = 0, broken_expectations = 0;

// Counts a call, and says where it is and what it returned if that is not as expected.
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

// Runs `body` in a child process. Its expectations count here as one, which holds if all of them do
// and the process ends by itself. Only before this process's own first CUDA call.
inline void in_child(const char* name, void (*body)()) {
  std::fflush(stdout);
  if (fork() == 0) {
    expectations = broken_expectations = 0;
    body();
    if (expectations == 0) ++broken_expectations;
    std::fflush(stdout);
    _exit(broken_expectations == 0 ? 0 : 1);
  }
  int state = 0;
  wait(&state);
  if (WIFEXITED(state) && WEXITSTATUS(state) == 77) std::exit(77);
  ++expectations;
  if (WIFEXITED(state) && WEXITSTATUS(state) == 0) return;
  ++broken_expectations;
  std::printf("%s: %s\n", name, WIFEXITED(state) ? "as told above" : "the process was ended");
}

// The program's line and its exit status.
inline int outcome(const char* name) {
  if (expectations == 0) ++broken_expectations;
  if (broken_expectations == 0) std::printf("%s: %d, all right\n", name, expectations);
  return broken_expectations == 0 ? 0 : 1;
}
