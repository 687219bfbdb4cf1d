// Calls fail, and the program checks their results in many ways.
#include <cstdio>
#include <cstdlib>
#include <vector>

#define EXPECT_SUCCESS(call) check((call), #call, __LINE__)

int seen = 0;

void check(cudaError_t code, const char* call, int line) {
  if (code == cudaSuccess) return;
  ++seen;
  std::fprintf(stderr, "line %d: %s: %s\n", line, call, cudaGetErrorString(code));
}

cudaError_t fails() { return cudaSetDevice(7); }
cudaError_t passes_on() { return fails(); }
template <class T>
cudaError_t allocate(T** memory, std::size_t count) {
  return cudaMalloc(memory, count * sizeof(T));
}
bool works() { return cudaSetDevice(8) == cudaSuccess; }
struct outcome {
  cudaError_t code;
  int line;
};
outcome noted() { return {cudaSetDevice(9), __LINE__}; }

int main() {
  int* x = nullptr;
  EXPECT_SUCCESS(cudaSetDevice(7));
  EXPECT_SUCCESS(passes_on());
  EXPECT_SUCCESS(allocate(&x, std::size_t{1} << 50));
  if (cudaSetDevice(7) != cudaSuccess) ++seen;
  if (works()) return 1;
  cudaError_t kept = cudaSetDevice(7);
  cudaError_t other = cudaMalloc(&x, 64);
  if (kept == cudaSuccess || other != cudaSuccess) return 1;
  std::vector<cudaError_t> all;
  for (int i = 1; i < 4; ++i) all.push_back(cudaMemset(x, 0, 64 + i));
  for (const cudaError_t code : all) seen += code != cudaSuccess;
  seen += cudaMemset(x, 0, 65) != cudaSuccess ? 1 : 0;
  std::printf("%s\n", cudaGetErrorName(cudaSetDevice(9)));
  if (noted().code == cudaSuccess) return 1;
  switch (cudaMemset(x, 0, 65)) {
    case cudaErrorInvalidValue:
      ++seen;
      break;
    default:
      return 1;
  }
  const auto call = [&](std::size_t bytes) { return cudaMemset(x, 0, bytes); };
  EXPECT_SUCCESS(call(100));
  bool any = false;
  any |= cudaSetDevice(7);
  any = any && cudaSetDevice(7) != cudaSuccess;
  if (!any) return 1;
  while (cudaSetDevice(7) == cudaSuccess) {
  }

  // Ignored at first, and queried later.
  cudaSetDevice(7);
  cudaMemset(x, 0, 64);
  if (cudaGetLastError() != cudaErrorInvalidDevice) return 1;
  cudaSetDevice(7);
  if (cudaPeekAtLastError() != cudaErrorInvalidDevice) return 1;
  cudaMemset(x, 0, 100);
  cudaGetLastError();  // the program already knows

  // These are not errors.
  cudaFree(nullptr);
  cudaStreamQuery(nullptr);
  EXPECT_SUCCESS(cudaFree(x));
  cudaGetLastError();
  return seen == 10 ? 0 : 1;
}
