// Threads that do not reach a barrier. The advice names the statement that is responsible.

__global__ void in_else(int* x, int n) {
  const int i = threadIdx.x;
  if (i >= n) {  // finding 1: goes says=inside_the_condition_at_line_5
    x[i] = 0;
  } else {
    x[i] = 1;
    __syncthreads();  // finding 1: exited_at_barrier waits
    x[i] = 2;
  }
}

__global__ void in_tree(int* x) {
  const int i = threadIdx.x;
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (i < s) {  // finding 2: goes says=End_the_condition_before_the_barrier
      x[i] += s;
      __syncthreads();  // finding 2: exited_at_barrier waits
    }
  }
}

__global__ void in_case(int* x) {
  const int i = threadIdx.x;
  switch (i / 32) {  // finding 3: goes says=inside_the_condition_at_line_26
    case 0:
      x[i] = 1;
      __syncthreads();  // finding 3: exited_at_barrier waits
      break;
    case 1:
      x[i] = 2;
      break;
    case 2:
      x[i] = 7;
      break;
    case 3:
      x[i] = 9;
      break;
    default:
      x[i] = 0;
  }
}

__global__ void after_and(int* x, int n) {
  const int i = threadIdx.x;
  // finding 4: exited_at_barrier waits goes says=in_an_operand_of_&&,_||_or_?_at_line_48
  const bool any = i < n && __syncthreads_or(x[i] == 3);
  if (any) x[i] = 1;
}

__global__ void after_question_mark(int* x, int n) {
  const int i = threadIdx.x;
  // finding 5: exited_at_barrier waits goes says=in_a_statement_of_its_own
  x[i] = i < n ? __syncthreads_count(x[i] > 3) : 0;
}

__global__ void in_while(int* x, int n) {
  const int i = threadIdx.x;
  int k = 0;
#pragma unroll 1
  while (k < i / 32 + n) {  // finding 6: leaves says=the_loop_at_line_62
    x[i] += k++;
    __syncthreads();  // finding 6: exited_at_barrier waits
  }
}

__global__ void after_break(int* x, int n) {
  const int i = threadIdx.x;
  for (int k = 0; k < n; ++k) {
    x[i] += k;
    if (k > i % 3) {  // finding 7: leaves says=the_break_at_line_72_takes_them_out_of_its_loop
      x[i] = 0;
      break;
    }
    __syncthreads();  // finding 7: exited_at_barrier waits
  }
}

__global__ void after_continue(int* x, int n) {
  const int i = threadIdx.x;
#pragma unroll 1
  for (int k = 0; k < n; ++k) {
    if (i % 2 == 0)  // finding 8: continues says=Do_not_skip_a_barrier_by_continue
      continue;
    x[i] += k;
    __syncthreads();  // finding 8: exited_at_barrier waits
  }
}

__global__ void after_return(int* x, int n) {
  const int i = threadIdx.x;
  if (i == 0) x[i] = 1;  // all threads stay
  if (n > 1000) __syncthreads();
  if (i >= n) {  // finding 9: leaves says=Do_not_return_before_the_last_barrier
    x[i] = 0;
    return;
  }
  x[i] = 1;
  __syncthreads();  // finding 9: exited_at_barrier waits
  x[i] = 2;
}

// The other threads wait at the next barrier.
__global__ void before_another(int* x, int n) {
  const int i = threadIdx.x;
  if (i < n) {
    x[i] = 1;
    __syncthreads();  // finding 10: barrier_divergence waits says=inside_the_condition_at_line_107
  }
  x[i] += 1;
  __syncthreads();  // finding 10: waits
  x[i] += 1;
}

__device__ __noinline__ void meet(int* x) {
  x[threadIdx.x] = 1;
  __syncthreads();  // finding 11: exited_at_barrier waits
  x[threadIdx.x] = 2;
}

__global__ void around_a_call(int* x, int n) {
  const int i = threadIdx.x;
  if (i < n) meet(x);  // finding 11: goes says=inside_the_condition_at_line_124
}

__device__ void add_up(int* x, int n) {
  const int i = threadIdx.x;
  if (i < n) {
    x[i] = 1;
    __syncthreads();
    x[i] = 2;
  }
}

__global__ void in_an_inlined_function(int* x, int n) {
  // finding 12: exited_at_barrier waits goes says=inside_the_condition_at_line_129
  add_up(x, n);
}

int main() {
  int* x;
  cudaMalloc(&x, 128 * sizeof(int));
  cudaMemset(x, 0, 128 * sizeof(int));
  in_else<<<1, 128>>>(x, 40);
  in_tree<<<1, 128>>>(x);
  in_case<<<1, 128>>>(x);
  after_and<<<1, 128>>>(x, 40);
  after_question_mark<<<1, 128>>>(x, 40);
  in_while<<<1, 128>>>(x, 2);
  after_break<<<1, 128>>>(x, 5);
  after_continue<<<1, 128>>>(x, 5);
  after_return<<<1, 128>>>(x, 40);
  before_another<<<1, 64>>>(x, 32);
  around_a_call<<<1, 128>>>(x, 40);
  in_an_inlined_function<<<1, 128>>>(x, 40);
  cudaDeviceSynchronize();
  cudaFree(x);
}
