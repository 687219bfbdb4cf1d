// Tests which function a report names for memory that was not freed.
#include "common/runtime/host/freeing.hpp"

#include <doctest/doctest.h>

using namespace stepwise;
using namespace stepwise::runtime;

TEST_CASE("the report of a leak names the function that frees the memory") {
  const auto named = [](const char* function) { return how_to_free(function, {}, false); };
  const auto call = [](const char* function) {
    return std::string("Call ") + function + " when the memory is no longer needed.";
  };
  CHECK(named("cudaError_t cudaMalloc(void**, std::size_t)") == call("cudaFree"));
  CHECK(named("cudaMallocManaged") == call("cudaFree"));
  CHECK(named("cudaMallocAsync_ptsz") == call("cudaFreeAsync"));
  CHECK(named("cudaMallocArray") == call("cudaFreeArray"));
  CHECK(named("cudaMalloc3DArray") == call("cudaFreeArray"));
  CHECK(named("cudaHostAlloc") == call("cudaFreeHost"));
  CHECK(named("cuMemAlloc_v2") == call("cuMemFree"));
  CHECK(named("cuMemAllocHost_v2") == call("cuMemFreeHost"));
  CHECK(named("cuMemAllocPitch_v2") == call("cuMemFree"));
  CHECK(named("cuMemAllocAsync") == call("cuMemFreeAsync"));
  CHECK(named("cuArrayCreate_v2") == call("cuArrayDestroy"));
  CHECK(named("cuMemMap") == call("cuMemUnmap"));
  CHECK(named("") == call("cudaFree"));
}

TEST_CASE("the advice is about references for Python, and about the function for an extension") {
  const std::string python = how_to_free("cuMemAlloc_v2", {}, true);
  CHECK(python.find("cuMem") == python.npos);
  CHECK(python.find("last reference") != python.npos);
  const host_place line{"extension.cpp", 7, "cudaMalloc(&kept, 4);", "keep"};
  CHECK(how_to_free("cudaMalloc", line, true) ==
        "Call cudaFree when the memory is no longer needed.");
}
