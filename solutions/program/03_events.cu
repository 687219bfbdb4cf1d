// program 03_events: events in the stream measure copies and kernels.
//
// idea    A launch returns before its kernel has run, so the host's clock around a launch measures
//         the launch. An event is recorded by the device when all work before it in the stream has
//         ended. The time between two events is therefore the time of the work between them.
// watch   The copies take much longer than the kernels.
// gain    None: this step measures what the next steps improve.
// needs   cudaEventSynchronize() before the times are read.
// source  CUDA C++ Programming Guide, "Events".
#include <cstdio>
#include <vector>

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
    //> todo: wait until this event has been recorded, and get the time between the two events.
    check(cudaEventSynchronize(event_));
    check(cudaEventElapsedTime(&ms, start.event_, event_));
    //<
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
  std::vector<unsigned char> frame(pixels), result(result_bytes);
  const device_bytes device_frame(pixels), device_result(result_bytes);
  unsigned* const sum = reinterpret_cast<unsigned*>(device_result.data());
  unsigned char* const smoothed = device_result.data() + sizeof(unsigned);
  event begin, copied, computed, end;
  float to_device_ms = 0, kernels_ms = 0, to_host_ms = 0;
  for (int f = 0; f < in.frames(); ++f) {
    in.read(frame.data());
    //> todo: record an event before and after each stage, and add up the times of each stage.
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
    //<
    out.write(result.data(), result_bytes);
  }
  std::printf("ms: %.3f to the device, %.3f in kernels, %.3f to the host\n", to_device_ms,
              kernels_ms, to_host_ms);
  return 0;
}
