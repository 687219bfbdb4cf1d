// Tests reading, atomic writing, locks, and temporary folders.
#include "grader/system/files.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <optional>

#include "grader/system/failure.hpp"

using namespace stepwise;

namespace {

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

TEST_CASE("write_atomically replaces a file and leaves no other file") {
  const temporary_folder work(fs::temp_directory_path());
  const fs::path file = work.path() / "deep" / "file";
  write_atomically(file, "one");
  write_atomically(file, "two");
  CHECK(read_if_there(file) == "two");
  CHECK(entries(file.parent_path()) == 1);
}

TEST_CASE("a failed write keeps the old content and says why") {
  const temporary_folder work(fs::temp_directory_path());
  const fs::path file = work.path() / "file";
  write_atomically(file, "old");
  std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit before {};
  getrlimit(RLIMIT_FSIZE, &before);
  struct rlimit small = before;
  small.rlim_cur = 100;
  setrlimit(RLIMIT_FSIZE, &small);
  CHECK_THROWS_AS(write_atomically(file, std::string(1000, 'x')), failure);
  setrlimit(RLIMIT_FSIZE, &before);
  CHECK(read_if_there(file) == "old");
  CHECK(entries(work.path()) == 1);
}

TEST_CASE("kept copies never overwrite one another") {
  const temporary_folder work(fs::temp_directory_path());
  const fs::path file = work.path() / "lab.cu";
  CHECK(keep_copy(file, "a").filename() == "lab.cu.kept-1");
  CHECK(keep_copy(file, "b").filename() == "lab.cu.kept-2");
  CHECK(read_if_there(work.path() / "lab.cu.kept-1") == "a");
}

TEST_CASE("a temporary folder is removed with its contents") {
  fs::path path;
  {
    const temporary_folder work(fs::temp_directory_path());
    path = work.path();
    write_atomically(path / "a" / "b", "c");
  }
  CHECK(!fs::exists(path));
}

TEST_CASE("the next temporary folder removes those of killed processes, and nothing else") {
  const temporary_folder work(fs::temp_directory_path());
  const fs::path parent = work.path() / "parent";
  // Starts a process that makes a folder there and never removes it.
  const auto start = [&] {
    int made[2];
    REQUIRE(pipe(made) == 0);
    const pid_t id = fork();
    if (id == 0) {
      const temporary_folder own(parent);
      write_atomically(own.path() / "deep" / "file", "content");
      [[maybe_unused]] const auto written = write(made[1], "x", 1);
      while (true) pause();
    }
    char byte = 0;
    REQUIRE(read(made[0], &byte, 1) == 1);
    close(made[0]);
    close(made[1]);
    return id;
  };
  const auto end = [](pid_t id) {
    kill(id, SIGKILL);
    REQUIRE(waitpid(id, nullptr, 0) == id);
  };
  const pid_t dies = start(), lives = start();
  end(dies);
  REQUIRE(entries(parent) == 2);
  for (const char* other : {"tmp-123456", "stepwise-abcdef", "stepwise-tmp-other-123456"})
    fs::create_directory(parent / other);
  fs::create_directory(work.path() / "elsewhere");
  write_atomically(work.path() / "elsewhere" / "file", "kept");
  std::string own_prefix;
  for (const auto& entry : fs::directory_iterator(parent))
    if (fs::exists(entry.path() / "deep")) own_prefix = entry.path().filename();
  own_prefix.resize(own_prefix.size() - 6);
  fs::create_directory_symlink(work.path() / "elsewhere", parent / (own_prefix + "linked"));
  fs::create_directory(parent / (own_prefix + "empty1"));
  const temporary_folder next(parent);
  CHECK(!fs::exists(parent / (own_prefix + "empty1")));
  CHECK(fs::exists(parent / (own_prefix + "linked")));
  CHECK(fs::exists(work.path() / "elsewhere" / "file"));
  std::size_t used = 0;
  for (const auto& entry : fs::directory_iterator(parent))
    if (fs::exists(entry.path() / "deep" / "file")) ++used;
  CHECK(used == 1);  // the folder of the process that is still alive
  CHECK(entries(parent) == 6);
  end(lives);
}

TEST_CASE("a lock excludes another process") {
  const temporary_folder work(fs::temp_directory_path());
  const fs::path file = work.path() / "lock";
  int ready[2], release[2];
  REQUIRE(pipe(ready) == 0);
  REQUIRE(pipe(release) == 0);
  char c = 'x';
  const pid_t other = fork();
  if (other == 0) {
    const file_lock lock(file);
    [[maybe_unused]] const auto written = write(ready[1], &c, 1);
    [[maybe_unused]] const auto read_back = read(release[0], &c, 1);
    _exit(0);
  }
  REQUIRE(read(ready[0], &c, 1) == 1);
  bool waited = false;
  const file_lock lock(file, [&] {
    waited = true;
    CHECK(write(release[1], &c, 1) == 1);
  });
  CHECK(waited);
  for (const int end : {ready[0], ready[1], release[0], release[1]}) close(end);
}

TEST_CASE("a lock also holds against other users, who may only read its file") {
  const temporary_folder folder(fs::temp_directory_path());
  fs::permissions(folder.path(), fs::perms{0755});
  const fs::path file = folder.path() / "lock";
  const mode_t before = umask(077);
  std::optional<file_lock> mine(std::in_place, file);
  umask(before);
  CHECK((fs::status(file).permissions() & fs::perms{0777}) == fs::perms{0644});
  fs::permissions(file, fs::perms{0444});
  // The exit code is 1 if the lock was held, and 0 if it was free.
  const auto as_another = [&] {
    const pid_t other = fork();
    if (other == 0) {
      if (geteuid() == 0 && setuid(65534) != 0) _exit(3);
      try {
        const file_lock lock(file, [] { _exit(1); });
        _exit(0);
      } catch (const failure&) {
        _exit(2);
      }
    }
    int status = 0;
    waitpid(other, &status, 0);
    return WEXITSTATUS(status);
  };
  CHECK(as_another() == 1);
  mine.reset();
  CHECK(as_another() == 0);
}

TEST_CASE("a lock does not follow links") {
  const temporary_folder folder(fs::temp_directory_path());
  fs::create_symlink(folder.path() / "elsewhere", folder.path() / "lock");
  CHECK_THROWS_AS(file_lock(folder.path() / "lock"), failure);
  CHECK(!fs::exists(folder.path() / "elsewhere"));
}

TEST_CASE("a failed read says what is wrong with the path") {
  CHECK(!read_if_there("/nowhere"));
  CHECK_THROWS_WITH_AS(read_file("/nowhere", 2), "cannot read /nowhere: there is no such file",
                       failure);
  CHECK_THROWS_WITH_AS(read_file("/tmp", 2), "cannot read /tmp: it is a folder", failure);
}

TEST_CASE("a handed-in file must not be a link, but its folder may be one") {
  const temporary_folder work(fs::temp_directory_path());
  const fs::path at = work.path();
  write_atomically(at / "secret", "root:x:0");
  write_atomically(at / "folder" / "mine.cu", "mine");
  fs::create_symlink(at / "secret", at / "linked.cu");
  fs::create_symlink("linked.cu", at / "twice.cu");
  fs::create_symlink("nowhere", at / "dangling.cu");
  fs::create_directory_symlink("folder", at / "course");
  REQUIRE(mkfifo((at / "pipe.cu").c_str(), 0600) == 0);
  CHECK(read_handed_in(at / "folder" / "mine.cu") == "mine");
  CHECK(read_handed_in(at / "course" / "mine.cu") == "mine");
  for (const char* name : {"linked.cu", "twice.cu", "dangling.cu", "pipe.cu", "folder", "course",
                           "none.cu", "/dev/null", "/dev/stdin"}) {
    CAPTURE(name);
    try {
      (void)read_handed_in(at / name);
      FAIL("the file was read");
    } catch (const failure& why) {
      const std::string text = why.what();
      CHECK(why.code() == exit_code::usage);
      CHECK(text.find("root") == std::string::npos);
      const bool linked = fs::is_symlink(fs::symlink_status(at / name));
      CHECK((text.find("it is a link") != std::string::npos) == linked);
    }
  }
}

TEST_CASE("the hash distinguishes where parts end") {
  CHECK(content_hash().add("ab").add("c").hex() != content_hash().add("a").add("bc").hex());
  CHECK(content_hash().add("").hex() != content_hash().hex());
  CHECK(content_hash().add("abc").hex().size() == 32);
}
