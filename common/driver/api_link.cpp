// Linking. The parts are kept until the link is complete, and linked when the result is loaded.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string_view>

#include "common/driver/modules.hpp"

using namespace stepwise;
using namespace stepwise::driver;
using runtime::state;

namespace {

struct link_state {
  jit_options options;
  std::vector<std::vector<std::byte>> parts;
  std::vector<std::byte> image;  // empty until the link is complete
};

struct open_links {
  std::mutex lock;
  std::vector<std::unique_ptr<link_state>> all;
};

open_links& links() {
  static open_links& only = *new open_links;
  return only;
}

// Runs `body(link_state&)` for one of the program's links.
template <class Body>
CUresult with_link(CUlinkState handle, Body&& body,
                   std::source_location at = std::source_location::current()) {
  return in_context(
      [&](context&) -> CUresult {
        const std::lock_guard guard(links().lock);
        for (const auto& one : links().all) {
          if (one.get() == reinterpret_cast<link_state*>(handle)) return result_of(body(*one));
        }
        return CUDA_ERROR_INVALID_HANDLE;
      },
      at);
}

cudaError_t refuse(const link_state& link, const std::string& why) {
  link.options.report(why);
  runtime::announce(why);
  return cudaErrorNotSupported;
}

// Loads all parts together only to find errors, because a part may need symbols of another part.
cudaError_t try_to_load(const std::vector<std::span<const std::byte>>& parts,
                        const link_state& link) {
  CUmodule tried = nullptr;
  const cudaError_t outcome = load_parts(&tried, parts, link.options);
  if (outcome == cudaSuccess) (void)cudaLibraryUnload(reinterpret_cast<cudaLibrary_t>(tried));
  return outcome;
}

// Our NVRTC (rtc/nvrtc.cpp) returns PTX in place of machine code and LTO code.
bool is_text(std::span<const std::byte> bytes) {
  const std::string_view start = ".version";
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return all.substr(0, all.find('\0')).find(start) != std::string_view::npos;
}

// Adds PTX or a fat binary. Other inputs are machine code or need NVIDIA's compiler.
cudaError_t add(link_state& link, CUjitInputType type, std::span<const std::byte> bytes) {
  const auto number = runtime::number_of(type);
  if ((number == CU_JIT_INPUT_CUBIN || number == CU_JIT_INPUT_NVVM) && is_text(bytes))
    type = CU_JIT_INPUT_PTX;
  switch (runtime::number_of(type)) {
    case CU_JIT_INPUT_PTX:
    case CU_JIT_INPUT_FATBINARY: {
      std::vector<std::byte> part(bytes.begin(), bytes.end());
      while (!part.empty() && part.back() == std::byte{0} && type == CU_JIT_INPUT_PTX) {
        part.pop_back();
      }
      if (part.empty()) return cudaErrorInvalidValue;
      const cudaError_t sound = try_to_load(std::vector{std::span<const std::byte>(part)}, link);
      if (sound == cudaSuccess) link.parts.push_back(std::move(part));
      return sound;
    }
    case CU_JIT_INPUT_CUBIN:
    case CU_JIT_INPUT_OBJECT:
    case CU_JIT_INPUT_LIBRARY:
    case CU_JIT_INPUT_NVVM:
      return refuse(link,
                    "cuLinkAddData: only PTX and fat binaries with PTX can be linked here, not "
                    "machine code, libraries or LTO code");
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace

CUresult cuLinkCreate(unsigned count, CUjit_option* options, void** values, CUlinkState* handle) {
  return in_context([&](context&) {
    const jit_options asked(count, options, values);
    if (!handle || !asked.check().ok()) return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard guard(links().lock);
    links().all.push_back(std::make_unique<link_state>(link_state{asked, {}, {}}));
    *handle = reinterpret_cast<CUlinkState>(links().all.back().get());
    return CUDA_SUCCESS;
  });
}
STEPWISE_ALSO("cuLinkCreate", cuLinkCreate_v2);

CUresult cuLinkAddData(CUlinkState handle, CUjitInputType type, void* data, size_t bytes,
                       const char*, unsigned, CUjit_option*, void**) {
  return with_link(handle, [&](link_state& link) {
    if (!data || bytes == 0) return cudaErrorInvalidValue;
    return add(link, type, {static_cast<const std::byte*>(data), bytes});
  });
}
STEPWISE_ALSO("cuLinkAddData", cuLinkAddData_v2);

CUresult cuLinkAddFile(CUlinkState handle, CUjitInputType type, const char* path, unsigned,
                       CUjit_option*, void**) {
  return with_link(handle, [&](link_state& link) {
    if (!path) return cudaErrorInvalidValue;
    std::ifstream file(path, std::ios::binary);
    if (!file) return cudaErrorFileNotFound;
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    return add(link, type, std::as_bytes(std::span(bytes)));
  });
}
STEPWISE_ALSO("cuLinkAddFile", cuLinkAddFile_v2);

CUresult cuLinkComplete(CUlinkState handle, void** image, size_t* bytes) {
  return with_link(handle, [&](link_state& link) {
    if (!image) return cudaErrorInvalidValue;
    const std::vector<std::span<const std::byte>> parts(link.parts.begin(), link.parts.end());
    const cudaError_t outcome = try_to_load(parts, link);
    if (outcome != cudaSuccess) return outcome;
    link.image = linked_image(link.parts);
    *image = link.image.data();
    if (bytes) *bytes = link.image.size();
    return outcome;
  });
}

CUresult cuLinkDestroy(CUlinkState handle) {
  return in_context([&](context&) {
    const std::lock_guard guard(links().lock);
    const auto gone = std::erase_if(links().all, [&](const auto& one) {
      return one.get() == reinterpret_cast<link_state*>(handle);
    });
    return gone == 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}
