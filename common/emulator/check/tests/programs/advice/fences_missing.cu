// Threads pass data by a flag or a lock, but a fence is missing or too narrow. The advice names the
// fence and the place where it belongs.
__device__ int value, ready;

__global__ void reader_lacks(int* out) {
  if (blockIdx.x == 0) {
    value = 42;  // finding 1: race writes says=after_the_wait_at_line_11,_or_load_the_flag
    __threadfence();
    atomicExch(&ready, 1);
  } else {
    while (atomicAdd(&ready, 0) == 0) {
    }
    *out = value;  // finding 1: race reads
  }
}

__global__ void writer_lacks(int* data, volatile int* flag, int* out) {
  if (blockIdx.x == 0) {
    // finding 2: race writes says=and_the_write_of_the_flag_at_line_21,_or_store
    *data = 42;
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    __threadfence();
    *out = *data;  // finding 2: race reads
  }
}

__global__ void both_lack(int* data, volatile int* flag, int* out) {
  if (blockIdx.x == 0) {
    // finding 3: race writes says=_at_line_34,_and_another_one_after_the_wait_at_line_36.
    *data = 42;
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    *out = *data;  // finding 3: race reads
  }
}

__global__ void too_narrow(int* data, volatile int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 42;  // finding 4: race writes says=instead_of_the_fence_at_line_45
    __threadfence_block();
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    __threadfence();
    *out = *data;  // finding 4: race reads
  }
}

__global__ void bare_lock(int* lock, int* total) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      // finding 5: race any any says=after_the_lock_is_taken_at_line_58,_and_another
      *total += 1;
      atomicExch(lock, 0);
      done = true;
    }
  }
}

__device__ void take(int* lock) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
}

__device__ void leave(int* lock) {
  __threadfence();
  atomicExch(lock, 0);
}

__global__ void half_lock(int* lock, int* total) {
  take(lock);
  *total += 1;  // finding 6: race any any says=after_the_lock_is_taken_at_line_78.
  leave(lock);
}

__global__ void last_block(unsigned* finished, int* partial, int* out) {
  __shared__ bool last;
  // finding 7: race writes says=and_the_atomic_operation_at_line_87,_and_another
  partial[blockIdx.x] = blockIdx.x;
  if (threadIdx.x == 0) last = atomicAdd(finished, 1) == gridDim.x - 1;
  __syncthreads();
  if (last) {
    int total = 0;
    for (int b = 0; b < gridDim.x; ++b) total += partial[b];  // finding 7: race reads
    *out = total;
  }
}

__global__ void within_block(int* out) {
  __shared__ int data;
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    data = out[1];  // finding 8: race writes says=after_the_wait_at_line_106
    __threadfence_block();
    flag = 1;
  } else if (threadIdx.x == 32) {
    while (flag == 0) {
    }
    *out = data;  // finding 8: race reads
  }
}

__global__ void handed_back(int* data, volatile int* flag, int* out) {
  if (blockIdx.x == 0) {
    // finding 9: race reads says=the_read_at_line_115_and_the_write_of_the_flag
    *out = *data;
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    __threadfence();
    *data = 3;  // finding 9: race writes
  }
}

// A counter that hands out slots is not a flag.
__global__ void places(unsigned* used, int* out, int* sum) {
  const unsigned place = atomicAdd(used, 1);
  if (place < 4) out[place] = place;
  sum[0] = place;  // finding 10: race any any says=let_one_thread_store_it
}

int main() {
  void* memory;
  cudaMalloc(&memory, 1024);
  cudaMemset(memory, 0, 1024);
  int* const x = static_cast<int*>(memory);
  reader_lacks<<<2, 1>>>(x);
  writer_lacks<<<2, 1>>>(x + 1, x + 2, x);
  both_lack<<<2, 1>>>(x + 3, x + 4, x);
  too_narrow<<<2, 1>>>(x + 5, x + 6, x);
  bare_lock<<<4, 1>>>(x + 7, x + 8);
  half_lock<<<4, 1>>>(x + 9, x + 10);
  last_block<<<4, 1>>>(static_cast<unsigned*>(memory) + 11, x + 16, x);
  within_block<<<1, 64>>>(x);
  handed_back<<<2, 1>>>(x + 12, x + 13, x);
  places<<<4, 1>>>(static_cast<unsigned*>(memory) + 14, x + 32, x + 40);
  cudaDeviceSynchronize();
  cudaFree(memory);
}
