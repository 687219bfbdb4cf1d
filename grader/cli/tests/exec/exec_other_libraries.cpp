// Stand-ins for NVIDIA's libraries in exec_test.cpp. Programs link with them, or load them by their
// paths, as Python packages do.
extern "C" {
int cuInit(unsigned) { return 999; }
int cuDeviceGetCount(int*) { return 999; }
int cudaRuntimeGetVersion(int* version) {
  *version = 99999;
  return 0;
}
int nvJitLinkVersion(unsigned* major, unsigned* minor) {
  *major = *minor = 99;
  return 0;
}
}
