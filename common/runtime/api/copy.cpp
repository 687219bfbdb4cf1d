// Finds out whose each pointer is, holds the kind of copy against that, and copies or fills rows.
#include "common/runtime/api/copy.hpp"

#include <cstring>

#include "common/runtime/api/capturing.hpp"

namespace stepwise::runtime {
namespace {

std::string bytes_text(std::size_t bytes) { return std::to_string(bytes) + " bytes"; }

// Whose a pointer is. Every address has one meaning (unified addressing), so the kind of a copy is
// a claim that can be checked. Managed and pinned memory is both the device's and the host's.
struct side {
  bool device = false, host = true;
};

side side_of(state& s, const void* pointer) {
  const auto area = s.current->find_allocation(address_of(pointer));
  return {area.has_value(), !area || area->shared};
}

status wrong_kind(const char* which, bool claimed_device, const void* pointer) {
  const std::string begin = std::string("cudaMemcpy: the kind says that the ") + which + " is " +
                            (claimed_device ? "device" : "host") + " memory, and it is ";
  if (claimed_device && pointer == nullptr)
    return invalid_value(begin + "a null pointer; did cudaMalloc store an address in it?");
  return invalid_value(begin + (claimed_device ? "not" : "device memory") +
                       "; are the pointers in the order (to, from), is the kind right" +
                       (claimed_device ? ", and is the memory still allocated?" : "?"));
}

// Success if `kind` agrees with where the two areas are.
status check_sides(const copy_request& r, const side& to, const side& from) {
  switch (r.kind) {
    case cudaMemcpyHostToDevice:
      if (!to.device) return wrong_kind("destination", true, r.to);
      return !from.host ? wrong_kind("source", false, r.from) : status{};
    case cudaMemcpyDeviceToHost:
      if (!to.host) return wrong_kind("destination", false, r.to);
      return !from.device ? wrong_kind("source", true, r.from) : status{};
    case cudaMemcpyDeviceToDevice:
      if (!to.device) return wrong_kind("destination", true, r.to);
      return !from.device ? wrong_kind("source", true, r.from) : status{};
    default:  // cudaMemcpyHostToHost too: a GPU's runtime goes by the addresses then
      return {};
  }
}

status copy_on_device(device& on, device_address to, device_address from, std::size_t bytes) {
  const bool overlap = to < from + bytes && from < to + bytes;
  if (!overlap) return on.copy(to, from, bytes);
  // The device's own copy may not overlap.
  std::vector<std::byte> through(bytes);
  status outcome = on.read(through, from);
  return outcome.ok() ? on.write(to, through) : outcome;
}

status copy_row(state& s, void* to, bool to_device, const void* from, bool from_device,
                std::size_t bytes) {
  device& on = *s.current;
  if (to_device && from_device) {
    return copy_on_device(on, address_of(to), address_of(from), bytes);
  }
  if (to_device) {
    return on.write(address_of(to), {static_cast<const std::byte*>(from), bytes});
  }
  if (from_device) return on.read({static_cast<std::byte*>(to), bytes}, address_of(from));
  std::memmove(to, from, bytes);
  return {};
}

// Memory of the host that is not pinned has been read or written when the call returns; a copy
// within the device continues behind the host's back.
bool is_pageable(const state& s, const copy_request& r, const side& to, const side& from) {
  return (!to.device && !s.find_host(r.to)) || (!from.device && !s.find_host(r.from));
}
bool host_waits_for(const state& s, const copy_request& r, const side& to, const side& from) {
  return is_pageable(s, r, to, from) || (r.host_waits && (to.host || from.host));
}

// A copy whose turn it is.
status copy_now(state& s, const copy_request& r) {
  const side to = side_of(s, r.to), from = side_of(s, r.from);
  status sides = check_sides(r, to, from);
  if (!sides.ok()) return sides;
  // A host area is read or written only after the kernels before it.
  status before = s.synchronize();
  if (!before.ok()) return before;
  enter_stream(s, r.stream);
  for (std::size_t layer = 0; layer < r.layers; layer++) {
    char* const out = static_cast<char*>(r.to) + layer * r.to_layer;
    const char* const in = static_cast<const char*>(r.from) + layer * r.from_layer;
    for (std::size_t row = 0; row < r.rows; row++) {
      status outcome = copy_row(s, out + row * r.to_pitch, to.device, in + row * r.from_pitch,
                                from.device, r.width);
      if (!outcome.ok()) return outcome;
    }
  }
  if (s.recorder && (to.device || from.device)) {
    asked more;
    more.bytes = std::uint64_t{r.width} * r.rows * r.layers;
    more.pageable = is_pageable(s, r, to, from);
    using kind = asked::kind;
    const kind what = !from.device           ? kind::copy_to_device
                      : !to.device           ? kind::copy_to_host
                      : from.host == to.host ? kind::copy_on_device
                      : from.host            ? kind::copy_to_device
                                             : kind::copy_to_host;
    note_asked(s, what, r.stream, std::move(more));
  }
  if (host_waits_for(s, r, to, from) && !s.lane) host_waited(s, r.stream);
  return {};
}

status fill_now(state& s, const fill_request& r, cudaStream_t stream) {
  enter_stream(s, stream);
  const unsigned unused_bits = 32 - 8 * r.element_bytes;
  const std::uint32_t value = static_cast<std::uint32_t>(r.value) << unused_bits >> unused_bits;
  status outcome;
  for (std::size_t layer = 0; layer < r.layers; layer++) {
    const device_address first = address_of(r.to) + layer * r.layer;
    for (std::size_t row = 0; row < r.rows && outcome.ok(); row++) {
      outcome =
          s.current->fill(first + row * r.pitch, value, r.element_bytes, r.width / r.element_bytes);
    }
  }
  if (outcome.ok() && s.recorder) {
    asked more;
    more.bytes = std::uint64_t{r.width} * r.rows * r.layers;
    note_asked(s, asked::kind::fill, stream, std::move(more));
  }
  return outcome;
}

}  // namespace

copy_request linear_copy(void* to, const void* from, std::size_t bytes, int kind) {
  return {to, bytes, from, bytes, bytes, 1, kind};
}

copy_request in_stream(copy_request request, cudaStream_t stream) {
  request.stream = stream;
  request.host_waits = false;
  return request;
}

status check_copy(const copy_request& r) {
  if (r.kind < cudaMemcpyHostToHost || r.kind > cudaMemcpyDefault) {
    return {error::invalid_memcpy_direction,
            "there is no kind " + std::to_string(r.kind) + " of copy"};
  }
  if (!r.to || !r.from) {
    return invalid_value("copying " + bytes_text(r.width) + (r.to ? " from" : " to") +
                         " a null pointer");
  }
  if (r.rows > 1 && (r.width > r.to_pitch || r.width > r.from_pitch)) {
    return {error::invalid_pitch_value, "rows of " + bytes_text(r.width) + ", but only " +
                                            bytes_text(std::min(r.to_pitch, r.from_pitch)) +
                                            " from one to the next"};
  }
  return {};
}

status check_places(state& s, const copy_request& r) {
  return check_sides(r, side_of(s, r.to), side_of(s, r.from));
}

status copy(state& s, const copy_request& r) {
  if (s.captures != 0) {
    if (const auto captured = capture_copy(s, r)) return *captured;
  }
  if (must_wait(s, r.stream)) {
    const side to = side_of(s, r.to), from = side_of(s, r.from);
    status sides = check_sides(r, to, from);
    if (!sides.ok()) return sides;
    if (s.lane || !host_waits_for(s, r, to, from)) {
      keep(s, r.stream, [&s, r] { return copy_now(s, r); });
      return {};
    }
    s.wait_for_stream(use_of(s, r.stream));
  }
  return copy_now(s, r);
}

cudaError_t copy_call(const copy_request& request, std::source_location at) noexcept {
  return call_even_lost(
      [&](state& s) {
        if (s.fault.code == error::devices_unavailable) return s.fault;
        if (request.width == 0 || request.rows == 0 || request.layers == 0) return status{};
        status outcome = check_copy(request);
        if (outcome.ok()) outcome = s.ready();
        if (outcome.ok()) outcome = check_stream(s, request.stream);
        if (outcome.ok()) outcome = s.note(copy(s, request));
        announce_mistake("a copy", outcome);
        return outcome;
      },
      at);
}

status fill(state& s, const fill_request& r, cudaStream_t stream) {
  if (r.rows > 1 && r.width > r.pitch) {
    return invalid_value("rows of " + bytes_text(r.width) + ", but only " + bytes_text(r.pitch) +
                         " from one to the next");
  }
  if (r.width == 0) return {};
  if (s.captures != 0) {
    if (const auto captured = capture_fill(s, r, stream)) return *captured;
  }
  return in_order(s, stream, [&s, r, stream] { return fill_now(s, r, stream); });
}

cudaError_t fill_call(const fill_request& request, cudaStream_t stream,
                      std::source_location at) noexcept {
  return call(
      [&](state& s) {
        status outcome = check_stream(s, stream);
        return outcome.ok() ? fill(s, request, stream) : outcome;
      },
      at);
}

}  // namespace stepwise::runtime
