// Tests how a clone finds its build and its compiler, even after the clone has moved.
#include "grader/judge/installation.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

using namespace stepwise;

namespace {

// A build folder that was configured when the clone was at `then`, with a compiler inside that
// clone.
fs::path make_build(const fs::path& clone, const std::string& then) {
  write_atomically(clone / "build" / "grader" / "lab.json",
                   R"({"version": "1", "source_root": "..", "configured_root": ")" + then +
                       R"(", "nvcc": ")" + then +
                       R"(/.cuda/bin/nvcc", "cuda_args": ["-lineinfo", "-I)" + then +
                       R"(/common"], "cuda_link": ["--cudart=shared"]})");
  return clone / "build";
}

}  // namespace

TEST_CASE("a moved clone finds its own files at their new place") {
  const temporary_folder work(fs::temp_directory_path());
  const auto where = load_installation(make_build(work.path(), "/once/here"));
  const fs::path root = fs::canonical(work.path());
  CHECK(where.root == root);
  CHECK(where.nvcc == (root / ".cuda/bin/nvcc").string());
  CHECK(where.cuda_args == std::vector<std::string>{"-lineinfo", "-I" + root.string() + "/common"});
}

TEST_CASE("the launcher's compiler is used only if the configured one is gone") {
  const temporary_folder work(fs::temp_directory_path());
  const fs::path build = make_build(work.path(), "/once/here");
  setenv("STEPWISE_NVCC", "/elsewhere/bin/nvcc", 1);
  CHECK(load_installation(build).nvcc == "/elsewhere/bin/nvcc");
  const fs::path own = fs::canonical(work.path()) / ".cuda/bin/nvcc";
  write_atomically(own, "#!/bin/sh\n");
  fs::permissions(own, fs::perms::owner_exec, fs::perm_options::add);
  CHECK(load_installation(build).nvcc == own.string());
  unsetenv("STEPWISE_NVCC");
}

TEST_CASE("code for another GPU replaces the build's code, and the built programs are not used") {
  installation where;
  where.cuda_args = {"-lineinfo", "-gencode", "arch=compute_90,code=sm_90", "-gencode",
                     "arch=compute_90,code=compute_90"};
  CHECK(where.code() == 90);
  CHECK(code_for(where, 90).is_as_built);
  CHECK(code_for(where, 90).cuda_args == where.cuda_args);
  const installation other = code_for(where, 75);
  CHECK(!other.is_as_built);
  CHECK(other.code() == 75);
  CHECK(other.cuda_args == std::vector<std::string>{"-lineinfo", "-gencode",
                                                    "arch=compute_75,code=sm_75", "-gencode",
                                                    "arch=compute_75,code=compute_75"});
  CHECK(for_hopper(where.cuda_args) ==
        std::vector<std::string>{"-lineinfo", "-gencode", "arch=compute_90a,code=sm_90a",
                                 "-gencode", "arch=compute_90a,code=compute_90a"});
  CHECK(for_hopper(other.cuda_args) == other.cuda_args);
  installation none;  // configured without CUDA
  CHECK(none.code() == 0);
  CHECK(code_for(none, 75).cuda_args.empty());
}

TEST_CASE("a build folder without lab.json is an error with a message") {
  const temporary_folder work(fs::temp_directory_path());
  CHECK_THROWS_AS(load_installation(work.path() / "build"), failure);
}
