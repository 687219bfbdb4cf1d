// A program for exec_test.cpp: a kernel, and several ways to end.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void add(int* sum) { atomicAdd(sum, static_cast<int>(threadIdx.x)); }
__global__ void wait_for_ever(int* sum) {
  while (atomicAdd(sum, 0) == 0) {
  }
}
__global__ void write_far(int* sum) { sum[1ull << 40] = 1; }
// Neighbouring threads touch words 1024 bytes apart.
__global__ void stride(int* words) {
  const unsigned at = 256 * threadIdx.x + blockIdx.x;
  words[at] += 1;
}

namespace {

// `stride` with two grids, which takes longer than `add`; or a kernel that fails.
int run_several(bool failing) {
  int* words = nullptr;
  if (cudaMalloc(&words, 256 * 256 * sizeof *words) != cudaSuccess) return 5;
  cudaMemset(words, 0, 256 * 256 * sizeof *words);
  for (int i = 0; i < 3; ++i) stride<<<256, 256>>>(words);
  stride<<<128, 256>>>(words);
  add<<<1, 32>>>(words);
  if (failing) write_far<<<1, 32>>>(words);
  int first = 0;
  if (cudaMemcpy(&first, words, sizeof first, cudaMemcpyDeviceToHost) != cudaSuccess) return 6;
  std::printf("first %d\n", first);
  return 0;
}

// Two streams that each copy, compute and copy back; the second one waits for the first one's copy.
int run_overlapping(bool pinned) {
  constexpr int bytes = 256 * 256 * sizeof(int);
  int *host = nullptr, *device = nullptr;
  if (pinned)
    cudaMallocHost(&host, 2 * bytes);
  else
    host = static_cast<int*>(std::calloc(2, bytes));
  cudaMalloc(&device, 2 * bytes);
  cudaStream_t streams[2];
  cudaEvent_t copied;
  for (cudaStream_t& s : streams) cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  cudaEventCreate(&copied);
  for (int i = 0; i < 2; ++i) {
    int* const mine = device + i * (bytes / 4);
    if (i == 1) cudaStreamWaitEvent(streams[1], copied, 0);
    cudaMemcpyAsync(mine, host, bytes, cudaMemcpyHostToDevice, streams[i]);
    if (i == 0) cudaEventRecord(copied, streams[0]);
    stride<<<256, 256, 0, streams[i]>>>(mine);
    cudaMemcpyAsync(host, mine, bytes, cudaMemcpyDeviceToHost, streams[i]);
  }
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 5;
}

void on_signal(int number) { _exit(40 + number); }

// `past`: elements past the end of the allocation of one to begin with.
int run_kernel(bool endless, int past = 0) {
  int* on_device = nullptr;
  int sum = 0;
  if (cudaMalloc(&on_device, sizeof sum) != cudaSuccess) return 5;
  cudaMemset(on_device, 0, sizeof sum);
  if (endless) {
    wait_for_ever<<<1, 1>>>(on_device);
  } else {
    if (past > 0) add<<<1, 32>>>(on_device + past);
    add<<<1, 32>>>(on_device);
  }
  const cudaError_t code = cudaMemcpy(&sum, on_device, sizeof sum, cudaMemcpyDeviceToHost);
  if (code != cudaSuccess) {
    std::printf("%s\n", cudaGetErrorName(code));
    return 6;
  }
  std::printf("sum %d\n", sum);
  return sum == 496 ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  const char* const what = count > 1 ? words[1] : "";
  const auto is = [&](const char* word) { return std::strcmp(what, word) == 0; };
  const int number = count > 2 ? std::atoi(words[2]) : 0;
  if (is("exit")) return number;
  if (is("raise")) return raise(number);
  if (is("wait")) {
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    std::puts("ready");
    std::fflush(stdout);
    while (true) pause();
  }
  if (is("cat")) {
    for (int c = std::getchar(); c != EOF; c = std::getchar()) std::putchar(c);
    std::fputs("to stderr\n", stderr);
    return 0;
  }
  if (is("words")) {
    for (int i = 0; i < count; ++i) std::printf("<%s>", words[i]);
    return 0;
  }
  if (is("follow")) {
    int* on_device = nullptr;
    cudaMalloc(&on_device, sizeof *on_device);
    return *on_device;
  }
  if (is("child")) {
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
      run_kernel(false);
      std::exit(number);
    }
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  }
  if (is("several") || is("fail")) return run_several(is("fail"));
  if (is("pinned") || is("pageable")) return run_overlapping(is("pinned"));
  const int outcome = run_kernel(is("endless"), is("past") ? number : 0);
  if (is("after_closing") || is("after_reusing")) close(STDERR_FILENO);
  if (is("after_reusing")) dup2(STDOUT_FILENO, STDERR_FILENO);
  if (is("after") && std::strcmp(words[2], "abort") == 0) std::abort();
  if (std::strncmp(what, "after", 5) == 0) std::exit(number);
  return outcome;
}
