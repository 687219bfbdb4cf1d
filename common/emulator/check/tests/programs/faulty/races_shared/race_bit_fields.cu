// Two bit fields share a word. Setting one field writes back the other field's old value.
struct state {
  unsigned ready : 1;
  unsigned done : 1;
};

__global__ void set(int* out) {
  __shared__ state s;
  if (threadIdx.x == 0) s = state{0, 0};
  __syncthreads();
  if (threadIdx.x == 0) s.ready = 1;  // finding: race any object=s
  if (threadIdx.x == 32) s.done = 1;  // finding: race any
  __syncthreads();
  if (threadIdx.x == 0) *out = s.ready + s.done;
}

int main() {
  int* out;
  cudaMalloc(&out, sizeof(int));
  set<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
