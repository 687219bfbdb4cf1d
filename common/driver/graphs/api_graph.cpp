// Graphs, their nodes and edges, and their user objects: wrappers of the runtime's functions.
#include "common/driver/graphs/graph_parameters.hpp"

using namespace stepwise;
using namespace stepwise::driver;

namespace {

const cudaGraphEdgeData* edge_data(const CUgraphEdgeData* data) {
  return same_as<const cudaGraphEdgeData>(data);
}
cudaGraphEdgeData* edge_data(CUgraphEdgeData* data) { return same_as<cudaGraphEdgeData>(data); }

}  // namespace

CUresult cuGraphCreate(CUgraph* made, unsigned flags) {
  return answer([&] { return cudaGraphCreate(made, flags); });
}

CUresult cuGraphDestroy(CUgraph graph) {
  return answer([&] { return cudaGraphDestroy(graph); });
}

CUresult cuGraphClone(CUgraph* clone, CUgraph original) {
  return answer([&] { return cudaGraphClone(clone, original); });
}

CUresult cuGraphNodeFindInClone(CUgraphNode* found, CUgraphNode original, CUgraph clone) {
  return answer([&] { return cudaGraphNodeFindInClone(found, original, clone); });
}

CUresult cuGraphDestroyNode(CUgraphNode node) {
  return answer([&] { return cudaGraphDestroyNode(node); });
}

CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
  return answer([&] { return cudaGraphNodeGetType(node, same_as<cudaGraphNodeType>(type)); });
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  return answer([&] { return cudaGraphGetNodes(graph, nodes, count); });
}

CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  return answer([&] { return cudaGraphGetRootNodes(graph, nodes, count); });
}

// Here and below, the functions without a version in their name lack edge data.
CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode* from, CUgraphNode* to,
                            CUgraphEdgeData* data, size_t* count) {
  return answer([&] { return cudaGraphGetEdges(graph, from, to, edge_data(data), count); });
}
STEPWISE_NAMED("cuGraphGetEdges", get_edges_10, CUgraph, CUgraphNode*, CUgraphNode*, size_t*);
CUresult get_edges_10(CUgraph graph, CUgraphNode* from, CUgraphNode* to, size_t* count) {
  return cuGraphGetEdges(graph, from, to, nullptr, count);
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* data,
                                       size_t* count) {
  return answer([&] { return cudaGraphNodeGetDependencies(node, nodes, edge_data(data), count); });
}
STEPWISE_NAMED("cuGraphNodeGetDependencies", get_dependencies_10, CUgraphNode, CUgraphNode*,
               size_t*);
CUresult get_dependencies_10(CUgraphNode node, CUgraphNode* nodes, size_t* count) {
  return cuGraphNodeGetDependencies(node, nodes, nullptr, count);
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode* nodes,
                                         CUgraphEdgeData* data, size_t* count) {
  return answer(
      [&] { return cudaGraphNodeGetDependentNodes(node, nodes, edge_data(data), count); });
}
STEPWISE_NAMED("cuGraphNodeGetDependentNodes", get_dependents_10, CUgraphNode, CUgraphNode*,
               size_t*);
CUresult get_dependents_10(CUgraphNode node, CUgraphNode* nodes, size_t* count) {
  return cuGraphNodeGetDependentNodes(node, nodes, nullptr, count);
}

CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData* data, size_t count) {
  return answer([&] { return cudaGraphAddDependencies(graph, from, to, edge_data(data), count); });
}
STEPWISE_NAMED("cuGraphAddDependencies", add_dependencies_10, CUgraph, const CUgraphNode*,
               const CUgraphNode*, size_t);
CUresult add_dependencies_10(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                             size_t count) {
  return cuGraphAddDependencies(graph, from, to, nullptr, count);
}

CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                      const CUgraphEdgeData* data, size_t count) {
  return answer(
      [&] { return cudaGraphRemoveDependencies(graph, from, to, edge_data(data), count); });
}
STEPWISE_NAMED("cuGraphRemoveDependencies", remove_dependencies_10, CUgraph, const CUgraphNode*,
               const CUgraphNode*, size_t);
CUresult remove_dependencies_10(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                size_t count) {
  return cuGraphRemoveDependencies(graph, from, to, nullptr, count);
}

CUresult cuGraphDebugDotPrint(CUgraph graph, const char* path, unsigned flags) {
  return answer([&] { return cudaGraphDebugDotPrint(graph, path, flags); });
}

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* made, CUgraph graph,
                                        CUcontext owner, unsigned first, unsigned flags) {
  return answer([&] {
    const CUresult there = check_context(owner);
    if (there != CUDA_SUCCESS) return there;
    return result_of(cudaGraphConditionalHandleCreate(same_as<cudaGraphConditionalHandle>(made),
                                                      graph, first, flags));
  });
}

CUresult cuUserObjectCreate(CUuserObject* made, void* object, CUhostFn destroy, unsigned references,
                            unsigned flags) {
  return answer([&] { return cudaUserObjectCreate(made, object, destroy, references, flags); });
}

CUresult cuUserObjectRetain(CUuserObject object, unsigned count) {
  return answer([&] { return cudaUserObjectRetain(object, count); });
}

CUresult cuUserObjectRelease(CUuserObject object, unsigned count) {
  return answer([&] { return cudaUserObjectRelease(object, count); });
}

CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned count,
                                 unsigned flags) {
  return answer([&] { return cudaGraphRetainUserObject(graph, object, count, flags); });
}

CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned count) {
  return answer([&] { return cudaGraphReleaseUserObject(graph, object, count); });
}
