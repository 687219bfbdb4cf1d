// attack program: SLOW, at most 70 points
// copies asynchronously in two streams, but from pageable memory, so that nothing overlaps
#include <cstdlib>
#include <deque>

#include "common/lab/check.hpp"
#include "labs/program/kernels.hpp"
#include "labs/program/program.hpp"

constexpr int lanes = 2;

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
    data_ = static_cast<unsigned char*>(std::malloc(count));
  }
  ~pinned_bytes() { std::free(data_); }
  pinned_bytes(const pinned_bytes&) = delete;
  pinned_bytes& operator=(const pinned_bytes&) = delete;
  unsigned char* data() const { return data_; }

 private:
  unsigned char* data_ = nullptr;
};

class stream {
 public:
  stream() { check(cudaStreamCreate(&stream_)); }
  ~stream() { cudaStreamDestroy(stream_); }
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

// The stream and the buffers of a frame in flight.
struct lane {
  lane(std::size_t pixels, std::size_t result_bytes)
      : frame(pixels), result(result_bytes), device_frame(pixels), device_result(result_bytes) {}

  const pinned_bytes frame, result;
  const device_bytes device_frame, device_result;
  const stream work;
};

// Requests all work for the frame in `l`. The host does not wait for it.
void request_work(const lane& l, int width, int height) {
  const int pixels = width * height;
  const std::size_t result_bytes = sizeof(unsigned) + pixels;
  unsigned* const sum = reinterpret_cast<unsigned*>(l.device_result.data());
  unsigned char* const smoothed = l.device_result.data() + sizeof(unsigned);
  check(cudaMemcpyAsync(l.device_frame.data(), l.frame.data(), pixels, cudaMemcpyHostToDevice,
                        l.work));
  check(cudaMemsetAsync(sum, 0, sizeof(unsigned), l.work));
  smooth<<<tiles_of(width, height), tile, 0, l.work>>>(l.device_frame.data(), smoothed, width,
                                                       height);
  check(cudaGetLastError());
  add_up<<<sum_blocks, sum_threads, 0, l.work>>>(smoothed, pixels, sum);
  check(cudaGetLastError());
  check(cudaMemcpyAsync(l.result.data(), l.device_result.data(), result_bytes,
                        cudaMemcpyDeviceToHost, l.work));
}

int main(int argument_count, char** arguments) {
  if (argument_count != 3) return usage();
  frame_reader in(arguments[1]);
  result_writer out(arguments[2]);
  const int width = in.width(), height = in.height(), pixels = width * height;
  const std::size_t result_bytes = sizeof(unsigned) + pixels;  // the sum, then the pixels
  std::deque<lane> all;
  for (int i = 0; i < lanes; ++i) all.emplace_back(pixels, result_bytes);
  for (int f = 0; f < in.frames() + lanes; ++f) {
    const lane& l = all[f % lanes];
    if (f >= lanes && f - lanes < in.frames()) {
      check(cudaStreamSynchronize(l.work));
      out.write(l.result.data(), result_bytes);
    }
    if (f < in.frames()) {
      in.read(l.frame.data());
      request_work(l, width, height);
    }
  }
  return 0;
}
