// The other file of api_templates.cu.
#include "api_templates.hpp"

void scale_elsewhere(float* data, int n, float factor) {
  scale<float><<<(n + 31) / 32, 32>>>(data, n, factor);
}

void mark_elsewhere(int* place) { mark<<<1, 1>>>(place, 22); }
