// Streams and events: wrappers of the runtime's functions.
#include "common/driver/driver.hpp"

using namespace stepwise;
using namespace stepwise::driver;

namespace {

template <class Make>
CUresult make_stream(CUstream* stream, Make&& make,
                     std::source_location at = std::source_location::current()) {
  return in_context(
      [&](context& owner) {
        const cudaError_t outcome = stream ? make() : cudaErrorInvalidValue;
        if (outcome == cudaSuccess) contexts::get().own(owner, &context::streams, *stream);
        return outcome;
      },
      at);
}

cudaStreamAttrID attribute_id(CUstreamAttrID attribute) {
  return static_cast<cudaStreamAttrID>(runtime::number_of(attribute));
}

}  // namespace

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return make_stream(stream, [&] { return cudaStreamCreateWithFlags(stream, flags); });
}

CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return make_stream(stream, [&] { return cudaStreamCreateWithPriority(stream, flags, priority); });
}

CUresult cuStreamDestroy(CUstream stream) {
  return in_context([&](context&) {
    const cudaError_t outcome = cudaStreamDestroy(stream);
    contexts::get().disown(&context::streams, stream);
    return outcome;
  });
}
STEPWISE_ALSO("cuStreamDestroy", cuStreamDestroy_v2);

CUresult cuStreamSynchronize(CUstream stream) {
  return in_context([&](context&) { return cudaStreamSynchronize(stream); });
}
STEPWISE_NAMED("cuStreamSynchronize_ptsz", synchronize_per_thread, CUstream);
CUresult synchronize_per_thread(CUstream stream) { return cuStreamSynchronize(per_thread(stream)); }

CUresult cuStreamQuery(CUstream stream) {
  return in_context([&](context&) { return cudaStreamQuery(stream); });
}
STEPWISE_ALSO("cuStreamQuery_ptsz", cuStreamQuery);

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return in_context([&](context&) { return cudaStreamWaitEvent(stream, event, flags); });
}
STEPWISE_NAMED("cuStreamWaitEvent_ptsz", wait_event_per_thread, CUstream, CUevent, unsigned);
CUresult wait_event_per_thread(CUstream stream, CUevent event, unsigned flags) {
  return cuStreamWaitEvent(per_thread(stream), event, flags);
}

CUresult cuStreamGetFlags(CUstream stream, unsigned* flags) {
  return in_context([&](context&) { return cudaStreamGetFlags(stream, flags); });
}
STEPWISE_ALSO("cuStreamGetFlags_ptsz", cuStreamGetFlags);

CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  return in_context([&](context&) { return cudaStreamGetPriority(stream, priority); });
}
STEPWISE_ALSO("cuStreamGetPriority_ptsz", cuStreamGetPriority);

CUresult cuStreamGetId(CUstream stream, unsigned long long* id) {
  return in_context([&](context&) { return cudaStreamGetId(stream, id); });
}
STEPWISE_ALSO("cuStreamGetId_ptsz", cuStreamGetId);

CUresult cuStreamGetDevice(CUstream stream, CUdevice* device) {
  return in_context([&](context&) { return cudaStreamGetDevice(stream, device); });
}
STEPWISE_ALSO("cuStreamGetDevice_ptsz", cuStreamGetDevice);

CUresult cuStreamGetCtx(CUstream stream, CUcontext* handle) {
  return in_context([&](context& current) {
    unsigned flags = 0;
    const cudaError_t known = cudaStreamGetFlags(stream, &flags);
    if (known == cudaSuccess && !handle) return cudaErrorInvalidValue;
    if (known == cudaSuccess) *handle = handle_of(contexts::get().owner_of(stream, &current));
    return known;
  });
}
STEPWISE_ALSO("cuStreamGetCtx_ptsz", cuStreamGetCtx);

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback function, void* data,
                             unsigned flags) {
  // The two callback types differ only in the type of the error parameter.
  const auto callback = reinterpret_cast<cudaStreamCallback_t>(function);
  return in_context([&](context&) { return cudaStreamAddCallback(stream, callback, data, flags); });
}
STEPWISE_ALSO("cuStreamAddCallback_ptsz", cuStreamAddCallback);

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return in_context([&](context&) { return cudaLaunchHostFunc(stream, function, data); });
}
STEPWISE_ALSO("cuLaunchHostFunc_ptsz", cuLaunchHostFunc);

CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, size_t bytes,
                                unsigned flags) {
  return in_context([&](context&) {
    return cudaStreamAttachMemAsync(stream, pointer_of(address), bytes, flags);
  });
}
STEPWISE_ALSO("cuStreamAttachMemAsync_ptsz", cuStreamAttachMemAsync);

CUresult cuStreamSetAttribute(CUstream stream, CUstreamAttrID attribute,
                              const CUstreamAttrValue* value) {
  static_assert(sizeof(CUstreamAttrValue) == sizeof(cudaStreamAttrValue));
  return in_context([&](context&) {
    return cudaStreamSetAttribute(stream, attribute_id(attribute),
                                  reinterpret_cast<const cudaStreamAttrValue*>(value));
  });
}
STEPWISE_ALSO("cuStreamSetAttribute_ptsz", cuStreamSetAttribute);

CUresult cuStreamGetAttribute(CUstream stream, CUstreamAttrID attribute, CUstreamAttrValue* value) {
  return in_context([&](context&) {
    return cudaStreamGetAttribute(stream, attribute_id(attribute),
                                  reinterpret_cast<cudaStreamAttrValue*>(value));
  });
}
STEPWISE_ALSO("cuStreamGetAttribute_ptsz", cuStreamGetAttribute);

CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
  return in_context([&](context&) { return cudaStreamCopyAttributes(to, from); });
}
STEPWISE_ALSO("cuStreamCopyAttributes_ptsz", cuStreamCopyAttributes);

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return in_context([&](context& owner) {
    const cudaError_t outcome = cudaEventCreateWithFlags(event, flags);
    if (outcome == cudaSuccess) contexts::get().own(owner, &context::events, *event);
    return outcome;
  });
}

CUresult cuEventDestroy(CUevent event) {
  return in_context([&](context&) {
    const cudaError_t outcome = cudaEventDestroy(event);
    if (outcome == cudaSuccess) contexts::get().disown(&context::events, event);
    return outcome;
  });
}
STEPWISE_ALSO("cuEventDestroy", cuEventDestroy_v2);

CUresult cuEventRecord(CUevent event, CUstream stream) {
  return in_context([&](context&) { return cudaEventRecord(event, stream); });
}
STEPWISE_NAMED("cuEventRecord_ptsz", record_per_thread, CUevent, CUstream);
CUresult record_per_thread(CUevent event, CUstream stream) {
  return cuEventRecord(event, per_thread(stream));
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  return in_context([&](context&) { return cudaEventRecordWithFlags(event, stream, flags); });
}
STEPWISE_ALSO("cuEventRecordWithFlags_ptsz", cuEventRecordWithFlags);

CUresult cuEventQuery(CUevent event) {
  return in_context([&](context&) { return cudaEventQuery(event); });
}

CUresult cuEventSynchronize(CUevent event) {
  return in_context([&](context&) { return cudaEventSynchronize(event); });
}

CUresult cuEventElapsedTime(float* ms, CUevent start, CUevent end) {
  return in_context([&](context&) { return cudaEventElapsedTime(ms, start, end); });
}
STEPWISE_ALSO("cuEventElapsedTime", cuEventElapsedTime_v2);
