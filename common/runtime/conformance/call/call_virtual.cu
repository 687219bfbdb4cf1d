// Virtual functions of objects that kernels make with new, in one launch and use in the next.
#include "common/emulator/tests/programs/program.hpp"

struct shape {
  __device__ virtual int area() const = 0;
  __device__ virtual ~shape() {}
};
struct square : shape {
  int side;
  __device__ explicit square(int s) : side(s) {}
  __device__ int area() const override { return side * side; }
};
struct rectangle : shape {
  int width, height;
  __device__ rectangle(int w, int h) : width(w), height(h) {}
  __device__ int area() const override { return width * height; }
};

__global__ void make(shape** shapes, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  shapes[i] = i % 3 == 0 ? static_cast<shape*>(new square(i)) : new rectangle(i, 7);
}

__global__ void measure(shape** shapes, int* area, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) area[i] = shapes[i]->area();
}

__global__ void drop(shape** shapes, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) delete shapes[i];
}

int main() {
  const int n = 500;
  device_array<shape*> shapes(n);
  device_array<int> area(n);
  make<<<4, 128>>>(shapes.get(), n);
  measure<<<4, 128>>>(shapes.get(), area.get(), n);
  drop<<<4, 128>>>(shapes.get(), n);
  finish();
  std::vector<int> want(n);
  for (int i = 0; i < n; ++i) want[i] = i % 3 == 0 ? i * i : i * 7;
  return compare("virtual functions", area.values(), want);
}
