// program 04_pinned: the host's memory is pinned, so the device can copy it directly.
//
// idea    The operating system may move pageable memory, so the driver first copies it to a buffer
//         of its own. Pinned memory does not move, so the device copies it directly and uses the
//         full bandwidth of the link.
// watch   Copies and kernels still wait for each other. The link works in one direction at a time.
// needs   pinned memory, which the whole machine shares: allocate what you need, once.
// source  CUDA C++ Programming Guide, "Page-Locked Host Memory".
#include <cstdio>

#include "common/lab/check.hpp"
#include "labs/program/kernels.hpp"
#include "labs/program/program.hpp"

class device_bytes {
 public:
  explicit device_bytes(std::size_t count) { check(cudaMalloc(&data_, count)); }
  ~device_bytes() { cudaFree(data_); }
  device_bytes(const device_bytes&) = delete;
  device_bytes& operator=(const device_bytes&) = delete;
  unsigned char* data() const { return data_; }

 private:
  unsigned char* data_ = nullptr;
};

class pinned_bytes {
 public:
  explicit pinned_bytes(std::size_t count) {
    //> todo: allocate `count` bytes of pinned memory.
    check(cudaMallocHost(&data_, count));
    //<
  }
  ~pinned_bytes() {
    //> todo: free the pinned memory.
    cudaFreeHost(data_);
    //<
  }
  pinned_bytes(const pinned_bytes&) = delete;
  pinned_bytes& operator=(const pinned_bytes&) = delete;
  unsigned char* data() const { return data_; }

 private:
  unsigned char* data_ = nullptr;
};

// Owns an event of the default stream.
class event {
 public:
  event() { check(cudaEventCreate(&event_)); }
  ~event() { cudaEventDestroy(event_); }
  event(const event&) = delete;
  event& operator=(const event&) = delete;
  void record() { check(cudaEventRecord(event_)); }
  float ms_since(const event& start) const {
    float ms = 0;
    check(cudaEventSynchronize(event_));
    check(cudaEventElapsedTime(&ms, start.event_, event_));
    return ms;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

int main(int argument_count, char** arguments) {
  if (argument_count != 3) return usage();
  frame_reader in(arguments[1]);
  result_writer out(arguments[2]);
  const int width = in.width(), height = in.height(), pixels = width * height;
  const std::size_t result_bytes = sizeof(unsigned) + pixels;  // the sum, then the pixels
  const pinned_bytes frame(pixels), result(result_bytes);
  const device_bytes device_frame(pixels), device_result(result_bytes);
  unsigned* const sum = reinterpret_cast<unsigned*>(device_result.data());
  unsigned char* const smoothed = device_result.data() + sizeof(unsigned);
  event begin, copied, computed, end;
  float to_device_ms = 0, kernels_ms = 0, to_host_ms = 0;
  for (int f = 0; f < in.frames(); ++f) {
    in.read(frame.data());
    begin.record();
    check(cudaMemcpy(device_frame.data(), frame.data(), pixels, cudaMemcpyHostToDevice));
    copied.record();
    check(cudaMemset(sum, 0, sizeof(unsigned)));
    smooth<<<tiles_of(width, height), tile>>>(device_frame.data(), smoothed, width, height);
    check(cudaGetLastError());
    add_up<<<sum_blocks, sum_threads>>>(smoothed, pixels, sum);
    check(cudaGetLastError());
    computed.record();
    check(cudaMemcpy(result.data(), device_result.data(), result_bytes, cudaMemcpyDeviceToHost));
    end.record();
    to_device_ms += copied.ms_since(begin);
    kernels_ms += computed.ms_since(copied);
    to_host_ms += end.ms_since(computed);
    out.write(result.data(), result_bytes);
  }
  std::printf("ms: %.3f to the device, %.3f in kernels, %.3f to the host\n", to_device_ms,
              kernels_ms, to_host_ms);
  return 0;
}
