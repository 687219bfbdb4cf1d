// The paths of the clone, its build folder, the compiler and the compiler's flags.
//
// idea    Meson writes build/grader/lab.json, which `lab` finds from its own location. Paths below
//         the clone are translated from the configured location to the present location, so that a
//         built clone can be moved to another machine. If the compiler is gone, the launcher's
//         compiler (STEPWISE_NVCC) replaces it.
// watch   If shells, nvcc or the loader would misread the clone's own name, a link with a plain
//         name replaces it. The launcher (../../lab) explains this.
// Tested by tests/installation_test.cpp.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace stepwise {

namespace fs = std::filesystem;

struct installation {
  fs::path root, build;  // plain names, possibly of an alias
  fs::path own_root;     // the clone under its own name
  std::string version;
  std::string nvcc;                    // empty: configured without CUDA
  std::vector<std::string> cuda_args;  // the flags that Meson compiles the solutions with
  std::vector<std::string> cuda_link;
  fs::path emulated_runtime;  // the folder of our libcudart.so.13
  fs::path served_runtime;    // the folder of the libcudart.so.13 for graded submissions
  fs::path emulated_driver;   // the folder of our libcuda.so.1
  std::vector<fs::path> nvidia_runtimes;  // folders that may hold NVIDIA's libcudart.so.13

  fs::path solution(const std::string& lab, const std::string& step) const {
    return build / "solutions" / (lab + "-" + step);
  }
  fs::path runner_archive(const std::string& lab) const {
    return build / "labs" / ("librunner-" + lab + ".a");
  }
  // The compute capability of the newest PTX in cuda_args, for example 90. 0 if there is none.
  int code() const;
  bool is_as_built = true;  // programs in `build` are cuda_args' output; see code_for()

  // `file` as a person in the root folder would type it.
  std::string shown(const fs::path& file) const;
};

// The same installation with cuda_args for GPUs of this compute capability only. If these differ
// from its own, the build has no such programs, and they are compiled on demand.
installation code_for(installation where, int capability);

// The same flags with sm_90a in place of sm_90, for labs whose steps use Hopper's own instructions.
std::vector<std::string> for_hopper(std::vector<std::string> cuda_args);

// Reads BUILD/grader/lab.json. Throws failure(ours) if it is missing or malformed.
installation load_installation(const fs::path& build);

// The installation of the running program, which is BUILD/grader/lab.
installation load_own_installation();

}  // namespace stepwise
