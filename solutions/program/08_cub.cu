// program 08_cub: CUB adds up the pixels.
//
// idea    A sum is a solved problem: cub::DeviceReduce::Sum() is correct for every number of
//         pixels, and needs no tuning. Without memory, the call returns the size of the memory
//         that it needs. With memory, it requests the work in a stream.
// watch   The pixels are bytes, but their sum needs 32 bits. CUB adds with the type of the result.
// gain    None: the sum is a small part of the time, and its memory must be allocated. CUB
//         saves the work of writing and testing a kernel.
// needs   temporary memory per lane, because calls in different streams may overlap.
// source  CUB documentation, cub::DeviceReduce.
#include <cub/device/device_reduce.cuh>
#include <deque>

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
  explicit pinned_bytes(std::size_t count) { check(cudaMallocHost(&data_, count)); }
  ~pinned_bytes() { cudaFreeHost(data_); }
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

// The size of the memory that CUB needs to add up an array.
std::size_t temporary_bytes(int pixels) {
  std::size_t bytes = 0;
  //> todo: ask cub::DeviceReduce::Sum() for the size, by calling it without memory.
  const unsigned char* const none = nullptr;
  check(cub::DeviceReduce::Sum(nullptr, bytes, none, static_cast<unsigned*>(nullptr), pixels));
  //<
  return bytes;
}

// The stream and the buffers of a frame in flight.
struct lane {
  lane(std::size_t pixels, std::size_t result_bytes)
      : frame(pixels),
        result(result_bytes),
        device_frame(pixels),
        device_result(result_bytes),
        temporary(temporary_bytes(static_cast<int>(pixels))) {}

  const pinned_bytes frame, result;
  const device_bytes device_frame, device_result, temporary;
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
  smooth<<<tiles_of(width, height), tile, 0, l.work>>>(l.device_frame.data(), smoothed, width,
                                                       height);
  check(cudaGetLastError());
  //> todo: let CUB add up the pixels.
  std::size_t bytes = temporary_bytes(pixels);
  check(cub::DeviceReduce::Sum(l.temporary.data(), bytes, smoothed, sum, pixels, l.work));
  //<
  check(cudaMemcpyAsync(l.result.data(), l.device_result.data(), result_bytes,
                        cudaMemcpyDeviceToHost, l.work));
}

int main(int argument_count, char** arguments) {
  if (argument_count != 3) return usage();
  frame_reader in(arguments[1]);
  result_writer out(arguments[2]);
  const int width = in.width(), height = in.height(), pixels = width * height;
  const std::size_t result_bytes = sizeof(unsigned) + pixels;  // the sum, then the pixels
  constexpr int lanes = 3;
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
