// Managed memory: host and kernels use it alternately by one address. Prefetches and advice change
// only the values that queries return for them.
#include "common/emulator/tests/programs/program.hpp"

struct node {
  int value;
  node* next;
};

// Walks a list that the host built, and doubles what it holds.
__global__ void double_list(node* first, int* length) {
  int n = 0;
  for (node* at = first; at != nullptr; at = at->next, ++n) at->value *= 2;
  *length = n;
}

__global__ void add_index(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += i;
}

int main() {
  const int n = 100'000, links = 500;
  int* data = nullptr;
  check(cudaMallocManaged(&data, n * sizeof(int)));
  for (int i = 0; i < n; ++i) data[i] = 3;
  const cudaMemLocation on_device = {cudaMemLocationTypeDevice, 0};
  const cudaMemLocation on_host = {cudaMemLocationTypeHost, 0};
  check(cudaMemAdvise(data, n * sizeof(int), cudaMemAdviseSetPreferredLocation, on_device));
  check(cudaMemPrefetchAsync(data, n * sizeof(int), on_device, 0, nullptr));
  add_index<<<(n + 255) / 256, 256>>>(data, n);
  check(cudaMemPrefetchAsync(data, n * sizeof(int), on_host, 0, nullptr));
  finish();
  int preferred = 0, last = 0;
  check(cudaMemRangeGetAttribute(&preferred, sizeof preferred,
                                 cudaMemRangeAttributePreferredLocation, data, n * sizeof(int)));
  check(cudaMemRangeGetAttribute(&last, sizeof last, cudaMemRangeAttributeLastPrefetchLocation,
                                 data, n * sizeof(int)));
  cudaPointerAttributes attributes;
  check(cudaPointerGetAttributes(&attributes, data + 5));

  node* first = nullptr;
  for (int i = 0; i < links; ++i) {
    node* made = nullptr;
    check(cudaMallocManaged(&made, sizeof(node)));
    *made = {i, first};
    first = made;
  }
  int* length = nullptr;
  check(cudaMallocManaged(&length, sizeof(int)));
  double_list<<<1, 1>>>(first, length);
  finish();

  std::vector<long long> found = {preferred, last, attributes.type,
                                  attributes.hostPointer == data + 5, *length};
  std::vector<long long> expected = {0, cudaCpuDeviceId, cudaMemoryTypeManaged, 1, links};
  for (int i = 0; i < n; ++i) {
    found.push_back(data[i]);
    expected.push_back(3 + i);
  }
  for (int i = links - 1; first != nullptr; --i) {
    found.push_back(first->value);
    expected.push_back(2 * i);
    node* const next = first->next;
    check(cudaFree(first));
    first = next;
  }
  check(cudaFree(data));
  check(cudaFree(length));
  return compare("managed memory", found, expected);
}
