// The integer intrinsics once more, built with -G: every value goes through local memory, every
// intrinsic is a call.
#include "common/runtime/conformance/math_integer.cu"
