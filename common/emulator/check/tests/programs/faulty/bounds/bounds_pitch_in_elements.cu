// The pitch is in bytes, but added to a float pointer it counts in floats.
__global__ void clear(float* image, size_t pitch, int width) {
  float* const row = image + threadIdx.y * pitch;  // should be bytes
  if (threadIdx.x < width) row[threadIdx.x] = 0;   // finding: out_of_bounds writes count=180
}

int main() {
  const int width = 60, height = 4;
  float* image;
  size_t pitch;
  cudaMallocPitch(&image, &pitch, width * sizeof(float), height);  // finding: allocated
  clear<<<1, dim3(64, height)>>>(image, pitch, width);
  cudaDeviceSynchronize();
  cudaFree(image);
}
