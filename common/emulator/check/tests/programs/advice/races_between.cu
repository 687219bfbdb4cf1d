// Two lines race in many threads. The advice must be enough for all of these threads.

// The first race is within a warp; the others are between warps.
__global__ void tree(int* x) {
  __shared__ int sums[128];
  const int i = threadIdx.x;
  sums[i] = x[i];
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2)
    // finding 1: race any any object=sums says=where_all_threads_of_the_block_reach_it
    if (i < s) sums[i] += sums[i + s];
  if (i == 0) x[0] = sums[0];
}

// Stores of one line race in different iterations. A barrier helps, but an atomic does not.
__global__ void strided(int* x) {
  __shared__ int pairs[128];
  const int i = threadIdx.x;
  pairs[i] = x[i];
  __syncthreads();
  for (int s = 1; s < blockDim.x; s *= 2)
    // finding 2: race any any object=pairs says=where_all_threads_of_the_block_reach_it
    if (2 * s * i < blockDim.x) pairs[2 * s * i] += pairs[2 * s * i + s];
  if (i == 0) x[0] = pairs[0];
}

// All races are within warps.
__global__ void last_warp(int* x) {
  __shared__ int rest[128];
  const int i = threadIdx.x;
  rest[i] = x[i];
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    // finding 3: race any any object=rest says=need_not_run_in_step
    if (i < s) rest[i] += rest[i + s];
    if (s > 32) __syncthreads();
  }
  if (i == 0) x[0] = rest[0];
}

__global__ void all_threads(int* x) {
  x[0] = threadIdx.x;  // finding 4: race writes writes says=let_one_thread_store_it
}

__global__ void every_warp(int* x) {
  if (threadIdx.x % 32 == 0)
    x[0] = threadIdx.x;  // finding 5: race writes writes says=let_one_thread_store_it
}

// Only one of the two arrays is read across warps. The same line reads both.
__global__ void two_arrays(int* x) {
  __shared__ int own[128], all[128];
  const int i = threadIdx.x;
  own[i] = x[i];  // finding 6: race writes object=own says=where_all_threads_of_the_block_reach_it
  all[i] = x[i];  // finding 7: race writes object=all says=where_all_threads_of_the_block_reach_it
  x[i] = own[i ^ 1] + all[127 - i];  // finding 6: race reads; 7: race reads
}

// First one warp, then four. The advice must be enough for the second launch.
__global__ void grows(int* x) {
  __shared__ int line[128];
  const int i = threadIdx.x, last = blockDim.x - 1;
  line[i] = i;  // finding 8: race writes object=line says=where_all_threads_of_the_block_reach_it
  x[i] = line[last - i];  // finding 8: race reads
}

int main() {
  int* x;
  cudaMalloc(&x, 128 * sizeof(int));  // finding 4: allocated; 5: allocated
  cudaMemset(x, 0, 128 * sizeof(int));
  tree<<<1, 128>>>(x);
  strided<<<1, 128>>>(x);
  last_warp<<<1, 128>>>(x);
  all_threads<<<1, 128>>>(x);
  every_warp<<<1, 128>>>(x);
  two_arrays<<<1, 128>>>(x);
  grows<<<1, 32>>>(x);
  grows<<<1, 128>>>(x);
  grows<<<1, 32>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
