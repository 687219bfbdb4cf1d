// The part of failures.cu that failures_test.py damages: a separate fat binary, with one popc.
__global__ void victim(int* out) { *out = __popc(*out); }

void launch_victim(int* out) { victim<<<1, 1>>>(out); }
