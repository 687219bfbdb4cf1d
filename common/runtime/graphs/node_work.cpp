// Checks the parameters of nodes, and stores them as work.
#include "common/runtime/graphs/node_work.hpp"

#include <algorithm>
#include <cstring>

#include "common/device/launch_check.hpp"
#include "common/device/names.hpp"
#include "common/runtime/api/arrays.hpp"
#include "common/runtime/api/events.hpp"

namespace stepwise::runtime {
namespace {

// The values of the driver API's CU_LAUNCH_PARAM_... constants.
const void* const buffer_end = nullptr;
const auto buffer_pointer = reinterpret_cast<const void*>(1);
const auto buffer_size = reinterpret_cast<const void*>(2);

// Pointers to the arguments in the buffer that the list `extra` describes.
result<std::vector<void*>> unpacked(void** extra, const kernel_attributes& kernel) {
  char* buffer = nullptr;
  std::size_t bytes = 0;
  for (; *extra != buffer_end; extra += 2) {
    if (*extra == buffer_pointer) {
      buffer = static_cast<char*>(extra[1]);
    } else if (*extra == buffer_size && extra[1]) {
      bytes = *static_cast<std::size_t*>(extra[1]);
    } else {
      return invalid_value("a kernel node: an unknown entry in `extra`");
    }
  }
  std::vector<void*> arguments;
  for (const kernel_parameter& p : kernel.parameters) {
    if (!buffer || p.offset + std::size_t{p.bytes} > bytes)
      return invalid_value("a kernel node: the buffer of parameters is too small");
    arguments.push_back(buffer + p.offset);
  }
  return arguments;
}

// An address of this graph that was released before a node with these dependencies, or 0.
device_address free_again(state& s, const graph& g, const std::vector<graph_edge>& before,
                          std::uint64_t bytes) {
  const graph_memory& memory = graphs_of(s).memory;
  const auto earlier = with_ancestors(before);
  for (const auto& node : g.nodes) {
    const auto* const released = std::get_if<release_work>(&node->work);
    if (!released || earlier.count(node.get()) == 0) continue;
    const device_address address = address_of(released->address);
    if (!memory.knows(address) || memory.owner_of(address) != &g ||
        memory.bytes_of(address) != bytes) {
      continue;
    }
    // The address is reusable if it is released as often as it is allocated.
    long open = 0;
    for (const auto& other : g.nodes) {
      if (const auto* a = std::get_if<allocation_work>(&other->work))
        open += address_of(a->asked.dptr) == address;
      if (const auto* r = std::get_if<release_work>(&other->work))
        open -= address_of(r->address) == address;
    }
    if (open == 0) return address;
  }
  return 0;
}

bool inside_conditional(const graph& g) {
  for (const graph* at = &g; at->parent; at = at->parent->owner)
    if (std::holds_alternative<conditional_work>(at->parent->work)) return true;
  return false;
}

status unsupported_node(const std::string& what) {
  announce(what + " is not supported");
  return {error::not_supported, what};
}

}  // namespace

result<node_work> kernel_of(state& s, const launch_request& request, void** extra) {
  const auto found = s.registered.use_kernel(*s.current, request.function);
  if (!found.ok()) return found.failure();
  const kernel_attributes& attributes = (*found)->attributes;
  const launch_config config = config_of(request, attributes);
  status allowed = check_launch(s.current->description(), attributes, config);
  if (!allowed.ok()) return allowed;
  std::vector<void*> from_buffer;
  const void* const* arguments = request.arguments;
  if (extra) {
    if (arguments) return invalid_value("a kernel node: both kernelParams and extra");
    auto list = unpacked(extra, attributes);
    if (!list.ok()) return list.failure();
    from_buffer = std::move(*list);
    arguments = from_buffer.data();
  }
  auto packed = pack_arguments(attributes, arguments);
  if (!packed.ok()) return packed.failure();
  kernel_work work;
  work.function = request.function;
  work.grid = request.grid;
  work.block = request.block;
  work.shared_bytes = static_cast<unsigned>(request.shared_bytes);
  work.parameters = std::move(*packed);
  work.layout = attributes.parameters;
  if (request.cooperative) {
    const int yes = 1;
    std::memcpy(work.attributes[cudaLaunchAttributeCooperative].data(), &yes, sizeof yes);
  }
  if (request.cluster != no_cluster) {
    const unsigned sides[] = {request.cluster.x, request.cluster.y, request.cluster.z};
    std::memcpy(work.attributes[cudaLaunchAttributeClusterDimension].data(), sides, sizeof sides);
  }
  return node_work(std::move(work));
}

result<node_work> kernel_of(state& s, const cudaKernelNodeParams& p) {
  return kernel_of(
      s, {p.func, p.gridDim, p.blockDim, p.kernelParams, p.sharedMemBytes, nullptr, false},
      p.extra);
}

result<node_work> copy_of(state& s, const cudaMemcpy3DParms& p) {
  if (p.extent.width == 0 || p.extent.height == 0 || p.extent.depth == 0)
    return invalid_value("a copy node: an empty copy");
  auto request = request_of(s, p);
  if (!request.ok()) return request.failure();
  request->host_waits = false;
  status sound = check_copy(*request);
  if (sound.ok()) sound = check_places(s, *request);
  if (!sound.ok()) return sound;
  return node_work(copy_work{p, *request});
}

result<node_work> copy_of(state& s, const copy_request& r) {
  status sound = check_copy(r);
  if (sound.ok()) sound = check_places(s, r);
  if (!sound.ok()) return sound;
  copy_work work;
  work.request = r;
  work.request.stream = nullptr;
  work.request.host_waits = false;
  const auto pitched = [&](const void* first, std::size_t pitch, std::size_t layer) {
    return cudaPitchedPtr{const_cast<void*>(first), pitch, r.width,
                          layer != 0 && pitch != 0 ? layer / pitch : r.rows};
  };
  work.asked.srcPtr = pitched(r.from, r.from_pitch, r.from_layer);
  work.asked.dstPtr = pitched(r.to, r.to_pitch, r.to_layer);
  work.asked.extent = {r.width, r.rows, r.layers};
  work.asked.kind = static_cast<cudaMemcpyKind>(r.kind);
  return node_work(std::move(work));
}

result<node_work> fill_of(const cudaMemsetParams& p) {
  const bool sound = p.dst && p.width != 0 && p.height != 0 &&
                     (p.elementSize == 1 || p.elementSize == 2 || p.elementSize == 4);
  if (!sound)
    return invalid_value(
        "a fill node: elements must have 1, 2 or 4 bytes, and there must be at least one");
  if (p.height > 1 && p.width > p.pitch / p.elementSize)
    return invalid_value("a fill node: rows that are longer than their pitch");
  return node_work(fill_work{p});
}

result<node_work> host_of(const cudaHostNodeParams& p) {
  if (!p.fn) return invalid_value("a host node: no function");
  return node_work(host_work{p.fn, p.userData});
}

result<node_work> record_of_event(state& s, cudaEvent_t event) {
  if (!find_event(s, event)) return invalid_value("an event node: there is no such event");
  return node_work(record_work{event});
}

result<node_work> wait_of_event(state& s, cudaEvent_t event) {
  if (!find_event(s, event)) return invalid_value("an event node: there is no such event");
  return node_work(wait_work{event});
}

result<node_work> allocation_of(state& s, graph& g, const std::vector<graph_edge>& before,
                                const cudaMemAllocNodeParams& p) {
  const int place = number_of(p.poolProps.location.type);
  if (p.bytesize == 0 || number_of(p.poolProps.allocType) != cudaMemAllocationTypePinned ||
      place != cudaMemLocationTypeDevice || p.poolProps.location.id != 0 ||
      number_of(p.poolProps.handleTypes) != cudaMemHandleTypeNone) {
    return invalid_value("an allocation node: must allocate at least one byte on device 0");
  }
  if (inside_conditional(g) || g.moved)
    return invalid_value("an allocation node inside a conditional node, or in a moved graph");
  allocation_work work;
  work.asked = p;
  if (p.accessDescs) work.access.assign(p.accessDescs, p.accessDescs + p.accessDescCount);
  device_address address = free_again(s, g, before, p.bytesize);
  if (address == 0) {
    const auto made = graphs_of(s).memory.allocate(*s.current, p.bytesize, &g);
    if (!made.ok()) return made.failure();
    address = *made;
  }
  work.asked.dptr = pointer_of(address);
  return node_work(std::move(work));
}

result<node_work> release_of(state& s, graph& g, void* address) {
  if (!graphs_of(s).memory.knows(address_of(address)))
    return invalid_value("a release node: this address belongs to no allocation node");
  if (inside_conditional(g) || g.moved)
    return invalid_value("a release node inside a conditional node, or in a moved graph");
  long allocated = 0, released = 0;
  for (const auto& node : g.nodes) {
    if (const auto* a = std::get_if<allocation_work>(&node->work))
      allocated += a->asked.dptr == address;
    if (const auto* r = std::get_if<release_work>(&node->work)) released += r->address == address;
  }
  if (released >= std::max(allocated, 1l))
    return invalid_value("a release node: this graph already releases the allocation");
  return node_work(release_work{address});
}

result<node_work> child_of(state& s, graph& g, graph* child, bool move) {
  if (!child || child == &g) return invalid_value("a child node: there is no such graph");
  if (holds_conditionals(*child))
    return invalid_value("a child node: its graph must not have conditional nodes");
  if (!move) {
    if (holds_memory_nodes(*child))
      return invalid_value("a child node: a graph that allocates has to be moved into it");
    return node_work(child_work{copy_graph(s, *child, true)});
  }
  if (child->parent || child->executables != 0)
    return invalid_value("a child node: this graph belongs to a node, or is instantiated");
  child->moved = true;
  return node_work(child_work{std::unique_ptr<graph>(child)});
}

result<node_work> conditional_of(state& s, graph& g, cudaConditionalNodeParams& p) {
  const int type = number_of(p.type);
  const bool sized = type == cudaGraphCondTypeIf       ? p.size == 1 || p.size == 2
                     : type == cudaGraphCondTypeWhile  ? p.size == 1
                     : type == cudaGraphCondTypeSwitch ? p.size > 0
                                                       : false;
  if (!sized) return invalid_value("a conditional node: an unknown type, or a wrong size");
  if (!graphs_of(s).conditions.count(p.handle))
    return invalid_value("a conditional node: there is no such handle");
  (void)g;
  conditional_work work{p.handle, type, {}, {}};
  for (unsigned i = 0; i < p.size; i++) {
    work.bodies.push_back(make_graph(s));
    work.handles.push_back(handle_of(work.bodies.back().get()));
  }
  p.phGraph_out = work.handles.data();  // stays valid when the work is moved
  return node_work(std::move(work));
}

result<node_work> work_of(state& s, graph& g, const std::vector<graph_edge>& before,
                          cudaGraphNodeParams& p) {
  switch (number_of(p.type)) {
    case cudaGraphNodeTypeKernel: {
      const cudaKernelNodeParamsV2& k = p.kernel;
      return kernel_of(s, cudaKernelNodeParams{k.func, k.gridDim, k.blockDim, k.sharedMemBytes,
                                               k.kernelParams, k.extra});
    }
    case cudaGraphNodeTypeMemcpy:
      if (p.memcpy.flags != 0) return invalid_value("a copy node: unknown flags");
      return copy_of(s, p.memcpy.copyParams);
    case cudaGraphNodeTypeMemset: {
      const cudaMemsetParamsV2& m = p.memset;
      return fill_of({m.dst, m.pitch, m.value, m.elementSize, m.width, m.height});
    }
    case cudaGraphNodeTypeHost:
      return host_of({p.host.fn, p.host.userData});
    case cudaGraphNodeTypeGraph:
      return child_of(s, g, find_graph(s, p.graph.graph),
                      number_of(p.graph.ownership) == cudaGraphChildGraphOwnershipMove);
    case cudaGraphNodeTypeEmpty:
      return node_work(empty_work{});
    case cudaGraphNodeTypeWaitEvent:
      return wait_of_event(s, p.eventWait.event);
    case cudaGraphNodeTypeEventRecord:
      return record_of_event(s, p.eventRecord.event);
    case cudaGraphNodeTypeMemAlloc: {
      cudaMemAllocNodeParamsV2& m = p.alloc;
      auto made = allocation_of(
          s, g, before, {m.poolProps, m.accessDescs, m.accessDescCount, m.bytesize, nullptr});
      if (made.ok()) m.dptr = std::get<allocation_work>(*made).asked.dptr;
      return made;
    }
    case cudaGraphNodeTypeMemFree:
      return release_of(s, g, p.free.dptr);
    case cudaGraphNodeTypeConditional:
      return conditional_of(s, g, p.conditional);
    case cudaGraphNodeTypeExtSemaphoreSignal:
    case cudaGraphNodeTypeExtSemaphoreWait:
      return unsupported_node("a graph node for external semaphores");
    default:
      return invalid_value("there is no such type of graph node");
  }
}

result<node_work> new_work_of(state& s, const graph_node& node, cudaGraphNodeParams& p) {
  if (number_of(p.type) != node.type())
    return invalid_value(
        "the type of a graph node cannot change: the parameters have another type");
  switch (node.type()) {
    case cudaGraphNodeTypeMemAlloc:
    case cudaGraphNodeTypeMemFree:
    case cudaGraphNodeTypeConditional:
      return invalid_value("the parameters of this type of graph node cannot change");
    case cudaGraphNodeTypeGraph:
      if (number_of(p.graph.ownership) == cudaGraphChildGraphOwnershipMove)
        return invalid_value("an existing child node accepts only a copy of a graph");
      [[fallthrough]];
    default:
      return work_of(s, *node.owner, {}, p);
  }
}

cudaKernelNodeParams parameters_of(kernel_work& kernel) {
  kernel.arguments.clear();
  for (const kernel_parameter& p : kernel.layout)
    kernel.arguments.push_back(kernel.parameters.data() + p.offset);
  return {const_cast<void*>(kernel.function),
          kernel.grid,
          kernel.block,
          kernel.shared_bytes,
          kernel.arguments.empty() ? nullptr : kernel.arguments.data(),
          nullptr};
}

}  // namespace stepwise::runtime
