// cuRAND generators, with large tables as initial values.
#include <curand_kernel.h>

__global__ void generate(float* out) {
  curandState xorwow;
  curand_init(1234, threadIdx.x, 0, &xorwow);
  out[0] = curand_uniform(&xorwow) + curand_normal(&xorwow);
  curandStatePhilox4_32_10_t philox;
  curand_init(1, 2, 3, &philox);
  out[1] = curand_uniform4(&philox).x + curand_poisson(&philox, 3.0);
  curandStateMRG32k3a_t mrg;
  curand_init(1, 2, 3, &mrg);
  out[2] = curand_log_normal(&mrg, 0.0f, 1.0f);
}
