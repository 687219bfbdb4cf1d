// Host code that follows device pointers, one case per word on the command line, for
// host_access_test.py. Lines that a message must name end with a comment "here: WORD".
#include <unistd.h>

#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

__device__ int table[4] = {1, 2, 3, 4};

__global__ void give_addresses(void** to) {
  __shared__ int tile[32];
  int local[4] = {1, 2, 3, int(threadIdx.x)};
  tile[threadIdx.x] = local[threadIdx.x % 4];
  to[0] = tile;
  to[1] = &local[threadIdx.x % 4];
}

namespace {

jmp_buf again;

int* on_device(std::size_t count) {
  int* made = nullptr;
  cudaMalloc(&made, count * sizeof(int));  // here: allocated
  return made;
}

volatile int sink;

void read_inside(const int* a) {
  for (int i = 5; i < 8; i++) sink = sink + a[i];  // here: inside
}

void on_fault(int number, siginfo_t* about, void*) {
  std::printf("handled %d %d\n", number, about->si_addr != nullptr);
  std::fflush(stdout);
  _exit(7);
}
void jump_back(int) { siglongjmp(again, 1); }

void handle_with(void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
}

void use(const std::string& what) {
  const bool handled_before = what == "own_handler" || what == "own_handler_elsewhere";
  if (handled_before) handle_with(on_fault);
  if (what == "recovers") signal(SIGSEGV, jump_back);
  int* const a = on_device(1024);
  int* const b = on_device(2);
  if (what == "read" || what == "own_handler") sink = a[0];  // here: read
  if (what == "inside") read_inside(a);
  if (what == "write") b[1] = 3;               // here: write
  if (what == "past") sink = b[2];             // here: past
  if (what == "sort") std::sort(a, a + 1024);  // here: sort
  if (what == "copy") {
    std::vector<int> host(1024);
    std::memcpy(host.data(), a, 4096);  // here: copy
    sink = host[5];
  }
  if (what == "print") std::printf("%s\n", reinterpret_cast<char*>(a));  // here: print
  if (what == "release") std::free(b);                                   // here: release
  if (what == "answer") cudaGetDeviceCount(a);                           // here: answer
  if (what == "thread") std::thread([=] { sink = a[0]; }).join();        // here: thread
  if (what == "freed") {
    cudaFree(a);
    sink = a[3];  // here: freed
  }
  if (what == "variable") {
    void* address = nullptr;
    cudaGetSymbolAddress(&address, table);
    sink = static_cast<int*>(address)[1];  // here: variable
  }
  if (what == "shared" || what == "local") {
    void** addresses = nullptr;
    cudaMallocManaged(&addresses, 2 * sizeof(void*));
    give_addresses<<<1, 32>>>(addresses);
    cudaDeviceSynchronize();
    sink = *static_cast<int*>(addresses[what == "local"]);  // here: own
  }
  if (what == "freed_managed") {
    int* both = nullptr;
    cudaMallocManaged(&both, 8 << 20);
    cudaFree(both);
    sink = both[1];  // here: freed_managed
  }
  if (what == "null" || what == "own_handler_elsewhere") {
    int* volatile nothing = nullptr;
    sink = *nothing;
  }
  if (what == "sent") raise(SIGSEGV);
  if (what == "later_handler") {
    handle_with(on_fault);
    sink = a[0];
  }
  if (what == "recovers") {
    if (sigsetjmp(again, 1) == 0) sink = a[0];  // here: recovers
    std::puts("recovered");
  }
  if (what == "allowed") {
    int *managed = nullptr, *pinned = nullptr;
    cudaMallocManaged(&managed, 64);
    cudaMallocHost(&pinned, 64);
    managed[3] = pinned[3] = 4;
    std::printf("%d\n", managed[3] + pinned[3]);
  }
}

}  // namespace

int main(int, char** words) { use(words[1]); }
