// Copies and fills fail, and the program ignores their results.
#include <cstdio>

__constant__ float weights[16];
__device__ float results[16];

__global__ void use(float* x) { x[threadIdx.x] = weights[threadIdx.x]; }

int main() {
  float *d, host[17] = {1};
  // finding 1: unchecked_error called says=use_cudaMemcpyToSymbol
  cudaMemcpy(weights, host, 64, cudaMemcpyHostToDevice);
  cudaMemcpyToSymbol(weights, host, 65);  // finding 2: unchecked_error called says=65_bytes
  // finding 3: unchecked_error called says=cudaMemcpyFromSymbol()
  cudaMemcpyFromSymbol(host, results, 4, 64);
  cudaMalloc(&d, 64);
  use<<<1, 16>>>(d);
  // finding 4: unchecked_error called says=cudaMemcpy()
  cudaMemcpy(host, d + 1, 64, cudaMemcpyDeviceToHost);
  // finding 5: unchecked_error called says=cudaMemcpyAsync()
  cudaMemcpyAsync(d, host, 68, cudaMemcpyHostToDevice, nullptr);
  // finding 6: unchecked_error called says=cudaErrorInvalidPitchValue
  cudaMemcpy2D(d, 8, host, 16, 16, 4, cudaMemcpyHostToDevice);
  cudaMemset(d, 0, 65);       // finding 7: unchecked_error called says=cudaMemset()
  cudaMemsetAsync(d, 0, 65);  // finding 8: unchecked_error called says=cudaMemsetAsync()
  // finding 9: unchecked_error called says=cudaErrorInvalidMemcpyDirection
  cudaMemcpy(d, host, 64, static_cast<cudaMemcpyKind>(9));
  cudaMemcpy3DParms box = {};
  box.srcPtr = make_cudaPitchedPtr(host, 16, 16, 4);
  box.dstPtr = make_cudaPitchedPtr(d, 16, 16, 4);
  box.extent = make_cudaExtent(17, 4, 1);
  box.kind = cudaMemcpyHostToDevice;
  cudaMemcpy3D(&box);              // finding 10: unchecked_error called says=cudaMemcpy3D()
  cudaMemcpyPeer(d, 1, d, 0, 64);  // finding 11: unchecked_error called
  for (int i = 0; i < 3; ++i) {
    cudaMemset(d, i, 100);  // finding 12: unchecked_error called count=3
  }
  cudaMemcpy(host, d, 64, cudaMemcpyDeviceToHost);
  std::printf("%g, not 1\n", host[0]);
  cudaFree(d);
}
