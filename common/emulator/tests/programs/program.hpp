// Helpers of all test programs: checks that end the program, and buffers on the device.
//
// idea    A test program is an ordinary CUDA program: it launches, compares, says what it found in
//         one line, and ends with 0 (right), 1 (wrong) or 77 (no device). The same binary runs
//         with either CUDA runtime.
#pragma once

#include <cuda_runtime.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

// Whether the loaded runtime is ours, with the emulated device.
inline bool on_emulator() { return dlsym(RTLD_DEFAULT, "stepwiseDeviceKind") != nullptr; }

// STEPWISE_TEST_DEVICE says which runtime a test is about: "emulated" (ours) or "gpu" (NVIDIA's).
// Ends the program if another one was loaded, so that no test passes with the wrong one.
inline bool check_runtime() {
  const char* wanted = std::getenv("STEPWISE_TEST_DEVICE");
  if (!wanted) return false;
  const bool ours = on_emulator();
  if (std::string_view(wanted) == "gpu" && ours) {
    std::printf("skipped: NVIDIA's CUDA runtime is not installed\n");
    std::exit(77);
  }
  int devices = 0;
  if (std::string_view(wanted) == "gpu" && cudaGetDeviceCount(&devices) != cudaSuccess) {
    std::printf("skipped: there is no GPU\n");
    std::exit(77);
  }
  if (std::string_view(wanted) == "emulated" && !ours) {
    std::printf("NVIDIA's CUDA runtime was loaded, expected ours\n");
    std::exit(1);
  }
  return true;
}

inline const bool runtime_checked = check_runtime();

// The place of a call. The headers of C++20, which has std::source_location, take twice the time to
// compile.
struct call_place {
  const char* file;
  int line;

  static call_place current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

// Ends the program if a CUDA call failed.
inline void check(cudaError_t code, call_place at = call_place::current()) {
  if (code == cudaSuccess) return;
  std::printf("%s:%d: %s: %s\n", at.file, at.line, cudaGetErrorName(code),
              cudaGetErrorString(code));
  const bool no_device = code == cudaErrorNoDevice || code == cudaErrorInsufficientDriver;
  std::exit(no_device ? 77 : 1);
}

// Waits for the launches so far, and ends the program if one of them failed.
inline void finish(call_place at = call_place::current()) {
  check(cudaGetLastError(), at);
  check(cudaDeviceSynchronize(), at);
}

template <class T>
class device_array {
 public:
  explicit device_array(const std::vector<T>& values) : count_(values.size()) {
    check(cudaMalloc(&data_, count_ * sizeof(T)));
    check(cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  explicit device_array(std::size_t count) : device_array(std::vector<T>(count)) {}
  ~device_array() { cudaFree(data_); }
  device_array(const device_array&) = delete;
  device_array& operator=(const device_array&) = delete;

  T* get() const { return data_; }

  // The values after all launches so far.
  std::vector<T> values() const {
    std::vector<T> copy(count_);
    check(cudaMemcpy(copy.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return copy;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

// Compares element by element and prints the outcome. Returns the program's exit status.
template <class T>
int compare(const char* name, const std::vector<T>& found, const std::vector<T>& expected) {
  if (found.size() != expected.size()) {
    std::printf("%s: %zu values, expected %zu\n", name, found.size(), expected.size());
    return 1;
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!(found[i] == expected[i])) {
      std::printf("%s: value %zu is %.9g, expected %.9g\n", name, i, static_cast<double>(found[i]),
                  static_cast<double>(expected[i]));
      return 1;
    }
  }
  std::printf("%s: %zu values, all right\n", name, expected.size());
  return 0;
}
