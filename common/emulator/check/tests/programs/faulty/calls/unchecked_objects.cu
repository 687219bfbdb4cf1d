// Calls about devices, streams, events, memory, kernels and graphs fail, and the program ignores
// their results. NVIDIA's runtime crashes on the stream and the event, which never existed.
#include <cstdint>

__global__ void fill(int* x) { x[threadIdx.x] = 1; }

// The function returns the result to its caller, which ignores it.
// finding 3: unchecked_error called says=cudaSetDevice()
cudaError_t choose_device(int number) { return cudaSetDevice(number); }

struct buffer {
  int* first = nullptr;
  // finding 1: unchecked_error called says=cudaErrorMemoryAllocation
  explicit buffer(std::size_t count) { cudaMalloc(&first, count * sizeof(int)); }
  ~buffer() { cudaFree(first); }
};

int main() {
  cudaSetDevice(7);  // finding 2: unchecked_error called says=cudaErrorInvalidDevice
  choose_device(-1);
  buffer too_large(std::size_t{1} << 58);
  int *x, *pinned;
  cudaMalloc(&x, 128);
  const auto no_stream = reinterpret_cast<cudaStream_t>(std::uintptr_t{0x1230});
  const auto no_event = reinterpret_cast<cudaEvent_t>(std::uintptr_t{0x4560});
  // finding 4: unchecked_error called says=cudaErrorInvalidResourceHandle
  cudaStreamSynchronize(no_stream);
  cudaMemsetAsync(x, 0, 128, no_stream);  // finding 5: unchecked_error called
  // finding 6: unchecked_error called says=cudaEventRecord()
  cudaEventRecord(no_event);
  cudaEventSynchronize(no_event);          // finding 7: unchecked_error called
  cudaStreamWaitEvent(nullptr, no_event);  // finding 8: unchecked_error called
  cudaStreamDestroy(no_stream);            // finding 9: unchecked_error called
  // finding 10: unchecked_error called says=cudaFuncSetAttribute()
  (void)cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20);
  // finding 11: unchecked_error called says=cudaHostAlloc()
  cudaHostAlloc(&pinned, 64, 0x80);
  cudaHostUnregister(x);  // finding 12: unchecked_error called
  // finding 13: unchecked_error called says=cudaGraphLaunch()
  cudaGraphLaunch(nullptr, nullptr);
  void* nothing[] = {&x};
  // finding 14: unchecked_error called says=cudaLaunchKernel()
  cudaLaunchKernel(reinterpret_cast<const void*>(fill), dim3(1), dim3(2048), nothing, 0, nullptr);
  cudaFree(x);
}
