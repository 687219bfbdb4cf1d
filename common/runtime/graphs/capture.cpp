// Begins and ends captures, and turns calls into nodes.
#include "common/runtime/graphs/capture.hpp"

#include <algorithm>
#include <functional>

#include "common/runtime/api/events.hpp"
#include "common/runtime/graphs/node_work.hpp"

namespace stepwise::runtime {
namespace {

status unsupported_in_capture() {
  return {error::stream_capture_unsupported, "this call cannot be part of a captured stream"};
}

status would_be_implicit() {
  return {error::stream_capture_implicit,
          "the legacy default stream waits for blocking streams, and one of them is captured; "
          "create it with cudaStreamNonBlocking, or use another stream"};
}

void add_edges(std::vector<graph_edge>& to, const std::vector<graph_edge>& more) {
  for (const graph_edge& e : more) {
    const bool known =
        std::any_of(to.begin(), to.end(), [&](const graph_edge& k) { return k.node == e.node; });
    if (!known) to.push_back(e);
  }
}

bool is_legacy(state& s, cudaStream_t stream) { return use_of(s, stream).stream == 0; }

// Invalidates the captures of blocking streams. Returns false if there are none.
bool spoil_blocking(state& s) {
  bool any = false;
  for (auto& [number, stream] : captures_of(s).streams) {
    if (!stream.blocking) continue;
    stream.of->invalid = true;
    any = true;
  }
  return any;
}

// Finds the captured stream that gets the work, or null. Returns a status if this is not allowed.
std::optional<status> find_target(state& s, cudaStream_t stream, captured_stream*& found) {
  found = nullptr;
  if (s.captures == 0 || s.lane) return std::nullopt;
  if (is_legacy(s, stream)) {
    if (spoil_blocking(s)) return would_be_implicit();
    return std::nullopt;
  }
  auto& streams = captures_of(s).streams;
  const auto there = streams.find(use_of(s, stream).stream);
  if (there == streams.end()) return std::nullopt;
  if (there->second.of->invalid) {
    return status{error::stream_capture_invalidated,
                  "an error made this stream's capture invalid: end it"};
  }
  found = &there->second;
  return std::nullopt;
}

// Adds a node for the stream's work, which `make(captured_stream&) -> result<node_work>` creates.
template <class Make>
std::optional<status> capture_as(state& s, cudaStream_t stream, Make&& make) {
  captured_stream* to = nullptr;
  if (auto refused = find_target(s, stream, to)) return refused;
  if (!to) return std::nullopt;
  result<node_work> work = make(*to);
  if (!work.ok()) {
    to->of->invalid = true;
    return work.failure();
  }
  to->at = {{add_node(s, *to->of->target, std::move(*work), to->at), {}}};
  return status{};
}

bool is_blocking(state& s, cudaStream_t stream) {
  return (record_of(s, stream).flags & cudaStreamNonBlocking) == 0;
}

}  // namespace

bool capture_set::writes_to(const graph& g) const {
  return std::any_of(streams.begin(), streams.end(),
                     [&](const auto& entry) { return entry.second.of->target == &g; });
}

capture_set& captures_of(state& s) {
  graph_state& all = graphs_of(s);
  if (!all.captures) all.captures = std::make_shared<capture_set>();
  return *all.captures;
}

int& capture_mode_of_thread() {
  thread_local int mode = cudaStreamCaptureModeGlobal;
  return mode;
}

status begin_capture(state& s, cudaStream_t stream, int mode, graph* into,
                     std::vector<graph_edge> before) {
  if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed)
    return invalid_value("a capture: there is no such mode");
  if (is_legacy(s, stream)) {
    return {error::stream_capture_unsupported,
            "the legacy default stream cannot be captured: create a stream"};
  }
  capture_set& captures = captures_of(s);
  const std::uint64_t number = use_of(s, stream).stream;
  if (captures.streams.count(number))
    return {error::illegal_state, "the stream is already captured"};
  auto sequence = std::make_shared<capture_sequence>();
  if (!into) sequence->own = make_graph(s);
  sequence->target = into ? into : sequence->own.get();
  sequence->id = ++captures.ids;
  sequence->mode = mode;
  sequence->thread = thread_number();
  sequence->origin = number;
  captures.streams[number] = {sequence, is_blocking(s, stream), std::move(before), {}, {}};
  s.captures++;
  return {};
}

status end_capture(state& s, cudaStream_t stream, cudaGraph_t* captured) {
  capture_set& captures = captures_of(s);
  const std::uint64_t number = use_of(s, stream).stream;
  const auto there = captures.streams.find(number);
  if (there == captures.streams.end()) return {error::illegal_state, "the stream is not captured"};
  const std::shared_ptr<capture_sequence> sequence = there->second.of;
  if (sequence->origin != number) {
    sequence->invalid = true;
    return {error::stream_capture_unmatched, "this capture began in another stream: end it there"};
  }
  if (sequence->mode != cudaStreamCaptureModeRelaxed && sequence->thread != thread_number()) {
    return {error::stream_capture_wrong_thread,
            "this capture began in another thread, which must end it"};
  }
  *captured = nullptr;
  status outcome;
  if (sequence->invalid) {
    outcome = {error::stream_capture_invalidated, "an error made the capture invalid"};
  } else {
    const auto joined = with_ancestors(there->second.at);
    for (const auto& [other, part] : captures.streams) {
      const bool all_joined = part.of != sequence ||
                              std::all_of(part.at.begin(), part.at.end(),
                                          [&](const auto& e) { return joined.count(e.node) != 0; });
      if (!all_joined) {
        outcome = {
            error::stream_capture_unjoined,
            "a stream that joined the capture was not joined back to the stream in which the "
            "capture began: record an event in it and let the first stream wait for that event"};
      }
    }
  }
  std::erase_if(captures.streams, [&](const auto& entry) { return entry.second.of == sequence; });
  sequence->ended = true;
  s.captures--;
  if (outcome.ok()) {
    *captured = handle_of(sequence->target);
    (void)sequence->own.release();  // now owned by the program
  } else if (sequence->own) {
    forget_graph(s, *sequence->own);
    sequence->own.reset();
  }
  return outcome;
}

result<captured_stream*> capture_of(state& s, cudaStream_t stream) {
  if (s.captures == 0) return static_cast<captured_stream*>(nullptr);
  auto& streams = captures_of(s).streams;
  if (is_legacy(s, stream)) {
    const bool any = std::any_of(streams.begin(), streams.end(),
                                 [](const auto& entry) { return entry.second.blocking; });
    if (any) return would_be_implicit();
    return static_cast<captured_stream*>(nullptr);
  }
  const auto there = streams.find(use_of(s, stream).stream);
  return there == streams.end() ? nullptr : &there->second;
}

std::optional<status> capture_copy(state& s, const copy_request& request) {
  return capture_as(s, request.stream, [&](captured_stream&) { return copy_of(s, request); });
}

std::optional<status> capture_fill(state& s, const fill_request& r, cudaStream_t stream) {
  return capture_as(s, stream, [&](captured_stream&) -> result<node_work> {
    // Rows without gaps between them become one row, and so do layers.
    const bool dense = r.rows <= 1 || r.pitch == r.width;
    if (r.layers > 1 && (!dense || r.layer != r.width * r.rows))
      return invalid_value("a fill of layers that are not contiguous cannot be captured");
    const std::size_t rows = dense ? 1 : r.rows;
    const std::size_t bytes = dense ? r.width * r.rows * r.layers : r.width;
    return fill_of({r.to, r.pitch, static_cast<unsigned>(r.value), r.element_bytes,
                    bytes / r.element_bytes, rows});
  });
}

std::optional<status> capture_kernel(state& s, const launch_request& request) {
  return capture_as(s, request.stream, [&](captured_stream&) { return kernel_of(s, request); });
}

std::optional<status> capture_host_function(state& s, cudaHostFn_t function, void* data,
                                            cudaStream_t stream) {
  return capture_as(s, stream, [&](captured_stream&) { return host_of({function, data}); });
}

std::optional<status> capture_allocation(state& s, void** address, std::size_t bytes,
                                         cudaStream_t stream) {
  return capture_as(s, stream, [&](captured_stream& in) {
    cudaMemAllocNodeParams p = {};
    p.poolProps.allocType = cudaMemAllocationTypePinned;
    p.poolProps.location = {cudaMemLocationTypeDevice, {0}};
    p.bytesize = bytes;
    auto made = allocation_of(s, *in.of->target, in.at, p);
    if (made.ok()) *address = std::get<allocation_work>(*made).asked.dptr;
    return made;
  });
}

std::optional<status> capture_release(state& s, void* address, cudaStream_t stream) {
  return capture_as(s, stream,
                    [&](captured_stream& in) { return release_of(s, *in.of->target, address); });
}

std::optional<status> capture_driver_work(state& s, driver_work work, cudaStream_t stream) {
  return capture_as(
      s, stream, [&](captured_stream&) -> result<node_work> { return node_work(std::move(work)); });
}

std::optional<status> capture_record(state& s, cudaEvent_t event, cudaStream_t stream,
                                     bool external) {
  if (external) {
    auto outcome =
        capture_as(s, stream, [&](captured_stream&) { return record_of_event(s, event); });
    if (!outcome) captures_of(s).events.erase(event);
    return outcome;
  }
  captured_stream* to = nullptr;
  if (auto refused = find_target(s, stream, to)) return refused;
  if (!to) {
    captures_of(s).events.erase(event);
    return std::nullopt;
  }
  captures_of(s).events[event] = {to->of, to->at};
  return status{};
}

std::optional<status> capture_wait(state& s, cudaEvent_t event, cudaStream_t stream,
                                   bool external) {
  captured_stream* to = nullptr;
  if (auto refused = find_target(s, stream, to)) return refused;
  capture_set& captures = captures_of(s);
  const auto mark = captures.events.find(event);
  if (mark == captures.events.end()) {
    if (!to) return std::nullopt;
    if (external)
      return capture_as(s, stream, [&](captured_stream&) { return wait_of_event(s, event); });
    if (!find_event(s, event)->recorded) return status{};
    to->of->invalid = true;
    return status{error::stream_capture_isolation,
                  "a captured stream cannot wait for an event that was recorded outside"};
  }
  const captured_event& from = mark->second;
  if (from.of->ended)
    return status{error::captured_event, "the event was recorded in a capture that has ended"};
  if (!to) {
    if (is_legacy(s, stream)) {
      from.of->invalid = true;
      return would_be_implicit();
    }
    captures.streams[use_of(s, stream).stream] = {from.of, is_blocking(s, stream), from.at, {}, {}};
    return status{};
  }
  if (to->of != from.of) {
    to->of->invalid = from.of->invalid = true;
    return status{error::stream_capture_merge, "the event belongs to another capture"};
  }
  add_edges(to->at, from.at);
  return status{};
}

status check_not_captured(state& s, cudaStream_t stream) {
  captured_stream* to = nullptr;
  if (auto refused = find_target(s, stream, to)) return *refused;
  if (!to) return {};
  to->of->invalid = true;
  return unsupported_in_capture();
}

status check_nothing_captured(state& s) {
  if (s.captures == 0) return {};
  for (auto& [number, stream] : captures_of(s).streams) stream.of->invalid = true;
  return unsupported_in_capture();
}

status check_safe(state& s) {
  const int mode = capture_mode_of_thread();
  if (s.captures == 0 || mode == cudaStreamCaptureModeRelaxed) return {};
  bool safe = true;
  for (auto& [number, stream] : captures_of(s).streams) {
    capture_sequence& sequence = *stream.of;
    const bool forbids =
        sequence.thread == thread_number()
            ? sequence.mode != cudaStreamCaptureModeRelaxed
            : mode == cudaStreamCaptureModeGlobal && sequence.mode == cudaStreamCaptureModeGlobal;
    if (!forbids) continue;
    sequence.invalid = true;
    safe = false;
  }
  if (safe) return {};
  return {error::stream_capture_unsupported,
          "a stream is captured, and this call might wait for other streams; see "
          "cudaThreadExchangeStreamCaptureMode"};
}

status check_event_not_captured(state& s, cudaEvent_t event) {
  if (!s.graphs) return {};
  const auto mark = captures_of(s).events.find(event);
  if (mark != captures_of(s).events.end()) {
    // As on an H100, the error during the capture differs from the error after it.
    if (mark->second.of->ended)
      return invalid_value("the event was last recorded in a capture that has ended");
    return {error::captured_event, "the event was last recorded in a stream that is captured"};
  }
  return check_safe(s);
}

void forget_captured_event(state& s, cudaEvent_t event) {
  if (s.graphs) captures_of(s).events.erase(event);
}

status check_stream_can_go(state& s, cudaStream_t stream) {
  // A stream that joined a capture may be destroyed. Its work stays in the capture.
  const auto found = captures_of(s).streams.find(use_of(s, stream).stream);
  const bool is_origin =
      found != captures_of(s).streams.end() && found->second.of->origin == found->first;
  return is_origin ? check_not_captured(s, stream) : status{};
}

}  // namespace stepwise::runtime
