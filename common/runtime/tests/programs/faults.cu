// The errors that a program sees after a kernel wrote to unmapped memory, each in its own process.
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "check.h"

__global__ void write_at(int* base, long long index) { base[index] = 1; }
__global__ void stop() { asm volatile("trap;"); }
__global__ void write_odd(char* base) { *reinterpret_cast<int*>(base + 1) = 1; }

static int* memory;

static void out_of_bounds() {
  write_at<<<1, 1>>>(memory, 1LL << 40);
  SHOW(cudaGetLastError());  // it may still be running
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaPeekAtLastError());
  SHOW(cudaGetLastError());
  SHOW(cudaGetLastError());  // reset; but the fault stays:
  int value = 0;
  SHOW(cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost));
  void* more;
  SHOW(cudaMalloc(&more, 4));
  write_at<<<1, 1>>>(memory, 0);
  SHOW(cudaGetLastError());
  SHOW(cudaFree(memory));
  int count = 0;
  SHOW(cudaGetDeviceCount(&count));
  SHOW(cudaSetDevice(0));
  std::thread([] {
    std::printf("on another thread\n");
    SHOW(cudaGetLastError());
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaGetLastError());
  }).join();
}

static void first_call_is_a_copy() {
  write_at<<<1, 1>>>(nullptr, 0);
  int value = 0;
  SHOW(cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost));
  SHOW(cudaGetLastError());
}

static void trap() {
  stop<<<1, 1>>>();
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaFree(memory));
}

static void misaligned() {
  write_odd<<<1, 1>>>(reinterpret_cast<char*>(memory));
  SHOW(cudaStreamSynchronize(nullptr));
}

static void after_a_launch_failure() {
  write_at<<<1, 2048>>>(memory, 0);
  SHOW(cudaPeekAtLastError());
  write_at<<<1, 1>>>(memory, 3);
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaGetLastError());  // the failed launch
  SHOW(cudaGetLastError());
}

int main() {
  const struct {
    const char* name;
    void (*run)();
  } cases[] = {{"out of bounds", out_of_bounds},
               {"first call is a copy", first_call_is_a_copy},
               {"trap", trap},
               {"misaligned", misaligned},
               {"after a launch failure", after_a_launch_failure}};
  for (const auto& c : cases) {
    std::printf("== %s\n", c.name);
    std::fflush(stdout);
    if (fork() == 0) {
      SHOW(cudaMalloc(&memory, 1024));
      c.run();
      std::fflush(stdout);
      _exit(0);
    }
    int state = 0;
    wait(&state);
    if (!WIFEXITED(state) || WEXITSTATUS(state) != 0) std::printf("the process was ended\n");
  }
}
