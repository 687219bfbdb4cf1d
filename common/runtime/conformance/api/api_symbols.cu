// Variables of the device: first values, copies to and from them in part, constants, addresses.
#include "expect.hpp"

struct point {
  short x;
  double y;
};

__device__ int table[5] = {1, 2, 3};
__constant__ point corners[3] = {{1, 0.5}, {2, 1.5}, {3, 2.5}};
__device__ const char* text = "written by the compiler";
__device__ float untouched[1000];

__global__ void use(double* out, int* indirect) {
  double sum = 0;
  for (const point& p : corners) sum += p.x * p.y;
  out[0] = sum;
  for (int i = 0; i < 5; ++i) table[i] *= 10;
  *indirect += 5;  // table[4], by its address
  int length = 0;
  while (text[length] != '\0') ++length;
  out[1] = length + untouched[999];
}

int main() {
  int values[5] = {};
  EXPECT(cudaMemcpyFromSymbol(values, table, sizeof values), cudaSuccess);
  EXPECT_TRUE(values[0] == 1 && values[2] == 3 && values[4] == 0);
  const int four = 4;
  EXPECT(cudaMemcpyToSymbol(table, &four, sizeof four, 3 * sizeof(int)), cudaSuccess);
  const point moved = {7, 3.5};
  EXPECT(cudaMemcpyToSymbol(corners, &moved, sizeof moved, sizeof(point)), cudaSuccess);
  void* address = nullptr;
  std::size_t bytes = 0;
  EXPECT(cudaGetSymbolAddress(&address, table), cudaSuccess);
  EXPECT(cudaGetSymbolSize(&bytes, table), cudaSuccess);
  EXPECT_TRUE(bytes == sizeof values);
  device_array<double> out(2);
  use<<<1, 1>>>(out.get(), static_cast<int*>(address) + 4);
  finish();
  EXPECT_TRUE(out.values()[0] == 1 * 0.5 + 7 * 3.5 + 3 * 2.5);
  EXPECT_TRUE(out.values()[1] == 23);
  EXPECT(cudaMemcpyFromSymbolAsync(values, table, sizeof values, 0, cudaMemcpyDeviceToHost),
         cudaSuccess);
  EXPECT(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_TRUE(values[0] == 10 && values[3] == 40 && values[4] == 5);
  EXPECT(cudaMemset(address, 0, sizeof(int)), cudaSuccess);
  EXPECT(cudaMemcpy(values, address, sizeof(int), cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_TRUE(values[0] == 0);
  EXPECT(cudaMemcpyToSymbol(table, values, sizeof values, 4), cudaErrorInvalidValue);
  static int no_symbol;
  EXPECT(cudaGetSymbolAddress(&address, static_cast<const void*>(&no_symbol)),
         cudaErrorInvalidSymbol);
  EXPECT(cudaGetLastError(), cudaErrorInvalidSymbol);
  return outcome("variables of the device");
}
