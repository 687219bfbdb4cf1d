// Executable graphs. Each holds a copy of a graph, and the order in which the nodes run.
//
// idea    Nodes run during the launch, in one order that the edges allow. Each chain of nodes is a
//         stream of its own (a lane), and edges between lanes are events. Work that may overlap on
//         a GPU is therefore unordered for checking devices, the timeline, and kernels that wait.
// watch   Host functions run without the lock, so a launch runs in pieces (graph_run). A launch
//         stops at the first error.
// tests   ../tests/graph_test.cpp, ../conformance/graph/
#pragma once

#include "common/runtime/graphs/graph.hpp"

namespace stepwise::runtime {

struct graph_plan;

struct plan_step {
  graph_node* node = nullptr;  // null: only waits for earlier steps
  std::size_t lane = 0;
  std::vector<std::size_t> waits;  // steps of other lanes to wait for
  bool waits_for_begin = false;    // first step of its lane
  bool marked = false;             // another lane waits for it
  std::uint64_t event = 0;
  std::vector<graph_plan> bodies;  // of a conditional node
};

struct graph_plan {
  std::vector<plan_step> steps;
  std::vector<std::uint64_t> lanes;  // stream numbers; lane 0 is the launch's own
  std::vector<std::size_t> ends;     // last steps, in lanes other than 0
  std::uint64_t begin_event = 0;
};

struct executable_graph {
  std::unique_ptr<graph> copy;
  graph* source = nullptr;  // counts this in `executables`; null if not counted
  unsigned long long flags = 0;
  std::map<const graph_node*, graph_node*> by_original;  // includes nested nodes
  graph_plan plan;
  std::vector<device_address> memory;       // addresses that must stay allocated
  std::vector<device_address> left, taken;  // not released; only released
  std::uint64_t own_bytes = 0;              // peak size of memory that it also releases
  std::map<device_address, std::optional<unsigned>> conditions;  // defaults by handle
  // The end of the last launch, which the next launch follows even in another stream. It is both an
  // event for checking devices (0 before the first launch) and a point in stream_order.
  std::uint64_t end_event = 0, end_point = 0;

  // The copy of an existing node, or null.
  graph_node* copy_of(const graph_node& node) const;
};

// invalid_value for a cycle, or for a second executable graph where only one is allowed. In that
// case, `*where` is the offending node, or null.
result<std::shared_ptr<executable_graph>> make_executable(state& s, graph& g,
                                                          unsigned long long flags,
                                                          const graph_node** where);
executable_graph* find_executable(state& s, cudaGraphExec_t handle);
void destroy_executable(state& s, executable_graph& e);

// One launch of an executable graph in a stream.
class graph_run {
 public:
  graph_run(std::shared_ptr<executable_graph> of, cudaStream_t in) : of_(of), stream_(in) {}

  // Prepares the launch. invalid_value if memory of the last launch was not released, or if memory
  // that the graph releases is not allocated.
  status begin(state& s);
  // Runs to the next host function, which the caller must call without the lock, or to the end. At
  // the end, `*next` has no function.
  status advance(state& s, host_work* next);

 private:
  status run_step(state& s, const graph_plan& plan, std::size_t number, const stream_use& base);
  status run_all(state& s, const graph_plan& plan, const stream_use& base);
  status run_node(state& s, const plan_step& step, const stream_use& lane);
  status run_conditional(state& s, const plan_step& step, const stream_use& lane);
  void enter(state& s, const graph_plan& plan, const stream_use& base);
  void leave(state& s, const graph_plan& plan, const stream_use& base);
  bool tracked(const state& s) const { return s.checks || s.recorder; }
  void mark(state& s, std::uint64_t event, const stream_use& lane);
  void wait(state& s, std::uint64_t event, const stream_use& lane);
  void come_after_earlier_launches(state& s, const stream_use& base);
  void note_end(state& s, const stream_use& base);

  std::shared_ptr<executable_graph> of_;
  cudaStream_t stream_;
  std::size_t next_ = 0;
  std::map<std::uint64_t, std::uint64_t> points_;  // stream_order points by event
};

// Whether an executable graph can take over another graph's work. If it cannot, the reason and the
// node.
struct update_outcome {
  cudaGraphExecUpdateResult result = cudaGraphExecUpdateSuccess;
  const graph_node* node = nullptr;
  const graph_node* from = nullptr;
  std::string why;
};
update_outcome update_executable(state& s, executable_graph& e, const graph& g);

// Gives a node of an executable graph new work. invalid_value if the node cannot have this work.
status replace_work(state& s, graph_node& node, node_work work);
// Gives a child node the work of a graph of the same shape.
status replace_child(state& s, graph_node& node, const graph& g);

}  // namespace stepwise::runtime
