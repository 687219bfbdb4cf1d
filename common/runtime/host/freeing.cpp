// The pairs of functions that allocate and free.
#include "common/runtime/host/freeing.hpp"

#include <dlfcn.h>

namespace stepwise::runtime {
namespace {

struct freed_by {
  std::string_view allocates;  // part of the function's name
  std::string_view frees;
};
// The first match wins, because "cuMem" is part of many names.
constexpr freed_by pairs[] = {{"cudaMallocMipmappedArray", "cudaFreeMipmappedArray"},
                              {"cudaMallocArray", "cudaFreeArray"},
                              {"cudaMalloc3DArray", "cudaFreeArray"},
                              {"cudaMallocAsync", "cudaFreeAsync"},
                              {"cudaMallocFromPoolAsync", "cudaFreeAsync"},
                              {"cudaMallocHost", "cudaFreeHost"},
                              {"cudaHostAlloc", "cudaFreeHost"},
                              {"cuMemAllocHost", "cuMemFreeHost"},
                              {"cuMemHostAlloc", "cuMemFreeHost"},
                              {"cuMipmappedArrayCreate", "cuMipmappedArrayDestroy"},
                              {"cuArrayCreate", "cuArrayDestroy"},
                              {"cuArray3DCreate", "cuArrayDestroy"},
                              {"cuMemAllocAsync", "cuMemFreeAsync"},
                              {"cuMemAllocFromPoolAsync", "cuMemFreeAsync"},
                              {"cuMemMap", "cuMemUnmap"},
                              {"cuMem", "cuMemFree"}};

}  // namespace

std::string how_to_free(std::string_view allocated_in, const host_place& allocated_at,
                        bool in_python) {
  if (in_python && allocated_at.file.empty()) {
    return "Drop the last reference to the array before the program ends (del), or call the "
           "close() or free() of the object or memory pool that holds it.";
  }
  std::string_view frees = "cudaFree";
  for (const freed_by& pair : pairs) {
    if (allocated_in.find(pair.allocates) == std::string_view::npos) continue;
    frees = pair.frees;
    break;
  }
  return "Call " + std::string(frees) + " when the memory is no longer needed.";
}

bool is_python_process() {
  // The interpreter exports its functions to its extensions. It does not matter whether the
  // interpreter is initialised, because findings are reported while it shuts down.
  return dlsym(RTLD_DEFAULT, "Py_IsInitialized") != nullptr;
}

}  // namespace stepwise::runtime
