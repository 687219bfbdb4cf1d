// Each thread sums a row of a matrix, and the last block changes the first column before the other
// blocks have ended.
constexpr int columns = 100;

__global__ void sum_rows(int* matrix, int* sums) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0;
  for (int column = 0; column < columns; ++column)
    sum += matrix[row * columns + column];  // finding: race reads
  sums[row] = sum;
  if (blockIdx.x == gridDim.x - 1)
    matrix[threadIdx.x * columns] = 0;  // finding: race writes count=32
}

int main() {
  int *matrix, *sums;
  cudaMalloc(&matrix, 96 * columns * sizeof(int));  // finding: allocated
  cudaMalloc(&sums, 96 * sizeof(int));
  cudaMemset(matrix, 0, 96 * columns * sizeof(int));
  sum_rows<<<3, 32>>>(matrix, sums);
  cudaDeviceSynchronize();
  cudaFree(matrix);
  cudaFree(sums);
}
