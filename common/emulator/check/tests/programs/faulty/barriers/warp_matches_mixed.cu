// Lanes that the same mask names execute different matches or reductions.
__global__ void matches(unsigned* out) {
  const int t = threadIdx.x;
  int equal;
  if (t % 2 == 1)
    out[t] = __match_any_sync(0xffffffff, t & 3);  // finding 1: barrier_divergence match
  else
    // finding 1: barrier_divergence match says=16_lanes_wait
    out[t] = __match_all_sync(0xffffffff, t & 2, &equal);
}

__global__ void reductions(unsigned* out) {
  const int t = threadIdx.x;
  if (t < 4)
    out[t] = __reduce_add_sync(0xffffffff, t);  // finding 2: barrier_divergence reduce
  else
    out[t] = __reduce_max_sync(0xffffffff, t);  // finding 2: barrier_divergence reduce
}

__global__ void barrier_and_match(unsigned* out) {
  const int t = threadIdx.x;
  if (t == 0) {
    out[32] = 1;
    __syncwarp();  // finding 3: barrier_divergence syncwarp
  }
  out[t] = __match_any_sync(0xffffffff, t & 1);  // finding 3: barrier_divergence match
}

int main() {
  unsigned* out;
  cudaMalloc(&out, 33 * sizeof(unsigned));
  matches<<<1, 32>>>(out);
  reductions<<<1, 32>>>(out);
  barrier_and_match<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
