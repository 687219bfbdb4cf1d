// Tests how executables are recognised from their ELF files.
#include "grader/system/program_file.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>

#include "grader/system/files.hpp"

using namespace stepwise;

TEST_CASE("this test program: its kind, machine, loader and libraries") {
  const auto file = read_program_file("/proc/self/exe", 90);
  REQUIRE(file);
  CHECK(file->is == program_file::kind::program);
  CHECK(file->machine == own_machine());
  CHECK(file->interpreter.find("/ld-linux") != std::string::npos);
  CHECK(std::count(file->needed.begin(), file->needed.end(), "libc.so.6") == 1);
  CHECK(!file->code.any());
}

TEST_CASE("a file that is not ELF is not a program") {
  CHECK(!read_program_file("/proc/self/cmdline", 90));
  CHECK(!read_program_file("/nowhere", 90));
  CHECK(!read_program_file("/", 90));
  CHECK(!read_device_parts("/proc/self/cmdline", 90));
  CHECK(!read_device_parts("/nowhere", 90));
}

TEST_CASE("a file truncated anywhere is read or rejected, and nothing worse happens") {
  const temporary_folder folder(fs::temp_directory_path());
  const std::string whole = *read_if_there(fs::canonical("/proc/self/exe"));
  const fs::path copy = folder.path() / "program";
  write_atomically(copy, whole);
  REQUIRE(read_program_file(copy, 90)->is == program_file::kind::program);
  for (std::size_t size = whole.size(); size > 0; size = size * 2 / 3) {
    CAPTURE(size);
    REQUIRE(truncate(copy.c_str(), static_cast<off_t>(size - 1)) == 0);
    const auto file = read_program_file(copy, 90);
    CHECK(file.has_value() == (size - 1 >= 64));
    const auto parts = read_device_parts(copy, 90);
    CHECK((!parts || parts->empty()));  // it has no device code
  }
}
