// Runs in a sandbox and tries everything that a submission must not be able to do.
//
//   sandbox-probe escape FILE PORT NAME NAMESPACE=LINK...
//       FILE exists outside, processes outside listen on PORT and NAME (an abstract socket), and
//       LINK is the outside value of /proc/self/ns/NAMESPACE
//   sandbox-probe grow MEGABYTES TASKS
//       allocates this much memory and starts this many processes
//
// Prints one line per attempt: layer, attempt and result, separated by tabs. A result begins with
// "refused" or "possible". A successful attempt changes nothing: it writes no byte, and its effects
// end with this process.
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

void report(const char* layer, const std::string& attempt, bool refused, const std::string& why) {
  printf("%s\t%s\t%s: %s\n", layer, attempt.c_str(), refused ? "refused" : "possible", why.c_str());
  fflush(stdout);
}

void report_errno(const char* layer, const std::string& attempt, bool refused, int error) {
  report(layer, attempt, refused, error == 0 ? "no error" : strerror(error));
}

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// The value of a line of /proc/self/status.
std::string status_of(const std::string& name) {
  std::istringstream lines(text_of("/proc/self/status"));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(name + ":"))
      return line.substr(line.find_first_not_of(" \t", name.size() + 1));
  return {};
}

// --- user ----------------------------------------------------------------------------------------

// This user's number in the parent's user namespace (user_namespaces(7)).
long number_outside(long inside) {
  std::istringstream map(text_of("/proc/self/uid_map"));
  for (long first, outside, count; map >> first >> outside >> count;)
    if (inside >= first && inside < first + count) return outside + inside - first;
  return -1;
}

void try_user() {
  const long outside = number_outside(geteuid());
  report("user", "be root outside", outside > 0, "user " + std::to_string(outside) + " outside");
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapAmb"}) {
    const std::string held = status_of(set);
    const bool none = !held.empty() && held.find_first_not_of('0') == std::string::npos;
    report("user", std::string("hold capabilities (") + set + ")", none, held);
  }
  report("user", "gain privileges by exec", status_of("NoNewPrivs") == "1",
         "NoNewPrivs " + status_of("NoNewPrivs"));
}

// --- namespaces ----------------------------------------------------------------------------------

bool is_number(const std::string& name) {
  return !name.empty() &&
         std::all_of(name.begin(), name.end(), [](char c) { return '0' <= c && c <= '9'; });
}

// Opens every file below `folder` for writing, except the files of other processes.
void try_to_open(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) return;
  std::size_t files = 0;
  std::string opened;
  const auto skip = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at(folder, skip, error), end; at != end;
       at.increment(error)) {
    if (error) break;
    const fs::path& path = at->path();
    if (path.parent_path() == "/proc" && is_number(path.filename()) &&
        path.filename() != std::to_string(getpid()))
      at.disable_recursion_pending();
    std::error_code ignored;
    if (!at->is_regular_file(ignored) || at->is_symlink(ignored)) continue;
    ++files;
    const int descriptor = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (descriptor < 0) continue;
    close(descriptor);
    if (opened.empty()) opened = path;
  }
  report("namespaces", "open a file below " + folder.string() + " for writing", opened.empty(),
         opened.empty() ? std::to_string(files) + " files" : opened);
}

void try_to_create(const fs::path& folder) {
  const fs::path file = folder / "sandbox-probe";
  const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  const int error = descriptor < 0 ? errno : 0;
  if (descriptor >= 0) close(descriptor), unlink(file.c_str());
  report_errno("namespaces", "create a file in " + folder.string(), descriptor < 0, error);
}

template <class Address>
void try_to_connect(const std::string& attempt, int family, const Address& address,
                    socklen_t bytes) {
  const int descriptor = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool connected =
      descriptor >= 0 &&
      connect(descriptor, reinterpret_cast<const sockaddr*>(&address), bytes) == 0;
  report_errno("namespaces", attempt, !connected, connected ? 0 : errno);
  if (descriptor >= 0) close(descriptor);
}

void try_namespaces(const std::string& file, int port, const std::string& name,
                    const std::vector<std::string>& links) {
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  report_errno("namespaces", "read a hidden file", descriptor < 0, descriptor < 0 ? errno : 0);
  for (const std::string& link : links) {
    const std::string space = link.substr(0, link.find('='));
    std::error_code error;
    const std::string own = fs::read_symlink("/proc/self/ns/" + space, error);
    report("namespaces", "share the outside's " + space + " namespace",
           !own.empty() && space + "=" + own != link, own);
  }
  for (const char* folder : {"/proc", "/sys"}) try_to_open(folder);
  for (const char* folder : {"/", "/usr", "/etc", "/dev", "/proc", "/sys"}) try_to_create(folder);
  std::size_t processes = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error))
    processes += is_number(entry.path().filename());
  report("namespaces", "see other processes", processes <= 2,
         std::to_string(processes) + " processes");
  sockaddr_in host{};
  host.sin_family = AF_INET;
  host.sin_port = htons(static_cast<std::uint16_t>(port));
  host.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  try_to_connect("connect to a port of this machine", AF_INET, host, sizeof host);
  sockaddr_un local{};
  local.sun_family = AF_UNIX;
  memcpy(local.sun_path + 1, name.data(), std::min(name.size(), sizeof local.sun_path - 1));
  try_to_connect("connect to an abstract socket", AF_UNIX, local,
                 static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size()));
  std::string open_ones;
  for (int number = 3; number < 1024; ++number)
    if (fcntl(number, F_GETFD) >= 0 && number != descriptor)
      open_ones += " " + std::to_string(number);
  report("namespaces", "inherit a descriptor", open_ones.empty(), "open:" + open_ones);
}

// --- system calls --------------------------------------------------------------------------------

// A filter returns one of these errors. A call that reaches the kernel succeeds or rejects its
// arguments, which are invalid where possible.
bool is_filters(long result, int error) {
  return result < 0 && (error == EPERM || error == ENOSYS || error == EAFNOSUPPORT);
}

template <class... Arguments>
void try_call(const char* name, long number, Arguments... arguments) {
  const long result = syscall(number, arguments...);
  const int error = result < 0 ? errno : 0;
  report_errno("system calls", name, is_filters(result, error), error);
}

void try_system_calls() {
  constexpr long nowhere = -1;
  try_call("unshare", SYS_unshare, CLONE_NEWUSER);
  const long child = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
  if (child == 0) _exit(0);
  report_errno("system calls", "clone with a user namespace", is_filters(child, errno), errno);
  try_call("clone3", SYS_clone3, nullptr, 0);
  try_call("setns", SYS_setns, nowhere, 0);
  try_call("mount", SYS_mount, nullptr, nullptr, nullptr, 0, nullptr);
  try_call("fsopen", SYS_fsopen, nullptr, 0);
  try_call("open_by_handle_at", SYS_open_by_handle_at, nowhere, nullptr, 0);
  try_call("ptrace", SYS_ptrace, PTRACE_SEIZE, nowhere, 0, 0);
  try_call("process_vm_readv", SYS_process_vm_readv, nowhere, nullptr, 0, nullptr, 0, 0);
  try_call("process_vm_writev", SYS_process_vm_writev, nowhere, nullptr, 0, nullptr, 0, 0);
  try_call("pidfd_getfd", 438, nowhere, nowhere, 0);
  try_call("bpf", SYS_bpf, BPF_PROG_LOAD, nullptr, 0);
  try_call("perf_event_open", SYS_perf_event_open, nullptr, 0, nowhere, nowhere, 0);
  try_call("userfaultfd", SYS_userfaultfd, 0);
  try_call("io_uring_setup", 425, 0, nullptr);
  try_call("keyctl", SYS_keyctl, 0, -3 /* the session's keyring */, 0, 0, 0);
  try_call("add_key", SYS_add_key, "user", "probe", "x", 1, -2 /* the process's keyring */);
  try_call("request_key", SYS_request_key, nullptr, nullptr, nullptr, 0);
  constexpr int no_key = 0x53575042;  // unused key, and nothing is created
  try_call("shmget", SYS_shmget, no_key, 4096, 0);
  try_call("msgget", SYS_msgget, no_key, 0);
  try_call("semget", SYS_semget, no_key, 1, 0);
  try_call("mq_open", SYS_mq_open, nullptr, 0, 0, nullptr);
  try_call("syslog", SYS_syslog, 10 /* size of the buffer */, nullptr, 0);
  try_call("personality", SYS_personality, 0xffffffff);
  try_call("ioctl TIOCSTI", SYS_ioctl, nowhere, TIOCSTI, nullptr);
  for (const auto& [name, family] : {std::pair{"socket AF_INET", 2},
                                     {"socket AF_INET6", 10},
                                     {"socket AF_NETLINK", 16},
                                     {"socket AF_PACKET", 17},
                                     {"socket AF_ALG", 38},
                                     {"socket AF_VSOCK", 40}})
    try_call(name, SYS_socket, family, SOCK_STREAM, 0);
}

// --- limits --------------------------------------------------------------------------------------

void try_limits() {
  rlimit most{};
  getrlimit(RLIMIT_AS, &most);
  const void* const area =
      mmap(nullptr, most.rlim_cur, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  report_errno("limits", "map more memory than its limit", area == MAP_FAILED, errno);
  signal(SIGXFSZ, SIG_IGN);
  getrlimit(RLIMIT_FSIZE, &most);
  const int file = memfd_create("probe", MFD_CLOEXEC);
  const bool grown = file >= 0 && ftruncate(file, static_cast<off_t>(most.rlim_cur) + 1) == 0;
  report_errno("limits", "create a file larger than its limit", !grown, errno);
  getrlimit(RLIMIT_NOFILE, &most);
  const int above = fcntl(0, F_DUPFD_CLOEXEC, static_cast<int>(most.rlim_cur));
  report_errno("limits", "open more files than its limit", above < 0 && most.rlim_cur < 1024,
               errno);
  getrlimit(RLIMIT_CPU, &most);
  report("limits", "compute without end", most.rlim_max != RLIM_INFINITY,
         std::to_string(most.rlim_max) + " s");
  getrlimit(RLIMIT_CORE, &most);
  report("limits", "dump core", most.rlim_max == 0, std::to_string(most.rlim_max) + " bytes");
}

// --- control group -------------------------------------------------------------------------------

void grow(std::size_t megabytes, int tasks) {
  std::vector<pid_t> started;
  while (std::ssize(started) < tasks) {
    const pid_t child = fork();
    if (child == 0) pause(), _exit(0);
    if (child < 0) break;
    started.push_back(child);
  }
  report("control group", "start " + std::to_string(tasks) + " processes",
         std::ssize(started) < tasks, std::to_string(started.size()) + " started");
  for (const pid_t child : started) kill(child, SIGKILL);
  const std::size_t bytes = megabytes << 20;
  void* const area =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (area == MAP_FAILED) return;
  memset(area, 1, bytes);
  report("control group", "take " + std::to_string(megabytes) + " MB", false, "it got the memory");
}

}  // namespace

int main(int count, char** words) {
  const std::vector<std::string> all(words, words + count);
  if (count >= 5 && all[1] == "escape") {
    try_user();
    try_namespaces(all[2], atoi(words[3]), all[4], {all.begin() + 5, all.end()});
    try_system_calls();
    try_limits();
    return 0;
  }
  if (count == 4 && all[1] == "grow") {
    grow(static_cast<std::size_t>(atol(words[2])), atoi(words[3]));
    return 0;
  }
  fprintf(stderr,
          "usage: sandbox-probe escape FILE PORT NAME NAMESPACE=LINK...\n"
          "       sandbox-probe grow MEGABYTES TASKS\n");
  return 2;
}
