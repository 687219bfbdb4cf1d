// The host polls a flag that its own function sets in a stream of any kind. Only the program itself
// sees this wait.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

__global__ void add(int* x) { x[threadIdx.x] += 1; }

struct message {
  std::mutex lock;
  std::condition_variable changed;
  bool sent = false;
  static void send(void* to) {
    message& m = *static_cast<message*>(to);
    const std::lock_guard guard(m.lock);
    m.sent = true;
    m.changed.notify_all();
  }
  static void send_back(cudaStream_t, cudaError_t, void* to) { send(to); }
  void wait() {
    std::unique_lock guard(lock);
    changed.wait(guard, [&] { return sent; });
  }
};

int main() {
  int host[32], *x;
  cudaMalloc(&x, sizeof host);
  cudaStream_t all[4] = {nullptr, cudaStreamPerThread};
  cudaStreamCreate(&all[2]);
  cudaStreamCreateWithFlags(&all[3], cudaStreamNonBlocking);
  cudaMemset(x, 0, sizeof host);
  cudaDeviceSynchronize();
  for (cudaStream_t one : all) {
    for (cudaStream_t other : all) {
      for (int way = 0; way < 3; ++way) {
        message done;
        add<<<1, 32, 0, one>>>(x);
        if (way == 0) cudaLaunchHostFunc(one, message::send, &done);
        if (way == 1) cudaStreamAddCallback(one, message::send_back, &done, 0);
        if (way == 2) {  // another thread waits, and submits work to the other stream
          cudaLaunchHostFunc(one, message::send, &done);
          std::thread([&] {
            done.wait();
            add<<<1, 32, 0, other == cudaStreamPerThread ? all[2] : other>>>(x);
          }).join();
        } else {
          done.wait();
          add<<<1, 32, 0, other>>>(x);
        }
        cudaDeviceSynchronize();
      }
    }
  }
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  cudaStreamDestroy(all[2]);
  cudaStreamDestroy(all[3]);
  cudaFree(x);
  return host[31] == 96 ? 0 : 1;
}
