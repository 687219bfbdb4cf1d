// Finds the memory to which each pointer refers, checks the copy kind, and copies or fills rows.
#include "common/runtime/api/copy.hpp"

#include <cstring>

#include "common/device/names.hpp"
#include "common/runtime/api/capturing.hpp"
#include "common/runtime/host/call_stacks.hpp"
#include "common/runtime/host_access.hpp"

namespace stepwise::runtime {
namespace {

std::string bytes_text(std::size_t bytes) { return std::to_string(bytes) + " bytes"; }

// The side to whose memory a pointer refers. Every address has one meaning (unified addressing), so
// the kind of a copy is a claim that can be checked. Managed, pinned and registered memory belongs
// to both the device and the host.
struct side {
  bool device = false;      // allocated through the device, which then makes the copy
  bool registered = false;  // the program's own memory, which kernels may use
  bool host = true;

  bool kernels_may_use() const { return device || registered; }
};

side side_of(state& s, const void* pointer) {
  const auto area = s.current->find_allocation(address_of(pointer));
  return {area.has_value(), s.find_host(pointer) != nullptr, !area || area->shared};
}

const char* name_of_kind(int kind) {
  constexpr const char* names[] = {"cudaMemcpyHostToHost", "cudaMemcpyHostToDevice",
                                   "cudaMemcpyDeviceToHost", "cudaMemcpyDeviceToDevice",
                                   "cudaMemcpyDefault"};
  return names[kind];
}

bool says_device_to(int kind) {
  return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
}
bool says_device_from(int kind) {
  return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
}

// The correct kind for a copy between these areas.
const char* right_kind(const side& to, const side& from) {
  if (!to.host && !from.host) return "cudaMemcpyDeviceToDevice";
  if (!to.host) return "cudaMemcpyHostToDevice";
  return !from.host ? "cudaMemcpyDeviceToHost" : "cudaMemcpyHostToHost";
}

// ", at k.cu:21" if the address is in device memory that was freed there; nullopt otherwise.
std::optional<std::string> freeing_of(const state& s, const void* pointer) {
  own_addresses* const own = s.current->extras().addresses;
  if (own == nullptr || !own->owns_address(address_of(pointer))) return {};
  const auto found = own->host_access(address_of(pointer), false);
  if (!found || found->kind != finding_kind::use_after_free) return {};
  const host_place freed = place_of_origin(found->object.freed_by);
  return freed.known() ? ", " + place_words(freed, style_of_stderr()) : "";
}

// The error for a side that the kind describes as device memory but that only the host can use.
status not_on_device(const state& s, const copy_request& r, const side& to, const side& from) {
  const bool is_destination = says_device_to(r.kind) && !to.kernels_may_use();
  const std::string which = is_destination ? "destination" : "source";
  const std::string begin =
      std::string(name_of_kind(r.kind)) + " means that the " + which + " is device memory, but ";
  const void* const pointer = is_destination ? r.to : r.from;
  if (const std::string* const variable = s.registered.variable_at(pointer)) {
    return invalid_value(begin + "it is the host's shadow of the device variable " +
                         readable_name(*variable) + "; use " +
                         (is_destination ? "cudaMemcpyToSymbol" : "cudaMemcpyFromSymbol") +
                         ", or the address from cudaGetSymbolAddress");
  }
  if (const auto where = freeing_of(s, pointer))
    return invalid_value("the " + which + " of the copy is memory that was freed" + *where);
  if (const side& other = is_destination ? from : to; !other.host) {
    return invalid_value(
        begin + "it is host memory, and the " + (is_destination ? "source" : "destination") +
        " is device memory; check that the pointers are in the order (to, from), or use the kind " +
        right_kind(to, from));
  }
  return invalid_value(
      begin +
      "no device memory is allocated there; check that the pointers are in the order (to, from), "
      "that the kind is right, that the pointer itself is passed and not its address (&), and that "
      "the memory is still allocated");
}

// Notes a kind that describes device memory as host memory. A GPU makes such a copy anyway, because
// it goes by the addresses. For a graph node, this error was noted when the node was created.
void note_device_called_host(state& s, const copy_request& r, const side& to, const side& from) {
  if (!s.checks || s.lane || r.kind == cudaMemcpyDefault) return;
  const bool to_is_wrong = !to.host && !says_device_to(r.kind);
  const bool from_is_wrong = !from.host && !says_device_from(r.kind);
  if (!to_is_wrong && !from_is_wrong) return;
  const bool by_driver = driver_call::function() != nullptr;
  s.checks->wrong_copy_kind(
      (by_driver ? "the copy" : name_of_kind(r.kind)) + std::string(" means that ") +
          (to_is_wrong && from_is_wrong ? "both areas are host memory, but they are"
           : to_is_wrong                ? "the destination is host memory, but it is"
                                        : "the source is host memory, but it is") +
          " device memory",
      by_driver ? "The copy still works, because it follows the addresses; use cuMemcpy() or "
                  "CU_MEMORYTYPE_UNIFIED."
                : "The copy still works, because it follows the addresses; use " +
                      std::string(right_kind(to, from)) + " or cudaMemcpyDefault.");
}

// Success if kernels may use the areas that the kind describes as device memory.
status check_sides(const state& s, const copy_request& r, const side& to, const side& from) {
  const bool sound = (!says_device_to(r.kind) || to.kernels_may_use()) &&
                     (!says_device_from(r.kind) || from.kernels_may_use());
  return sound ? status{} : not_on_device(s, r, to, from);
}

// Success, unless these bytes begin in a host array of the call and extend beyond that array.
status check_array(const state& s, const void* pointer, std::size_t bytes, const char* doing) {
  const auto* const first = static_cast<const std::byte*>(pointer);
  auto after = s.call_arrays.upper_bound(first);
  if (after == s.call_arrays.begin()) return {};
  const auto& [start, size] = *--after;
  const auto offset = static_cast<std::size_t>(first - start);
  if (offset >= size || bytes <= size - offset) return {};
  return invalid_value(std::string(doing) + " " + bytes_text(bytes) +
                       (offset == 0 ? " at the start of" : " inside") + " a host array of " +
                       bytes_text(size) + ": check the size in bytes");
}

// The bytes from the first to the last, including those between rows.
std::size_t extent_of(const copy_request& r, std::size_t pitch, std::size_t layer) {
  return (r.layers - 1) * layer + (r.rows - 1) * pitch + r.width;
}

status copy_on_device(device& on, device_address to, device_address from, std::size_t bytes) {
  const bool overlap = to < from + bytes && from < to + bytes;
  if (!overlap) return on.copy(to, from, bytes);
  // device::copy() does not allow overlapping areas.
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

// The host waits for copies of pageable host memory, but not for copies within the device.
bool is_pageable(const side& to, const side& from) {
  return !to.kernels_may_use() || !from.kernels_may_use();
}
bool host_waits_for(const copy_request& r, const side& to, const side& from) {
  return is_pageable(to, from) || (r.host_waits && (to.host || from.host));
}

// Rows without gaps between them are one piece.
copy_request joined_rows(copy_request r) {
  if (r.rows == 1 || r.to_pitch != r.width || r.from_pitch != r.width) return r;
  r.width *= r.rows;
  r.to_pitch = r.from_pitch = r.width;
  r.rows = 1;
  return r;
}
fill_request joined_rows(fill_request r) {
  if (r.rows == 1 || r.pitch != r.width) return r;
  r.pitch = r.width *= r.rows;
  r.rows = 1;
  return r;
}

// Copies now, because all earlier work in the stream is done.
status copy_now(state& s, const copy_request& request) {
  const copy_request r = joined_rows(request);
  const side to = side_of(s, r.to), from = side_of(s, r.from);
  status sides = check_sides(s, r, to, from);
  if (sides.ok() && !to.device)
    sides = check_array(s, r.to, extent_of(r, r.to_pitch, r.to_layer), "writing");
  if (sides.ok() && !from.device)
    sides = check_array(s, r.from, extent_of(r, r.from_pitch, r.from_layer), "reading");
  if (!sides.ok()) return sides;
  // Host memory may be read or written only after the kernels before the copy.
  status before = s.synchronize();
  if (!before.ok()) return before;
  enter_stream(s, r.stream);
  if (auto* const process = s.current->extras().process)
    process->set_pageable(is_pageable(to, from));
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
    more.pageable = is_pageable(to, from);
    using kind = asked::kind;
    const kind what = !from.device           ? kind::copy_to_device
                      : !to.device           ? kind::copy_to_host
                      : from.host == to.host ? kind::copy_on_device
                      : from.host            ? kind::copy_to_device
                                             : kind::copy_to_host;
    note_asked(s, what, r.stream, std::move(more));
  }
  if (host_waits_for(r, to, from) && !s.lane) host_waited(s, r.stream);
  return {};
}

bool host_waits_for(state& s, const fill_request& r) {
  return r.host_waits && side_of(s, r.to).host;
}

status fill_now(state& s, const fill_request& request, cudaStream_t stream) {
  const fill_request r = joined_rows(request);
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
  if (outcome.ok() && (s.checks || s.recorder) && host_waits_for(s, r)) host_waited(s, stream);
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
    return {error::invalid_memcpy_direction, "there is no copy kind " + std::to_string(r.kind)};
  }
  if (!r.to || !r.from) {
    return invalid_value("copying " + bytes_text(r.width) + (r.to ? " from" : " to") +
                         " a null pointer");
  }
  if (r.rows > 1 && (r.width > r.to_pitch || r.width > r.from_pitch)) {
    return {error::invalid_pitch_value, "rows of " + bytes_text(r.width) + ", but only " +
                                            bytes_text(std::min(r.to_pitch, r.from_pitch)) +
                                            " from one row to the next"};
  }
  return {};
}

status check_places(state& s, const copy_request& r) {
  const side to = side_of(s, r.to), from = side_of(s, r.from);
  status sides = check_sides(s, r, to, from);
  if (sides.ok()) note_device_called_host(s, r, to, from);
  return sides;
}

status copy(state& s, const copy_request& r) {
  if (s.captures != 0) {
    if (const auto captured = capture_copy(s, r)) return *captured;
  }
  // Whether the call returns before the copy is done, if the copy has to wait.
  const auto returns_before = [&] {
    return s.lane || !host_waits_for(r, side_of(s, r.to), side_of(s, r.from));
  };
  if (s.delays_work && returns_before()) may_delay(s, r.stream);
  const bool waits = must_wait(s, r.stream);
  if (waits || s.checks) {
    status places = check_places(s, r);
    if (!places.ok()) return places;
  }
  if (waits) {
    if (returns_before()) {
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
                         " from one row to the next");
  }
  if (r.width == 0) return {};
  if (s.captures != 0) {
    if (const auto captured = capture_fill(s, r, stream)) return *captured;
  }
  if (!host_waits_for(s, r)) {
    may_delay(s, stream);
  } else if (must_wait(s, stream)) {
    s.wait_for_stream(use_of(s, stream));
  }
  return in_order(s, stream, [&s, r, stream] { return fill_now(s, r, stream); });
}

cudaError_t fill_and_wait(fill_request request, std::source_location at) noexcept {
  request.host_waits = true;
  return fill_call(request, nullptr, at);
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
