// Executable graphs: a copy of a graph, and the order in which its nodes run.
//
// idea    Everything runs at once and in one order that the edges allow. Each chain of nodes is a
//         stream of its own (a lane), and edges between lanes are events: what may overlap on a
//         GPU is not ordered for devices that check, for the timeline, and for kernels that wait.
// watch   Host functions run without the lock, so that a launch is done in pieces (graph_run). A
//         launch that meets an error ends there.
// tests   ../tests/graph_test.cpp, ../conformance/graph/
#pragma once

#include "common/runtime/graphs/graph.hpp"

namespace stepwise::runtime {

struct graph_plan;

struct plan_step {
  graph_node* node = nullptr;  // null: waits for what is before it, and no more
  std::size_t lane = 0;
  std::vector<std::size_t> waits;  // for steps of other lanes
  bool waits_for_begin = false;    // the first one of its lane
  bool marked = false;             // another lane waits for it
  std::uint64_t event = 0;
  std::vector<graph_plan> bodies;  // of a conditional node
};

struct graph_plan {
  std::vector<plan_step> steps;
  std::vector<std::uint64_t> lanes;  // streams, see device::set_stream; 0 is the launch's own
  std::vector<std::size_t> ends;     // in other lanes, and nothing follows them
  std::uint64_t begin_event = 0;
};

struct executable_graph {
  std::unique_ptr<graph> copy;
  graph* source = nullptr;  // counted in its `executables`; null: not, or it is gone
  unsigned long long flags = 0;
  std::map<const graph_node*, graph_node*> by_original;  // those inside of nodes too
  graph_plan plan;
  std::vector<device_address> memory;       // that it has to keep
  std::vector<device_address> left, taken;  // allocated and left; released only
  std::uint64_t own_bytes = 0;              // most at once of what it releases itself
  std::map<device_address, std::optional<unsigned>> conditions;  // by handle: the default
  // The end of the last launch, which the next launch follows even in another stream. It is kept as
  // an event for devices that check (0 before the first launch) and as a point of stream_order.
  std::uint64_t end_event = 0, end_point = 0;

  // The copy of a node that exists; null if there is none.
  graph_node* copy_of(const graph_node& node) const;
};

// invalid_value for a cycle, or a second executable graph where there may be one; then `*where` is
// a node that is wrong, or null.
result<std::shared_ptr<executable_graph>> make_executable(state& s, graph& g,
                                                          unsigned long long flags,
                                                          const graph_node** where);
executable_graph* find_executable(state& s, cudaGraphExec_t handle);
void destroy_executable(state& s, executable_graph& e);

// One launch of an executable graph in a stream.
class graph_run {
 public:
  graph_run(std::shared_ptr<executable_graph> of, cudaStream_t in) : of_(of), stream_(in) {}

  // What must hold before the first node runs: invalid_value for memory that was not released.
  status begin(state& s);
  // Runs on, to the next host function (which the caller calls without the lock), or to the end:
  // `*next` has no function then.
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
  std::map<std::uint64_t, std::uint64_t> points_;  // of stream_order, by event
};

// Why an executable graph cannot take over another graph's work, and where.
struct update_outcome {
  cudaGraphExecUpdateResult result = cudaGraphExecUpdateSuccess;
  const graph_node* node = nullptr;
  const graph_node* from = nullptr;
  std::string why;
};
update_outcome update_executable(state& s, executable_graph& e, const graph& g);

// Gives a node of an executable graph new work, if it may have that. invalid_value.
status replace_work(state& s, graph_node& node, node_work work);
// The same for a child node: takes over the work of a graph of the same shape.
status replace_child(state& s, graph_node& node, const graph& g);

}  // namespace stepwise::runtime
