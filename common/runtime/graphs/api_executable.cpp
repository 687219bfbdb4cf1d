// Calls that instantiate, launch and update graphs, or query their memory.
#include <algorithm>
#include <cstring>

#include "common/runtime/graphs/calls.hpp"
#include "common/runtime/graphs/capture.hpp"

using namespace stepwise;
using namespace stepwise::runtime;

namespace {

constexpr unsigned long long known_flags =
    cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUpload |
    cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagUseNodePriority;

status instantiate(state& s, cudaGraphExec_t* made, graph& g, unsigned long long flags,
                   const graph_node** where) {
  *where = nullptr;
  if (!made || (flags & ~known_flags) != 0)
    return invalid_value(
        "cudaGraphInstantiate: the pointer for the graph is null, or unknown flags");
  if (flags & cudaGraphInstantiateFlagDeviceLaunch) {
    if (flags & cudaGraphInstantiateFlagAutoFreeOnLaunch)
      return invalid_value("cudaGraphInstantiate: flags that exclude each other");
    status refused{
        error::not_supported,
        "launching graphs from kernels (cudaGraphInstantiateFlagDeviceLaunch) is not supported"};
    announce(refused.message);
    return refused;
  }
  const auto executable = make_executable(s, g, flags, where);
  if (!executable.ok()) return executable.failure();
  *made = reinterpret_cast<cudaGraphExec_t>(executable->get());
  return {};
}

// Launches an executable graph in a stream. A captured stream rejects graph launches (measured on
// an H100, driver 580); to nest graphs, add a child node instead.
cudaError_t launch_graph(cudaGraphExec_t handle, cudaStream_t stream,
                         std::source_location at = std::source_location::current()) {
  std::optional<graph_run> run;
  host_work next;
  cudaError_t outcome = with_executable(
      handle,
      [&](state& s, executable_graph& e) -> status {
        status known = check_stream(s, stream);
        if (known.ok()) known = check_not_captured(s, stream);
        if (!known.ok()) return known;
        run.emplace(graphs_of(s).executables.at(&e), stream);
        known = run->begin(s);
        return known.ok() ? run->advance(s, &next) : known;
      },
      at);
  // Host functions may run for a long time, so they run without the lock.
  while (outcome == cudaSuccess && next.function) {
    next.function(next.data);
    outcome = call([&](state& s) { return run->advance(s, &next); }, at);
  }
  return outcome;
}

status check_graph_device(int number) {
  if (number == 0) return {};
  return {error::invalid_device, "there is only one device, number 0"};
}

}  // namespace

void stepwise::runtime::destroy_user_objects() {
  std::vector<std::pair<cudaHostFn_t, void*>> gone;
  {
    state& s = state::get();
    const std::lock_guard guard(s.lock);
    if (s.graphs) gone.swap(s.graphs->to_destroy);
  }
  for (const auto& [destroy, object] : gone) destroy(object);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t handle,
                                 unsigned long long flags) {
  return with_graph(handle, [&](state& s, graph& g) {
    const graph_node* where = nullptr;
    if (flags & cudaGraphInstantiateFlagUpload)
      return invalid_value("cudaGraphInstantiate: only cudaGraphInstantiateWithParams uploads");
    return instantiate(s, made, g, flags, &where);
  });
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* made, cudaGraph_t handle,
                                          unsigned long long flags) {
  return cudaGraphInstantiate(made, handle, flags);
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* made, cudaGraph_t handle,
                                           cudaGraphInstantiateParams* p) {
  return with_graph(handle, [&](state& s, graph& g) {
    if (!p) return invalid_value("cudaGraphInstantiateWithParams: no parameters");
    const graph_node* where = nullptr;
    status outcome = check_stream(s, p->uploadStream);
    if (outcome.ok()) outcome = instantiate(s, made, g, p->flags, &where);
    p->errNode_out = where ? handle_of(where) : nullptr;
    p->result_out = outcome.ok() ? cudaGraphInstantiateSuccess
                    : where      ? cudaGraphInstantiateInvalidStructure
                    : outcome.code == error::not_supported
                        ? cudaGraphInstantiateNodeOperationNotSupported
                        : cudaGraphInstantiateError;
    return outcome;
  });
}
STEPWISE_ALIAS(cudaGraphInstantiateWithParams_ptsz, cudaGraphInstantiateWithParams);

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t handle, unsigned long long* flags) {
  return with_executable(handle, [&](state&, const executable_graph& e) {
    if (!flags) return invalid_value("cudaGraphExecGetFlags: the output pointer is null");
    *flags = e.flags & ~static_cast<unsigned long long>(cudaGraphInstantiateFlagUpload);
    return status{};
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t handle) {
  const cudaError_t outcome = with_executable(handle, [](state& s, executable_graph& e) {
    destroy_executable(s, e);
    return status{};
  });
  destroy_user_objects();
  return outcome;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream) {
  return launch_graph(handle, stream);
}
STEPWISE_EXPORT cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t handle, cudaStream_t stream) {
  return cudaGraphLaunch(handle, per_thread(stream));
}

// This only checks its arguments, because launches need no upload here.
cudaError_t cudaGraphUpload(cudaGraphExec_t handle, cudaStream_t stream) {
  return with_executable(handle, [&](state& s, const executable_graph&) {
    status known = check_stream(s, stream);
    return known.ok() ? check_not_captured(s, stream) : known;
  });
}
STEPWISE_EXPORT cudaError_t cudaGraphUpload_ptsz(cudaGraphExec_t handle, cudaStream_t stream) {
  return cudaGraphUpload(handle, per_thread(stream));
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t handle, cudaGraph_t from,
                                cudaGraphExecUpdateResultInfo* info) {
  return with_executable(handle, [&](state& s, executable_graph& e) -> status {
    const graph* const g = find_graph(s, from);
    if (info) *info = {cudaGraphExecUpdateError, nullptr, nullptr};
    if (!info || !g)
      return invalid_value("cudaGraphExecUpdate: no graph, or the output pointer is null");
    const update_outcome outcome = update_executable(s, e, *g);
    info->result = outcome.result;
    info->errorNode = outcome.node ? handle_of(outcome.node) : nullptr;
    info->errorFromNode = outcome.from ? handle_of(outcome.from) : nullptr;
    if (outcome.result == cudaGraphExecUpdateSuccess) return {};
    return {error::graph_exec_update_failure, "cudaGraphExecUpdate: " + outcome.why};
  });
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node,
                                    unsigned enabled) {
  return with_copy(executable, node, [&](state&, const graph_node&, graph_node& copied) {
    const cudaGraphNodeType type = copied.type();
    if (type != cudaGraphNodeTypeKernel && type != cudaGraphNodeTypeMemcpy &&
        type != cudaGraphNodeTypeMemset) {
      return invalid_value("cudaGraphNodeSetEnabled: kernels, copies and fills only");
    }
    copied.enabled = enabled != 0;
    return status{};
  });
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node,
                                    unsigned* enabled) {
  return with_copy(executable, node, [&](state&, const graph_node&, const graph_node& copied) {
    if (!enabled) return invalid_value("cudaGraphNodeGetEnabled: the output pointer is null");
    *enabled = copied.enabled ? 1 : 0;
    return status{};
  });
}

cudaError_t cudaDeviceGraphMemTrim(int number) {
  return call([&](state& s) {
    status known = check_graph_device(number);
    if (known.ok()) graphs_of(s).memory.trim();
    return known;
  });
}

cudaError_t cudaDeviceGetGraphMemAttribute(int number, cudaGraphMemAttributeType attribute,
                                           void* value) {
  return call([&](state& s) {
    status known = check_graph_device(number);
    if (!known.ok()) return known;
    if (!value) return invalid_value("cudaDeviceGetGraphMemAttribute: the output pointer is null");
    const graph_memory& memory = graphs_of(s).memory;
    std::uint64_t answer = 0;
    switch (number_of(attribute)) {
      case cudaGraphMemAttrUsedMemCurrent:
        answer = memory.reserved();
        break;
      case cudaGraphMemAttrUsedMemHigh:
        answer = memory.used_high();
        break;
      case cudaGraphMemAttrReservedMemCurrent:
        answer = memory.reserved();
        break;
      case cudaGraphMemAttrReservedMemHigh:
        answer = memory.reserved_high();
        break;
      default:
        return invalid_value("there is no such attribute of graph memory");
    }
    std::memcpy(value, &answer, sizeof answer);
    return status{};
  });
}

cudaError_t cudaDeviceSetGraphMemAttribute(int number, cudaGraphMemAttributeType attribute,
                                           void* value) {
  return call([&](state& s) {
    status known = check_graph_device(number);
    if (!known.ok()) return known;
    std::uint64_t wanted = 1;
    if (value) std::memcpy(&wanted, value, sizeof wanted);
    graph_memory& memory = graphs_of(s).memory;
    if (wanted == 0 && number_of(attribute) == cudaGraphMemAttrUsedMemHigh) {
      memory.reset_used_high();
    } else if (wanted == 0 && number_of(attribute) == cudaGraphMemAttrReservedMemHigh) {
      memory.reset_reserved_high();
    } else {
      return invalid_value(
          "the only attributes of graph memory that can be set are the high-water marks, and only "
          "to 0");
    }
    return status{};
  });
}

cudaError_t cudaUserObjectCreate(cudaUserObject_t* made, void* object, cudaHostFn_t destroy,
                                 unsigned references, unsigned flags) {
  return call([&](state& s) {
    if (!made || !destroy || references == 0 || flags != cudaUserObjectNoDestructorSync)
      return invalid_value("cudaUserObjectCreate: a null pointer, no reference, or wrong flags");
    auto kept = std::make_unique<user_object>(user_object{object, destroy, references});
    user_object* const handle = kept.get();
    graphs_of(s).user_objects[handle] = std::move(kept);
    *made = reinterpret_cast<cudaUserObject_t>(handle);
    return status{};
  });
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t handle, unsigned count) {
  return call([&](state& s) {
    auto& objects = graphs_of(s).user_objects;
    const auto found = objects.find(handle);
    if (found == objects.end() || count == 0) return invalid_value("there is no such user object");
    found->second->references += count;
    return status{};
  });
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t handle, unsigned count) {
  const cudaError_t outcome = call([&](state& s) {
    const auto& objects = graphs_of(s).user_objects;
    const auto found = objects.find(handle);
    if (found == objects.end() || count == 0 || count > found->second->references)
      return invalid_value("there is no such user object, or it has fewer references");
    release_user_object(s, handle, count);
    return status{};
  });
  destroy_user_objects();
  return outcome;
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t handle, cudaUserObject_t object, unsigned count,
                                      unsigned flags) {
  return with_graph(handle, [&](state& s, graph& g) {
    const auto& objects = graphs_of(s).user_objects;
    const auto found = objects.find(object);
    if (found == objects.end() || count == 0 || (flags & ~unsigned{cudaGraphUserObjectMove}) != 0)
      return invalid_value("there is no such user object, or unknown flags");
    g.user_objects[object] += count;
    if (!(flags & cudaGraphUserObjectMove)) found->second->references += count;
    return status{};
  });
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t handle, cudaUserObject_t object,
                                       unsigned count) {
  const cudaError_t outcome = with_graph(handle, [&](state& s, graph& g) {
    const auto found = g.user_objects.find(object);
    if (found == g.user_objects.end() || count == 0 || count > found->second)
      return invalid_value("the graph has fewer references to this user object");
    found->second -= count;
    if (found->second == 0) g.user_objects.erase(found);
    release_user_object(s, object, count);
    return status{};
  });
  destroy_user_objects();
  return outcome;
}
