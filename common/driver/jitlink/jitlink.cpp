// A libnvJitLink.so.13 on top of our driver's cuLink functions. Our driver loads its output.
//
// idea    numba and cuda.core link with NVIDIA's library if it is installed, but that library's
//         output is machine code, which cannot run here. cuInit therefore loads our library first,
//         because these packages use a library that is already loaded.
// watch   This library reports version 12.2, the last version that cuda.core uses without LTO, so
//         callers pass PTX. It rejects LTO code, machine code and libraries.
// source  nvJitLink.h of CUDA 13.0 (numbers and signatures)
// tests   grader/cli/tests/exec_test.cpp, ../tests/
#include <cuda.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

#define STEPWISE_EXPORT extern "C" __attribute__((visibility("default")))
// CUDA 13.0's header appends the version to each function name.
#define STEPWISE_VERSIONED(name) \
  STEPWISE_EXPORT __typeof__(name) __##name##_13_0 __attribute__((alias(#name)))

namespace {

enum outcome : int {
  success = 0,
  unrecognized_option = 1,
  missing_arch = 2,
  invalid_input = 3,
  ptx_compile = 4,
  internal = 6,
  unrecognized_input = 8,
};

// The target of a program's handle. The driver links in the primary context.
struct link {
  CUlinkState state = nullptr;
  CUcontext context = nullptr;
  std::array<char, 4096> log{};
  // The driver reads and writes these while the link exists.
  std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(log.size())};
  const void* image = nullptr;
  std::size_t bytes = 0;
};

class in_primary {
 public:
  explicit in_primary(CUcontext context) { cuCtxPushCurrent(context); }
  ~in_primary() {
    CUcontext popped = nullptr;
    cuCtxPopCurrent(&popped);
  }
  in_primary(const in_primary&) = delete;
};

// The driver's type for an input type, or -1 if it is not supported.
int kind_of(int input) {
  constexpr int any = 10;
  switch (input) {
    case 1:
      return CU_JIT_INPUT_CUBIN;
    case 2:
    case any:
      return CU_JIT_INPUT_PTX;
    case 3:
      return CU_JIT_INPUT_NVVM;
    case 4:
      return CU_JIT_INPUT_FATBINARY;
    case 5:
      return CU_JIT_INPUT_OBJECT;
    case 6:
      return CU_JIT_INPUT_LIBRARY;
    default:
      return -1;
  }
}

outcome outcome_of(CUresult code) {
  switch (code) {
    case CUDA_SUCCESS:
      return success;
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
      return ptx_compile;
    case CUDA_ERROR_NOT_SUPPORTED:
      return unrecognized_input;
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_FILE_NOT_FOUND:
      return invalid_input;
    default:
      return internal;
  }
}

std::size_t log_bytes(const link& l) { return std::strlen(l.log.data()) + 1; }

}  // namespace

// Accepts all options, but requires -arch as NVIDIA's library does.
STEPWISE_EXPORT int nvJitLinkCreate(link** handle, std::uint32_t count, const char** options) {
  if (!handle || (count > 0 && !options)) return invalid_input;
  bool has_arch = false;
  for (std::uint32_t i = 0; i < count; i++) {
    if (!options[i] || *options[i] != '-') return unrecognized_option;
    has_arch = has_arch || std::string_view(options[i]).starts_with("-arch=");
  }
  if (!has_arch) return missing_arch;
  auto* const made = new (std::nothrow) link;
  if (!made) return internal;
  if (cuInit(0) != CUDA_SUCCESS || cuDevicePrimaryCtxRetain(&made->context, 0) != CUDA_SUCCESS) {
    delete made;
    return internal;
  }
  CUjit_option kinds[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  const in_primary here(made->context);
  const CUresult created = cuLinkCreate(2, kinds, made->values.data(), &made->state);
  if (created != CUDA_SUCCESS) {
    delete made;
    return internal;
  }
  *handle = made;
  return success;
}
STEPWISE_VERSIONED(nvJitLinkCreate);

STEPWISE_EXPORT int nvJitLinkDestroy(link** handle) {
  if (!handle || !*handle) return invalid_input;
  {
    const in_primary here((*handle)->context);
    cuLinkDestroy((*handle)->state);
  }
  cuDevicePrimaryCtxRelease(0);
  delete *handle;
  *handle = nullptr;
  return success;
}
STEPWISE_VERSIONED(nvJitLinkDestroy);

STEPWISE_EXPORT int nvJitLinkAddData(link* l, int input, const void* data, std::size_t bytes,
                                     const char* name) {
  if (!l || !data) return invalid_input;
  if (kind_of(input) < 0) return unrecognized_input;
  const in_primary here(l->context);
  return outcome_of(cuLinkAddData(l->state, static_cast<CUjitInputType>(kind_of(input)),
                                  const_cast<void*>(data), bytes, name, 0, nullptr, nullptr));
}
STEPWISE_VERSIONED(nvJitLinkAddData);

STEPWISE_EXPORT int nvJitLinkAddFile(link* l, int input, const char* name) {
  if (!l || !name) return invalid_input;
  if (kind_of(input) < 0) return unrecognized_input;
  const in_primary here(l->context);
  return outcome_of(cuLinkAddFile(l->state, static_cast<CUjitInputType>(kind_of(input)), name, 0,
                                  nullptr, nullptr));
}
STEPWISE_VERSIONED(nvJitLinkAddFile);

STEPWISE_EXPORT int nvJitLinkComplete(link* l) {
  if (!l) return invalid_input;
  const in_primary here(l->context);
  void* image = nullptr;
  const CUresult linked = cuLinkComplete(l->state, &image, &l->bytes);
  if (linked == CUDA_SUCCESS) l->image = image;
  return outcome_of(linked);
}
STEPWISE_VERSIONED(nvJitLinkComplete);

STEPWISE_EXPORT int nvJitLinkGetLinkedCubinSize(link* l, std::size_t* bytes) {
  if (!l || !l->image || !bytes) return invalid_input;
  *bytes = l->bytes;
  return success;
}
STEPWISE_VERSIONED(nvJitLinkGetLinkedCubinSize);

STEPWISE_EXPORT int nvJitLinkGetLinkedCubin(link* l, void* image) {
  if (!l || !l->image || !image) return invalid_input;
  std::memcpy(image, l->image, l->bytes);
  return success;
}
STEPWISE_VERSIONED(nvJitLinkGetLinkedCubin);

// NVIDIA's library produces PTX only from LTO code, which we reject.
STEPWISE_EXPORT int nvJitLinkGetLinkedPtxSize(link*, std::size_t*) { return invalid_input; }
STEPWISE_VERSIONED(nvJitLinkGetLinkedPtxSize);
STEPWISE_EXPORT int nvJitLinkGetLinkedPtx(link*, char*) { return invalid_input; }
STEPWISE_VERSIONED(nvJitLinkGetLinkedPtx);

STEPWISE_EXPORT int nvJitLinkGetErrorLogSize(link* l, std::size_t* bytes) {
  if (!l || !bytes) return invalid_input;
  *bytes = log_bytes(*l);
  return success;
}
STEPWISE_VERSIONED(nvJitLinkGetErrorLogSize);

STEPWISE_EXPORT int nvJitLinkGetErrorLog(link* l, char* text) {
  if (!l || !text) return invalid_input;
  std::memcpy(text, l->log.data(), log_bytes(*l));
  return success;
}
STEPWISE_VERSIONED(nvJitLinkGetErrorLog);

STEPWISE_EXPORT int nvJitLinkGetInfoLogSize(link* l, std::size_t* bytes) {
  if (!l || !bytes) return invalid_input;
  *bytes = 1;
  return success;
}
STEPWISE_VERSIONED(nvJitLinkGetInfoLogSize);

STEPWISE_EXPORT int nvJitLinkGetInfoLog(link* l, char* text) {
  if (!l || !text) return invalid_input;
  *text = '\0';
  return success;
}
STEPWISE_VERSIONED(nvJitLinkGetInfoLog);

STEPWISE_EXPORT int nvJitLinkVersion(unsigned* major, unsigned* minor) {
  if (!major || !minor) return invalid_input;
  *major = 12;
  *minor = 2;
  return success;
}
