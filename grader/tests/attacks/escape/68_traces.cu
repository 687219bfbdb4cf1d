// attack reduction: WRONG, at most 0 points
// asks the kernel for what opens a way out: traces, namespaces, mounts
#include <sched.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>

#include "labs/reduction/reduction.hpp"

void reduce(const int*, int*, int*, int) {
  bool opened = ptrace(PTRACE_ATTACH, getppid(), nullptr, nullptr) == 0;
  opened |= unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0;
  opened |= mount("none", "/tmp", "tmpfs", 0, nullptr) == 0;
  opened |= syscall(SYS_bpf, 0, nullptr, 0) >= 0;
  opened |= syscall(425 /* io_uring_setup */, 1, nullptr) >= 0;
  if (opened) std::puts("stepwise-attack: opened");
}
