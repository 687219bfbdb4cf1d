// Tests how the judge handles submitted files: it reads the source to copy it, and neither opens
// nor maps anything built from it. Runs the built program and watches its system calls.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>

#include "common/testing/skip_case.hpp"
#include "grader/cli/tests/cloned_course.hpp"

using namespace stepwise;

namespace {

struct opened_file {
  std::string path;
  bool writes = false, mapped = false;
};

#if defined(__x86_64__)

std::string text_at(pid_t id, unsigned long long address) {
  std::string text;
  char part[256];
  while (text.size() < 4096) {
    const iovec here{part, sizeof part};
    const iovec there{reinterpret_cast<void*>(address + text.size()),
                      sizeof part - (address + text.size()) % sizeof part};
    const ssize_t n = process_vm_readv(id, &here, 1, &there, 1, 0);
    if (n <= 0) break;
    const std::string_view got(part, static_cast<std::size_t>(n));
    const auto end = got.find('\0');
    text += got.substr(0, end);
    if (end != std::string_view::npos) break;
  }
  return text;
}

// Runs a program to its end, and records the files that its own threads open and map. Processes
// that it starts are not watched. `files` stays empty if this machine does not permit watching.
class watched_program {
 public:
  explicit watched_program(const child_options& options) {
    std::vector<std::string> command = options.command;
    std::vector<std::string> environment = merged_environment(options.environment);
    auto arguments = pointers(command), variables = pointers(environment);
    const pid_t id = fork();
    if (id == 0) {
      const int nothing = open("/dev/null", O_RDWR);
      for (const int to : {0, 1, 2}) dup2(nothing, to);
      if (chdir(options.directory.c_str()) != 0 || ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0)
        _exit(125);
      raise(SIGSTOP);
      execve(arguments[0], arguments.data(), variables.data());
      _exit(125);
    }
    int status = 0;
    waitpid(id, &status, 0);
    if (!WIFSTOPPED(status)) return;
    ptrace(PTRACE_SETOPTIONS, id, nullptr,
           PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL);
    watch(id);
  }
  std::vector<opened_file> files;
  int exit_code = -1;

 private:
  void watch(pid_t first) {
    std::map<pid_t, bool> inside;
    ptrace(PTRACE_SYSCALL, first, nullptr, nullptr);
    while (true) {
      int status = 0;
      const pid_t id = waitpid(-1, &status, __WALL);
      if (id < 0) return;
      if (WIFEXITED(status) || WIFSIGNALED(status)) {
        if (id != first) continue;
        exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        return;
      }
      int passed_on = 0;
      if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
        inside[id] = !inside[id];
        user_regs_struct registers{};
        ptrace(PTRACE_GETREGS, id, nullptr, &registers);
        note(id, registers, inside[id]);
      } else if (WSTOPSIG(status) != SIGTRAP && WSTOPSIG(status) != SIGSTOP) {
        passed_on = WSTOPSIG(status);
      }
      ptrace(PTRACE_SYSCALL, id, nullptr, passed_on);
    }
  }

  void note(pid_t id, const user_regs_struct& r, bool begins) {
    const bool at = r.orig_rax == SYS_openat, plain = r.orig_rax == SYS_open;
    if (begins && (at || plain)) {
      asked_[id] = {text_at(id, at ? r.rsi : r.rdi),
                    ((at ? r.rdx : r.rsi) & O_ACCMODE) != O_RDONLY};
    } else if (!begins && (at || plain) && static_cast<long long>(r.rax) >= 0) {
      numbers_[static_cast<int>(r.rax)] = files.size();
      files.push_back(asked_[id]);
    } else if (begins && r.orig_rax == SYS_close) {
      numbers_.erase(static_cast<int>(r.rdi));
    } else if (begins && r.orig_rax == SYS_mmap) {
      const auto known = numbers_.find(static_cast<int>(r.r8));
      if (known != numbers_.end()) files[known->second].mapped = true;
    }
  }

  std::map<pid_t, opened_file> asked_;
  std::map<int, std::size_t> numbers_;
};

#endif

std::string solution_text(const cloned_course& c, const char* name) {
  return *read_if_there(c.root() / "solutions/reduction" / (std::string(name) + ".cu"));
}

}  // namespace

TEST_CASE("the judge reads a source to copy it, and opens or maps nothing built from it") {
#if defined(__x86_64__)
  const cloned_course c;
  const fs::path file = c.root() / "handed in.cu";
  write_atomically(file, solution_text(c, "00_pairs"));
  const watched_program run(
      c.command({"grade", "reduction", "--file", file, "--device", "emulated", "--json"}));
  if (run.files.empty()) return skip_case("this machine does not permit watching a program");
  CHECK(run.exit_code == 1);  // SLOW
  std::set<std::string> seen;
  for (const auto& f : run.files) {
    CAPTURE(f.path);
    const std::string name = fs::path(f.path).filename();
    seen.insert(name);
    if (f.path == file) CHECK_FALSE((f.writes || f.mapped));
    // In the folder of compiled files, the judge may open our own tables and locks and the copy,
    // but no object file and no program.
    if (has(f.path, "/submissions/")) {
      CHECK_FALSE(f.mapped);
      CHECK(name != "program");
      CHECK(!name.ends_with(".o"));
      CHECK(!name.ends_with(".cubin"));
      CHECK(!name.ends_with(".ptx"));
      CHECK(!name.ends_with(".fatbin"));
    }
    CHECK(!(has(f.path, "/proc/") && name == "mem"));
  }
  CHECK(seen.count("handed in.cu") == 1);
  CHECK(seen.count("course.json") == 1);
  // Events that must have been seen: the judge writes the copy, and the loader maps a library.
  const auto any = [&](auto matches) {
    return std::any_of(run.files.begin(), run.files.end(), matches);
  };
  CHECK(any([](const auto& f) { return f.writes && has(f.path, "/.student.cu."); }));
  CHECK(any([](const auto& f) { return f.mapped && has(f.path, "libc.so"); }));
#else
  skip_case("system calls can be watched only on x86-64");
#endif
}

TEST_CASE("a file that is not a source file is refused by name, and odd bytes do not compile") {
  const cloned_course c;
  const auto refused = [&](const fs::path& file, const char* why) {
    const auto result =
        c.lab({"grade", "reduction", "--file", file, "--device", "emulated", "--json"});
    INFO(file.string(), ": ", result.err);
    CHECK(result.end.exit_code == 2);
    CHECK(result.end.wall_s < 60);
    CHECK(has(result.err + result.out, why));
  };
  REQUIRE(mkfifo((c.root() / "pipe.cu").c_str(), 0644) == 0);
  refused(c.root() / "pipe.cu", "not a regular file");
  refused("/dev/zero", "not a regular file");
  fs::create_directory(c.root() / "folder.cu");
  refused(c.root() / "folder.cu", "it is a folder");
  fs::create_symlink("loop.cu", c.root() / "loop.cu");
  refused(c.root() / "loop.cu", "it is a link");
  write_atomically(c.root() / "sparse.cu", "");
  REQUIRE(truncate((c.root() / "sparse.cu").c_str(), off_t{1} << 30) == 0);
  refused(c.root() / "sparse.cu", "more than 1 MiB");
  // NULs, invalid UTF-8, half a character, an unfinished comment and raw string, and an ELF header.
  const std::string odd = std::string("int a\0b;\n", 9) + "\xff\xfe\xc3( \x80\n" + "\x7f" +
                          "ELF\2\1\1 // \xf0\x9f\nR\"(\n/*";
  write_atomically(c.root() / "odd.cu", odd);
  const json document = document_of(c.lab(
      {"grade", "reduction", "--file", c.root() / "odd.cu", "--device", "emulated", "--json"}));
  CHECK(document.at("class") == "COMPILE");
  CHECK(document.at("points") == 0);
}
