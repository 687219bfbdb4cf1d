// Every way to wait for work before its results are read.
#include <atomic>

__global__ void set(int* x, int value) { x[threadIdx.x] = value; }

namespace {

int errors = 0, round_number = 0;

struct memory {
  int *device, *pinned, *managed;
};

void begin(const memory& m, cudaStream_t s) {
  ++round_number;
  set<<<1, 32, 0, s>>>(m.device, round_number);
  cudaMemcpyAsync(m.pinned, m.device, 128, cudaMemcpyDeviceToHost, s);
  set<<<1, 32, 0, s>>>(m.managed, round_number);
}

void look(const memory& m) {
  for (int i = 0; i < 32; ++i)
    errors += m.pinned[i] != round_number || m.managed[i] != round_number;
  m.pinned[1] = m.managed[1] = 0;
}

void in_stream(const memory& m, cudaStream_t s) {
  cudaEvent_t done;
  cudaEventCreate(&done);
  begin(m, s);
  cudaStreamSynchronize(s);
  look(m);
  begin(m, s);
  while (cudaStreamQuery(s) == cudaErrorNotReady) {
  }
  look(m);
  begin(m, s);
  cudaDeviceSynchronize();
  look(m);
  begin(m, s);
  cudaEventRecord(done, s);
  cudaEventSynchronize(done);
  look(m);
  begin(m, s);
  cudaEventRecord(done, s);
  while (cudaEventQuery(done) == cudaErrorNotReady) {
  }
  look(m);
  begin(m, s);
  int one[32];
  cudaMemcpyAsync(one, m.device, 128, cudaMemcpyDeviceToHost, s);  // not pinned: the call waits
  errors += one[0] != round_number;
  look(m);
  begin(m, s);
  void* something;
  cudaMalloc(&something, 8);
  cudaFree(something);
  look(m);
  cudaEventDestroy(done);
}

}  // namespace

int main() {
  memory m;
  cudaMalloc(&m.device, 128);
  cudaMallocHost(&m.pinned, 128);
  cudaMallocManaged(&m.managed, 128);
  cudaStream_t blocking, non_blocking;
  cudaStreamCreate(&blocking);
  cudaStreamCreateWithFlags(&non_blocking, cudaStreamNonBlocking);
  for (const cudaStream_t s : {cudaStream_t{}, cudaStreamPerThread, blocking, non_blocking})
    in_stream(m, s);
  // The legacy default stream waits for blocking streams.
  int one[32];
  begin(m, blocking);
  cudaMemcpy(one, m.device, 128, cudaMemcpyDeviceToHost);
  look(m);
  cudaStreamDestroy(blocking);
  cudaStreamDestroy(non_blocking);
  cudaFree(m.device);
  cudaFreeHost(m.pinned);
  cudaFree(m.managed);
  return errors;
}
