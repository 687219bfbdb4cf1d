// Inspects a program's file and the libraries that the loader would load. A program that cannot
// work is refused, with a sentence on how to build it.
//
// watch   LD_LIBRARY_PATH is enough unless an old-style RPATH comes first, or the program loads a
//         runtime later, perhaps NVIDIA's by its path (Python does). Only then LD_PRELOAD is used:
//         all child processes inherit it, and sanitizers object to it.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "grader/cli/exec/exec.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/loader.hpp"
#include "grader/system/process.hpp"
#include "grader/system/program_file.hpp"

namespace stepwise::cli {
namespace {

constexpr const char* runtime_name = "libcudart.so.13";
constexpr const char* driver_name = "libcuda.so.1";
constexpr const char* nvrtc_name = "libnvrtc.so.13";

// The end of every refusal: the command to type.
std::string how_to_build(const gpu& model) {
  const int sm = model.compute_capability();
  return fmt::format(
      "build it with: nvcc --cudart=shared -gencode arch=compute_{0},code=[sm_{0},compute_{0}] "
      "...\n"
      "(CMake: CMAKE_CUDA_RUNTIME_LIBRARY Shared, CMAKE_CUDA_ARCHITECTURES {0})",
      sm);
}

void check_file(const fs::path& program) {
  const std::string name = program.string();
  struct stat about {};
  if (stat(program.c_str(), &about) != 0) refuse(name + ": there is no such file");
  if (S_ISDIR(about.st_mode)) refuse(name + " is a folder");
  if (!S_ISREG(about.st_mode)) refuse(name + " is not a regular file");
  if (const auto end = program.extension(); end == ".cu" || end == ".cpp" || end == ".cc") {
    refuse(fmt::format(
        "{} is source code; compile it first: nvcc --cudart=shared -arch=sm_90 -o {} {}", name,
        program.stem().string(), name));
  }
  if (::access(program.c_str(), R_OK) != 0) refuse(name + " cannot be read: you lack permission");
  char start[2] = {};
  std::ifstream(program, std::ios::binary).read(start, sizeof start);
  if (start[0] == '#' && start[1] == '!') {
    refuse(name + " is a script; name the program that it starts");
  }
  if ((about.st_mode & (S_ISUID | S_ISGID)) != 0 && geteuid() != about.st_uid) {
    refuse(name + " runs as another user (setuid), so the loader ignores the emulator's libraries");
  }
}

// Checks the program's kind and machine. Its libraries are checked later.
program_file check_kind(const fs::path& program, const gpu& model) {
  const auto found =
      read_program_file(program, static_cast<std::uint32_t>(model.compute_capability()));
  const std::string name = program.string();
  if (!found) refuse(name + " is not a program (not an ELF file)");
  using kind = program_file::kind;
  if (found->machine != own_machine()) {
    refuse(fmt::format("{} is built for {}, but this machine is {}; build it here", name,
                       machine_name(found->machine), machine_name(own_machine())));
  }
  if (found->is == kind::object) refuse(name + " is an object file; link it first");
  if (found->is == kind::library) {
    refuse(name + " is a library; name the program that loads it");
  }
  if (::access(program.c_str(), X_OK) != 0) {
    refuse(name + " is not executable; if it is a program: chmod +x " + name);
  }
  if (found->is == kind::static_program) {
    refuse(name + " is fully statically linked, so it does not load " + runtime_name + "; " +
           how_to_build(model));
  }
  return *found;
}

// NVIDIA's CUDA libraries link the runtime statically and call the driver.
bool is_nvidias(const std::string& library) {
  constexpr const char* names[] = {"libcublas",   "libcudnn",    "libcufft",    "libcurand",
                                   "libcusolver", "libcusparse", "libcutensor", "libnccl",
                                   "libnpp",      "libnvjpeg",   "libnvinfer",  "libcufile"};
  return std::any_of(std::begin(names), std::end(names),
                     [&](const char* name) { return library.starts_with(name); });
}

std::string other_major(const std::string& library) {
  const std::string stem = "libcudart.so.";
  if (!library.starts_with(stem) || library == runtime_name) return {};
  return library.substr(stem.size(), library.find('.', stem.size()) - stem.size());
}

std::string architectures(const char* prefix, std::vector<std::string> versions) {
  for (auto& version : versions) version.insert(0, prefix);
  return joined(versions, ", ");
}

std::string carried(const device_code& code) {
  std::vector<std::string> parts;
  if (!code.machine_code.empty()) {
    parts.push_back("machine code for " + architectures("sm_", code.machine_code));
  }
  if (!code.ptx.empty()) parts.push_back("PTX for " + architectures("compute_", code.ptx));
  return joined(parts, ", ");
}

void check_missing(const std::string& name, const std::vector<loaded_library>& libraries) {
  for (const auto& library : libraries) {
    if (!library.file.empty() || library.name == runtime_name) continue;
    std::string sentence = name + " needs " + library.name + ", but the loader cannot find it";
    if (library.name == driver_name) {
      sentence +=
          "; this is the driver API, and the emulator's driver is not built: run ./lab setup";
    } else if (library.name.starts_with("libnvrtc.")) {
      sentence += "; install a CUDA toolkit, or run: pip install nvidia-cuda-nvrtc";
    } else if (is_nvidias(library.name)) {
      sentence += "; its kernels are NVIDIA machine code and cannot run on the emulator anyway";
    } else {
      sentence += "; add its folder to LD_LIBRARY_PATH";
    }
    refuse(sentence);
  }
}

// Notes a library that cannot work. It is not refused, because the program may work without it.
void note_library(const loaded_library& library, const gpu& model) {
  if (is_nvidias(library.name)) {
    return exec_note(library.name +
                     " is an NVIDIA library without PTX that calls the driver itself: its kernels "
                     "cannot run on the emulator");
  }
  const auto found =
      read_program_file(library.file, static_cast<std::uint32_t>(model.compute_capability()));
  if (!found || !found->code.has_fat_binary) return;
  const auto& needed = found->needed;
  if (std::count(needed.begin(), needed.end(), runtime_name) == 0) {
    exec_note(
        library.name + (found->code.any() ? " contains kernels, but" : " uses CUDA, but") +
        " NVIDIA's runtime is linked into it, so it cannot run on the emulator (rebuild it with "
        "nvcc --cudart=shared)");
  } else if (found->code.any() && !found->code.for_gpu) {
    exec_note(fmt::format("{} contains {}, but no PTX that an {} can use: its kernels cannot run",
                          library.name, carried(found->code), model.name));
  }
}

void check_code(const std::string& name, const program_file& program, bool loads_runtime,
                bool knows_libraries, const gpu& model) {
  const device_code& code = program.code;
  if (code.has_fat_binary && !loads_runtime) {
    refuse(name +
           " has NVIDIA's CUDA runtime linked into it (nvcc's default), so the emulator cannot "
           "replace it; " +
           how_to_build(model));
  }
  if (code.any() && !code.for_gpu) {
    refuse(fmt::format("{} contains {}, but no PTX that an {} (sm_{}) can use; {}", name,
                       carried(code), model.name, model.compute_capability(), how_to_build(model)));
  }
  if (!code.without_ptx.empty())
    exec_note("these parts have no PTX for this GPU, so their kernels cannot run: " +
              joined(code.without_ptx, ", "));
  if (knows_libraries && !code.has_fat_binary && !loads_runtime)
    exec_note(name +
              " does not need a CUDA runtime; if it loads one later, it gets the emulator's");
}

// LD_PRELOAD splits at spaces and colons, so a path with either of these characters is named by an
// open file.
std::string preload_entry(const fs::path& runtime) {
  if (runtime.string().find_first_of(" \t\n:;") == std::string::npos) return runtime.string();
  const int descriptor = open(runtime.c_str(), O_RDONLY);  // the program inherits it
  return "/proc/self/fd/" + std::to_string(descriptor);
}

std::string prepended(const std::string& first, const char* name, char separator) {
  const char* rest = std::getenv(name);
  return fmt::format("{}={}", name, first) + (rest && *rest ? separator + std::string(rest) : "");
}

// Whether the program or one of its libraries needs the runtime. Our driver needs it, too.
bool asks_for_runtime(const program_file& program, const std::vector<loaded_library>& loaded) {
  const auto is_driver = [](const loaded_library& l) { return l.name == driver_name; };
  if (std::none_of(loaded.begin(), loaded.end(), is_driver)) return true;
  const auto asks = [](const std::vector<std::string>& needed) {
    return std::count(needed.begin(), needed.end(), runtime_name) > 0;
  };
  return asks(program.needed) || std::any_of(loaded.begin(), loaded.end(), [&](const auto& l) {
           if (is_driver(l) || l.name == runtime_name || l.file.empty()) return false;
           const auto found = read_program_file(l.file, 0);
           return found && asks(found->needed);
         });
}

}  // namespace

fs::path find_program(const std::string& word) {
  std::error_code ignored;
  if (word.find('/') != std::string::npos) {
    if (!fs::exists(word, ignored)) refuse(word + ": there is no such file");
    return word;
  }
  if (const std::string found = on_path(word); !found.empty()) return found;
  const bool here = fs::exists(word, ignored);
  refuse(here ? word + " is not on PATH; the file in this folder is ./" + word
              : word + " is neither on PATH nor in this folder");
}

std::vector<std::string> prepare_exec(const fs::path& program, const gpu& model,
                                      const installation& where) {
  const std::string name = program.string();
  const fs::path ours = where.emulated_runtime / runtime_name;
  if (!fs::exists(ours)) {
    throw failure(exit_code::environment,
                  where.shown(ours) + " is not built; run ./lab setup (needs nvcc)");
  }
  check_file(program);
  const program_file file = check_kind(program, model);
  std::vector<std::string> environment = {
      prepended(where.emulated_driver.string() + ':' + where.emulated_runtime.string(),
                "LD_LIBRARY_PATH", ':')};
  const fs::path whole = fs::absolute(program);
  const auto libraries = libraries_of(whole, file.interpreter, environment);
  std::vector<loaded_library> loaded = libraries.value_or(std::vector<loaded_library>{});
  if (!libraries)
    for (const auto& needed : file.needed) loaded.push_back({needed, ours});
  const auto asks_for = [&](const char* wanted) {
    return std::any_of(loaded.begin(), loaded.end(),
                       [&](const loaded_library& l) { return l.name == wanted; });
  };
  fs::path nvrtc;  // NVIDIA's, used by our NVRTC, which Python loads later
  if (asks_for(nvrtc_name) || !asks_for(runtime_name))
    nvrtc = find_library(nvrtc_name, whole, file.interpreter, where.nvidia_runtimes);
  bool loads_runtime = false, ours_first = true;
  std::error_code ignored;
  for (auto& library : loaded) {
    if (library.name == nvrtc_name && nvrtc.empty()) library.file.clear();
    if (const auto major = other_major(library.name); !major.empty()) {
      refuse(
          fmt::format("{} was built with CUDA {} (it needs {}), but the emulator is the runtime of "
                      "CUDA 13; with nvcc 13, {}",
                      name, major, library.name, how_to_build(model)));
    }
    if (library.name != runtime_name) continue;
    loads_runtime = !file.code.any() || asks_for_runtime(file, loaded);
    ours_first = fs::equivalent(library.file, ours, ignored);
  }
  check_code(name, file, loads_runtime, libraries.has_value(), model);
  if (libraries) {
    check_missing(name, loaded);
    for (const auto& library : loaded) note_library(library, model);
  }
  const bool later = !loads_runtime && !file.code.has_fat_binary;
  if (!nvrtc.empty()) environment.push_back("STEPWISE_NVRTC=" + nvrtc.string());
  if (!ours_first || !libraries || later) {
    // The linker that Python's packages depend on loads our driver and our runtime.
    const fs::path linker = where.emulated_driver / "libnvJitLink.so.13";
    const fs::path& first = later && fs::exists(linker, ignored) ? linker : ours;
    environment.push_back(prepended(preload_entry(first), "LD_PRELOAD", ':'));
  }
  return environment;
}

}  // namespace stepwise::cli
