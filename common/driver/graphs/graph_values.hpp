// Batch memory operation nodes, for the calls that take nodes of any type.
#pragma once

#include "common/driver/graphs/graph_parameters.hpp"

namespace stepwise::driver {

// CUDA_ERROR_INVALID_VALUE for unknown operations, or more operations than a batch can have.
CUresult add_value_node(CUgraphNode* made, CUgraph to, const CUgraphNode* before,
                        const CUgraphEdgeData* data, std::size_t count,
                        const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2* p,
                        std::source_location at = std::source_location::current());
CUresult set_value_node(CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2* p,
                        std::source_location at = std::source_location::current());
// Changes a node of an executable graph. The kinds of its operations cannot change.
CUresult set_executable_value_node(CUgraphExec executable, CUgraphNode node,
                                   const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2* p,
                                   std::source_location at = std::source_location::current());

// The parameters of such a node, or null if the node has a different type.
inline const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2* value_parameters(const CUgraphNodeParams* p) {
  const bool is_one = p && runtime::number_of(p->type) == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
  return is_one ? &p->memOp : nullptr;
}

}  // namespace stepwise::driver
