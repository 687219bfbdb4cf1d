// Rows with padding between them: no access touches the padding, and copies leave it out.
__global__ void invert(unsigned char* image, size_t pitch, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = threadIdx.y;
  if (x < width && y < height) image[y * pitch + x] = 255 - image[y * pitch + x];
}

int main() {
  const int width = 50, height = 6;
  unsigned char host[width * height], *image;
  for (int i = 0; i < width * height; ++i) host[i] = i % 200;
  size_t pitch;
  cudaMallocPitch(&image, &pitch, width, height);
  cudaMemcpy2D(image, pitch, host, width, width, height, cudaMemcpyHostToDevice);
  invert<<<2, dim3(32, 8)>>>(image, pitch, width, height);
  cudaMemcpy2D(host, width, image, pitch, width, height, cudaMemcpyDeviceToHost);
  cudaFree(image);
  return host[0] == 255 && host[299] == 156 ? 0 : 1;
}
