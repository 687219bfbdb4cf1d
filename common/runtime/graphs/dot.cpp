// Writes one box per node, with a frame around each graph inside a node.
#include "common/runtime/graphs/dot.hpp"

#include <fstream>

#include "common/device/names.hpp"

namespace stepwise::runtime {
namespace {

const char* dot_name(cudaGraphNodeType type) {
  switch (type) {
    case cudaGraphNodeTypeKernel:
      return "kernel";
    case cudaGraphNodeTypeMemcpy:
      return "memcpy";
    case cudaGraphNodeTypeMemset:
      return "memset";
    case cudaGraphNodeTypeHost:
      return "host";
    case cudaGraphNodeTypeGraph:
      return "graph";
    case cudaGraphNodeTypeWaitEvent:
      return "event wait";
    case cudaGraphNodeTypeEventRecord:
      return "event record";
    case cudaGraphNodeTypeMemAlloc:
      return "mem alloc";
    case cudaGraphNodeTypeMemFree:
      return "mem free";
    case cudaGraphNodeTypeConditional:
      return "conditional";
    case cudaGraphNodeTypeEmpty:
      return "empty";
    default:
      return "batch of memory operations";
  }
}

std::string dot_extent(const dim3& e) {
  return std::to_string(e.x) + "x" + std::to_string(e.y) + "x" + std::to_string(e.z);
}

std::string dot_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

// The parameters of a node, one per line.
std::string dot_parameters(state& s, const graph_node& node) {
  if (const auto* k = std::get_if<kernel_work>(&node.work)) {
    return "\\ngrid " + dot_extent(k->grid) + "\\nblock " + dot_extent(k->block) +
           "\\nshared bytes " + std::to_string(k->shared_bytes);
  }
  if (const auto* c = std::get_if<copy_work>(&node.work)) {
    return "\\n" + std::to_string(c->request.width) + " bytes x " +
           std::to_string(c->request.rows) + " x " + std::to_string(c->request.layers);
  }
  if (const auto* f = std::get_if<fill_work>(&node.work)) {
    return "\\n" + std::to_string(f->asked.width) + " x " + std::to_string(f->asked.height) +
           " elements of " + std::to_string(f->asked.elementSize) + " bytes, value " +
           std::to_string(f->asked.value);
  }
  (void)s;
  return "";
}

void write_nodes(state& s, const graph& g, std::ostream& out, bool parameters) {
  for (const auto& node : g.nodes) {
    std::string label = dot_name(node->type());
    if (const auto* k = std::get_if<kernel_work>(&node->work)) {
      if (const registered_kernel* const kernel = s.registered.find_kernel(k->function))
        label = readable_name(kernel->name);
    }
    out << "  n" << node->number << " [shape=box, label=\"" << dot_text(label)
        << (parameters ? dot_parameters(s, *node) : "") << "\"];\n";
    const auto inside = [&](const graph& body) {
      out << "  subgraph cluster_n" << node->number << "_" << &body << " {\n";
      write_nodes(s, body, out, parameters);
      out << "  }\n";
    };
    if (const auto* child = std::get_if<child_work>(&node->work)) inside(*child->body);
    if (const auto* conditional = std::get_if<conditional_work>(&node->work))
      for (const auto& body : conditional->bodies) inside(*body);
  }
  for (const auto& node : g.nodes)
    for (const graph_edge& e : node->before)
      out << "  n" << e.node->number << " -> n" << node->number << ";\n";
}

}  // namespace

status write_dot(state& s, const graph& g, const char* path, unsigned flags) {
  std::ofstream out(path);
  out << "digraph cuda_graph {\n";
  write_nodes(s, g, out, flags != 0);
  out << "}\n";
  out.close();
  if (out) return {};
  return {error::file_not_found, std::string("cudaGraphDebugDotPrint: cannot write ") + path};
}

}  // namespace stepwise::runtime
