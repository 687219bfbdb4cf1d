// attack reduction: COMPILE or WRONG, at most 0 points
// asks the preprocessor which files exist, and reports what it finds
#include "labs/reduction/reduction.hpp"

#if __has_include("/etc/passwd") || __has_include("/etc/shadow") || __has_include("/root/.bashrc")
#error "stepwise-attack: it sees files of the system's"
#endif
#if __has_include("solutions/reduction/10_one_launch.cu") || \
                  __has_include("labs/reduction/problem.cpp")
#error "stepwise-attack: it sees solutions"
#endif
#if __has_include("grader/judge/key.hpp") || __has_include("build/grader/lab.json")
#error "stepwise-attack: it sees the grader"
#endif
#if __has_include("/proc/1/environ") && __has_include("/sys/kernel/notes")
#error "stepwise-attack: it sees the kernel's files"
#endif

void reduce(const int*, int*, int*, int) {}
