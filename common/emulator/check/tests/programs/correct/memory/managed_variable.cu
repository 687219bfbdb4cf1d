// A __managed__ variable that the host and kernels use alternately.
__managed__ int counter = 3;

__global__ void count() { counter += 1; }

int main() {
  counter += 5;
  count<<<1, 1>>>();
  cudaDeviceSynchronize();
  counter *= 2;
  count<<<1, 1>>>();
  cudaDeviceSynchronize();
  return counter == 19 ? 0 : 1;
}
