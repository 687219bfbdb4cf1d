// Copies and fills of boxes in pitched memory, and batched copies.
#include "common/runtime/api/arrays.hpp"
#include "common/runtime/api/batch.hpp"
#include "common/runtime/api/copy.hpp"

using namespace stepwise;
using namespace stepwise::runtime;

namespace {

status no_arrays(const char* function) {
  status refused{error::not_supported,
                 std::string(function) + ": CUDA arrays are not supported; use pitched memory"};
  announce(refused.message);
  return refused;
}

// The start of a box in pitched memory, and the distance between its layers in bytes.
struct box {
  char* first = nullptr;
  std::size_t layer = 0;
};

result<box> box_of(const cudaPitchedPtr& memory, const cudaPos& at, const cudaExtent& extent) {
  if (!memory.ptr) return {error::invalid_value, "cudaMemcpy3D: a null pointer"};
  const std::size_t layer = memory.pitch * memory.ysize;
  if (extent.depth > 1 && (at.y > memory.ysize || extent.height > memory.ysize - at.y)) {
    return {error::invalid_pitch_value, "cudaMemcpy3D: " + std::to_string(extent.height) +
                                            " rows from row " + std::to_string(at.y) +
                                            " of layers of " + std::to_string(memory.ysize)};
  }
  if (at.x > memory.pitch || extent.width > memory.pitch - at.x) {
    return {error::invalid_pitch_value, "cudaMemcpy3D: " + std::to_string(extent.width) +
                                            " bytes from byte " + std::to_string(at.x) +
                                            " of rows of " + std::to_string(memory.pitch)};
  }
  return box{static_cast<char*>(memory.ptr) + at.z * layer + at.y * memory.pitch + at.x, layer};
}

// Describes an array as pitched memory, and converts a position in it to bytes. invalid_value.
status as_memory(state& s, cudaArray_const_t array, cudaPitchedPtr& memory, cudaPos& at,
                 const cudaExtent& texels, cudaExtent& bytes) {
  const array_record* const found = find_array(s, array);
  if (!found) return invalid_value("cudaMemcpy3D: there is no such array; it may have been freed");
  const texture_record& t = found->texels;
  const auto fits = [](std::size_t first, std::size_t count, std::size_t size) {
    return first <= size && count <= size - first;
  };
  if (!fits(at.x, texels.width, t.width) || !fits(at.y, texels.height, t.height) ||
      !fits(at.z, texels.depth, t.depth)) {
    return invalid_value("cudaMemcpy3D: a box beyond the array");
  }
  memory = {pointer_of(t.first), t.row_bytes, t.row_bytes, t.height};
  at.x *= t.texel_bytes();
  bytes.width = texels.width * t.texel_bytes();
  return {};
}

result<copy_request> locked_request_of(const cudaMemcpy3DParms& p) {
  state& s = state::get();
  const std::lock_guard guard(s.lock);
  return request_of(s, p);
}

cudaError_t answer(const status& outcome) {
  return call([&](state&) { return outcome; });
}

// Without a stream, the call is synchronous.
cudaError_t copy_3d(const cudaMemcpy3DParms* parameters, std::optional<cudaStream_t> stream) {
  if (!parameters) return answer(invalid_value("cudaMemcpy3D: no parameters"));
  const cudaExtent& extent = parameters->extent;
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return answer({});
  const auto request = locked_request_of(*parameters);
  if (!request.ok()) return answer(request.failure());
  return copy_call(stream ? in_stream(*request, *stream) : *request);
}

cudaError_t copy_3d_peer(const cudaMemcpy3DPeerParms* p, std::optional<cudaStream_t> stream) {
  if (!p) return answer(invalid_value("cudaMemcpy3DPeer: no parameters"));
  if (p->srcDevice != 0 || p->dstDevice != 0) {
    return answer({error::invalid_device, "there is only one device, number 0"});
  }
  const cudaMemcpy3DParms same = {p->srcArray, p->srcPos, p->srcPtr, p->dstArray,
                                  p->dstPos,   p->dstPtr, p->extent, cudaMemcpyDeviceToDevice};
  return copy_3d(&same, stream);
}

bool known_order(cudaMemcpySrcAccessOrder order) {
  return number_of(order) >= cudaMemcpySrcAccessOrderStream &&
         number_of(order) <= cudaMemcpySrcAccessOrderAny;
}

struct copy_batch {
  void* const* to;
  const void* const* from;
  const std::size_t* sizes;
  std::size_t count;
  const cudaMemcpyAttributes* attributes;
  const std::size_t* starts;
  std::size_t attribute_count;
  cudaStream_t stream;
  bool per_thread = false;
};

cudaError_t copy_all(const copy_batch& batch) {
  return call([&](state& s) {
    status outcome = check_batch_stream(s, batch.stream, batch.per_thread);
    if (outcome.ok()) {
      outcome = check_batch_entries("cudaMemcpyBatchAsync", batch.count, batch.attributes,
                                    batch.starts, batch.attribute_count);
    }
    if (outcome.ok() && (!batch.to || !batch.from || !batch.sizes)) {
      outcome = invalid_value("cudaMemcpyBatchAsync: a null pointer");
    }
    for (std::size_t i = 0; i < batch.attribute_count && outcome.ok(); i++) {
      if (!known_order(batch.attributes[i].srcAccessOrder)) {
        outcome = invalid_value("cudaMemcpyBatchAsync: the source access order is missing");
      }
    }
    for (std::size_t i = 0; i < batch.count && outcome.ok(); i++) {
      const copy_request request =
          in_stream(linear_copy(batch.to[i], batch.from[i], batch.sizes[i], cudaMemcpyDefault),
                    batch.per_thread ? per_thread(batch.stream) : batch.stream);
      outcome = check_copy(request);
      if (outcome.ok() && request.width != 0) outcome = copy(s, request);
    }
    return outcome;
  });
}

// Lengths are in elements of one byte, because all operands are pointers.
result<copy_request> request_of(state& s, const cudaMemcpy3DBatchOp& op) {
  const cudaExtent& extent = op.extent;
  for (const cudaMemcpy3DOperand* operand : {&op.src, &op.dst}) {
    if (number_of(operand->type) == cudaMemcpyOperandTypeArray) {
      return no_arrays("cudaMemcpy3DBatchAsync");
    }
    if (number_of(operand->type) != cudaMemcpyOperandTypePointer) {
      return {error::invalid_value, "cudaMemcpy3DBatchAsync: an operand has an unknown type"};
    }
  }
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0 ||
      !known_order(op.srcAccessOrder)) {
    return {error::invalid_value,
            "cudaMemcpy3DBatchAsync: an empty copy, or a copy without an access order"};
  }
  // A length of 0 means that there is no gap between the rows, or between the layers.
  const auto pitched = [&](const cudaMemcpy3DOperand& operand) {
    const auto& p = operand.op.ptr;
    return cudaPitchedPtr{p.ptr, p.rowLength ? p.rowLength : extent.width, extent.width,
                          p.layerHeight ? p.layerHeight : extent.height};
  };
  cudaMemcpy3DParms same = {};
  same.srcPtr = pitched(op.src);
  same.dstPtr = pitched(op.dst);
  same.extent = extent;
  same.kind = cudaMemcpyDefault;
  return request_of(s, same);
}

cudaError_t copy_all_3d(std::size_t count, const cudaMemcpy3DBatchOp* operations,
                        unsigned long long flags, cudaStream_t stream, bool per_thread) {
  return call([&](state& s) {
    status outcome = check_batch_stream(s, stream, per_thread);
    if (outcome.ok() && (count == 0 || !operations || flags != 0)) {
      outcome = invalid_value("cudaMemcpy3DBatchAsync: no operations, or unknown flags");
    }
    for (std::size_t i = 0; i < count && outcome.ok(); i++) {
      const auto request = request_of(s, operations[i]);
      outcome = request.ok() ? check_copy(*request) : request.failure();
      if (outcome.ok()) {
        outcome = copy(s, in_stream(*request, per_thread ? runtime::per_thread(stream) : stream));
      }
    }
    return outcome;
  });
}

fill_request fill_3d(const cudaPitchedPtr& memory, int value, const cudaExtent& extent) {
  return {memory.ptr,
          memory.pitch,
          value,
          extent.width,
          extent.height,
          extent.depth,
          memory.pitch * memory.ysize};
}

}  // namespace

// With an array, lengths are in texels.
result<copy_request> stepwise::runtime::request_of(state& s, cudaMemcpy3DParms p) {
  const cudaExtent texels = p.extent;
  status outcome;
  if (p.srcArray) outcome = as_memory(s, p.srcArray, p.srcPtr, p.srcPos, texels, p.extent);
  if (outcome.ok() && p.dstArray)
    outcome = as_memory(s, p.dstArray, p.dstPtr, p.dstPos, texels, p.extent);
  if (!outcome.ok()) return outcome;
  const auto from = box_of(p.srcPtr, p.srcPos, p.extent);
  if (!from.ok()) return from.failure();
  const auto to = box_of(p.dstPtr, p.dstPos, p.extent);
  if (!to.ok()) return to.failure();
  copy_request request{to->first,      p.dstPtr.pitch,  from->first,      p.srcPtr.pitch,
                       p.extent.width, p.extent.height, number_of(p.kind)};
  request.layers = p.extent.depth;
  request.to_layer = to->layer;
  request.from_layer = from->layer;
  return request;
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
  return copy_3d(parameters, std::nullopt);
}
STEPWISE_OWN_STREAM(cudaMemcpy3D_ptds, cudaMemcpy3D, (const cudaMemcpy3DParms* parameters),
                    parameters)

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  return copy_3d(parameters, stream);
}
STEPWISE_OWN_STREAM(cudaMemcpy3DAsync_ptsz, cudaMemcpy3DAsync,
                    (const cudaMemcpy3DParms* parameters, cudaStream_t stream), parameters, stream)

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* parameters) {
  return copy_3d_peer(parameters, std::nullopt);
}
STEPWISE_ALIAS(cudaMemcpy3DPeer_ptds, cudaMemcpy3DPeer);

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* parameters, cudaStream_t stream) {
  return copy_3d_peer(parameters, stream);
}
STEPWISE_ALIAS(cudaMemcpy3DPeerAsync_ptsz, cudaMemcpy3DPeerAsync);

cudaError_t cudaMemcpyBatchAsync(void* const* to, const void* const* from, const std::size_t* sizes,
                                 std::size_t count, cudaMemcpyAttributes* attributes,
                                 std::size_t* starts, std::size_t attribute_count,
                                 cudaStream_t stream) {
  return copy_all({to, from, sizes, count, attributes, starts, attribute_count, stream});
}
STEPWISE_EXPORT cudaError_t cudaMemcpyBatchAsync_ptsz(void* const* to, const void* const* from,
                                                      const std::size_t* sizes, std::size_t count,
                                                      cudaMemcpyAttributes* attributes,
                                                      std::size_t* starts,
                                                      std::size_t attribute_count,
                                                      cudaStream_t stream) {
  return copy_all({to, from, sizes, count, attributes, starts, attribute_count, stream, true});
}

cudaError_t cudaMemcpy3DBatchAsync(std::size_t count, cudaMemcpy3DBatchOp* operations,
                                   unsigned long long flags, cudaStream_t stream) {
  return copy_all_3d(count, operations, flags, stream, false);
}
STEPWISE_EXPORT cudaError_t cudaMemcpy3DBatchAsync_ptsz(std::size_t count,
                                                        cudaMemcpy3DBatchOp* operations,
                                                        unsigned long long flags,
                                                        cudaStream_t stream) {
  return copy_all_3d(count, operations, flags, stream, true);
}

cudaError_t cudaMemset3D(cudaPitchedPtr memory, int value, cudaExtent extent) {
  return fill_and_wait(fill_3d(memory, value, extent));
}
STEPWISE_OWN_STREAM(cudaMemset3D_ptds, cudaMemset3D,
                    (cudaPitchedPtr memory, int value, cudaExtent extent), memory, value, extent)

cudaError_t cudaMemset3DAsync(cudaPitchedPtr memory, int value, cudaExtent extent,
                              cudaStream_t stream) {
  return fill_call(fill_3d(memory, value, extent), stream);
}
STEPWISE_OWN_STREAM(cudaMemset3DAsync_ptsz, cudaMemset3DAsync,
                    (cudaPitchedPtr memory, int value, cudaExtent extent, cudaStream_t stream),
                    memory, value, extent, stream)
