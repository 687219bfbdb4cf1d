// Conversion of node parameters between the driver API and the runtime API.
//
// idea    Most structures of the two APIs have the same bytes. The driver has two ways to identify
//         a kernel, and copies have memory types at both ends instead of a direction.
// tests   ../tests/graph_test.cpp, common/runtime/conformance/driver/driver_*.cu
#pragma once

#include "common/driver/driver.hpp"

namespace stepwise::driver {

// Converts a pointer to a structure of one API to the equivalent structure of the other.
template <class To, class From>
To* same_as(From* from) {
  static_assert(sizeof(To) == sizeof(From));
  return reinterpret_cast<To*>(from);
}

// CUDA_ERROR_INVALID_CONTEXT if the context does not exist, or if it is null and none is current.
CUresult check_context(CUcontext asked);

// `p` is the beginning of either version of the parameters. If it has no function, the kernel is
// `kernel`.
cudaKernelNodeParams kernel_parameters(const CUDA_KERNEL_NODE_PARAMS_v1& p,
                                       CUkernel kernel = nullptr);
CUresult kernel_parameters(const cudaKernelNodeParams& from, CUDA_KERNEL_NODE_PARAMS_v1& p);

// CUDA_ERROR_INVALID_VALUE for an unknown memory type, an unknown array, or a width that is not a
// whole number of texels.
CUresult copy_parameters(const CUDA_MEMCPY3D& c, cudaMemcpy3DParms& p);
CUresult copy_parameters(const cudaMemcpy3DParms& p, CUDA_MEMCPY3D& c);

// A node of any type. The errors are those above, and CUDA_ERROR_NOT_SUPPORTED for node types that
// the runtime lacks.
CUresult node_parameters(const CUgraphNodeParams& from, cudaGraphNodeParams& p);
// Copies the output parameters: addresses, and the bodies of conditional nodes.
void take_answers(const cudaGraphNodeParams& p, CUgraphNodeParams& to);

}  // namespace stepwise::driver
