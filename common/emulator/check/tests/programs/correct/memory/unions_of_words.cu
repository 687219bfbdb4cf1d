// A union accessed as float, int, bytes and halves; every byte is written before it is read.
union view {
  float f;
  unsigned u;
  unsigned char b[4];
  short h[2];
};

__global__ void look(const float* x, unsigned* out) {
  __shared__ view views[32];
  const int i = threadIdx.x;
  view& v = views[i];
  v.f = x[i];
  const unsigned sign = v.b[3] >> 7;
  v.h[0] = 0;
  v.b[0] = static_cast<unsigned char>(i);
  __syncwarp();
  out[i] = views[31 - i].u | sign;
}

int main() {
  float host[32], *x;
  unsigned words[32], *out;
  for (int i = 0; i < 32; ++i) host[i] = 1;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&out, sizeof words);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  look<<<1, 32>>>(x, out);
  cudaMemcpy(words, out, sizeof words, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(out);
  return words[0] == 0x3f80001f && words[31] == 0x3f800000 ? 0 : 1;
}
