// attack reduction: WRONG, at most 0 points
// tries to become root again: by user id, by a namespace, by raising its own limits and score
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "labs/reduction/reduction.hpp"

void reduce(const int*, int*, int*, int) {
  bool opened = setresuid(0, 0, 0) == 0 || seteuid(0) == 0 || setgid(0) == 0;
  opened |= setgroups(0, nullptr) == 0;
  opened |= prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0;
  opened |= prctl(PR_CAPBSET_READ, 21 /* CAP_SYS_ADMIN */, 0, 0, 0) == 1 && geteuid() == 0;
  opened |= unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0;
  opened |= mount("none", "/tmp", "tmpfs", 0, nullptr) == 0;
  opened |= mount(nullptr, "/proc", nullptr, MS_REMOUNT | MS_BIND, nullptr) == 0;
  opened |= umount2("/proc", MNT_DETACH) == 0;
  opened |= mknod("/tmp/disk", S_IFBLK | 0600, static_cast<dev_t>(254) << 8) == 0;
  rlimit most{};
  getrlimit(RLIMIT_NOFILE, &most);
  most.rlim_max += 1;
  opened |= setrlimit(RLIMIT_NOFILE, &most) == 0;
  opened |= setpriority(PRIO_PROCESS, 0, -20) == 0;
  const int score = open("/proc/self/oom_score_adj", O_WRONLY);
  opened |= score >= 0 && write(score, "-1000", 5) == 5;
  // If the user id outside the namespace is 0, the program would be root there.
  std::FILE* const map = std::fopen("/proc/self/uid_map", "r");
  long first = 0, outside = 0, count = 0;
  while (map != nullptr && std::fscanf(map, "%ld %ld %ld", &first, &outside, &count) == 3) {
    const long number = static_cast<long>(geteuid()) - first;
    opened |= number >= 0 && number < count && outside + number == 0;
  }
  if (opened) std::puts("stepwise-attack: opened");
}
