// Pitched memory: copies and fills of rectangles, whole and in part, in all directions.
#include "common/emulator/tests/programs/program.hpp"

// Each row adds its own number.
__global__ void add_row(char* data, std::size_t pitch, int width) {
  int* const row = reinterpret_cast<int*>(data + blockIdx.x * pitch);
  for (int i = threadIdx.x; i < width; i += blockDim.x) row[i] += blockIdx.x;
}

int main() {
  constexpr int width = 77, rows = 9;
  constexpr std::size_t row_bytes = width * sizeof(int);
  std::vector<int> host(width * rows), expected(width * rows), found(width * rows);
  for (int i = 0; i < width * rows; ++i) host[i] = i;
  char *device = nullptr, *other = nullptr;
  std::size_t pitch = 0, other_pitch = 0;
  check(cudaMallocPitch(&device, &pitch, row_bytes, rows));
  check(cudaMallocPitch(&other, &other_pitch, 2 * row_bytes, rows));
  check(cudaMemset2D(device, pitch, 0, row_bytes, rows));
  check(
      cudaMemcpy2D(device, pitch, host.data(), row_bytes, row_bytes, rows, cudaMemcpyHostToDevice));
  add_row<<<rows, 32>>>(device, pitch, width);
  // A part: 20 columns from column 5 of rows 2 to 5, to the same place of the other memory.
  const auto at = [](char* base, std::size_t p, int row, int column) {
    return base + row * p + column * sizeof(int);
  };
  check(cudaMemset2DAsync(other, other_pitch, 0x11, row_bytes, rows, nullptr));
  check(cudaMemcpy2DAsync(at(other, other_pitch, 2, 5), other_pitch, at(device, pitch, 2, 5), pitch,
                          20 * sizeof(int), 4, cudaMemcpyDeviceToDevice, nullptr));
  check(cudaMemcpy2D(found.data(), row_bytes, other, other_pitch, row_bytes, rows,
                     cudaMemcpyDeviceToHost));
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < width; ++column) {
      const bool inside = row >= 2 && row < 6 && column >= 5 && column < 25;
      expected[row * width + column] = inside ? row * width + column + row : 0x11111111;
    }
  }
  if (compare("part of pitched memory", found, expected) != 0) return 1;
  if (pitch < row_bytes || pitch % 32 != 0) return 1;
  const cudaError_t narrow = cudaMemcpy2D(device, row_bytes - 4, host.data(), row_bytes, row_bytes,
                                          rows, cudaMemcpyHostToDevice);
  if (narrow != cudaErrorInvalidPitchValue) return 1;
  check(cudaFree(device));
  check(cudaFree(other));
  return 0;
}
