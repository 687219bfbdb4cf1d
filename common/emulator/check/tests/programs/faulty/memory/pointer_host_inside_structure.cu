// The structure was copied to the device, but not the array that it points to.
struct image {
  const float* pixels;
  int count;
};

__global__ void brighten(const image* in, float* out) {
  out[threadIdx.x] = in->pixels[threadIdx.x] + 1;  // finding: wrong_pointer reads count=32
}

int main() {
  static float pixels[32];
  const image host = {pixels, 32};
  image* in;
  float* out;
  cudaMalloc(&in, sizeof(image));
  cudaMalloc(&out, sizeof pixels);
  cudaMemcpy(in, &host, sizeof host, cudaMemcpyHostToDevice);
  brighten<<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
