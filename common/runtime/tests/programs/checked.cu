// Errors in host code, one per word on the command line, for checks_test.py. Lines that a report
// must name end with a comment "here: WORD".
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

__global__ void nothing(int*) {}

__global__ void one_too_far(int* out) {
  extern __shared__ int line[];
  line[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = line[threadIdx.x + 1];
}

__global__ void stage(int* out, int far) {
  extern __shared__ int line[];
  __shared__ int tile[32];
  const int i = threadIdx.x;
  tile[31 - i] = i;
  __syncthreads();
  line[i] = tile[i];
  __syncthreads();
  line[i + 32] = line[31 - i] + 1;
  __syncthreads();
  out[i] = line[63 - i + far];
}

// A wrapper around the header's own template. The report names the innermost line outside the
// toolkit's headers.
template <class T>
static inline T* make(std::size_t count) {
  T* made = nullptr;
  cudaMalloc(&made, count * sizeof(T));  // here: allocated
  return made;
}

struct owner {
  int* memory = nullptr;
  ~owner() { cudaFree(memory); }
};
static owner freed_at_exit;  // its destructor runs after main, so it is not a leak

static void launch_too_large() {
  nothing<<<1, 2048>>>(nullptr);  // here: unchecked
}

static void free_twice() {
  int* const memory = make<int>(16);
  cudaFree(memory);             // here: first
  if (cudaFree(memory) == 0) {  // here: twice
    std::puts("freed twice");
  }
}

static void free_inside() {
  int* const memory = make<int>(16);
  cudaFree(memory + 4);  // here: inside
  cudaFree(memory);
}

static void stage_with_none() {
  int* const memory = make<int>(32);
  stage<<<1, 32>>>(memory, 0);  // here: no_shared
  cudaDeviceSynchronize();
  cudaFree(memory);
}

static void stage_with_too_little(int far) {
  int* const memory = make<int>(32);
  for (int bytes = 256; bytes >= 64; bytes -= 64) {
    stage<<<1, 32, bytes>>>(memory, far);  // here: less_shared
  }
  cudaDeviceSynchronize();
  cudaFree(memory);
}

int main(int argument_count, char** arguments) {
  for (int i = 1; i < argument_count; i++) {
    const char* const what = arguments[i];
    const auto is = [&](const char* word) { return std::strcmp(what, word) == 0; };
    if (is("unchecked")) launch_too_large();
    if (is("unchecked_thrice")) {
      for (int k = 0; k < 3; k++) launch_too_large();
    }
    if (is("seen")) {
      launch_too_large();
      std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    }
    if (is("peeked")) {
      launch_too_large();
      cudaPeekAtLastError();
    }
    if (is("seen_elsewhere")) {  // the last error belongs to a thread
      launch_too_large();
      std::thread([] { cudaGetLastError(); }).join();
    }
    void* one = nullptr;
    const auto kernel = reinterpret_cast<const void*>(&nothing);
    if (is("ignored_copy")) {
      cudaMemcpy(nullptr, nullptr, 4, cudaMemcpyHostToDevice);  // here: ignored_copy
    }
    if (is("ignored_launch")) {
      cudaLaunchKernel(kernel, 1, 2048, &one, 0, nullptr);  // here: ignored_launch
    }
    if (is("answered")) {
      if (cudaMemcpy(nullptr, nullptr, 4, cudaMemcpyHostToDevice) == cudaSuccess) return 1;
      if (cudaLaunchKernel(kernel, 1, 2048, &one, 0, nullptr) == cudaSuccess) return 1;
    }
    if (is("twice")) free_twice();
    if (is("inside")) free_inside();
    if (is("foreign")) {
      int on_stack = 0;
      cudaFree(&on_stack);  // here: foreign
    }
    if (is("pinned")) {
      void* memory = nullptr;
      cudaMallocHost(&memory, 64);  // here: got_pinned
      cudaFree(memory);             // here: pinned
      cudaFreeHost(memory);
    }
    if (is("unpinned")) {
      int on_stack = 0;
      cudaFreeHost(&on_stack);  // here: unpinned
    }
    if (is("global")) freed_at_exit.memory = make<int>(4);
    if (is("leak")) make<char>(100);
    if (is("reset")) {
      make<char>(100);
      cudaDeviceReset();
    }
    if (is("no_shared")) stage_with_none();
    if (is("less_shared")) stage_with_too_little(0);
    if (is("one_too_far")) {
      int* const memory = make<int>(32);
      one_too_far<<<1, 32, 32 * sizeof(int)>>>(memory);  // here: one_too_far
      cudaDeviceSynchronize();
      cudaFree(memory);
    }
    if (is("far_in_shared")) stage_with_too_little(1 << 20);
    if (is("exit_1")) std::exit(1);
    if (is("quick")) std::_Exit(0);
    if (is("crash")) std::raise(SIGSEGV);
    if (is("abort")) std::abort();
  }
}
