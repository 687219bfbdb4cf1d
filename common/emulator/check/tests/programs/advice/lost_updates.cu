// Statements read, change and write a word that other threads also change. The advice names the
// lost update and the atomic function that replaces the statement.
__device__ int counter;
__device__ float sum;

__global__ void shared_counter(int* out) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  // finding 1: race any any says=adds_and_writes_in_three_steps,_so_another_thread's_addition_is
  count += 1;
  __syncthreads();
  if (threadIdx.x == 0) *out = count;
}

__global__ void subtracted(int* x) {
  *x -= 2;  // finding 2: race any any says=addition_is_lost:_use_atomicAdd()
}

__global__ void of_blocks() {
  ++counter;  // finding 3: race any any says=addition_is_lost:_use_atomicAdd()
}

__global__ void of_floats(const float* x) {
  // finding 4: race any any says=addition_is_lost:_use_atomicAdd()
  for (int i = threadIdx.x; i < 256; i += blockDim.x) sum += x[i];
}

__global__ void histogram(const int* x, int* bins) {
  // finding 5: race any any says=use_atomicAdd(),_or_check_the_index
  for (int i = threadIdx.x; i < 256; i += blockDim.x) bins[x[i] & 3]++;
}

__global__ void bits(unsigned* set) {
  set[threadIdx.x / 32] |= 1u << threadIdx.x % 32;  // finding 6: race any any says=use_atomicOr()
}

__global__ void most(int* x) {
  *x = max(*x, static_cast<int>(threadIdx.x));  // finding 7: race any any says=use_atomicMax()
}

__global__ void compared(int* x) {
  const int mine = threadIdx.x;
  // finding 8: race any any says=reads,_compares_and_writes_in_three_steps
  if (mine > *x) *x = mine;
}

__global__ void product(float* x) {
  *x *= 1.5f;  // finding 9: race any any says=use_an_atomic_operation_or_a_reduction
}

__global__ void bytes(unsigned char* x) {
  *x += 3;  // finding 10: race any any says=use_an_atomic_operation_or_a_reduction
}

__global__ void two_warps(int* x) {
  if (threadIdx.x % 32 == 0) {
    const int old = *x;  // finding 14: race reads
    // finding 11: race any any says=Lines_58_and_60_read,_add_and_write; 14: race writes
    *x = old + 5;
  }
}

// No two threads update the same word here: a barrier is missing.
__global__ void other_word(int* x) {
  __shared__ int words[64];
  const int i = threadIdx.x;
  words[i] = i;
  __syncthreads();
  // finding 12: race any any object=words says=need_not_run_in_step
  if (i < 16) words[i] += words[i + 1];
  x[i] = words[i];
}

__global__ void not_initialised_yet(int* x) {
  __shared__ int words[64];
  const int i = threadIdx.x;
  words[63 - i] = i;  // finding 13: race writes says=where_all_threads_of_the_block_reach_it
  words[i] += 1;      // finding 13: race any
  x[i] = words[i];
}

// With the same instruction, one thread reads the word to update it, the other only to use it.
__global__ void read_by_two(int* x) {
  if (threadIdx.x % 32 != 0) return;
  const int old = *x;  // finding 15: race reads
  // finding 15: race writes says=where_all_threads
  if (threadIdx.x == 0) *x = old + 5;
  x[1 + threadIdx.x] = old;
}

__global__ void read_by_blocks(int* x) {
  if (threadIdx.x == 0)
    x[blockIdx.x] += 1;  // finding 16: race writes says=or_write_to_another_array
  // finding 16: race reads
  x[64 + blockIdx.x * 32 + threadIdx.x] = x[0];
}

int main() {
  void* memory;
  cudaMalloc(&memory, 1024 * sizeof(int));
  cudaMemset(memory, 0, 1024 * sizeof(int));
  int* const x = static_cast<int*>(memory);
  shared_counter<<<1, 64>>>(x);
  subtracted<<<1, 64>>>(x);
  of_blocks<<<4, 1>>>();
  of_floats<<<1, 64>>>(static_cast<float*>(memory) + 512);
  histogram<<<1, 64>>>(x + 512, x);
  bits<<<1, 64>>>(static_cast<unsigned*>(memory) + 4);
  most<<<1, 64>>>(x + 8);
  compared<<<2, 64>>>(x + 9);
  product<<<1, 64>>>(static_cast<float*>(memory) + 10);
  bytes<<<1, 64>>>(static_cast<unsigned char*>(memory) + 44);
  two_warps<<<1, 64>>>(x + 12);
  other_word<<<1, 64>>>(x + 64);
  not_initialised_yet<<<1, 64>>>(x + 64);
  read_by_two<<<1, 64>>>(x + 128);
  read_by_blocks<<<4, 32>>>(x + 128);
  cudaDeviceSynchronize();
  cudaFree(memory);
}
