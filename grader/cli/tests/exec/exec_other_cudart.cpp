// What exec_test.cpp loads in the place of NVIDIA's libcudart.so.13, as Python packages bring it.
extern "C" int cudaRuntimeGetVersion(int* version) {
  *version = 99999;
  return 0;
}
