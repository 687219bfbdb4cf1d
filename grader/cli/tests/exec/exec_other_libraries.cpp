// What exec_test.cpp loads in the place of NVIDIA's libraries, as Python packages bring them.
extern "C" int cudaRuntimeGetVersion(int* version) {
  *version = 99999;
  return 0;
}
extern "C" int nvJitLinkVersion(unsigned* major, unsigned* minor) {
  *major = *minor = 99;
  return 0;
}
