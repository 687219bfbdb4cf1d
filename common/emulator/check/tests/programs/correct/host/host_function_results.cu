// A host function reads the results of earlier work, and sets a flag that the host polls.
__global__ void fill(int* x, int value) { x[threadIdx.x] = value; }

namespace {

int* shared;
volatile int flag = 0, seen = 0;

void look(void*) {
  seen = seen + shared[3];
  shared[3] = 0;
  flag = 1;
}

void look_too(cudaStream_t, cudaError_t, void*) { look(nullptr); }

}  // namespace

int main() {
  cudaMallocManaged(&shared, 128);
  cudaStream_t s;
  cudaStreamCreate(&s);
  fill<<<1, 32, 0, s>>>(shared, 7);
  cudaLaunchHostFunc(s, look, nullptr);
  while (flag == 0) {
  }
  seen = seen + shared[4];
  flag = 0;
  fill<<<1, 32, 0, s>>>(shared, 8);
  cudaStreamAddCallback(s, look_too, nullptr, 0);
  while (flag == 0) {
  }
  seen = seen + shared[4];
  cudaStreamSynchronize(s);
  cudaStreamDestroy(s);
  cudaFree(shared);
  return seen == 30 ? 0 : 1;
}
