// Stream operations that wait for or write values in memory, singly and in batches.
//
// idea    If the stream need not wait and the value is already there, the operation is done at
//         once. Otherwise, stream_order defers later work, as after a kernel that was left running,
//         and polls the value.
#include <cstring>
#include <utility>

#include "common/driver/values.hpp"
#include "common/runtime/api/events.hpp"
#include "common/runtime/graphs/capture.hpp"

using namespace stepwise;
using namespace stepwise::driver;
using runtime::invalid_value;
using runtime::number_of;
using runtime::state;

namespace {

// A wait, a write, or neither. Barriers and flushes are neither, because memory is in order here.
struct operation {
  enum class what { wait, write, nothing } kind = what::nothing;
  CUdeviceptr address = 0;
  std::uint64_t value = 0;
  std::size_t bytes = 4;
  unsigned comparison = CU_STREAM_WAIT_VALUE_GEQ;
};

status no_such_operation() { return invalid_value("there is no such operation, or flag"); }

result<operation> wait_of(CUdeviceptr address, std::uint64_t value, std::size_t bytes,
                          unsigned flags) {
  const unsigned comparison = flags & ~unsigned{CU_STREAM_WAIT_VALUE_FLUSH};
  if (comparison > CU_STREAM_WAIT_VALUE_NOR) return no_such_operation();
  return operation{operation::what::wait, address, value, bytes, comparison};
}

result<operation> write_of(CUdeviceptr address, std::uint64_t value, std::size_t bytes,
                           unsigned flags) {
  if ((flags & ~unsigned{CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER}) != 0) return no_such_operation();
  return operation{operation::what::write, address, value, bytes};
}

result<operation> operation_of(const CUstreamBatchMemOpParams& p) {
  switch (number_of(p.operation)) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
      return wait_of(p.waitValue.address, p.waitValue.value, 4, p.waitValue.flags);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      return wait_of(p.waitValue.address, p.waitValue.value64, 8, p.waitValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      return write_of(p.writeValue.address, p.writeValue.value, 4, p.writeValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      return write_of(p.writeValue.address, p.writeValue.value64, 8, p.writeValue.flags);
    case CU_STREAM_MEM_OP_BARRIER:
      if (p.memoryBarrier.flags > CU_STREAM_MEMORY_BARRIER_TYPE_GPU) return no_such_operation();
      return operation{};
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
      if (p.flushRemoteWrites.flags != 0) return no_such_operation();
      return operation{};
    default:
      return no_such_operation();
  }
}

// Success if the whole value is in memory that kernels can access.
status check(state& s, const operation& o) {
  if (o.kind == operation::what::nothing) return {};
  if (o.address % o.bytes != 0)
    return invalid_value("the address of the value is not aligned to its size");
  if (const auto area = s.current->find_allocation(o.address)) {
    if (area->address + area->bytes - o.address >= o.bytes) return {};
  } else if (const auto* const host = s.find_host(pointer_of(o.address))) {
    if (address_of(host->first) + host->second.bytes - o.address >= o.bytes) return {};
  }
  return invalid_value("the value is not in memory known to CUDA");
}

status gone() {
  return {error::illegal_address, "a stream uses a value in memory that has been freed"};
}

// Checks this again, because the memory may have been freed in the meantime.
status look_at(state& s, const operation& o, bool& holds) {
  std::uint64_t now = 0;
  if (!check(s, o).ok()) return gone();
  if (s.current->find_allocation(o.address)) {
    auto bytes = std::as_writable_bytes(std::span(&now, 1)).first(o.bytes);
    if (status read = s.current->read_word(bytes, o.address); !read.ok()) return read;
  } else {
    std::memcpy(&now, pointer_of(o.address), o.bytes);
  }
  const unsigned unused = 64 - 8 * static_cast<unsigned>(o.bytes);
  switch (o.comparison) {
    case CU_STREAM_WAIT_VALUE_EQ:
      holds = now == o.value;
      break;
    case CU_STREAM_WAIT_VALUE_AND:
      holds = (now & o.value) != 0;
      break;
    case CU_STREAM_WAIT_VALUE_NOR:
      holds = (~(now | o.value) << unused) != 0;
      break;
    default:
      holds = static_cast<std::int64_t>((now - o.value) << unused) >= 0;
  }
  return {};
}

// For checking devices. Any stream may have written the value, so this stream waits for all
// streams. An extra wait may hide a finding, but a missing wait would cause a false finding.
void come_after_all(state& s, const stream_use& here) {
  if (!s.checks) return;
  constexpr std::uint64_t mark = ~std::uint64_t{0};
  const auto after = [&](cudaStream_t other) {
    mark_for_checks(s, mark, runtime::use_of(s, other));
    wait_for_checks(s, mark, here);
  };
  const stream_use* const lane = std::exchange(s.lane, nullptr);
  after(cudaStreamLegacy);
  after(cudaStreamPerThread);
  for (runtime::stream_record* other : s.streams) after(reinterpret_cast<cudaStream_t>(other));
  s.lane = lane;
}

status wait_for(state& s, const operation& o, CUstream stream) {
  const stream_use here = runtime::use_of(s, stream);
  const auto arrive = [&s, o, here](bool& holds) {
    status seen = look_at(s, o, holds);
    if (holds) come_after_all(s, here);
    return seen;
  };
  if (!runtime::must_wait(s, stream)) {
    bool holds = false;
    const status seen = arrive(holds);
    if (holds || !seen.ok()) return seen;
  }
  if (s.recorder) {
    runtime::announce(
        "cuStreamWaitValue: the value is not in memory yet. While a program is timed, its work "
        "runs in the order of its calls, so this stream cannot wait for the value");
    return {error::not_supported, ""};
  }
  s.order.wait_until(here, arrive);
  s.keep_looking();
  return {};
}

status write_now(state& s, const operation& o) {
  if (!check(s, o).ok()) return gone();
  if (!s.current->find_allocation(o.address)) {
    std::memcpy(pointer_of(o.address), &o.value, o.bytes);
    return {};
  }
  return s.current->write_word(o.address, std::as_bytes(std::span(&o.value, 1)).first(o.bytes));
}

status begin(state& s, const operation& o, CUstream stream) {
  switch (o.kind) {
    case operation::what::wait:
      return wait_for(s, o, stream);
    case operation::what::write:
      return runtime::in_order(s, stream, [&s, o, stream] {
        status outcome = write_now(s, o);
        runtime::host_may_know(s, stream);  // the host may poll the value
        return outcome;
      });
    default:
      return {};
  }
}

// Checks the operations again, because the memory may have been freed in the meantime.
status run_node(state& s, const std::vector<std::byte>& parameters, CUstream stream) {
  const runtime::driver_work same{CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, parameters, nullptr};
  for (const CUstreamBatchMemOpParams& p : operations_of(same)) {
    const operation o = *operation_of(p);
    status outcome = check(s, o).ok() ? begin(s, o, stream) : gone();
    if (!outcome.ok()) return outcome;
  }
  return {};
}

// Performs all operations or, if one is invalid, none.
CUresult in_stream(CUstream stream, value_operations all,
                   std::source_location at = std::source_location::current()) {
  return in_context(
      [&](context&) {
        return runtime::with_stream(
            stream,
            [&](state& s, const runtime::stream_record&) {
              status outcome = check_values(s, all);
              if (!outcome.ok()) return outcome;
              if (s.captures != 0) {
                if (auto captured = capture_driver_work(s, value_work(all), stream))
                  return *captured;
              }
              for (const CUstreamBatchMemOpParams& p : all)
                if (outcome.ok()) outcome = begin(s, *operation_of(p), stream);
              return outcome;
            },
            at);
      },
      at);
}

CUresult wait_in(CUstream stream, CUstreamBatchMemOpType type, CUdeviceptr address,
                 cuuint64_t value, unsigned flags,
                 std::source_location at = std::source_location::current()) {
  CUstreamBatchMemOpParams p{};
  p.waitValue.operation = type;
  p.waitValue.address = address;
  p.waitValue.value64 = value;
  p.waitValue.flags = flags;
  return in_stream(stream, std::span(&p, 1), at);
}

CUresult write_in(CUstream stream, CUstreamBatchMemOpType type, CUdeviceptr address,
                  cuuint64_t value, unsigned flags,
                  std::source_location at = std::source_location::current()) {
  CUstreamBatchMemOpParams p{};
  p.writeValue.operation = type;
  p.writeValue.address = address;
  p.writeValue.value64 = value;
  p.writeValue.flags = flags;
  return in_stream(stream, std::span(&p, 1), at);
}

}  // namespace

status stepwise::driver::check_values(state& s, value_operations all) {
  for (const CUstreamBatchMemOpParams& p : all) {
    const auto o = operation_of(p);
    if (!o.ok()) return o.failure();
    if (status sound = check(s, *o); !sound.ok()) return sound;
  }
  return {};
}

runtime::driver_work stepwise::driver::value_work(value_operations all) {
  const auto bytes = std::as_bytes(all);
  return {CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, {bytes.begin(), bytes.end()}, run_node};
}

value_operations stepwise::driver::operations_of(const runtime::driver_work& work) {
  if (work.type != CU_GRAPH_NODE_TYPE_BATCH_MEM_OP) return {};
  // The allocation of a vector is aligned for any type.
  return {reinterpret_cast<const CUstreamBatchMemOpParams*>(work.parameters.data()),
          work.parameters.size() / sizeof(CUstreamBatchMemOpParams)};
}

CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
                             unsigned flags) {
  return wait_in(stream, CU_STREAM_MEM_OP_WAIT_VALUE_32, address, value, flags);
}
STEPWISE_NAMED("cuStreamWaitValue32_v2_ptsz", wait_32_per_thread, CUstream, CUdeviceptr, cuuint32_t,
               unsigned);
CUresult wait_32_per_thread(CUstream stream, CUdeviceptr address, cuuint32_t value,
                            unsigned flags) {
  return cuStreamWaitValue32(per_thread(stream), address, value, flags);
}

CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr address, cuuint64_t value,
                             unsigned flags) {
  return wait_in(stream, CU_STREAM_MEM_OP_WAIT_VALUE_64, address, value, flags);
}
STEPWISE_NAMED("cuStreamWaitValue64_v2_ptsz", wait_64_per_thread, CUstream, CUdeviceptr, cuuint64_t,
               unsigned);
CUresult wait_64_per_thread(CUstream stream, CUdeviceptr address, cuuint64_t value,
                            unsigned flags) {
  return cuStreamWaitValue64(per_thread(stream), address, value, flags);
}

CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
                              unsigned flags) {
  return write_in(stream, CU_STREAM_MEM_OP_WRITE_VALUE_32, address, value, flags);
}
STEPWISE_NAMED("cuStreamWriteValue32_v2_ptsz", write_32_per_thread, CUstream, CUdeviceptr,
               cuuint32_t, unsigned);
CUresult write_32_per_thread(CUstream stream, CUdeviceptr address, cuuint32_t value,
                             unsigned flags) {
  return cuStreamWriteValue32(per_thread(stream), address, value, flags);
}

CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr address, cuuint64_t value,
                              unsigned flags) {
  return write_in(stream, CU_STREAM_MEM_OP_WRITE_VALUE_64, address, value, flags);
}
STEPWISE_NAMED("cuStreamWriteValue64_v2_ptsz", write_64_per_thread, CUstream, CUdeviceptr,
               cuuint64_t, unsigned);
CUresult write_64_per_thread(CUstream stream, CUdeviceptr address, cuuint64_t value,
                             unsigned flags) {
  return cuStreamWriteValue64(per_thread(stream), address, value, flags);
}

CUresult cuStreamBatchMemOp(CUstream stream, unsigned count, CUstreamBatchMemOpParams* list,
                            unsigned flags) {
  return in_context([&](context&) {
    const bool sound = list && count != 0 && count <= most_in_batch && flags == 0;
    return sound ? in_stream(stream, {list, count}) : CUDA_ERROR_INVALID_VALUE;
  });
}
STEPWISE_NAMED("cuStreamBatchMemOp_v2_ptsz", batch_per_thread, CUstream, unsigned,
               CUstreamBatchMemOpParams*, unsigned);
CUresult batch_per_thread(CUstream stream, unsigned count, CUstreamBatchMemOpParams* list,
                          unsigned flags) {
  return cuStreamBatchMemOp(per_thread(stream), count, list, flags);
}
