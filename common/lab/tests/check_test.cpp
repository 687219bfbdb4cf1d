// Tests check(). Linked with our CUDA runtime for the names of errors.
#include "common/lab/check.hpp"

#include "common/lab/ceil_div.hpp"
#include "common/lab/hold_blocks.hpp"

// Every .cu includes the headers above, and five of nvcc's passes read them. <string> would cost
// nearly as much as all of CUDA's headers.
#if defined(_GLIBCXX_STRING) || defined(_GLIBCXX_STDEXCEPT) || defined(_GLIBCXX_VECTOR) || \
    defined(_GLIBCXX_IOSTREAM) || defined(_GLIBCXX_ALGORITHM)
#error "the headers that every .cu includes have become expensive"
#endif

#include <doctest/doctest.h>

#include <source_location>
#include <string>

#include "common/lab/cuda_error.hpp"

namespace {

TEST_CASE("success passes, and every other code throws") {
  CHECK_NOTHROW(check(cudaSuccess));
  CHECK_THROWS_AS(check(cudaErrorMemoryAllocation), stepwise::cuda_error);
}

TEST_CASE("an error names the caller's file and line, the error, and what it means") {
  std::string message;
  cudaError_t code = cudaSuccess;
  const auto line = std::source_location::current().line() + 2;
  try {
    check(cudaErrorInvalidConfiguration);
  } catch (const stepwise::cuda_error& error) {
    message = error.what();
    code = error.code();
  }
  CHECK(code == cudaErrorInvalidConfiguration);
  CHECK(message == "check_test.cpp:" + std::to_string(line) +
                       ": cudaErrorInvalidConfiguration: invalid configuration argument");
}

}  // namespace
