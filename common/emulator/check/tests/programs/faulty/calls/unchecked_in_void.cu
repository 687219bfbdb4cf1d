// Calls fail at the end of functions that return nothing, in a branch, and in another thread.
// NVIDIA's runtime crashes on the event, which never existed.
#include <cstdint>
#include <cstdio>
#include <thread>

#define IGNORE(call) (void)(call)

struct resource {
  cudaEvent_t event;
  ~resource();
};

resource::~resource() {
  cudaEventDestroy(event);  // finding 1: unchecked_error called says=cudaEventDestroy()
}

void set_device(int number) {
  cudaSetDevice(number);  // finding 2: unchecked_error called
}

int set_if(bool wanted, int number) {
  if (wanted) cudaSetDevice(number);  // finding 3: unchecked_error called
  return number;
}

void in_thread() {
  cudaSetDevice(10);  // finding 4: unchecked_error called
  std::puts("done");
}

int main(int count, char**) {
  { resource none{reinterpret_cast<cudaEvent_t>(std::uintptr_t{0x4560})}; }
  set_device(7);
  if (set_if(count != 0, 8) != 8) return 1;
  std::thread(in_thread).join();
  IGNORE(cudaSetDevice(9));  // finding 5: unchecked_error called
  // This call does not return another thread's error.
  return std::thread([] { cudaGetLastError(); }).join(), 0;
}
