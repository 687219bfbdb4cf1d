// In host code, the name of a __device__ variable is not a device address.
__device__ int table[32];

__global__ void fill(int* x) {
  x[threadIdx.x] = 1;  // finding: wrong_pointer writes count=32
}

int main() {
  fill<<<1, 32>>>(table);
  cudaDeviceSynchronize();
}
