// Stream attributes, and profiler start and stop.
#include <algorithm>

#include "common/runtime/api/api.hpp"

using namespace stepwise;
using namespace stepwise::runtime;

namespace {

static_assert(sizeof(cudaStreamAttrValue) <= sizeof(stream_attribute));

bool is_stream_attribute(int attribute) {
  constexpr int known[] = {cudaStreamAttributeAccessPolicyWindow,
                           cudaStreamAttributeSynchronizationPolicy,
                           cudaStreamAttributeMemSyncDomainMap, cudaStreamAttributeMemSyncDomain,
                           cudaStreamAttributePriority};
  return std::find(std::begin(known), std::end(known), attribute) != std::end(known);
}

status no_such_attribute(int attribute) {
  return invalid_value("streams have no attribute " + std::to_string(attribute));
}

// The value of an attribute before a program sets it.
cudaStreamAttrValue first_value(const stream_record& record, int attribute) {
  cudaStreamAttrValue value;
  std::memset(&value, 0, sizeof value);
  if (attribute == cudaStreamAttributeSynchronizationPolicy) {
    // As on an H200, there is no policy until the program sets one.
    std::memset(&value.syncPolicy, 0xff, sizeof value.syncPolicy);
  }
  if (attribute == cudaStreamAttributeMemSyncDomainMap) value.memSyncDomainMap = {0, 1};
  if (attribute == cudaStreamAttributePriority) value.priority = record.priority;
  return value;
}

}  // namespace

// Attributes are only hints about caches and waiting. They are stored, but have no effect here.
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                   const cudaStreamAttrValue* value) {
  return with_stream(stream, [&](state&, stream_record& record) {
    const int number = number_of(attribute);
    if (!value) return invalid_value("cudaStreamSetAttribute: no value");
    if (!is_stream_attribute(number)) return no_such_attribute(number);
    std::memcpy(record.attributes[number].data(), value, sizeof *value);
    if (number == cudaStreamAttributePriority) record.priority = value->priority;
    return status{};
  });
}
STEPWISE_ALIAS(cudaStreamSetAttribute_ptsz, cudaStreamSetAttribute);

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                   cudaStreamAttrValue* value) {
  return with_stream(stream, [&](state&, stream_record& record) {
    const int number = number_of(attribute);
    if (!value) return invalid_value("cudaStreamGetAttribute: the output pointer is null");
    if (!is_stream_attribute(number)) return no_such_attribute(number);
    *value = first_value(record, number);
    const auto set = record.attributes.find(number);
    if (set != record.attributes.end()) std::memcpy(value, set->second.data(), sizeof *value);
    return status{};
  });
}
STEPWISE_ALIAS(cudaStreamGetAttribute_ptsz, cudaStreamGetAttribute);

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return with_stream(to, [&](state& s, stream_record& record) {
    status known = check_stream(s, from);
    if (known.ok()) record.attributes = record_of(s, from).attributes;
    return known;
  });
}
STEPWISE_ALIAS(cudaStreamCopyAttributes_ptsz, cudaStreamCopyAttributes);

// There is no profiler here. Programs that mark a range to profile run unchanged.
STEPWISE_EXPORT cudaError_t cudaProfilerStart() {
  return call([](state&) { return status{}; });
}

STEPWISE_EXPORT cudaError_t cudaProfilerStop() {
  return call([](state&) { return status{}; });
}
