// The messages between a remote device's client and its server.
//
// idea    A batch is any number of commands, which have no answer, and then exactly one request,
//         which has an answer. A client collects commands until its next request. A launch
//         therefore costs no round trip, and each batch has one reply.
// form    A frame is its length in bytes (uint32), then that many bytes. In a batch, each message
//         is its kind (one byte, its index in `message`) and its fields. A reply is a reply_head,
//         followed by the request's `answer` if the head reports success. Numbers are
//         little-endian. Bulk data is never in a frame, but in the window, which both sides map.
// watch   An error in a batch ends the connection of its client, and nothing else.
// tests   tests/message_test.cpp; fuzzed by common/emulator/fuzz/remote_messages.cpp
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "common/device/remote/bytes.hpp"
#include "common/device/tensor_map.hpp"

namespace stepwise::remote {

inline constexpr std::size_t most_batch_bytes = 256 << 10;
inline constexpr std::size_t most_reply_bytes = 64 << 20;
inline constexpr std::size_t most_parameter_bytes = 32764;  // per kernel; source: PTX ISA 8.1
inline constexpr std::size_t most_image_bytes = 64 << 20;   // all parts of a module together
inline constexpr std::size_t most_parts = 256;
inline constexpr std::size_t most_events = 64 << 10;  // existing at once, per connection

// A part of the window.
struct window_part {
  std::uint32_t at = 0, bytes = 0;
  void fields(auto&& of) { of(at, bytes); }
};

// Commands.
struct write_bytes {
  std::uint64_t to = 0;
  window_part from;
  // If not 0, the bytes come from the call's own arrays at offset `array` - 1, and the bytes in the
  // window are ignored.
  std::uint64_t array = 0;
  bool pageable = true;  // the program's memory, according to the program; only times depend on it
  void fields(auto&& of) { of(to, from, array, pageable); }
};
struct fill_bytes {
  std::uint64_t to = 0, count = 0;
  std::uint32_t value = 0, element_bytes = 0;
  void fields(auto&& of) { of(to, count, value, element_bytes); }
};
struct copy_bytes {
  std::uint64_t to = 0, from = 0, bytes = 0;
  void fields(auto&& of) { of(to, from, bytes); }
};
struct start_kernel {
  std::uint64_t kernel = 0;
  extent grid, block, cluster;
  std::uint64_t dynamic_shared_bytes = 0;
  static constexpr std::uint8_t cooperative = 1, may_begin_early = 2, allows_large_cluster = 4;
  std::uint8_t how = 0;  // a combination of these flags
  std::vector<std::byte> parameters;
  void fields(auto&& of) {
    of(kernel, grid, block, cluster, dynamic_shared_bytes, how, parameters);
  }
};
struct release_memory {
  std::uint64_t address = 0;
  void fields(auto&& of) { of(address); }
};
struct make_event {  // the client chooses the number
  std::uint64_t event = 0;
  void fields(auto&& of) { of(event); }
};
struct drop_event {
  std::uint64_t event = 0;
  void fields(auto&& of) { of(event); }
};
struct record_event {
  std::uint64_t event = 0;
  void fields(auto&& of) { of(event); }
};
struct enter_origin {
  std::uint64_t origin = 0;
  void fields(auto&& of) { of(origin); }
};
struct enter_stream {
  std::uint64_t stream = 0;
  bool non_blocking = false;
  void fields(auto&& of) { of(stream, non_blocking); }
};
struct host_waits {
  std::uint64_t stream = 0;
  void fields(auto&& of) { of(stream); }
};
struct host_waits_for_event {
  std::uint64_t event = 0;
  void fields(auto&& of) { of(event); }
};
struct mark_event {
  std::uint64_t event = 0, stream = 0;
  void fields(auto&& of) { of(event, stream); }
};
struct wait_for_event {
  std::uint64_t event = 0, stream = 0;
  void fields(auto&& of) { of(event, stream); }
};
struct name_memory {
  std::uint64_t address = 0;
  std::string name;
  void fields(auto&& of) { of(address, name); }
};
struct forget_memory {
  std::uint64_t address = 0, bytes = 0;
  void fields(auto&& of) { of(address, bytes); }
};
struct give_time {
  std::uint64_t ns = 0;
  void fields(auto&& of) { of(ns); }
};
struct reset_counts {
  void fields(auto&& of) { of(); }
};
struct image_piece {  // a piece of the modules in the next `load`
  window_part from;
  void fields(auto&& of) { of(from); }
};
// The host source line of an origin in wanted_origins.
struct give_place {
  std::uint64_t origin = 0;
  std::string file, text, function;
  std::uint32_t line = 0;
  void fields(auto&& of) { of(origin, file, text, function, line); }
};
// One of the runtime's own findings, as a line of JSON (common/report/located_finding.hpp).
struct give_finding {
  std::string line;
  void fields(auto&& of) { of(line); }
};

// Requests. The `answer` follows the head of the reply.
struct describe {
  struct answer {
    std::string id, name;
    std::uint64_t memory_bytes = 0;
    std::int32_t driver_version = 0;
    std::map<std::int32_t, std::int32_t> attributes;
    std::map<std::int32_t, std::uint64_t> limits;
    std::uint64_t first_address = 0, address_bytes = 0;  // of device memory; 0: unknown
    std::vector<std::int32_t> cluster_groups;
    void fields(auto&& of) {
      of(id, name, memory_bytes, driver_version, attributes, limits, first_address, address_bytes,
         cluster_groups);
    }
  };
  void fields(auto&& of) { of(); }
};
struct allocate_memory {
  struct answer {
    std::uint64_t address = 0;
    void fields(auto&& of) { of(address); }
  };
  std::uint64_t bytes = 0;
  void fields(auto&& of) { of(bytes); }
};
struct no_answer {
  void fields(auto&& of) { of(); }
};
struct try_release {  // frees memory that the client does not know
  using answer = no_answer;
  std::uint64_t address = 0;
  void fields(auto&& of) { of(address); }
};
struct ask_memory {
  struct answer {
    std::uint64_t free = 0, total = 0;
    void fields(auto&& of) { of(free, total); }
  };
  void fields(auto&& of) { of(); }
};
struct symbol_answer {
  bool found = false;
  std::uint64_t address = 0, bytes = 0;
  bool shared = false;
  void fields(auto&& of) { of(found, address, bytes, shared); }
};
struct locate {
  using answer = symbol_answer;
  std::uint64_t address = 0;
  void fields(auto&& of) { of(address); }
};
struct read_bytes {
  using answer = no_answer;
  std::uint64_t from = 0;
  window_part to;
  std::uint64_t array = 0;  // if not 0, also copies to the call's arrays at `array` - 1
  bool pageable = true;     // as in write_bytes
  void fields(auto&& of) { of(from, to, array, pageable); }
};
struct load {
  struct answer {
    std::uint64_t module = 0;
    void fields(auto&& of) { of(module); }
  };
  std::vector<std::uint32_t> part_bytes;  // sizes of the parts in the image_pieces
  void fields(auto&& of) { of(part_bytes); }
};
struct unload {
  using answer = no_answer;
  std::uint64_t module = 0;
  void fields(auto&& of) { of(module); }
};
struct parameter_place {
  std::uint32_t offset = 0, bytes = 0;
  void fields(auto&& of) { of(offset, bytes); }
};
struct find_kernel {
  struct answer {
    std::uint64_t kernel = 0;
    std::string name;
    std::int32_t registers = 0, max_threads_per_block = 0, ptx_version = 0, binary_version = 0;
    std::uint64_t static_shared_bytes = 0, local_bytes = 0, constant_bytes = 0;
    std::uint64_t max_dynamic_shared_bytes = 0;
    extent required_cluster;
    std::vector<parameter_place> parameters;
    void fields(auto&& of) {
      of(kernel, name, registers, max_threads_per_block, ptx_version, binary_version,
         static_shared_bytes, local_bytes, constant_bytes, max_dynamic_shared_bytes,
         required_cluster, parameters);
    }
  };
  std::uint64_t module = 0;
  std::string name;
  void fields(auto&& of) { of(module, name); }
};
struct find_variable {
  using answer = symbol_answer;
  std::uint64_t module = 0;
  std::string name;
  void fields(auto&& of) { of(module, name); }
};
struct allow_shared {
  using answer = no_answer;
  std::uint64_t kernel = 0, bytes = 0;
  void fields(auto&& of) { of(kernel, bytes); }
};
struct wait_for_all {
  using answer = no_answer;
  void fields(auto&& of) { of(); }
};
struct ask_elapsed {
  struct answer {
    float ms = 0;
    void fields(auto&& of) { of(ms); }
  };
  std::uint64_t start = 0, stop = 0;
  void fields(auto&& of) { of(start, stop); }
};
struct give_limit {
  using answer = no_answer;
  std::uint32_t which = 0;
  std::uint64_t bytes = 0;
  void fields(auto&& of) { of(which, bytes); }
};
struct ask_limit {
  struct answer {
    std::uint64_t bytes = 0;
    void fields(auto&& of) { of(bytes); }
  };
  std::uint32_t which = 0;
  void fields(auto&& of) { of(which); }
};
struct ask_counts {
  struct answer {
    bool counted = false;
    std::vector<std::uint64_t> counts;  // in the order of stepwise_counters
    void fields(auto&& of) { of(counted, counts); }
  };
  void fields(auto&& of) { of(); }
};
// Sent if the queue is full. The window is free again after the reply.
struct flush {
  using answer = no_answer;
  void fields(auto&& of) { of(); }
};
// Sent when the program ends normally. Memory that the program has not freed is a leak.
struct end_in_order {
  using answer = no_answer;
  void fields(auto&& of) { of(); }
};
// Requests the finding for host code that dereferenced a device pointer.
struct ask_host_access {
  struct answer {
    std::vector<long_text> lines;  // JSON: one finding, or none
    void fields(auto&& of) { of(lines); }
  };
  std::uint64_t address = 0;
  bool writes = false;
  void fields(auto&& of) { of(address, writes); }
};

struct tensor_map_answer {
  opaque_tensor_map map{};
  void fields(auto&& of) { of(map); }
};
struct encode_tensor_map {
  using answer = tensor_map_answer;
  tensor_map_request wanted;
  void fields(auto&& of) {
    tensor_map_request& r = wanted;
    of(r.type, r.rank, r.address, r.sizes, r.strides, r.box, r.element_strides, r.is_im2col,
       r.lower, r.upper, r.interleave, r.swizzle, r.promotion, r.fill);
  }
};
struct move_tensor_map {
  using answer = tensor_map_answer;
  opaque_tensor_map map{};
  std::uint64_t address = 0;
  void fields(auto&& of) { of(map, address); }
};

// Requests that only the judge may send.
struct begin_call {
  using answer = no_answer;
  bool cold = false;      // the first work finds no data of its own and no persisting lines in L2
  bool modelled = false;  // copy times count too, since the contract's arrays are in host memory
  void fields(auto&& of) { of(cold, modelled); }
};
struct end_call {
  // The work of the call, which counts only the submission's own work.
  struct answer {
    std::uint64_t launches = 0, bytes_to_host = 0, bytes_in = 0;
    std::uint64_t bytes_made = 0;         // part of bytes_in that is not from the call's arrays
    std::uint64_t bytes_in_commands = 0;  // in launches, fills and copies themselves
    std::uint64_t requests = 0;           // by the submission, a round trip each
    double device_ms = 0;                 // between the device's events around the work; 0: no work
    double before_ms = 0;                 // before the work, to hold the queue and overwrite L2
    double modelled_ms = 0;               // by the time model, if there is one
    std::int32_t failure = 0;             // first device error that the client was not sent
    std::string message;
    std::string broken;  // why the submission's connection was closed, or empty
    void fields(auto&& of) {
      of(launches, bytes_to_host, bytes_in, bytes_made, bytes_in_commands, requests, device_ms,
         before_ms, modelled_ms, failure, message, broken);
    }
  };
  void fields(auto&& of) { of(); }
};
struct take_report {
  struct answer {
    std::vector<long_text> lines;  // JSON
    void fields(auto&& of) { of(lines); }
  };
  std::uint32_t which = 0;  // report_kind
  void fields(auto&& of) { of(which); }
};
// After this, the program may only free memory and make queries.
struct end_program {
  using answer = no_answer;
  void fields(auto&& of) { of(); }
};
enum class report_kind : std::uint32_t { findings = 0, profile = 1 };

// A message begins with its index in this list. New messages go at the end, so that recorded
// batches stay readable.
using message =
    std::variant<write_bytes, fill_bytes, copy_bytes, start_kernel, release_memory, make_event,
                 drop_event, record_event, enter_origin, enter_stream, host_waits, mark_event,
                 wait_for_event, name_memory, forget_memory, give_time, reset_counts, image_piece,
                 give_place, give_finding, describe, allocate_memory, try_release, ask_memory,
                 locate, read_bytes, load, unload, find_kernel, find_variable, allow_shared,
                 wait_for_all, ask_elapsed, give_limit, ask_limit, ask_counts, flush, end_in_order,
                 begin_call, end_call, take_report, ask_host_access, host_waits_for_event,
                 end_program, encode_tensor_map, move_tensor_map>;

template <class T>
concept is_request = requires {
  typename T::answer;
};
template <class T>
inline constexpr bool is_judges = std::same_as<T, begin_call> || std::same_as<T, end_call> ||
                                  std::same_as<T, take_report> || std::same_as<T, end_program>;

// The start of every reply.
struct reply_head {
  std::int32_t code = 0;  // result of the request
  std::string message;
  std::int32_t deferred = 0;  // error of the first failed command before it, or 0
  std::string deferred_message;
  std::uint32_t epoch = 0;                    // if it changes, others' allocations may be gone
  std::vector<std::uint64_t> wanted_origins;  // the server requests their source lines
  void fields(auto&& of) { of(code, message, deferred, deferred_message, epoch, wanted_origins); }
};

// Appends a message to a writer.
void append(byte_writer& to, const message& what);
// Reads the next message. If it is malformed, returns nothing and the reader has failed.
std::optional<message> next_message(byte_reader& from);

// The numbers of execution_counters, in the order of common/runtime/stepwise.h.
std::vector<std::uint64_t> counts_of(const execution_counters& counters);
std::optional<execution_counters> counters_of(const std::vector<std::uint64_t>& counts);

}  // namespace stepwise::remote
