// Tests our libnvrtc.so.13 with a stand-in for NVIDIA's (fake_nvrtc.cpp), and loads what it
// compiles.
#include <cuda.h>
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <vector>

// Declarations of libnvrtc.so.13 (nvrtc.h comes with NVIDIA's library).
extern "C" {
int nvrtcVersion(int* major, int* minor);
const char* nvrtcGetErrorString(int code);
int nvrtcCreateProgram(void** program, const char* source, const char* name, int count,
                       const char* const* headers, const char* const* names);
int nvrtcDestroyProgram(void** program);
int nvrtcCompileProgram(void* program, int count, const char* const* options);
int nvrtcGetPTXSize(void* program, std::size_t* bytes);
int nvrtcGetPTX(void* program, char* text);
int nvrtcGetCUBINSize(void* program, std::size_t* bytes);
int nvrtcGetCUBIN(void* program, char* code);
int nvrtcGetLTOIRSize(void* program, std::size_t* bytes);
int nvrtcGetLTOIR(void* program, char* code);
int nvrtcGetProgramLogSize(void* program, std::size_t* bytes);
int nvrtcGetProgramLog(void* program, char* text);
}

namespace {

// A compiled program. Its log has the options that NVIDIA's NVRTC received, one per line.
class compiled {
 public:
  explicit compiled(std::vector<const char*> options) {
    REQUIRE(nvrtcCreateProgram(&program_, "", "", 0, nullptr, nullptr) == 0);
    REQUIRE(nvrtcCompileProgram(program_, static_cast<int>(options.size()), options.data()) == 0);
  }
  ~compiled() { CHECK(nvrtcDestroyProgram(&program_) == 0); }
  compiled(const compiled&) = delete;
  compiled& operator=(const compiled&) = delete;

  std::string options() const { return text(nvrtcGetProgramLogSize, nvrtcGetProgramLog); }
  std::string ptx() const { return text(nvrtcGetPTXSize, nvrtcGetPTX); }
  std::string machine_code() const { return text(nvrtcGetCUBINSize, nvrtcGetCUBIN); }
  std::string lto_code() const { return text(nvrtcGetLTOIRSize, nvrtcGetLTOIR); }

 private:
  std::string text(int (*size)(void*, std::size_t*), int (*get)(void*, char*)) const {
    std::size_t bytes = 0;
    REQUIRE(size(program_, &bytes) == 0);
    std::string all(bytes, '?');
    REQUIRE(get(program_, all.data()) == 0);
    return all.substr(0, all.find('\0'));
  }
  void* program_ = nullptr;
};

}  // namespace

TEST_CASE("our NVRTC asks NVIDIA's, even if ours is found first") {
  int major = 0, minor = 0;
  CHECK(nvrtcVersion(&major, &minor) == 0);
  CHECK(major == 13);
  CHECK(minor == 99);
  CHECK(std::string(nvrtcGetErrorString(6)) == "stand-in 6");
}

TEST_CASE("a request for machine code compiles PTX, which replaces it") {
  for (const auto& [given, received] :
       std::vector<std::pair<std::vector<const char*>, std::string>>{
           {{"-arch=sm_90"}, "-arch=compute_90\n"},
           {{"--gpu-architecture=sm_90a"}, "--gpu-architecture=compute_90a\n"},
           {{"-G", "-arch", "sm_75", "-lineinfo"}, "-G\n-arch\ncompute_75\n-lineinfo\n"},
           {{"--gpu-architecture", "sm_100"}, "--gpu-architecture\ncompute_100\n"}}) {
    const compiled program(given);
    CHECK(program.options() == received);
    CHECK(program.ptx().find(".version") == 0);
    CHECK(program.machine_code() == program.ptx());
  }
}

TEST_CASE("options that ask for PTX are not changed") {
  const compiled program({"-arch=compute_90", "-DNAME=sm_90", "sm_80"});
  CHECK(program.options() == "-arch=compute_90\n-DNAME=sm_90\nsm_80\n");
  CHECK(program.machine_code() == "machine code");
  CHECK(program.lto_code() == "LTO code");
}

TEST_CASE("code for LTO is relocatable PTX") {
  const compiled program({"-arch=compute_90", "-dlto"});
  CHECK(program.options() == "-arch=compute_90\n--relocatable-device-code=true\n");
  CHECK(program.lto_code() == program.ptx());
  CHECK(program.machine_code() == "machine code");
}

TEST_CASE("the driver loads and links the PTX that replaces machine code and LTO code") {
  REQUIRE(cuInit(0) == CUDA_SUCCESS);
  CUcontext context = nullptr;
  REQUIRE(cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS);
  REQUIRE(cuCtxPushCurrent(context) == CUDA_SUCCESS);
  const compiled machine({"-arch=sm_90"}), lto({"-arch=sm_90", "-dlto"});
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CHECK(cuModuleLoadData(&module, machine.machine_code().c_str()) == CUDA_SUCCESS);
  CHECK(cuModuleGetFunction(&function, module, "nothing") == CUDA_SUCCESS);
  CHECK(cuModuleUnload(module) == CUDA_SUCCESS);
  for (const auto& [type, code] : std::vector<std::pair<CUjitInputType, std::string>>{
           {CU_JIT_INPUT_CUBIN, machine.machine_code()}, {CU_JIT_INPUT_NVVM, lto.lto_code()}}) {
    CUlinkState link = nullptr;
    void* image = nullptr;
    std::size_t bytes = 0;
    REQUIRE(cuLinkCreate(0, nullptr, nullptr, &link) == CUDA_SUCCESS);
    std::string copy = code;
    CHECK(cuLinkAddData(link, type, copy.data(), copy.size() + 1, "", 0, nullptr, nullptr) ==
          CUDA_SUCCESS);
    CHECK(cuLinkComplete(link, &image, &bytes) == CUDA_SUCCESS);
    CHECK(cuModuleLoadData(&module, image) == CUDA_SUCCESS);
    CHECK(cuModuleGetFunction(&function, module, "nothing") == CUDA_SUCCESS);
    CHECK(cuModuleUnload(module) == CUDA_SUCCESS);
    CHECK(cuLinkDestroy(link) == CUDA_SUCCESS);
  }
  CHECK(cuCtxPopCurrent(&context) == CUDA_SUCCESS);
  CHECK(cuDevicePrimaryCtxRelease(0) == CUDA_SUCCESS);
}
