/* What our libcudart.so.13 offers beyond the CUDA runtime API. A program looks these up with
 * dlsym(RTLD_DEFAULT, ...): under NVIDIA's runtime they are absent. */
#pragma once
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

/* Layout of stepwise::execution_counters (common/device/device.hpp), field by field. */
struct stepwise_counters {
  uint64_t launches, warp_instructions, lane_instructions;
  uint64_t global_load_bytes, global_store_bytes, shared_load_bytes, shared_store_bytes;
  uint64_t atomics, barriers;
};

/* "emulated": kernels run on the CPU. */
const char* stepwiseDeviceKind(void);
/* Counters since the last reset; waits for the device. Returns 0, or 1 if there are none. */
int stepwiseGetCounters(struct stepwise_counters* counters);
void stepwiseResetCounters(void);
/* The sentence behind the last error that a call returned on this thread; "" if none. Valid until
 * the thread's next call, or until the error has been asked for. */
const char* stepwiseLastErrorMessage(void);
/* Returns what cudaPeekAtLastError would. Checks do not take it for the program's own check. */
int stepwiseLastError(void);
/* Gives an allocation a name for reports. */
void stepwiseNameAllocation(const void* address, const char* name);
/* Between the two, a function under test uses its caller's arrays and events: cudaDeviceReset,
 * which would destroy them, fails. The end drops the host arrays. */
void stepwiseBeginCall(void);
void stepwiseEndCall(void);
/* Adds an array in host memory that belongs to the current call, which copies must not leave, and
 * the place of the judge's copy of it (0 without a judge). */
void stepwiseHostArray(const void* first, uint64_t bytes, uint64_t place);
/* Adds the content of a file that the current call reads, or the size of a file that it writes, and
 * the place of the judge's copy. The program copies between the device and memory of its own. */
void stepwiseFile(const void* content, uint64_t bytes, uint64_t place, int is_result);
/* From now on checks take these bytes of device memory for unwritten. Nothing in a plain run. */
void stepwiseForgetContents(const void* address, uint64_t bytes);

#ifdef __cplusplus
}
#endif
