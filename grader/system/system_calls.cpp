// The list of refused calls, and the BPF program that compares calls with it.
#include "grader/system/system_calls.hpp"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cstdint>
#include <vector>

namespace stepwise {
namespace {

#if defined(__x86_64__)

// Numbers that the headers of Debian 11 lack.
constexpr std::uint32_t call_clone3 = 435, call_pidfd_getfd = 438, call_process_madvise = 440,
                        call_mount_setattr = 442, call_quotactl_fd = 443,
                        call_process_mrelease = 448, call_io_uring_setup = 425,
                        call_io_uring_enter = 426, call_io_uring_register = 427,
                        call_open_tree = 428, call_move_mount = 429, call_fsopen = 430,
                        call_fsconfig = 431, call_fsmount = 432, call_fspick = 433;

constexpr std::uint32_t refused_calls[] = {
    // namespaces and mounts
    SYS_unshare, SYS_setns, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, call_mount_setattr,
    call_open_tree, call_move_mount, call_fsopen, call_fsconfig, call_fsmount, call_fspick,
    SYS_open_by_handle_at, SYS_name_to_handle_at, SYS_quotactl, call_quotactl_fd,
    // other processes
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, call_pidfd_getfd, call_process_madvise,
    call_process_mrelease, SYS_kcmp, SYS_migrate_pages, SYS_move_pages,
    // the kernel and the machine
    SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, call_io_uring_setup, call_io_uring_enter,
    call_io_uring_register, SYS_kexec_load, SYS_kexec_file_load, SYS_init_module, SYS_finit_module,
    SYS_delete_module, SYS_reboot, SYS_swapon, SYS_swapoff, SYS_syslog, SYS_acct, SYS_iopl,
    SYS_ioperm, SYS_modify_ldt, SYS_personality, SYS_settimeofday, SYS_clock_settime, SYS_adjtimex,
    SYS_clock_adjtime, SYS_sethostname, SYS_setdomainname, SYS_vhangup, SYS_lookup_dcookie,
    SYS_nfsservctl, SYS_uselib, SYS_ustat, SYS_sysfs, SYS__sysctl, SYS_fanotify_init,
    // calls that outlive the process, or reach another process
    SYS_add_key, SYS_request_key, SYS_keyctl, SYS_shmget, SYS_msgget, SYS_semget, SYS_mq_open};

constexpr std::uint32_t failing_with(int number) {
  return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(number);
}

class program {
 public:
  void load(std::size_t offset) {
    code_.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)));
  }
  void end(std::uint32_t result) { code_.push_back(BPF_STMT(BPF_RET | BPF_K, result)); }
  // Ends with `result` if the loaded value compares in this way.
  void end_if(unsigned how, std::uint32_t value, std::uint32_t result) {
    code_.push_back(BPF_JUMP(static_cast<unsigned short>(BPF_JMP | how | BPF_K), value, 0, 1));
    end(result);
  }
  void end_unless(std::uint32_t value, std::uint32_t result) {
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0));
    end(result);
  }
  // Rules for one call only.
  template <class Rules>
  void of_call(std::uint32_t number, Rules rules) {
    const std::size_t at = code_.size();
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 0));
    rules();
    code_[at].jf = static_cast<unsigned char>(code_.size() - at - 1);
  }
  std::string bytes() const {
    return {reinterpret_cast<const char*>(code_.data()), code_.size() * sizeof(sock_filter)};
  }

 private:
  std::vector<sock_filter> code_;
};

// The lower half of an argument.
std::size_t argument(int number) {
  return offsetof(seccomp_data, args) + static_cast<std::size_t>(number) * sizeof(std::uint64_t);
}

#endif

}  // namespace

std::string system_call_filter(processes_are processes) {
#if defined(__x86_64__)
  constexpr std::uint32_t new_namespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
                                           CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |
                                           CLONE_NEWNET;
  program p;
  p.load(offsetof(seccomp_data, arch));
  p.end_unless(AUDIT_ARCH_X86_64, SECCOMP_RET_KILL_PROCESS);  // call numbers would differ
  p.load(offsetof(seccomp_data, nr));
  p.end_if(BPF_JGE, 0x40000000, failing_with(ENOSYS));  // x32
  for (const std::uint32_t number : refused_calls) p.end_if(BPF_JEQ, number, failing_with(EPERM));
  p.end_if(BPF_JEQ, call_clone3,
           failing_with(ENOSYS));  // its flags are in memory; libc then uses clone
  if (processes == processes_are::refused) {
    p.end_if(BPF_JEQ, SYS_fork, failing_with(EPERM));
    p.end_if(BPF_JEQ, SYS_vfork, failing_with(EPERM));
  }
  p.of_call(SYS_clone, [&] {
    p.load(argument(0));
    p.end_if(BPF_JSET, new_namespaces, failing_with(EPERM));
    if (processes == processes_are::allowed) return p.end(SECCOMP_RET_ALLOW);
    p.end_if(BPF_JSET, CLONE_THREAD, SECCOMP_RET_ALLOW);
    p.end(failing_with(EPERM));
  });
  p.of_call(SYS_socket, [&] {
    p.load(argument(0));
    p.end_if(BPF_JEQ, AF_UNIX, SECCOMP_RET_ALLOW);
    p.end(failing_with(EAFNOSUPPORT));
  });
  p.of_call(SYS_ioctl, [&] {
    p.load(argument(1));
    p.end_if(BPF_JEQ, TIOCSTI, failing_with(EPERM));
    p.end_if(BPF_JEQ, 0x541C, failing_with(EPERM));  // TIOCLINUX
    p.end(SECCOMP_RET_ALLOW);
  });
  p.end(SECCOMP_RET_ALLOW);
  return p.bytes();
#else
  return {};
#endif
}

std::string computation_filter() {
#if defined(__x86_64__)
  program p;
  p.load(offsetof(seccomp_data, arch));
  p.end_unless(AUDIT_ARCH_X86_64, SECCOMP_RET_KILL_PROCESS);
  p.load(offsetof(seccomp_data, nr));
  for (const std::uint32_t number :
       {SYS_brk, SYS_mremap, SYS_munmap, SYS_madvise, SYS_mprotect, SYS_futex, SYS_rt_sigprocmask,
        SYS_write, SYS_exit, SYS_exit_group})
    p.end_if(BPF_JEQ, number, SECCOMP_RET_ALLOW);
  p.of_call(SYS_mmap, [&] {
    p.load(argument(3));
    p.end_if(BPF_JSET, MAP_ANONYMOUS, SECCOMP_RET_ALLOW);
    p.end(SECCOMP_RET_KILL_PROCESS);
  });
  p.end(SECCOMP_RET_KILL_PROCESS);
  return p.bytes();
#else
  return {};
#endif
}

bool restrict_system_calls(const std::string& filter) {
  if (filter.empty()) return true;
  const auto* const first = reinterpret_cast<const sock_filter*>(filter.data());
  const sock_fprog code{static_cast<unsigned short>(filter.size() / sizeof(sock_filter)),
                        const_cast<sock_filter*>(first)};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &code) == 0;
}

bool has_system_call_filters() {
  // An unreadable filter gives EFAULT if the kernel supports filters, and EINVAL if it does not.
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, nullptr) != 0 && errno == EFAULT &&
         !system_call_filter(processes_are::allowed).empty();
}

}  // namespace stepwise
