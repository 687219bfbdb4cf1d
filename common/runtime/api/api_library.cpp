// Modules that a program loads explicitly: from a fat binary, from a file with one, or from PTX.
//
// source  cuda_runtime_api.h, "Library Management", lists what `code` may point to
#include <fstream>
#include <iterator>

#include "common/runtime/api/api.hpp"

using namespace stepwise;
using namespace stepwise::runtime;

namespace {

// An H200 creates a library even from text that is not PTX. We do the same for an invalid module.
// Its error is printed at once, and every later query of the library returns it.
status load(state& s, cudaLibrary_t* library,
            const result<std::vector<std::span<const std::byte>>>& parts) {
  const auto module =
      parts.ok() ? s.current->load_linked(*parts) : result<module_handle>(parts.failure());
  if (!module.ok()) announce(module.failure().message);
  *library = reinterpret_cast<cudaLibrary_t>(s.registered.add_library(module));
  return {};
}

// Runs `body(state&, library&)` for one of the program's libraries.
template <class Body>
cudaError_t with_library(cudaLibrary_t handle, Body&& body) {
  return call([&](state& s) {
    loaded_library* const found = s.registered.find_library(handle);
    return found ? body(s, *found)
                 : status{error::invalid_resource_handle, "there is no such library"};
  });
}

cudaError_t variable_call(void** address, std::size_t* bytes, cudaLibrary_t library,
                          const char* name, bool managed) {
  return with_library(library, [&](state& s, loaded_library& from) {
    if (!name || (!address && !bytes))
      return invalid_value("no name, or the output pointer is null");
    if (!from.module.ok()) return from.module.failure();
    const auto symbol = s.current->find_symbol(*from.module, name);
    if (!symbol.ok()) return symbol.failure();
    if (managed && !symbol->shared) {
      return status{error::symbol_not_found, std::string(name) + " is not managed"};
    }
    if (address) *address = pointer_of(symbol->address);
    if (bytes) *bytes = symbol->bytes;
    return status{};
  });
}

}  // namespace

// The options control how and when PTX is compiled to machine code, which changes no result here.
cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption*, void**,
                                unsigned, cudaLibraryOption*, void**, unsigned) {
  return call([&](state& s) {
    if (!library || !code) return invalid_value("cudaLibraryLoadData: a null pointer");
    return load(s, library, module_parts(code));
  });
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* name, cudaJitOption*,
                                    void**, unsigned, cudaLibraryOption*, void**, unsigned) {
  return call([&](state& s) {
    if (!library || !name) return invalid_value("cudaLibraryLoadFromFile: a null pointer");
    std::ifstream file(name, std::ios::binary);
    if (!file) return status{error::file_not_found, std::string("cannot read ") + name};
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    return load(s, library, std::vector{std::as_bytes(std::span(bytes))});
  });
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return with_library(library, [](state& s, loaded_library& gone) {
    s.wait_for_all();
    status before = s.synchronize();
    if (!before.ok()) return before;
    status outcome = gone.module.ok() ? s.current->unload_module(*gone.module) : status{};
    s.registered.remove_library(gone);
    return outcome;
  });
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  return with_library(library, [&](state& s, loaded_library& from) {
    if (!kernel || !name) return invalid_value("cudaLibraryGetKernel: a null pointer");
    const auto found = s.registered.library_kernel(*s.current, from, name);
    if (!found.ok()) return found.failure();
    *kernel = reinterpret_cast<cudaKernel_t>(*found);
    return status{};
  });
}

cudaError_t cudaLibraryGetGlobal(void** address, std::size_t* bytes, cudaLibrary_t library,
                                 const char* name) {
  return variable_call(address, bytes, library, name, false);
}

cudaError_t cudaLibraryGetManaged(void** address, std::size_t* bytes, cudaLibrary_t library,
                                  const char* name) {
  return variable_call(address, bytes, library, name, true);
}
