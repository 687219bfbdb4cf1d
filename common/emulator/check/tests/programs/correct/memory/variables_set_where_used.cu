// Variables have no value on some paths, but no result depends on them there. All of this is right.
struct entry {
  double weight;
  int key;
  char letter;  // followed by padding
};

// The condition is tested twice, and once together with another condition.
__global__ void asked_twice(const int* x, int* y, int n) {
  int value;
  const bool has = threadIdx.x < n;
  if (has) value = x[threadIdx.x];
  y[threadIdx.x] = -1;
  if (has && value >= 0) y[threadIdx.x] = value + 1;
  if (!has || value < 100) atomicAdd(y + 64, 1);
  const int chosen = has ? value * 3 + 1 : 7;
  y[threadIdx.x] += chosen;
}

// A member that is never read is copied together with the others.
__global__ void members(const int* x, float4* y, entry* e, int n) {
  float4 v;
  entry of_thread;
  if (threadIdx.x < n) {
    v.x = x[threadIdx.x];
    of_thread.key = x[threadIdx.x];
  } else {
    v.x = 0;
    of_thread.key = -1;
  }
  v.y = v.x * 2;
  v.z = 1;
  of_thread.weight = v.y;
  y[threadIdx.x] = v;
  e[threadIdx.x] = of_thread;
}

// Each iteration fetches the next element. The last iteration fetches none.
__global__ void fetched_ahead(const int* x, int* y, int n) {
  int next, sum = 0;
  if (n > 0) next = x[threadIdx.x];
  for (int i = 0; i < n; ++i) {
    const int now = next;
    if (i + 1 < n) next = x[(i + 1) * 64 + threadIdx.x];
    sum += now;
  }
  y[threadIdx.x] = sum;
}

// All elements of a tile are exchanged, but only existing elements are used.
__global__ void exchanged(const int* x, int* y, int n) {
  __shared__ int tile[64];
  int value;
  if (threadIdx.x < n) value = x[threadIdx.x];
  tile[threadIdx.x] = value;
  __syncthreads();
  const int from = 63 - threadIdx.x;
  const int other = tile[from];
  const int neighbour = __shfl_xor_sync(0xffffffffu, value, 1);
  if (from < n) y[threadIdx.x] = other;
  if ((threadIdx.x ^ 1) < n) y[threadIdx.x] = neighbour;
}

// A local array is set element by element, in an order that the compiler does not know.
__global__ void local_array(const int* x, int* y, int n) {
  int count[16], used[16];
  for (int k = 0; k < 16; ++k) count[(k * 5 + n) & 15] = k;
  for (int i = 0; i < n; ++i) ++count[x[i] & 15];
  for (int i = 0; i < n; ++i) used[i & 15] = x[i] + i;
  for (int i = 0; i < n && i < 16; ++i) y[threadIdx.x + i] = count[i & 15] + used[i];
}

// The index of an element that was found.
__global__ void found(const int* x, int* y, int n) {
  int at;
  bool is_found = false;
  for (int i = 0; i < n; ++i)
    if (x[i] == int(threadIdx.x)) at = i, is_found = true;
  if (is_found && x[at] > 0) y[at] = 1;
  y[threadIdx.x + 64] = is_found ? at : -1;
}

// Bytes and bits of one word are set one after the other, and only where they are used.
__global__ void parts_of_words(const unsigned* x, unsigned* y, int n) {
  struct {
    unsigned low : 8, middle : 8, high : 16;
  } bits;
  unsigned char c[4];
  const bool has = threadIdx.x < n;
  if (has) bits.low = x[threadIdx.x] & 255, c[1] = x[threadIdx.x] >> 8;
  if (has) bits.high = x[threadIdx.x] >> 16;
  if (has) y[threadIdx.x] = bits.low + bits.high + c[1];
}

int main() {
  int *x, *y;
  float4* v;
  entry* e;
  const int bytes = 4096 * sizeof(int);
  cudaMalloc(&x, bytes);
  cudaMalloc(&y, bytes);
  cudaMalloc(&v, 64 * sizeof(float4));
  cudaMalloc(&e, 64 * sizeof(entry));
  cudaMemset(x, 0, bytes);
  cudaMemset(y, 0, bytes);
  asked_twice<<<1, 64>>>(x, y, 40);
  members<<<1, 64>>>(x, v, e, 40);
  for (const int n : {0, 1, 5}) fetched_ahead<<<1, 64>>>(x, y, n);
  exchanged<<<1, 64>>>(x, y, 41);
  local_array<<<1, 1>>>(x, y, 12);
  found<<<1, 1>>>(x, y, 12);
  parts_of_words<<<1, 64>>>(reinterpret_cast<unsigned*>(x), reinterpret_cast<unsigned*>(y), 40);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  cudaFree(v);
  cudaFree(e);
}
