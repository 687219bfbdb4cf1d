// Where things are: the clone, its build folder, the compiler and its flags.
//
// idea    Meson writes build/grader/lab.json; `lab` finds it from its own location, and paths below
//         the clone are translated from where it was configured to where it is now, so that a built
//         clone can be moved or carried to another machine. Where the compiler is gone, the one
//         that the launcher found (STEPWISE_NVCC) takes its place.
// watch   Where the clone's own name is none that shells, nvcc and the loader read right, a link
//         with a plain name replaces it; the launcher (../../lab) says more.
// Tested by tests/installation_test.cpp.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace stepwise {

namespace fs = std::filesystem;

struct installation {
  fs::path root, build;  // by plain names, which may be those of an alias
  fs::path own_root;     // the clone by its own name
  std::string version;
  std::string nvcc;                    // empty: configured without CUDA
  std::vector<std::string> cuda_args;  // as Meson compiles the solutions
  std::vector<std::string> cuda_link;
  fs::path emulated_runtime;              // the folder of our libcudart.so.13
  fs::path served_runtime;                // the folder of the one that graded submissions have
  fs::path emulated_driver;               // the folder of our libcuda.so.1
  std::vector<fs::path> nvidia_runtimes;  // folders that may hold NVIDIA's libcudart.so.13

  fs::path solution(const std::string& lab, const std::string& step) const {
    return build / "solutions" / (lab + "-" + step);
  }
  fs::path runner_archive(const std::string& lab) const {
    return build / "labs" / ("librunner-" + lab + ".a");
  }
  // The compute capability of the newest PTX that cuda_args ask for: 90; 0 if they ask for none.
  int code() const;
  bool is_as_built = true;  // programs below `build` are what cuda_args make; see code_for()

  // `file` as a person at the root would type it.
  std::string shown(const fs::path& file) const;
};

// The same with cuda_args that make code for GPUs of this compute capability, and no other. Where
// that is not what they make already, the build has no such programs: they are compiled on demand.
installation code_for(installation where, int capability);

// Reads BUILD/grader/lab.json; failure(ours) if it is missing or malformed.
installation load_installation(const fs::path& build);

// Of the running program, which is BUILD/grader/lab.
installation load_own_installation();

}  // namespace stepwise
