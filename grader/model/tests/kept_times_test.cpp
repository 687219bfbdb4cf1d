// Tests that a stored time is found again exactly, and only if all parts of its key are the same.
#include "grader/model/kept_times.hpp"

#include <doctest/doctest.h>

#include "grader/system/files.hpp"

using namespace stepwise;

namespace {

struct kept_in_a_folder {
  kept_in_a_folder() {
    where.build = folder.path() / "build";
    where.emulated_runtime = folder.path();
    emulator.name = "NVIDIA H200";
    write_atomically(program, "a program");
    write_atomically(folder.path() / "libcudart.so.13", "an emulator");
  }
  std::optional<double> find(const lab_size& size, std::uint64_t seed) {
    return kept_times(where, emulator).find(program, size, seed);
  }

  const temporary_folder folder{fs::temp_directory_path()};
  const fs::path program = folder.path() / "program";
  installation where;
  device_choice emulator;
};

}  // namespace

TEST_CASE("a time is found again exactly") {
  kept_in_a_folder k;
  CHECK(!k.find({1024}, 7));
  const double time_ms = 1.0 / 3;
  kept_times(k.where, k.emulator).keep(k.program, {1024}, 7, time_ms);
  REQUIRE(k.find({1024}, 7));
  CHECK(*k.find({1024}, 7) == time_ms);
}

TEST_CASE("a time belongs to one program, emulator, GPU, size, seed, and to judged or practice") {
  kept_in_a_folder k;
  kept_times(k.where, k.emulator).keep(k.program, {1024}, 7, 2);
  CHECK(!k.find({1025}, 7));
  CHECK(!k.find({1024}, 8));
  k.emulator.name = "NVIDIA T4";
  CHECK(!k.find({1024}, 7));
  k.emulator.name = "NVIDIA H200";
  write_atomically(k.program, "another program");
  CHECK(!k.find({1024}, 7));
  write_atomically(k.program, "a program");
  write_atomically(k.folder.path() / "libcudart.so.13", "another emulator");
  CHECK(!k.find({1024}, 7));
  write_atomically(k.folder.path() / "libcudart.so.13", "an emulator");
  k.emulator.server = k.program;
  CHECK(k.emulator.judged());
  CHECK(!k.find({1024}, 7));
  k.emulator.server.clear();
  CHECK(k.find({1024}, 7));
}

TEST_CASE("an invalid time is ignored, and a folder that cannot be written stores nothing") {
  kept_in_a_folder k;
  kept_times(k.where, k.emulator).keep(k.program, {1024}, 7, 2);
  for (const auto& entry : fs::directory_iterator(k.where.build / "modelled"))
    write_atomically(entry.path(), "-1\n");
  CHECK(!k.find({1024}, 7));
  fs::remove_all(k.where.build);
  write_atomically(k.where.build, "a file where the folder should be");
  kept_times(k.where, k.emulator).keep(k.program, {1024}, 7, 2);
  CHECK(!k.find({1024}, 7));
}
