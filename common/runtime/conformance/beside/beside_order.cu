// Work that CUDA orders after a waiting kernel runs after it, by the rules of streams, the two
// default streams and events. Other work does not wait for it.
#include <cuda_runtime.h>

#include "common/runtime/conformance/beside/waiting.hpp"

namespace {

void nothing(void*) {}
void set_one(void* at) { *static_cast<int*>(at) = 1; }
void CUDART_CB set_two(cudaStream_t, cudaError_t, void* at) { *static_cast<int*>(at) = 2; }

// Fills, copies on the device and host functions of a stream come in its order.
void in_a_stream() {
  waiting w;
  cudaStream_t a = make_stream(), b = make_stream();
  int called = 0, called_back = 0;
  wait_for<<<1, 1, 0, a>>>(w.flag, 7, w.seen);
  EXPECT(cudaMemcpyAsync(w.seen + 1, w.seen, sizeof(int), cudaMemcpyDeviceToDevice, a),
         cudaSuccess);
  twice<<<1, 1, 0, a>>>(w.seen + 1);
  EXPECT(cudaMemsetAsync(w.seen, 1, sizeof(int), a), cudaSuccess);
  EXPECT(cudaLaunchHostFunc(a, set_one, &called), cudaSuccess);
  EXPECT(cudaStreamAddCallback(a, set_two, &called_back, 0), cudaSuccess);
  EXPECT(cudaMemcpyAsync(w.home, w.seen, 2 * sizeof(int), cudaMemcpyDeviceToHost, a), cudaSuccess);
  EXPECT_NOT_READY(cudaStreamQuery(a));
  EXPECT_TRUE(called == 0 && called_back == 0 && w.home[1] == -1);
  // Work of another stream is done meanwhile, a function of the host's too.
  int other = 0;
  EXPECT(cudaLaunchHostFunc(b, set_one, &other), cudaSuccess);
  EXPECT(cudaStreamSynchronize(b), cudaSuccess);
  EXPECT_TRUE(other == 1);
  set<<<1, 1, 0, b>>>(w.flag, 7);
  EXPECT(cudaStreamSynchronize(a), cudaSuccess);
  EXPECT_TRUE(called == 1);
  EXPECT_TRUE(called_back == 2);
  EXPECT_TRUE(w.home[0] == 0x01010101);
  EXPECT_TRUE(w.home[1] == 14);
  for (cudaStream_t s : {a, b}) EXPECT(cudaStreamDestroy(s), cudaSuccess);
}

// The legacy default stream and the blocking streams are ordered, also that of the thread; a
// stream that does not block is not.
void default_streams() {
  waiting w;
  cudaStream_t a, b = make_stream();
  EXPECT(cudaStreamCreate(&a), cudaSuccess);
  wait_for<<<1, 1, 0, a>>>(w.flag, 7, w.seen);
  twice<<<1, 1>>>(w.seen);
  twice<<<1, 1, 0, cudaStreamPerThread>>>(w.seen);
  EXPECT_NOT_READY(cudaStreamQuery(cudaStreamLegacy));
  EXPECT_NOT_READY(cudaStreamQuery(cudaStreamPerThread));
  EXPECT(cudaStreamQuery(b), cudaSuccess);
  set<<<1, 1, 0, b>>>(w.flag, 7);
  EXPECT(cudaStreamSynchronize(cudaStreamPerThread), cudaSuccess);
  EXPECT_TRUE(w.value(w.seen) == 28);
  EXPECT(cudaStreamQuery(nullptr), cudaSuccess);
  for (cudaStream_t s : {a, b}) EXPECT(cudaStreamDestroy(s), cudaSuccess);
}

// Two blocking streams do not wait for each other, nor does the stream of the thread for them.
void blocking_streams() {
  waiting w;
  cudaStream_t a, b;
  EXPECT(cudaStreamCreate(&a), cudaSuccess);
  EXPECT(cudaStreamCreate(&b), cudaSuccess);
  wait_for<<<1, 1, 0, a>>>(w.flag, 7, w.seen);
  wait_for<<<1, 1, 0, b>>>(w.flag + 1, 8, w.seen + 1);
  set<<<1, 1, 0, cudaStreamPerThread>>>(w.flag + 1, 8);
  EXPECT(cudaStreamSynchronize(b), cudaSuccess);
  EXPECT_NOT_READY(cudaStreamQuery(a));
  set<<<1, 1, 0, b>>>(w.flag, 7);
  EXPECT(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_TRUE(w.value(w.seen) == 7 && w.value(w.seen + 1) == 8);
  for (cudaStream_t s : {a, b}) EXPECT(cudaStreamDestroy(s), cudaSuccess);
}

// An event that is recorded again means its last recording; a wait for it keeps the first.
void events() {
  waiting w;
  cudaStream_t a = make_stream(), b = make_stream(), c = make_stream();
  cudaEvent_t first, second;
  EXPECT(cudaEventCreate(&first), cudaSuccess);
  EXPECT(cudaEventCreate(&second), cudaSuccess);
  EXPECT(cudaEventRecord(second, b), cudaSuccess);
  wait_for<<<1, 1, 0, a>>>(w.flag, 7, w.seen);
  EXPECT(cudaEventRecord(first, a), cudaSuccess);
  EXPECT(cudaStreamWaitEvent(c, first, 0), cudaSuccess);
  twice<<<1, 1, 0, c>>>(w.seen);
  EXPECT(cudaEventRecord(second, c), cudaSuccess);
  EXPECT_NOT_READY(cudaEventQuery(first));
  EXPECT_NOT_READY(cudaEventQuery(second));
  float ms = -1;
  EXPECT_NOT_READY(cudaEventElapsedTime(&ms, first, second));
  EXPECT(cudaEventRecord(first, b), cudaSuccess);
  EXPECT(cudaEventSynchronize(first), cudaSuccess);
  EXPECT_NOT_READY(cudaStreamQuery(c));
  set<<<1, 1, 0, b>>>(w.flag, 7);
  EXPECT(cudaEventSynchronize(second), cudaSuccess);
  EXPECT_TRUE(w.value(w.seen) == 14);
  EXPECT(cudaEventElapsedTime(&ms, first, second), cudaSuccess);
  EXPECT_TRUE(ms >= 0);
  for (cudaEvent_t e : {first, second}) EXPECT(cudaEventDestroy(e), cudaSuccess);
  for (cudaStream_t s : {a, b, c}) EXPECT(cudaStreamDestroy(s), cudaSuccess);
}

// Streams, events and pool memory may be given up while work that uses them is outstanding.
void given_up() {
  waiting w;
  cudaStream_t a = make_stream(), b = make_stream();
  cudaEvent_t done;
  int* scratch;
  EXPECT(cudaEventCreate(&done), cudaSuccess);
  EXPECT(cudaMallocAsync(&scratch, sizeof(int), a), cudaSuccess);
  EXPECT(cudaMemsetAsync(scratch, 0, sizeof(int), a), cudaSuccess);
  EXPECT(cudaStreamSynchronize(a), cudaSuccess);
  wait_for<<<1, 1, 0, a>>>(w.flag, 7, scratch);
  twice<<<1, 1, 0, a>>>(scratch);
  EXPECT(cudaMemcpyAsync(w.home, scratch, sizeof(int), cudaMemcpyDeviceToHost, a), cudaSuccess);
  EXPECT(cudaFreeAsync(scratch, a), cudaSuccess);
  EXPECT(cudaEventRecord(done, a), cudaSuccess);
  EXPECT(cudaEventDestroy(done), cudaSuccess);
  EXPECT(cudaStreamDestroy(a), cudaSuccess);
  set<<<1, 1, 0, b>>>(w.flag, 7);
  EXPECT(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_TRUE(w.home[0] == 14);
  EXPECT(cudaStreamDestroy(b), cudaSuccess);
}

// Invalid calls are refused at once, whatever is outstanding.
void mistakes() {
  waiting w;
  cudaStream_t a = make_stream(), b = make_stream();
  wait_for<<<1, 1, 0, a>>>(w.flag, 7, w.seen);
  twice<<<1, 2000, 0, a>>>(w.seen);
  EXPECT(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT(cudaMemcpyAsync(w.home, w.seen, 4, static_cast<cudaMemcpyKind>(9), a),
         cudaErrorInvalidMemcpyDirection);
  EXPECT(cudaLaunchHostFunc(a, nullptr, nullptr), cudaErrorInvalidValue);
  EXPECT(cudaLaunchHostFunc(a, nothing, nullptr), cudaSuccess);
  (void)cudaGetLastError();
  set<<<1, 1, 0, b>>>(w.flag, 7);
  EXPECT(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_TRUE(w.value(w.seen) == 7);
  for (cudaStream_t s : {a, b}) EXPECT(cudaStreamDestroy(s), cudaSuccess);
}

}  // namespace

int main() {
  load_kernels();
  in_a_stream();
  default_streams();
  blocking_streams();
  events();
  given_up();
  mistakes();
  return outcome("the order of streams beside kernels that wait");
}
