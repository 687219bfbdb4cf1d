// Modules and libraries, and lookups of their kernels and variables.
#include <cstring>
#include <fstream>
#include <iterator>

#include "common/driver/modules.hpp"

using namespace stepwise;
using namespace stepwise::driver;
using runtime::loaded_library;
using runtime::state;

namespace {

CUresult load_module(CUmodule* module, const void* image, const jit_options& options,
                     std::source_location at = std::source_location::current()) {
  return in_context(
      [&](context& owner) {
        if (!module || !image) return cudaErrorInvalidValue;
        const cudaError_t outcome = load_parts(module, image_parts(image), options);
        if (outcome == cudaSuccess) contexts::get().own(owner, &context::modules, *module);
        return outcome;
      },
      at);
}

// The content of a file plus a zero, which terminates PTX text.
std::optional<std::vector<char>> content_of(const char* name) {
  std::ifstream file(name, std::ios::binary);
  if (!file) return std::nullopt;
  std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  bytes.push_back('\0');
  return bytes;
}

// Runs `body(state&, loaded_library&) -> status` for one of the program's modules or libraries.
template <class Handle, class Body>
cudaError_t with_library(Handle handle, Body&& body) {
  return runtime::call([&](state& s) {
    loaded_library* const found = s.registered.find_library(handle);
    if (!found) return status{error::invalid_resource_handle, "there is no such module"};
    if (!found->module.ok()) return found->module.failure();
    return body(s, *found);
  });
}

template <class Handle, class Function>
cudaError_t find_function(Function* function, Handle from, const char* name) {
  return with_library(from, [&](state& s, loaded_library& library) {
    if (!function || !name || !*name)
      return runtime::invalid_value("no name, or the output pointer is null");
    const auto found = s.registered.library_kernel(*s.current, library, name);
    if (!found.ok()) return found.failure();
    *function = reinterpret_cast<Function>(*found);
    return status{};
  });
}

template <class Handle>
cudaError_t find_variable(CUdeviceptr* address, size_t* bytes, Handle from, const char* name,
                          bool managed = false) {
  return with_library(from, [&](state& s, loaded_library& library) {
    if (!name || (!address && !bytes)) {
      return runtime::invalid_value("no name, or the output pointer is null");
    }
    const auto symbol = s.current->find_symbol(*library.module, name);
    if (!symbol.ok()) return symbol.failure();
    if (managed && !symbol->shared) {
      return status{error::symbol_not_found, std::string(name) + " is not managed"};
    }
    if (address) *address = symbol->address;
    if (bytes) *bytes = symbol->bytes;
    return status{};
  });
}

}  // namespace

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return load_module(module, image, {0, nullptr, nullptr});
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count,
                            CUjit_option* options, void** values) {
  return load_module(module, image, {count, options, values});
}

CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return load_module(module, image, {0, nullptr, nullptr});
}

CUresult cuModuleLoad(CUmodule* module, const char* name) {
  if (!module || !name) return CUDA_ERROR_INVALID_VALUE;
  const auto content = content_of(name);
  if (!content) return in_context([](context&) { return CUDA_ERROR_FILE_NOT_FOUND; });
  return load_module(module, content->data(), {0, nullptr, nullptr});
}

CUresult cuModuleUnload(CUmodule module) {
  return in_context([&](context&) {
    const cudaError_t outcome = cudaLibraryUnload(reinterpret_cast<cudaLibrary_t>(module));
    if (outcome == cudaSuccess) contexts::get().disown(&context::modules, module);
    return outcome;
  });
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return in_context([&](context&) { return find_function(function, module, name); });
}

CUresult cuModuleGetGlobal(CUdeviceptr* address, size_t* bytes, CUmodule module, const char* name) {
  return in_context([&](context&) { return find_variable(address, bytes, module, name); });
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  return answer([&] {
    if (!mode) return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_EAGER_LOADING;
    return CUDA_SUCCESS;
  });
}

// As in the runtime, a library can be created from any bytes. An error in these bytes is printed at
// once, and returned by queries of the library.
CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option* options,
                           void** values, unsigned count, CUlibraryOption*, void**, unsigned) {
  return answer([&] {
    if (!library || !code) return cudaErrorInvalidValue;
    const auto parts = image_parts(code);
    return runtime::call([&](state& s) {
      const jit_options asked(count, options, values);
      status sound = asked.check();
      if (!sound.ok()) return sound;
      const auto module =
          parts.ok() ? s.current->load_linked(*parts) : result<module_handle>(parts.failure());
      asked.report(module.ok() ? "" : module.failure().message);
      if (!module.ok()) runtime::announce(module.failure().message);
      *library = reinterpret_cast<CUlibrary>(s.registered.add_library(module));
      return status{};
    });
  });
}

CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* name, CUjit_option* options,
                               void** values, unsigned count, CUlibraryOption* library_options,
                               void** library_values, unsigned library_count) {
  if (!library || !name) return returned(CUDA_ERROR_INVALID_VALUE);
  const auto content = content_of(name);
  if (!content) return returned(CUDA_ERROR_FILE_NOT_FOUND);
  return cuLibraryLoadData(library, content->data(), options, values, count, library_options,
                           library_values, library_count);
}

CUresult cuLibraryUnload(CUlibrary library) {
  return answer([&] { return cudaLibraryUnload(reinterpret_cast<cudaLibrary_t>(library)); });
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return answer([&] { return find_function(kernel, library, name); });
}

CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  return in_context([&](context&) {
    return with_library(library, [&](state&, loaded_library& found) {
      if (!module) return runtime::invalid_value("the output pointer is null");
      *module = reinterpret_cast<CUmodule>(&found);
      return status{};
    });
  });
}

CUresult cuLibraryGetGlobal(CUdeviceptr* address, size_t* bytes, CUlibrary library,
                            const char* name) {
  return in_context([&](context&) { return find_variable(address, bytes, library, name); });
}

CUresult cuLibraryGetManaged(CUdeviceptr* address, size_t* bytes, CUlibrary library,
                             const char* name) {
  return answer([&] { return find_variable(address, bytes, library, name, true); });
}
