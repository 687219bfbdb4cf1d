// The name of a __device__ variable, in host code, is no address on the device.
__device__ int table[32];

__global__ void fill(int* x) {
  x[threadIdx.x] = 1;  // finding: wrong_pointer writes count=32
}

int main() {
  fill<<<1, 32>>>(table);
  cudaDeviceSynchronize();
}
