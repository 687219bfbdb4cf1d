// While work runs, system calls read and write other bytes of the same pages, and processes,
// threads and signals start and end.
#include <pthread.h>
#include <signal.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void fill(char* x) { x[threadIdx.x] = 'k'; }

namespace {

char* shared;
int errors = 0;
volatile sig_atomic_t signals = 0;

void on_alarm(int) {
  ++signals;
  if (write(STDERR_FILENO, shared + 600, 0) != 0) ++errors;
}

void* in_thread(void*) {
  shared[700] = 't';
  if (write(STDERR_FILENO, shared + 700, 0) != 0) ++errors;
  return nullptr;
}

void expect(bool holds) { errors += holds ? 0 : 1; }

void use_system(int from, int to) {
  char back[16] = {};
  expect(write(to, shared + 512, 8) == 8);
  expect(read(from, shared + 520, 8) == 8);
  expect(std::memcmp(shared + 520, "old text", 8) == 0);
  iovec parts[2] = {{shared + 512, 4}, {shared + 516, 4}};
  expect(writev(to, parts, 2) == 8);
  expect(read(from, back, 8) == 8);
  expect(std::memcmp(back, "old text", 8) == 0);
  std::fwrite(shared + 512, 1, 8, stdout);
  std::fflush(stdout);
}

}  // namespace

int main() {
  cudaMallocManaged(&shared, 4096);
  std::memcpy(shared + 512, "old text", 8);
  int ends[2];
  expect(pipe(ends) == 0);
  signal(SIGALRM, on_alarm);
  fill<<<1, 128>>>(shared);
  use_system(ends[0], ends[1]);
  use_system(ends[0], ends[1]);
  fill<<<1, 128>>>(shared);
  ualarm(1000, 0);
  while (signals == 0) usleep(100);
  fill<<<1, 128>>>(shared);
  const pid_t child = fork();
  if (child == 0) _exit(0);  // a child must not use CUDA's memory
  int end = 0;
  expect(waitpid(child, &end, 0) == child && end == 0);
  fill<<<1, 128>>>(shared);
  expect(std::system("true") == 0);
  fill<<<1, 128>>>(shared);
  pthread_t thread;
  expect(pthread_create(&thread, nullptr, in_thread, nullptr) == 0);
  fill<<<1, 128>>>(shared);
  use_system(ends[0], ends[1]);
  pthread_join(thread, nullptr);
  fill<<<1, 128>>>(shared);
  cudaDeviceSynchronize();
  expect(shared[5] == 'k' && shared[700] == 't');
  cudaFree(shared);
  return errors;
}
