// Tests whose fault it is if a compiler fails. The compilers are scripts.
#include "grader/judge/compile.hpp"

#include <doctest/doctest.h>

#include "grader/judge/tests/doubling.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

using namespace stepwise;
using namespace stepwise::tests;

namespace {

compiled compile_in(
    const fs::path& work, const std::string& script, const std::function<void()>& tick = [] {}) {
  installation where;
  where.root = work;
  where.build = work / "build";
  where.nvcc = work / "nvcc";
  write_atomically(where.nvcc, "#!/bin/sh\n" + script + "\n");
  fs::permissions(where.nvcc, fs::perms::owner_exec, fs::perm_options::add);
  write_atomically(work / "mine.cu", "\n");
  const compile_progress progress{[](const std::string&) {}, tick};
  return compile_submission(doubling_lab(), work / "mine.cu", where, progress);
}

compiled compile_with(const std::string& script) {
  const temporary_folder work(fs::temp_directory_path());
  return compile_in(work.path(), script);
}

}  // namespace

TEST_CASE("if a signal ended the compiler, it is not the student's fault") {
  struct row {
    const char* script;
    const char* says;
  };
  for (const row& r : {
           row{"kill -KILL $$",
               "the compiler was killed, which happens when the system runs out of memory"},
           row{"kill -TERM $$", "the compiler was ended by"},
           row{"kill -SEGV $$", "SIGSEGV"},
           row{"echo \"nvcc error   : 'cicc' died due to signal 9 (Kill signal)\" >&2; exit 9",
               "the compiler was killed"},
           row{"echo \"nvcc error   : 'cicc' died due to signal 15\" >&2; exit 15", "SIGTERM"},
           row{"echo 'g++: fatal error: Killed signal terminated program cc1plus' >&2; exit 1",
               "ran out of memory"},
       }) {
    CAPTURE(r.script);
    try {
      compile_with(r.script);
      FAIL_CHECK("blamed on the student");
    } catch (const failure& f) {
      CHECK(f.code() == exit_code::environment);
      CHECK_MESSAGE(std::string(f.what()).find(r.says) != std::string::npos, f.what());
    }
  }
}

TEST_CASE("if a compiler refuses a source or crashes on it, the student must look at it") {
  for (const char* script : {
           "echo 'mine.cu(1): error: identifier \"x\" is undefined' >&2; exit 2",
           // the text of the source is not mistaken for a signal
           "echo 'mine.cu:1:2: error: #error nvcc error died due to signal 9' >&2; exit 1",
           "echo \"nvcc error   : 'cicc' died due to signal 11 (Invalid memory reference)\" >&2; "
           "exit 11",
       }) {
    CAPTURE(script);
    const compiled c = compile_with(script);
    CHECK(c.program.empty());
    CHECK(!c.explanation.empty());
  }
}

TEST_CASE("an interrupted compilation leaves no partial files") {
  const temporary_folder work(fs::temp_directory_path());
  CHECK_THROWS_AS(compile_in(work.path(), "sleep 60", [] { throw interrupted(); }), interrupted);
  for (const auto& left : fs::directory_iterator(work.path() / "build/submissions"))
    CHECK_FALSE(left.is_directory());
}
