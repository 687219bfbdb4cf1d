// Freeing a null pointer is not an error.
int main() {
  int* x = nullptr;
  if (cudaFree(x) != cudaSuccess) return 1;
  if (cudaFree(nullptr) != cudaSuccess) return 1;
  if (cudaFreeHost(nullptr) != cudaSuccess) return 1;
}
