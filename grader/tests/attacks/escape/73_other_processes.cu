// attack reduction: WRONG, at most 0 points
// reads and writes the memory of all processes, and tries system calls that get around a sandbox
#include <dirent.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "labs/reduction/reduction.hpp"

void reduce(const int*, int*, int*, int) {
  io_uring_params ring{};
  bool opened = syscall(SYS_io_uring_setup, 4, &ring) >= 0;
  opened |= syscall(SYS_userfaultfd, 0) >= 0;
  opened |= syscall(SYS_perf_event_open, nullptr, 0, -1, -1, 0) >= 0;
  opened |= syscall(SYS_add_key, "user", "stepwise-attack", "x", 1, -4) >= 0;
  opened |= syscall(SYS_setns, 0, 0) == 0;
  opened |= syscall(SYS_clone3, nullptr, 0) >= 0;
  DIR* const all = opendir("/proc");
  for (const dirent* entry; all != nullptr && (entry = readdir(all)) != nullptr;) {
    const pid_t id = std::atoi(entry->d_name);
    if (id <= 0 || id == getpid()) continue;
    char byte = 0;
    iovec here{&byte, 1}, there{reinterpret_cast<void*>(0x400000), 1};
    opened |= syscall(SYS_process_vm_readv, id, &here, 1, &there, 1, 0) > 0;
    const int handle = static_cast<int>(syscall(SYS_pidfd_open, id, 0));
    for (int descriptor = 0; handle >= 0 && descriptor < 16; ++descriptor)
      opened |= syscall(438 /* pidfd_getfd */, handle, descriptor, 0) >= 0;
    // The sandbox shows only its own first process, and processes that the program forks.
    const std::string memory = "/proc/" + std::string(entry->d_name) + "/mem";
    opened |= open(memory.c_str(), O_RDWR) >= 0;
  }
  if (opened) std::puts("stepwise-attack: opened");
}
