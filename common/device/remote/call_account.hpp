// Counts and times of a graded call, kept in the device's process, where the submission cannot
// reach them.
//
// idea    The judge begins and ends a call. The submission's commands are executed only during a
//         call. Device time is measured by two events in the device's queue, before the first
//         command that does work and after the last. The queue is held until the call waits for
//         something or needs the host, so the time includes only host delays that the call itself
//         causes. The L2 cache is overwritten right before the first event.
// watch   If the time is modelled, copies count as in the runtime's events (common/timeline), and
//         the program says whether its memory is pageable or pinned. A 2D or 3D copy arrives row by
//         row. The runtime sends the stream before each operation, so copies of one kind without a
//         stream message between them are rows of one operation.
// tests   tests/service_test.cpp
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "common/device/device.hpp"
#include "common/device/remote/message.hpp"
#include "common/timeline/stream_clock.hpp"

namespace stepwise::remote {

class call_account {
 public:
  // `on` must outlive this.
  explicit call_account(device& on) : on_(on) {}
  ~call_account();
  call_account(const call_account&) = delete;
  call_account& operator=(const call_account&) = delete;

  bool is_open() const { return is_open_; }
  void begin(const begin_call& how);
  end_call::answer end();

  // Called for the submission's messages. No-ops outside a call.
  void use_stream(const stream_use& in);
  void request();
  void before_work();
  // Called if the next command needs the host while the device works. Releases the queue.
  void before_host_work();
  // Starts the held commands, because the next command may have to wait for them.
  void release();
  void before_launch();
  void launched();
  void copied(asked::kind which, std::uint64_t bytes, bool pageable = false);
  void made_on_the_host(std::uint64_t bytes) {
    if (is_open_) so_far_.bytes_made += bytes;
  }
  void add_command_bytes(std::uint64_t bytes) {
    if (is_open_) so_far_.bytes_in_commands += bytes;
  }
  // A fill, or a copy of one row. An address that is predictable from earlier ones is not counted.
  struct placed {
    asked::kind what = asked::kind::fill;
    std::uint64_t to = 0, from = 0, bytes = 0;
    std::uint32_t value = 0;  // for fills
  };
  void add_command_bytes(const placed& row, std::uint64_t bytes);
  void marked(asked::kind which, std::uint64_t event, std::uint64_t stream);
  // Called before waiting for the queue. Records the end of the work so far.
  void before_wait();
  // Called when a command failed, or a request whose result is not returned to a client.
  void failed(const status& how);

 private:
  std::uint64_t overwriting_bytes() const;
  void get_ready_for_cold();
  void count_transfers(bool counted);
  void start();
  void ask(asked what);
  void ask_copy();
  void end_operation();

  device& on_;
  bool is_open_ = false, is_cold_ = false, has_begun_ = false, has_more_ = false,
       is_overwriting_ = false, is_held_ = false;
  std::chrono::steady_clock::time_point held_from_;
  std::size_t held_commands_ = 0;
  end_call::answer so_far_;
  std::optional<event_handle> before_, first_, last_;
  std::optional<device_address> overwritten_;  // memory to overwrite the L2 cache with
  std::uint8_t times_overwritten_ = 0;
  std::optional<stream_clock> clock_;
  stream_use stream_;
  std::optional<asked> copy_;  // the copy whose rows are still arriving; not in the clock yet
  // The distance between the last two rows, or between the last two operations.
  struct distance {
    std::uint64_t to = 0, from = 0;
    bool operator==(const distance&) const = default;
  };
  struct sequence {
    placed last;
    distance step;
    bool continues_with(const placed& next);
  };
  sequence rows_, operations_;
  std::uint64_t rows_so_far_ = 0, rows_before_ = 0;  // in this operation and in the previous one
};

}  // namespace stepwise::remote
