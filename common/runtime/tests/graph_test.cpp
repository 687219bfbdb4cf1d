// Tests graphs on the fake device: order, launches, lanes, captures that fail, memory accounts and
// user objects. ../conformance/graph/ has tests with kernels.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <thread>

#include "common/runtime/api/api.hpp"
#include "common/runtime/graphs/graph_memory.hpp"
#include "common/runtime/tests/capture.hpp"
#include "common/runtime/tests/fake_device.hpp"

using namespace stepwise;

namespace graph_test {
namespace {

struct clean {
  clean() { fake::reset(); }
  ~clean() { fake::reset(); }
};

std::vector<int> called;
void CUDART_CB note(void* data) {
  called.push_back(static_cast<int>(reinterpret_cast<long>(data)));
}

cudaGraphNode_t add_call(cudaGraph_t g, int number, std::vector<cudaGraphNode_t> before = {}) {
  const cudaHostNodeParams p = {note, reinterpret_cast<void*>(static_cast<long>(number))};
  cudaGraphNode_t made = nullptr;
  REQUIRE(cudaGraphAddHostNode(&made, g, before.data(), before.size(), &p) == cudaSuccess);
  return made;
}

cudaGraph_t new_graph() {
  cudaGraph_t g = nullptr;
  REQUIRE(cudaGraphCreate(&g, 0) == cudaSuccess);
  return g;
}

std::vector<int> run(cudaGraph_t g) {
  cudaGraphExec_t e = nullptr;
  REQUIRE(cudaGraphInstantiate(&e, g, 0) == cudaSuccess);
  called.clear();
  CHECK(cudaGraphLaunch(e, nullptr) == cudaSuccess);
  CHECK(cudaGraphExecDestroy(e) == cudaSuccess);
  return called;
}

TEST_CASE_FIXTURE(
    clean,
    "nodes run after the nodes that they depend on, whatever the order in which they were added") {
  const cudaGraph_t g = new_graph();
  const auto a = add_call(g, 1), b = add_call(g, 2), c = add_call(g, 3);
  CHECK(cudaGraphAddDependencies(g, &c, &a, nullptr, 1) == cudaSuccess);
  CHECK(cudaGraphAddDependencies(g, &a, &b, nullptr, 1) == cudaSuccess);
  CHECK(run(g) == std::vector<int>{3, 1, 2});
  CHECK(cudaGraphRemoveDependencies(g, &c, &a, nullptr, 1) == cudaSuccess);
  CHECK(run(g) == std::vector<int>{1, 2, 3});
  CHECK(cudaGraphDestroyNode(a) == cudaSuccess);
  CHECK(cudaGraphDestroyNode(a) == cudaErrorInvalidValue);
  CHECK(run(g) == std::vector<int>{2, 3});
  CHECK(cudaGraphDestroy(g) == cudaSuccess);
  CHECK(cudaGraphDestroy(g) == cudaErrorInvalidValue);
  std::size_t count = 0;
  CHECK(cudaGraphGetNodes(g, nullptr, &count) == cudaErrorInvalidValue);
  cudaGraphNodeType type;
  CHECK(cudaGraphNodeGetType(b, &type) == cudaErrorInvalidValue);
}

TEST_CASE_FIXTURE(clean, "a cycle is found when the graph is instantiated, also inside a child") {
  const cudaGraph_t inner = new_graph(), outer = new_graph();
  const auto a = add_call(inner, 1), b = add_call(inner, 2, {a});
  CHECK(cudaGraphAddDependencies(inner, &b, &a, nullptr, 1) == cudaSuccess);
  cudaGraphExec_t e = nullptr;
  cudaGraphInstantiateParams p = {};
  CHECK(cudaGraphInstantiateWithParams(&e, inner, &p) == cudaErrorInvalidValue);
  CHECK(p.result_out == cudaGraphInstantiateInvalidStructure);
  CHECK((p.errNode_out == a || p.errNode_out == b));
  cudaGraphNode_t child;
  CHECK(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, inner) == cudaSuccess);
  CHECK(cudaGraphInstantiate(&e, outer, 0) == cudaErrorInvalidValue);
  CHECK(cudaGraphInstantiate(&e, outer, 1u << 20) == cudaErrorInvalidValue);
  cudaGraphDestroy(inner);
  cudaGraphDestroy(outer);
}

TEST_CASE_FIXTURE(clean, "lists are truncated, or filled with null") {
  const cudaGraph_t g = new_graph();
  const auto a = add_call(g, 1);
  const cudaGraphEdgeData data = {1, 0, cudaGraphDependencyTypeProgrammatic, {}};
  cudaGraphNode_t b;
  cudaGraphNodeParams empty = {};
  empty.type = cudaGraphNodeTypeEmpty;
  CHECK(cudaGraphAddNode(&b, g, &a, &data, 1, &empty) == cudaSuccess);
  cudaGraphNode_t nodes[3] = {b, b, b};
  std::size_t count = 3;
  CHECK(cudaGraphGetNodes(g, nodes, &count) == cudaSuccess);
  CHECK(count == 2);
  CHECK(nodes[0] == a);
  CHECK(nodes[2] == nullptr);
  count = 1;
  CHECK(cudaGraphGetNodes(g, nodes, &count) == cudaSuccess);
  CHECK(count == 1);
  CHECK(cudaGraphNodeGetDependencies(b, nodes, nullptr, &count) == cudaErrorLossyQuery);
  cudaGraphEdgeData found;
  CHECK(cudaGraphNodeGetDependencies(b, nodes, &found, &count) == cudaSuccess);
  CHECK(found.from_port == 1);
  CHECK(cudaGraphNodeGetDependencies(b, nullptr, nullptr, nullptr) == cudaErrorInvalidValue);
  const cudaGraphNode_t twice[] = {a, a};
  CHECK(cudaGraphAddEmptyNode(&b, g, twice, 2) == cudaErrorInvalidValue);
  CHECK(cudaGraphAddEmptyNode(&b, g, nullptr, 1) == cudaErrorInvalidValue);
  cudaGraphDestroy(g);
}

TEST_CASE_FIXTURE(clean, "an executable graph outlives its graph, and its launch outlives it") {
  static cudaGraphExec_t e;
  const cudaGraph_t g = new_graph();
  const auto a = add_call(g, 1);
  const cudaHostNodeParams ends = {[](void*) { CHECK(cudaGraphExecDestroy(e) == cudaSuccess); },
                                   nullptr};
  cudaGraphNode_t b;
  CHECK(cudaGraphAddHostNode(&b, g, &a, 1, &ends) == cudaSuccess);
  add_call(g, 2, {b});
  CHECK(cudaGraphInstantiate(&e, g, 0) == cudaSuccess);
  CHECK(cudaGraphDestroy(g) == cudaSuccess);
  called.clear();
  CHECK(cudaGraphLaunch(e, nullptr) == cudaSuccess);
  CHECK(called == std::vector<int>{1, 2});
  CHECK(cudaGraphLaunch(e, nullptr) == cudaErrorInvalidValue);
}

TEST_CASE_FIXTURE(clean, "an update pairs nodes by their edges and returns where they differ") {
  const auto diamond = [](int base, bool joined) {
    const cudaGraph_t g = new_graph();
    const auto a = add_call(g, base), b = add_call(g, base + 1, {a});
    const auto c = add_call(g, base + 2, {a});
    joined ? add_call(g, base + 3, {b, c}) : add_call(g, base + 3, {b});
    return g;
  };
  const cudaGraph_t first = diamond(10, true), same = diamond(20, true), other = diamond(30, false);
  cudaGraphExec_t e;
  REQUIRE(cudaGraphInstantiate(&e, first, 0) == cudaSuccess);
  cudaGraphExecUpdateResultInfo info;
  CHECK(cudaGraphExecUpdate(e, other, &info) == cudaErrorGraphExecUpdateFailure);
  CHECK(info.result == cudaGraphExecUpdateErrorTopologyChanged);
  CHECK(cudaGraphExecUpdate(e, same, &info) == cudaSuccess);
  called.clear();
  cudaGraphLaunch(e, nullptr);
  CHECK(called == std::vector<int>{20, 21, 22, 23});
  CHECK(cudaGraphExecUpdate(e, nullptr, &info) == cudaErrorInvalidValue);
  CHECK(info.result == cudaGraphExecUpdateError);
  cudaGraphExecDestroy(e);
  for (const cudaGraph_t g : {first, same, other}) cudaGraphDestroy(g);
}

TEST_CASE_FIXTURE(clean,
                  "a capture forbids calls in its own and in other threads, as its mode says") {
  cudaStream_t stream;
  REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
  cudaGraph_t g = nullptr;
  void* memory = nullptr;
  const auto allocates = [&] {
    cudaError_t found = cudaSuccess;
    std::thread([&] {
      found = cudaMalloc(&memory, 16);
      if (found == cudaSuccess) cudaFree(memory);
    }).join();
    return found;
  };
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
  CHECK(allocates() == cudaSuccess);
  CHECK(cudaMalloc(&memory, 16) == cudaErrorStreamCaptureUnsupported);
  CHECK(cudaStreamEndCapture(stream, &g) == cudaErrorStreamCaptureInvalidated);
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  CHECK(allocates() == cudaErrorStreamCaptureUnsupported);
  CHECK(cudaStreamEndCapture(stream, &g) == cudaErrorStreamCaptureInvalidated);
  CHECK(g == nullptr);
  // A thread may take the risk itself.
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  CHECK(cudaThreadExchangeStreamCaptureMode(&mode) == cudaSuccess);
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  CHECK(cudaMalloc(&memory, 16) == cudaSuccess);
  CHECK(cudaStreamEndCapture(stream, &g) == cudaSuccess);
  CHECK(cudaThreadExchangeStreamCaptureMode(&mode) == cudaSuccess);
  cudaFree(memory);
  cudaGraphDestroy(g);
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  CHECK(cudaStreamDestroy(stream) == cudaErrorStreamCaptureUnsupported);
  CHECK(cudaStreamEndCapture(stream, &g) == cudaErrorStreamCaptureInvalidated);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}

TEST_CASE_FIXTURE(clean, "a capture that the program never ends is discarded with the device") {
  cudaStream_t stream;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  CHECK(cudaDeviceReset() == cudaSuccess);
  void* memory = nullptr;
  CHECK(cudaMalloc(&memory, 16) == cudaSuccess);
  CHECK(cudaFree(memory) == cudaSuccess);
}

TEST_CASE_FIXTURE(
    clean, "user objects live as long as their graph and the executable graphs made from it") {
  static int destroyed;
  destroyed = 0;
  cudaUserObject_t object;
  const auto count = [](void*) { ++destroyed; };
  CHECK(cudaUserObjectCreate(&object, nullptr, count, 1, 0) == cudaErrorInvalidValue);
  CHECK(cudaUserObjectCreate(&object, nullptr, count, 1, cudaUserObjectNoDestructorSync) ==
        cudaSuccess);
  const cudaGraph_t g = new_graph();
  CHECK(cudaGraphRetainUserObject(g, object, 1, cudaGraphUserObjectMove) == cudaSuccess);
  cudaGraphExec_t e;
  CHECK(cudaGraphInstantiate(&e, g, 0) == cudaSuccess);
  CHECK(cudaGraphDestroy(g) == cudaSuccess);
  CHECK(destroyed == 0);
  CHECK(cudaGraphExecDestroy(e) == cudaSuccess);
  CHECK(destroyed == 1);
  CHECK(cudaUserObjectRelease(object, 1) == cudaErrorInvalidValue);
}

TEST_CASE_FIXTURE(clean, "a graph can be written for Graphviz") {
  const cudaGraph_t g = new_graph();
  const auto a = add_call(g, 1);
  add_call(g, 2, {a});
  const char* const path = "graph_test.dot";
  CHECK(cudaGraphDebugDotPrint(g, path, cudaGraphDebugDotFlagsVerbose) == cudaSuccess);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  CHECK(text.str().find("digraph") == 0);
  CHECK(text.str().find(" -> ") != std::string::npos);
  std::remove(path);
  CHECK(cudaGraphDebugDotPrint(g, "/no/such/folder/file", 0) == cudaErrorFileNotFound);
  cudaGraphDestroy(g);
}

TEST_CASE_FIXTURE(clean, "graphs that kernels could launch are refused by name") {
  const cudaGraph_t g = new_graph();
  cudaGraphExec_t e;
  const std::string said = captured_stderr([&] {
    CHECK(cudaGraphInstantiate(&e, g, cudaGraphInstantiateFlagDeviceLaunch) ==
          cudaErrorNotSupported);
  });
  CHECK(said.find("cudaGraphInstantiateFlagDeviceLaunch") != std::string::npos);
  cudaGraphDestroy(g);
}

TEST_CASE_FIXTURE(clean, "graphs are refused by name if the device is in another process") {
  fake::controls().remote = true;
  cudaStream_t stream;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  cudaGraph_t g = nullptr;
  const std::string said = captured_stderr([&] {
    CHECK(cudaGraphCreate(&g, 0) == cudaErrorNotSupported);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaErrorNotSupported);
  });
  CHECK(said.find("cudaGraphCreate: ") != std::string::npos);
  CHECK(said.find("cudaStreamBeginCapture: ") != std::string::npos);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}

TEST_CASE_FIXTURE(clean, "released memory is reused only by nodes that follow its release") {
  cudaGraph_t graph;
  REQUIRE(cudaGraphCreate(&graph, 0) == cudaSuccess);
  const auto allocate = [&](cudaGraphNode_t* node, const cudaGraphNode_t* after) {
    cudaMemAllocNodeParams p = {};
    p.poolProps.allocType = cudaMemAllocationTypePinned;
    p.poolProps.location.type = cudaMemLocationTypeDevice;
    p.bytesize = 1 << 20;
    REQUIRE(cudaGraphAddMemAllocNode(node, graph, after, after ? 1 : 0, &p) == cudaSuccess);
    return p.dptr;
  };
  cudaGraphNode_t first, release, concurrent, after_release;
  void* const memory = allocate(&first, nullptr);
  REQUIRE(cudaGraphAddMemFreeNode(&release, graph, &first, 1, memory) == cudaSuccess);
  CHECK(allocate(&concurrent, nullptr) != memory);
  CHECK(allocate(&after_release, &release) == memory);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
}

TEST_CASE_FIXTURE(clean, "graph memory keeps its address while in use, and is accounted for") {
  runtime::graph_memory memory;
  runtime::state& s = runtime::state::get();
  void* first = nullptr;
  REQUIRE(cudaMalloc(&first, 16) == cudaSuccess);
  const int owner = 0;
  const auto a = memory.allocate(*s.current, 1 << 20, &owner);
  REQUIRE(a.ok());
  memory.hold({*a});
  memory.forget_owner(&owner);
  memory.collect(*s.current);
  CHECK(memory.knows(*a));
  memory.set_live(*a, true);
  CHECK(memory.reserved() == runtime::graph_memory::rounded(1 << 20));
  memory.let_go({*a});
  memory.collect(*s.current);
  CHECK(memory.knows(*a));  // the program may use it
  memory.trim();
  CHECK(memory.reserved() == runtime::graph_memory::rounded(1 << 20));
  memory.set_live(*a, false);
  CHECK(memory.reserved() == memory.used_high());  // idle, until it is trimmed
  memory.trim();
  CHECK(memory.reserved() == 0);
  memory.collect(*s.current);
  CHECK(!memory.knows(*a));
  memory.reserve(1, 100);
  memory.reserve(1, 60);
  memory.reserve(2, 50);
  CHECK(memory.reserved() == 150);
  cudaFree(first);
}

}  // namespace
}  // namespace graph_test
