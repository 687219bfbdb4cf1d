// Tests what a child process in a sandbox sees, may do, and leaves behind. A case is skipped if
// this machine lacks the layer that it needs.
#include "grader/sandbox/sandbox.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "common/testing/skip_case.hpp"
#include "grader/sandbox/trust.hpp"
#include "grader/system/files.hpp"

using namespace stepwise;

namespace {

child_options script_of(const std::string& script) {
  child_options options;
  options.command = {"/bin/sh", "-c", script};
  options.environment = {"PATH=/usr/bin:/bin", "KEPT=1", "REMOVED"};
  return options;
}

confinement tools() {
  confinement c;
  c.tools = true;
  c.starts_programs = true;
  return c;
}

child_result in_sandbox(const std::string& script, const confinement& c = tools()) {
  return run_child(confined(script_of(script), c, find_protections()), 20);
}

bool is_active(std::string_view layer) {
  for (const auto& l : find_protections().layers) {
    if (l.name == layer) return l.active;
  }
  return false;
}

bool is_missing(const char* layer) {
  if (is_active(layer)) return false;
  skip_case(std::string("this machine lacks the layer \"") + layer + "\"");
  return true;
}

// The number of processes, other than this one, whose command line contains `mark`.
int processes_with(const std::string& mark) {
  int count = 0;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    const auto text = read_if_there(entry.path() / "cmdline");
    if (text && text->find(mark) != std::string::npos) ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("every layer is reported, and a missing layer has a reason") {
  const protections& found = find_protections();
  REQUIRE(found.layers.size() == 5);
  for (const auto& layer : found.layers) CHECK(!layer.detail.empty());
  for (const auto& layer : found.layers) {
    int attempts = 0, refused = 0;
    for (const auto& one : found.attempts) {
      attempts += one.layer == layer.name;
      refused += one.layer == layer.name && one.refused();
    }
    CHECK(layer.active == (attempts > 0 && refused == attempts));
  }
  CHECK(found.complete() == (found.text().find("missing") == std::string::npos));
}

TEST_CASE("without a layer, other people's files are refused, unless you trust them") {
  protections guards;
  guards.layers = {{"namespaces", false, "no: all is open"}, {"limits", true, "time"}};
  CHECK_NOTHROW(require_protection(guards, true));
  try {
    require_protection(guards, false);
    FAIL_CHECK("nothing was refused");
  } catch (const failure& refused) {
    const std::string text = refused.what();
    CHECK(text.find("namespaces: no: all is open") != std::string::npos);
    CHECK(text.find("limits") == std::string::npos);
    CHECK(text.find("--i-trust-these-files") != std::string::npos);
  }
  guards.layers[0].active = true;
  CHECK_NOTHROW(require_protection(guards, false));
}

TEST_CASE("a sandbox shows the listed files and nothing else") {
  if (is_missing("namespaces")) return;
  const temporary_folder folder(fs::temp_directory_path());
  write_atomically(folder.path() / "shown", "shown\n");
  write_atomically(folder.path() / "hidden", "hidden\n");
  fs::create_directory(folder.path() / "out");
  auto c = tools();
  c.read = {folder.path() / "shown", folder.path() / "missing"};
  c.write = {folder.path() / "out"};
  const std::string at = folder.path();
  const auto result =
      in_sandbox("cat " + at + "/*; cat /etc/passwd; ls /etc /home; echo made > " + at +
                     "/out/made; echo changed > " + at + "/shown; echo x > /x; ls /proc",
                 c);
  CHECK(result.out.starts_with("shown\n"));
  CHECK(result.out.find("root:") == std::string::npos);
  CHECK(result.out.find("hidden") == std::string::npos);
  CHECK(*read_if_there(folder.path() / "out/made") == "made\n");
  CHECK(*read_if_there(folder.path() / "shown") == "shown\n");
  CHECK(result.out.find("\n" + std::to_string(getpid()) + "\n") == std::string::npos);
}

TEST_CASE("a program in a sandbox is not root outside, and cannot change the machine") {
  if (is_missing("user") || is_missing("namespaces")) return;
  const auto map = in_sandbox("id -u; cat /proc/self/uid_map").out;
  if (geteuid() == 0) CHECK(map.starts_with(std::to_string(sandbox_user) + "\n"));
  const auto before = read_if_there("/proc/sys/kernel/core_pattern");
  // Each line of the output would be a file that could be opened for writing.
  const auto opened = in_sandbox(
      "for f in $(find /proc/sys /proc/self /proc/*.* -type f 2> /dev/null); do"
      " (: >> $f) 2> /dev/null && echo $f; done; ls /proc | grep -v '^[0-9]'");
  CHECK(opened.out.find("/proc/") == std::string::npos);
  CHECK(opened.out.find("meminfo\n") != std::string::npos);
  CHECK(read_if_there("/proc/sys/kernel/core_pattern") == before);
  CHECK(in_sandbox("cat /proc/keys /proc/interrupts /proc/cmdline /proc/net/unix | grep -v Num")
            .out == "");
}

TEST_CASE("the sandbox's user can read root's files, and root can use what that user writes") {
  if (is_missing("namespaces") || find_protections().become.empty()) return;
  const temporary_folder folder(fs::temp_directory_path());
  write_atomically(folder.path() / "closed", "closed\n");
  fs::permissions(folder.path() / "closed", fs::perms::owner_read);
  fs::create_directory(folder.path() / "out");
  fs::create_directory(folder.path() / "secret");
  fs::permissions(folder.path() / "secret", fs::perms::owner_all);
  auto c = tools();
  c.read = {folder.path() / "closed"};
  c.write = {folder.path() / "out"};
  const std::string at = folder.path();
  CHECK(in_sandbox("cat " + at + "/closed; cp " + at + "/closed " + at + "/out/copy", c).out ==
        "closed\n");
  CHECK(*read_if_there(folder.path() / "out/copy") == "closed\n");
  c.read = {folder.path() / "secret"};
  CHECK_THROWS_WITH_AS(in_sandbox("true", c),
                       doctest::Contains(("chmod -R go+rX " + at + "/secret").c_str()), failure);
}

TEST_CASE("the environment, descriptors and exit status are passed through") {
  int ends[2];
  REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  auto options = script_of("echo $KEPT$REMOVED$LAB_ROOT; env | grep -c .; echo passed >&3; exit 5");
  options.pass = {ends[1]};
  auto result = run_child(confined(std::move(options), tools(), find_protections()), 20);
  close(ends[1]);
  char text[16] = "";
  CHECK(read(ends[0], text, sizeof text - 1) == 7);
  CHECK(std::string(text) == "passed\n");
  close(ends[0]);
  CHECK(result.out.starts_with("1\n"));
  CHECK(std::stoi(result.out.substr(2)) <= 4);  // PATH, KEPT, PWD, and the shell's _
  CHECK(result.end.exit_code == 5);
  result = in_sandbox("kill -SEGV $$");
  CHECK(result.end.how == child_end::cause::signalled);
  CHECK(result.end.signal == SIGSEGV);
}

TEST_CASE("there is no network, and programs can start others only if that is allowed") {
  if (is_missing("system calls")) return;
  CHECK(in_sandbox("(exit 3); echo $?").out == "3\n");
  auto c = tools();
  c.starts_programs = false;
  CHECK(in_sandbox("echo before; (exit 3); echo $?", c).out == "before\n");
  CHECK(in_sandbox("exec python3 -c 'import socket; socket.socket()'").end.exit_code != 0);
  CHECK(in_sandbox("unshare -U true || echo refused").out == "refused\n");
}

TEST_CASE("no process that a child started survives") {
  if (is_missing("namespaces")) return;
  const std::string mark = "8765.4321" + std::to_string(getpid());
  in_sandbox("setsid sleep " + mark + " & setsid sh -c 'setsid sleep " + mark + " &' & exit 0");
  for (int i = 0; i < 200 && processes_with(mark) > 0; ++i) usleep(10'000);
  CHECK(processes_with(mark) == 0);
  auto options =
      confined(script_of("setsid sleep " + mark + " & wait"), tools(), find_protections());
  CHECK(run_child(std::move(options), 0.3).end.how == child_end::cause::deadline);
  for (int i = 0; i < 200 && processes_with(mark) > 0; ++i) usleep(10'000);
  CHECK(processes_with(mark) == 0);
}

TEST_CASE("files in memory and on disk have size limits") {
  if (is_missing("namespaces")) return;
  auto c = tools();
  c.scratch_bytes = 1 << 20;
  CHECK(in_sandbox("head -c 900000 /dev/zero > /tmp/a && echo done", c).out == "done\n");
  if (find_protections().sizes_folders)
    CHECK(in_sandbox("head -c 2000000 /dev/zero > /tmp/a || echo full", c).out == "full\n");
  c.scratch_bytes = 0;
  CHECK(in_sandbox("echo x > /tmp/a || echo none", c).out == "none\n");
  c.file_bytes = 1000;
  c.scratch_bytes = 1 << 20;
  CHECK(!in_sandbox("exec head -c 2000 /dev/zero > /tmp/a", c).end.ok());
}

TEST_CASE("memory and processes are limited in total") {
  // Without namespaces, /tmp is the machine's own and may be on a disk.
  if (is_missing("control group") || is_missing("namespaces")) return;
  auto c = tools();
  c.memory_bytes = 64 << 20;
  c.scratch_bytes = 256 << 20;
  // Shared memory and files in memory count, like a process's own memory.
  const auto result = in_sandbox("head -c 200000000 /dev/zero > /tmp/a; echo $?", c);
  CHECK(result.out != "0\n");
  CHECK(result.end.out_of_memory);
  c = tools();
  c.processes = 20;
  const auto bomb = in_sandbox("for i in $(seq 40); do sleep 1 & done; echo all", c);
  CHECK(bomb.out != "all\n");
}

TEST_CASE("without a control group, memory is watched") {
  auto without = find_protections();
  without.groups = false;
  auto c = tools();
  c.memory_bytes = 64 << 20;
  const auto grow = [&](const char* bytes) {  // dd fills a buffer of this size again and again
    const std::string script = "dd if=/dev/zero of=/dev/null count=200 bs=" + std::string(bytes) +
                               " 2> /dev/null && echo 1";
    return run_child(confined(script_of(script), c, without), 20);
  };
  CHECK(grow("1000").out == "1\n");
  const auto large = grow("200000000");
  CHECK(large.out.empty());
  CHECK(large.end.out_of_memory);
}

TEST_CASE("without a control group, the number of processes is limited, even for root") {
  if (is_missing("namespaces")) return;
  auto without = find_protections();
  without.groups = false;
  auto c = tools();
  c.processes = 20;
  const auto one = run_child(confined(script_of("sleep 0.3; echo one"), c, without), 20);
  CHECK(one.out == "one\n");
  const auto bomb = run_child(
      confined(script_of("for i in $(seq 60); do sleep 15 & done; sleep 15; echo all"), c, without),
      20);
  CHECK(bomb.out != "all\n");
  CHECK(bomb.end.wall_s < 15);
  if (geteuid() == 0 && without.become.empty()) CHECK(bomb.end.too_many_tasks);
}
