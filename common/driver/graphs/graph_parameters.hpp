// What the driver API says of a node, in the words of the runtime's API, and back.
//
// idea    Most structures of the two agree in their bytes. Kernels are named in two ways, and
//         copies have memory types for their ends where the runtime has a direction.
// tests   ../tests/graph_test.cpp, common/runtime/conformance/driver/driver_*.cu
#pragma once

#include "common/driver/driver.hpp"

namespace stepwise::driver {

// A program's pointer to a structure of one API as one to the same structure of the other's.
template <class To, class From>
To* same_as(From* from) {
  static_assert(sizeof(To) == sizeof(From));
  return reinterpret_cast<To*>(from);
}

// CUDA_ERROR_INVALID_CONTEXT for a context that does not exist, or null where none is current.
CUresult check_context(CUcontext asked);

// `p` begins with the members of CUDA_KERNEL_NODE_PARAMS_v1. The kernel is `kernel` if it names no
// function.
cudaKernelNodeParams kernel_parameters(const CUDA_KERNEL_NODE_PARAMS_v1& p,
                                       CUkernel kernel = nullptr);
CUresult kernel_parameters(const cudaKernelNodeParams& from, CUDA_KERNEL_NODE_PARAMS_v1& p);

// CUDA_ERROR_INVALID_VALUE for an unknown type of memory, an array that there is not, or a width
// that is not one of texels.
CUresult copy_parameters(const CUDA_MEMCPY3D& c, cudaMemcpy3DParms& p);
CUresult copy_parameters(const cudaMemcpy3DParms& p, CUDA_MEMCPY3D& c);

// A node of any type. The errors are those above, and CUDA_ERROR_NOT_SUPPORTED for nodes of a
// type that the runtime has not.
CUresult node_parameters(const CUgraphNodeParams& from, cudaGraphNodeParams& p);
// What the runtime answered by it: addresses, and the bodies of conditional nodes.
void take_answers(const cudaGraphNodeParams& p, CUgraphNodeParams& to);

}  // namespace stepwise::driver
