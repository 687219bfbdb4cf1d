// A libnvrtc.so.13 on top of NVIDIA's. Programs that request machine code get PTX.
//
// idea    NVRTC compiles on the CPU, so NVIDIA's library does the work. But cuda-samples and CuPy
//         compile for sm_90 and load the machine code, which cannot run here. We compile for
//         compute_90 and return PTX as machine code, and relocatable PTX as LTO code. This works
//         because cuModuleLoadData and cuLinkAddData check the content of an image, not its type.
// watch   NVIDIA's library has the same name, and the loader loads a name only once, so we open
//         NVIDIA's library by its path.
// source  nvrtc.h of CUDA 13.0 (numbers and signatures)
// tests   ../tests/nvrtc_test.cpp, with a stand-in for NVIDIA's; grader/cli/tests/exec_test.cpp
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#define STEPWISE_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using program = void*;

constexpr int internal_error = 11;

constexpr const char* file_name = "/libnvrtc.so.13";

std::string own_folder() {
  Dl_info own{};
  dladdr(reinterpret_cast<void*>(&own_folder), &own);
  const std::string file = own.dli_fname ? own.dli_fname : "";
  return file.substr(0, file.rfind('/'));
}

// Possible files of NVIDIA's library: from `lab exec`, the loader's folders and the toolkit.
std::vector<std::string> candidates() {
  std::vector<std::string> files;
  if (const char* const file = std::getenv("STEPWISE_NVRTC")) files.emplace_back(file);
  std::string_view folders = std::getenv("LD_LIBRARY_PATH") ? std::getenv("LD_LIBRARY_PATH") : "";
  while (!folders.empty()) {
    const auto end = folders.find(':');
    const std::string folder(folders.substr(0, end));
    if (!folder.empty()) files.push_back(folder + file_name);
    folders.remove_prefix(end == std::string_view::npos ? folders.size() : end + 1);
  }
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* const toolkit = std::getenv(name))
      files.push_back(std::string(toolkit) + "/lib64" + file_name);
  }
  files.push_back(std::string("/usr/local/cuda/lib64") + file_name);
  return files;
}

// NVIDIA's library. Null if there is none, with a message the first time.
void* nvidias() {
  static void* const library = []() -> void* {
    const std::string own = own_folder() + file_name;
    for (const auto& file : candidates()) {
      std::error_code none;
      if (access(file.c_str(), R_OK) != 0 || std::filesystem::equivalent(file, own, none)) continue;
      if (void* const opened = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return opened;
    }
    std::fputs(
        "stepwise: NVIDIA's NVRTC was not found; install a CUDA toolkit, or run: pip install "
        "nvidia-cuda-nvrtc\n",
        stderr);
    return nullptr;
  }();
  return library;
}

template <class Function>
Function* nvidias(const char* name) {
  return nvidias() ? reinterpret_cast<Function*>(dlsym(nvidias(), name)) : nullptr;
}

// Unsupported outputs that a program requested.
struct wishes {
  bool machine_code = false, lto = false;
};
std::mutex lock;
std::map<program, wishes> compiled;

wishes wishes_of(program p) {
  const std::lock_guard guard(lock);
  const auto found = compiled.find(p);
  return found == compiled.end() ? wishes() : found->second;
}

// The options, changed to produce PTX. An option may be one word or two.
std::vector<std::string> for_ptx(int count, const char* const* options, wishes& asked) {
  std::vector<std::string> words;
  bool is_architecture = false;  // this word is the architecture
  for (int i = 0; i < count; ++i) {
    std::string word = options[i];
    const bool is_next = word == "-arch" || word == "--gpu-architecture";
    std::size_t value = std::string::npos;
    if (is_architecture) {
      value = 0;
    } else if (word.starts_with("-arch=") || word.starts_with("--gpu-architecture=")) {
      value = word.find('=') + 1;
    }
    if (value != std::string::npos && word.compare(value, 3, "sm_") == 0) {
      word.replace(value, 3, "compute_");
      asked.machine_code = true;
    } else if (word == "-dlto" || word == "--dlink-time-opt") {
      word = "--relocatable-device-code=true";
      asked.lto = true;
    }
    is_architecture = is_next;
    words.push_back(std::move(word));
  }
  return words;
}

}  // namespace

// Functions that forward to NVIDIA's functions without changes.
#define STEPWISE_NVIDIAS(name, parameters, arguments)           \
  STEPWISE_EXPORT int name parameters {                         \
    static auto* const theirs = nvidias<int parameters>(#name); \
    return theirs ? theirs arguments : internal_error;          \
  }

STEPWISE_NVIDIAS(nvrtcVersion, (int* major, int* minor), (major, minor))
STEPWISE_NVIDIAS(nvrtcGetNumSupportedArchs, (int* count), (count))
STEPWISE_NVIDIAS(nvrtcGetSupportedArchs, (int* archs), (archs))
STEPWISE_NVIDIAS(nvrtcCreateProgram,
                 (program * p, const char* source, const char* name, int count,
                  const char* const* headers, const char* const* names),
                 (p, source, name, count, headers, names))
STEPWISE_NVIDIAS(nvrtcGetPTXSize, (program p, std::size_t* bytes), (p, bytes))
STEPWISE_NVIDIAS(nvrtcGetPTX, (program p, char* text), (p, text))
STEPWISE_NVIDIAS(nvrtcGetOptiXIRSize, (program p, std::size_t* bytes), (p, bytes))
STEPWISE_NVIDIAS(nvrtcGetOptiXIR, (program p, char* code), (p, code))
STEPWISE_NVIDIAS(nvrtcGetProgramLogSize, (program p, std::size_t* bytes), (p, bytes))
STEPWISE_NVIDIAS(nvrtcGetProgramLog, (program p, char* text), (p, text))
STEPWISE_NVIDIAS(nvrtcAddNameExpression, (program p, const char* name), (p, name))
STEPWISE_NVIDIAS(nvrtcGetLoweredName, (program p, const char* name, const char** lowered),
                 (p, name, lowered))
STEPWISE_NVIDIAS(nvrtcGetPCHHeapSize, (std::size_t * bytes), (bytes))
STEPWISE_NVIDIAS(nvrtcSetPCHHeapSize, (std::size_t bytes), (bytes))
STEPWISE_NVIDIAS(nvrtcGetPCHCreateStatus, (program p), (p))
STEPWISE_NVIDIAS(nvrtcGetPCHHeapSizeRequired, (program p, std::size_t* bytes), (p, bytes))
STEPWISE_NVIDIAS(nvrtcSetFlowCallback, (program p, int (*proceed)(void*, void*), void* data),
                 (p, proceed, data))

STEPWISE_EXPORT const char* nvrtcGetErrorString(int code) {
  static auto* const theirs = nvidias<const char*(int)>("nvrtcGetErrorString");
  return theirs ? theirs(code) : "NVRTC_ERROR_INTERNAL_ERROR";
}

STEPWISE_EXPORT int nvrtcDestroyProgram(program* p) {
  static auto* const theirs = nvidias<int(program*)>("nvrtcDestroyProgram");
  if (!theirs) return internal_error;
  if (p) {
    const std::lock_guard guard(lock);
    compiled.erase(*p);
  }
  return theirs(p);
}

STEPWISE_EXPORT int nvrtcCompileProgram(program p, int count, const char* const* options) {
  static auto* const theirs = nvidias<int(program, int, const char* const*)>("nvrtcCompileProgram");
  if (!theirs) return internal_error;
  if (!p || count <= 0 || !options) return theirs(p, count, options);
  wishes asked;
  const auto words = for_ptx(count, options, asked);
  std::vector<const char*> given;
  for (const auto& word : words) given.push_back(word.c_str());
  {
    const std::lock_guard guard(lock);
    compiled[p] = asked;
  }
  return theirs(p, count, given.data());
}

// Functions that return PTX if the program requested another output.
#define STEPWISE_PTX_FOR(wish, what)                                                          \
  STEPWISE_EXPORT int nvrtcGet##what##Size(program p, std::size_t* bytes) {                   \
    static auto* const theirs = nvidias<int(program, std::size_t*)>("nvrtcGet" #what "Size"); \
    if (!theirs) return internal_error;                                                       \
    return wishes_of(p).wish ? nvrtcGetPTXSize(p, bytes) : theirs(p, bytes);                  \
  }                                                                                           \
  STEPWISE_EXPORT int nvrtcGet##what(program p, char* code) {                                 \
    static auto* const theirs = nvidias<int(program, char*)>("nvrtcGet" #what);               \
    if (!theirs) return internal_error;                                                       \
    return wishes_of(p).wish ? nvrtcGetPTX(p, code) : theirs(p, code);                        \
  }
STEPWISE_PTX_FOR(machine_code, CUBIN)
STEPWISE_PTX_FOR(lto, LTOIR)
