// CUDA graphs, which the program builds node by node or by capturing a stream.
//
// idea    A graph owns its nodes, and a node owns its work. A child node or a conditional node owns
//         the graphs inside it. An executable graph (executable.hpp) holds a copy of a graph, in
//         which each node refers to its original.
// watch   The program's handles are the addresses of these objects. graph_state knows which exist.
// source  "Graph Management" of NVIDIA's manual of the CUDA runtime API
// tests   ../tests/graph_test.cpp, ../conformance/graph/
#pragma once

#include <map>
#include <memory>
#include <set>
#include <variant>
#include <vector>

#include "common/runtime/api/copy.hpp"
#include "common/runtime/graphs/graph_memory.hpp"

namespace stepwise::runtime {

struct graph;
struct graph_node;
struct executable_graph;
struct capture_set;

struct empty_work {};

struct kernel_work {
  const void* function = nullptr;
  dim3 grid, block;
  unsigned shared_bytes = 0;
  std::map<int, stream_attribute> attributes;  // set ones, by cudaLaunchAttributeID
  std::vector<std::byte> parameters;           // packed
  std::vector<kernel_parameter> layout;        // of `parameters`
  std::vector<void*> arguments;                // for queries; point into `parameters`

  bool cooperative() const;
  extent cluster() const;  // of its attribute
};

// A copy as the program described it, and as we execute it.
struct copy_work {
  cudaMemcpy3DParms asked = {};
  copy_request request;
};

struct fill_work {
  cudaMemsetParams asked = {};
};

struct host_work {
  cudaHostFn_t function = nullptr;
  void* data = nullptr;
};

struct record_work {
  cudaEvent_t event = nullptr;
};

struct wait_work {
  cudaEvent_t event = nullptr;
};

struct allocation_work {
  cudaMemAllocNodeParams asked = {};  // includes the address
  std::vector<cudaMemAccessDesc> access;
};

struct release_work {
  void* address = nullptr;
};

struct child_work {
  std::unique_ptr<graph> body;
};

struct conditional_work {
  cudaGraphConditionalHandle handle = 0;
  int type = cudaGraphCondTypeIf;
  std::vector<std::unique_ptr<graph>> bodies;
  std::vector<cudaGraph_t> handles;  // of the bodies, returned to the program
};

// Node work that only the driver API offers.
struct driver_work {
  int type = 0;                       // a CUgraphNodeType
  std::vector<std::byte> parameters;  // as the program gave them
  status (*run)(state& s, const std::vector<std::byte>& parameters, cudaStream_t stream) = nullptr;
};

using node_work =
    std::variant<empty_work, kernel_work, copy_work, fill_work, host_work, record_work, wait_work,
                 allocation_work, release_work, child_work, conditional_work, driver_work>;

struct graph_edge {
  graph_node* node = nullptr;  // the other end
  cudaGraphEdgeData data = {};
};

struct graph_node {
  graph* owner = nullptr;
  node_work work;
  std::vector<graph_edge> before, after;  // in the order in which the edges were added
  const graph_node* original = nullptr;   // set in a copy
  bool enabled = true;
  std::uint64_t origin = 0;  // source line that made it, see device_checks::set_origin
  std::uint64_t number = 0;  // increases in the order of creation

  cudaGraphNodeType type() const;
};

struct graph {
  graph_node* parent = nullptr;  // the child or conditional node that owns it
  graph* original = nullptr;     // set in a clone
  std::vector<std::unique_ptr<graph_node>> nodes;
  std::vector<cudaGraphConditionalHandle> conditions;  // made for it
  std::map<void*, unsigned> user_objects;              // references by object
  int executables = 0;                                 // existing ones, if only one is allowed
  bool moved = false;                                  // into a child node that owns it

  graph();
  ~graph();
};

struct user_object {
  void* object = nullptr;
  cudaHostFn_t destroy = nullptr;
  unsigned references = 0;
};

// All graph data of the process, guarded by the lock of `state`. Created at the first use.
struct graph_state {
  std::set<graph*> graphs;      // those with valid handles, including bodies
  std::set<graph_node*> nodes;  // of these graphs
  std::map<executable_graph*, std::shared_ptr<executable_graph>> executables;
  std::map<void*, std::unique_ptr<user_object>> user_objects;
  std::vector<std::pair<cudaHostFn_t, void*>> to_destroy;  // user objects; called without the lock
  std::map<cudaGraphConditionalHandle, std::pair<unsigned, unsigned>> conditions;  // value, flags
  graph_memory memory;
  std::shared_ptr<capture_set> captures;
  std::uint64_t numbers = 0;  // last number of a node, lane or event
};
graph_state& graphs_of(state& s);

// not_supported, naming `function`, if the device is in another process.
status has_graphs(const state& s, const char* function);

// Creates a graph with a valid handle.
std::unique_ptr<graph> make_graph(state& s);
// Invalidates the handles of a graph and its nodes, and releases what the graph holds. The owner
// deletes the graph.
void forget_graph(state& s, graph& g);

// Drops references. When no reference is left, adds the object to `to_destroy`.
void release_user_object(state& s, void* handle, unsigned count);

// The object with this handle, or null.
graph* find_graph(state& s, cudaGraph_t handle);
graph_node* find_node(state& s, cudaGraphNode_t handle);
inline cudaGraph_t handle_of(graph* g) { return reinterpret_cast<cudaGraph_t>(g); }
inline cudaGraphNode_t handle_of(const graph_node* n) {
  return reinterpret_cast<cudaGraphNode_t>(const_cast<graph_node*>(n));
}

// Edges to the nodes with these handles. invalid_value if a node is not in this graph, or is listed
// twice.
result<std::vector<graph_edge>> edges_to(state& s, const graph& g, const cudaGraphNode_t* nodes,
                                         const cudaGraphEdgeData* data, std::size_t count);

// Adds a node that depends on others.
graph_node* add_node(state& s, graph& g, node_work work, const std::vector<graph_edge>& before);
void remove_node(state& s, graph_node& node);
void connect(graph_node& from, graph_node& to, const cudaGraphEdgeData& data);
// False if there is no such edge with this data.
bool disconnect(graph_node& from, graph_node& to, const cudaGraphEdgeData& data);

// The nodes at the other ends of these edges, and everything that they depend on.
std::set<const graph_node*> with_ancestors(const std::vector<graph_edge>& nodes);

// A topological order of the nodes, by order of creation except for empty nodes. invalid_value for
// a cycle, with one of its nodes in `*where`.
result<std::vector<graph_node*>> in_order(const graph& g, const graph_node** where = nullptr);

// Whether the graph, or a graph inside it, has such a node.
bool holds(const graph& g, bool (*what)(const graph_node&));
bool holds_memory_nodes(const graph& g);
bool holds_conditionals(const graph& g);

// A copy of a graph, whose nodes refer to their originals. `named`: its nodes get valid handles.
std::unique_ptr<graph> copy_graph(state& s, const graph& g, bool named);
// A deep copy of a node's work, including the graphs inside it.
node_work copy_work_of(state& s, const node_work& work, bool named, graph_node* parent);

}  // namespace stepwise::runtime
