// Replaces NVIDIA's NVRTC in nvrtc_test.cpp. The log of a program is its compile options, and its
// code is always the same.
#include <cstddef>
#include <cstring>
#include <string>

namespace {

constexpr char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry nothing()\n{\n  ret;\n}\n";
constexpr char machine_code[] = "machine code", lto_code[] = "LTO code";

std::string& log_of(void* program) { return *static_cast<std::string*>(program); }

template <std::size_t N>
int give(const char (&code)[N], std::size_t* bytes, char* to) {
  if (bytes != nullptr) *bytes = N;
  if (to != nullptr) std::memcpy(to, code, N);
  return 0;
}

}  // namespace

extern "C" {
int nvrtcVersion(int* major, int* minor) {
  *major = 13;
  *minor = 99;
  return 0;
}
const char* nvrtcGetErrorString(int code) { return code == 6 ? "stand-in 6" : "stand-in"; }
int nvrtcCreateProgram(void** program, const char*, const char*, int, const char* const*,
                       const char* const*) {
  *program = new std::string;
  return 0;
}
int nvrtcDestroyProgram(void** program) {
  delete static_cast<std::string*>(*program);
  *program = nullptr;
  return 0;
}
int nvrtcCompileProgram(void* program, int count, const char* const* options) {
  for (int i = 0; i < count; ++i) log_of(program) += options[i] + std::string("\n");
  return 0;
}
int nvrtcGetProgramLogSize(void* program, std::size_t* bytes) {
  *bytes = log_of(program).size() + 1;
  return 0;
}
int nvrtcGetProgramLog(void* program, char* text) {
  std::strcpy(text, log_of(program).c_str());
  return 0;
}
int nvrtcGetPTXSize(void*, std::size_t* bytes) { return give(ptx, bytes, nullptr); }
int nvrtcGetPTX(void*, char* text) { return give(ptx, nullptr, text); }
int nvrtcGetCUBINSize(void*, std::size_t* bytes) { return give(machine_code, bytes, nullptr); }
int nvrtcGetCUBIN(void*, char* code) { return give(machine_code, nullptr, code); }
int nvrtcGetLTOIRSize(void*, std::size_t* bytes) { return give(lto_code, bytes, nullptr); }
int nvrtcGetLTOIR(void*, char* code) { return give(lto_code, nullptr, code); }
}
