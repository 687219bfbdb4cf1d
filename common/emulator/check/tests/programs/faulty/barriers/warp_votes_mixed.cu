// Lanes that the same mask names execute different votes, and the votes complete each other.
__global__ void in_branch(int* out) {
  int all = -1;
  const int t = threadIdx.x;
  // finding 1: barrier_divergence all says=lane_0_waits
  if (t == 0) all = __all_sync(0xffffffff, t == 0);
  const int any = __any_sync(0xffffffff, t == 3);  // finding 1: barrier_divergence sync
  out[t] = 10 * all + any;
}

// Two calls of one kind: when lanes leave the loop, their vote completes the one in the loop.
__global__ void in_loop(int* out) {
  const int t = threadIdx.x;
  int n = 0;
  // finding 2: barrier_divergence sync
  for (int i = 0; i < t; ++i) n += __any_sync(0xffffffff, i == 3);
  out[t] = n + __any_sync(0xffffffff, t == 0);  // finding 2: barrier_divergence sync
}

// A warp barrier is not a vote.
__global__ void barrier(int* out) {
  const int t = threadIdx.x;
  if (t < 8) {
    out[t + 32] = t;
    __syncwarp();  // finding 3: barrier_divergence syncwarp says=lanes_0_to_7_wait
  }
  out[t] = __ballot_sync(0xffffffff, t & 1);  // finding 3: barrier_divergence ballot
}

int main() {
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  in_branch<<<1, 16>>>(out);
  in_loop<<<1, 32>>>(out);
  barrier<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
