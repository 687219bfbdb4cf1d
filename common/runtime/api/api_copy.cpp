// Copies and fills. CUDA allows asynchronous copies and fills to be complete when the call returns.
#include <algorithm>

#include "common/runtime/api/copy.hpp"

using namespace stepwise;
using namespace stepwise::runtime;

namespace {

// A copy from `host_from` to a variable or from a variable to `host_to`, `offset` bytes into it.
cudaError_t symbol_call(const void* symbol, void* host_to, const void* host_from, std::size_t bytes,
                        std::size_t offset, int kind, cudaStream_t stream, bool asynchronous) {
  return call([&](state& s) {
    status known = check_stream(s, stream);
    if (!known.ok()) return known;
    const auto variable = s.registered.use_variable(*s.current, symbol);
    if (!variable.ok()) return variable.failure();
    if (offset > variable->bytes || bytes > variable->bytes - offset) {
      return invalid_value("copying " + std::to_string(bytes) + " bytes at offset " +
                           std::to_string(offset) + " of a variable of " +
                           std::to_string(variable->bytes) + " bytes");
    }
    const bool into = host_from != nullptr || host_to == nullptr;
    const int opposite = into ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
    if (kind == opposite || kind == cudaMemcpyHostToHost) {
      return status{error::invalid_memcpy_direction,
                    into ? "a copy to a variable must use a kind that ends in ToDevice"
                         : "a copy from a variable must use a kind that begins with DeviceTo"};
    }
    if (bytes == 0) return status{};
    void* const place = pointer_of(variable->address + offset);
    copy_request request = into ? linear_copy(place, host_from, bytes, kind)
                                : linear_copy(host_to, place, bytes, kind);
    if (asynchronous) request = in_stream(request, stream);
    status sound = check_copy(request);
    return sound.ok() ? copy(s, request) : sound;
  });
}

}  // namespace

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return copy_call(linear_copy(to, from, bytes, number_of(kind)));
}
STEPWISE_OWN_STREAM(cudaMemcpy_ptds, cudaMemcpy,
                    (void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind), to, from,
                    bytes, kind)

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return copy_call(in_stream(linear_copy(to, from, bytes, number_of(kind)), stream));
}
STEPWISE_EXPORT cudaError_t cudaMemcpyAsync_ptsz(void* to, const void* from, std::size_t bytes,
                                                 cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpyAsync(to, from, bytes, kind, per_thread(stream));
}

cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t rows, cudaMemcpyKind kind) {
  return copy_call({to, to_pitch, from, from_pitch, width, rows, number_of(kind)});
}
STEPWISE_OWN_STREAM(cudaMemcpy2D_ptds, cudaMemcpy2D,
                    (void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                     std::size_t width, std::size_t rows, cudaMemcpyKind kind),
                    to, to_pitch, from, from_pitch, width, rows, kind)

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t rows,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_call(
      in_stream({to, to_pitch, from, from_pitch, width, rows, number_of(kind)}, stream));
}
STEPWISE_OWN_STREAM(cudaMemcpy2DAsync_ptsz, cudaMemcpy2DAsync,
                    (void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                     std::size_t width, std::size_t rows, cudaMemcpyKind kind, cudaStream_t stream),
                    to, to_pitch, from, from_pitch, width, rows, kind, stream)

// There is only one device, so both sides must be device 0.
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                std::size_t bytes, cudaStream_t stream) {
  if (to_device != 0 || from_device != 0) {
    return call([](state&) {
      return status{error::invalid_device, "there is only one device, number 0"};
    });
  }
  return copy_call(in_stream(linear_copy(to, from, bytes, cudaMemcpyDeviceToDevice), stream));
}

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                           std::size_t bytes) {
  return cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, nullptr);
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes,
                               std::size_t offset, cudaMemcpyKind kind) {
  return symbol_call(symbol, nullptr, from, bytes, offset, number_of(kind), nullptr, false);
}
STEPWISE_OWN_STREAM(cudaMemcpyToSymbol_ptds, cudaMemcpyToSymbol,
                    (const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                     cudaMemcpyKind kind),
                    symbol, from, bytes, offset, kind)

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t bytes,
                                    std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return symbol_call(symbol, nullptr, from, bytes, offset, number_of(kind), stream, true);
}
STEPWISE_OWN_STREAM(cudaMemcpyToSymbolAsync_ptsz, cudaMemcpyToSymbolAsync,
                    (const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                     cudaMemcpyKind kind, cudaStream_t stream),
                    symbol, from, bytes, offset, kind, stream)

cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes,
                                 std::size_t offset, cudaMemcpyKind kind) {
  return symbol_call(symbol, to, nullptr, bytes, offset, number_of(kind), nullptr, false);
}
STEPWISE_OWN_STREAM(cudaMemcpyFromSymbol_ptds, cudaMemcpyFromSymbol,
                    (void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                     cudaMemcpyKind kind),
                    to, symbol, bytes, offset, kind)

cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t bytes,
                                      std::size_t offset, cudaMemcpyKind kind,
                                      cudaStream_t stream) {
  return symbol_call(symbol, to, nullptr, bytes, offset, number_of(kind), stream, true);
}
STEPWISE_OWN_STREAM(cudaMemcpyFromSymbolAsync_ptsz, cudaMemcpyFromSymbolAsync,
                    (void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                     cudaMemcpyKind kind, cudaStream_t stream),
                    to, symbol, bytes, offset, kind, stream)

cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return fill_and_wait({to, bytes, value, bytes});
}
STEPWISE_OWN_STREAM(cudaMemset_ptds, cudaMemset, (void* to, int value, std::size_t bytes), to,
                    value, bytes)

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  return fill_call({to, bytes, value, bytes}, stream);
}
STEPWISE_EXPORT cudaError_t cudaMemsetAsync_ptsz(void* to, int value, std::size_t bytes,
                                                 cudaStream_t stream) {
  return cudaMemsetAsync(to, value, bytes, per_thread(stream));
}

cudaError_t cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width,
                         std::size_t rows) {
  return fill_and_wait({to, pitch, value, width, rows});
}
STEPWISE_OWN_STREAM(cudaMemset2D_ptds, cudaMemset2D,
                    (void* to, std::size_t pitch, int value, std::size_t width, std::size_t rows),
                    to, pitch, value, width, rows)

cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width,
                              std::size_t rows, cudaStream_t stream) {
  return fill_call({to, pitch, value, width, rows}, stream);
}
STEPWISE_OWN_STREAM(cudaMemset2DAsync_ptsz, cudaMemset2DAsync,
                    (void* to, std::size_t pitch, int value, std::size_t width, std::size_t rows,
                     cudaStream_t stream),
                    to, pitch, value, width, rows, stream)

cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  return call([&](state& s) {
    if (!address) return invalid_value("cudaGetSymbolAddress: the output pointer is null");
    const auto variable = s.registered.use_variable(*s.current, symbol);
    if (variable.ok()) *address = pointer_of(variable->address);
    return variable.ok() ? status{} : variable.failure();
  });
}

cudaError_t cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  return call([&](state& s) {
    if (!bytes) return invalid_value("cudaGetSymbolSize: the output pointer is null");
    const auto variable = s.registered.use_variable(*s.current, symbol);
    if (variable.ok()) *bytes = variable->bytes;
    return variable.ok() ? status{} : variable.failure();
  });
}
