// Opens and closes calls, records the device's events around their work, and moves the clock.
#include "common/device/remote/call_account.hpp"

#include <utility>

namespace stepwise::remote {
namespace {

// Well below the capacity of the driver's queue, about 1000 commands, at which launches block.
constexpr std::size_t most_held_commands = 100;

// A number that no runtime uses for a program's event. A program that uses this number changes
// nothing.
constexpr std::uint64_t call_ends = ~std::uint64_t{0};

}  // namespace

call_account::~call_account() {
  for (const auto& event : {before_, first_, last_})
    if (event) (void)on_.destroy_event(*event);
  if (overwritten_) (void)on_.free(*overwritten_);
}

// Twice the cache's size is enough to replace all of its lines.
std::uint64_t call_account::overwriting_bytes() const { return 2 * on_.description().l2_bytes; }

void call_account::get_ready_for_cold() {
  if (auto* const queue = on_.extras().queue) queue->reset_persisting_lines();
  if (overwriting_bytes() == 0 || overwritten_) return;
  const auto made = on_.allocate(overwriting_bytes());
  if (made.ok()) {
    overwritten_ = *made;
  } else {
    failed(made.failure());
  }
}

void call_account::use_stream(const stream_use& in) {
  ask_copy();
  end_operation();
  stream_ = in;
}

// Whether `next` was predictable: it has the kind and size of the last element, and the distance
// between them is the same as before. Makes `next` the last element.
bool call_account::sequence::continues_with(const placed& next) {
  const distance now{next.to - last.to, next.from - last.from};
  const bool is_alike =
      next.what == last.what && next.bytes == last.bytes && next.value == last.value;
  const bool expected = is_alike && now == step;
  step = now;
  last = next;
  return expected;
}

// Predictable addresses are not counted. Otherwise, the row addresses of a 2D copy with narrow rows
// would seem to transfer more bytes than the copy itself.
void call_account::add_command_bytes(const placed& row, std::uint64_t bytes) {
  if (!is_open_) return;
  bool expected;
  if (rows_so_far_++ == 0) {
    expected = operations_.continues_with(row);
    rows_.last = row;
  } else {
    expected = rows_.continues_with(row);
  }
  if (!expected) so_far_.bytes_in_commands += bytes;
}

// The number of rows can carry information, too, so count it if it has changed.
void call_account::end_operation() {
  if (rows_so_far_ == 0) return;
  if (rows_so_far_ != rows_before_) add_command_bytes(sizeof rows_so_far_);
  rows_before_ = std::exchange(rows_so_far_, 0);
}

void call_account::count_transfers(bool counted) {
  if (auto* const counts = on_.extras().profile) counts->count_transfers(counted);
}

void call_account::start() {
  if (!first_ || !last_) return;
  is_held_ = is_cold_ && !clock_;
  held_commands_ = 0;
  held_from_ = std::chrono::steady_clock::now();
  auto* const queue = on_.extras().queue;
  if (is_held_ && queue != nullptr) queue->hold_queue();
  is_overwriting_ = is_cold_ && overwritten_ && before_ && on_.record(*before_).ok();
  count_transfers(false);
  if (is_overwriting_)
    failed(on_.fill(*overwritten_, ++times_overwritten_, 1, overwriting_bytes()));
  count_transfers(true);
  has_begun_ = on_.record(*first_).ok();
}

void call_account::begin(const begin_call& how) {
  so_far_ = {};
  has_begun_ = has_more_ = is_overwriting_ = false;
  stream_ = {};
  clock_.reset();
  copy_.reset();
  rows_ = operations_ = {};
  rows_so_far_ = rows_before_ = 0;
  is_cold_ = how.cold;
  if (is_cold_) get_ready_for_cold();
  (void)on_.synchronize();
  if (!first_) {
    if (const auto made = on_.create_event(); made.ok()) before_ = *made;
    if (const auto made = on_.create_event(); made.ok()) first_ = *made;
    if (const auto made = on_.create_event(); made.ok()) last_ = *made;
  }
  is_open_ = true;
  count_transfers(true);
  if (!how.modelled) return;
  clock_.emplace(rates_of(on_.description()));
}

end_call::answer call_account::end() {
  end_operation();
  before_wait();
  failed(on_.synchronize());
  if (has_begun_ && first_ && last_) {
    const auto ms = on_.elapsed_ms(*first_, *last_);
    if (ms.ok()) so_far_.device_ms = static_cast<double>(*ms);
    if (const auto cold = is_overwriting_ ? on_.elapsed_ms(*before_, *first_) : 0.0f; cold.ok())
      so_far_.before_ms += static_cast<double>(*cold);
  }
  if (clock_) {
    // All work in all streams has ended here, no matter what the program waited for.
    marked(asked::kind::host_all, 0, 0);
    marked(asked::kind::record, call_ends, 0);
    so_far_.modelled_ms = clock_->time_of_event(call_ends) / 1e3;
  }
  is_open_ = false;
  count_transfers(false);
  return so_far_;
}

void call_account::before_work() {
  if (!is_open_) return;
  if (!has_begun_) start();
  has_more_ = true;
  if (is_held_ && ++held_commands_ > most_held_commands) release();
}

void call_account::before_host_work() {
  if (!is_open_) return;
  before_work();
  release();
}

void call_account::release() {
  if (!is_held_) return;
  if (auto* const queue = on_.extras().queue) queue->release_queue();
  is_held_ = false;
  const std::chrono::duration<double, std::milli> held =
      std::chrono::steady_clock::now() - held_from_;
  so_far_.before_ms += held.count();
}

void call_account::before_wait() {
  if (has_more_ && last_) (void)on_.record(*last_);
  has_more_ = false;
  release();
}

void call_account::request() {
  ++so_far_.requests;
  before_wait();
}

void call_account::before_launch() {
  before_work();
  ask_copy();
  if (!clock_) return;
  const double us = clock_->begin_of_next(stream_.stream, stream_.non_blocking);
  if (auto* const time = on_.extras().time) time->set_time(static_cast<std::uint64_t>(1e3 * us));
}

void call_account::launched() {
  if (!is_open_) return;
  ++so_far_.launches;
  if (!clock_) return;
  asked kernel;
  kernel.what = asked::kind::kernel;
  auto* const time = on_.extras().time;
  if (const auto modelled = time != nullptr ? time->last_launch() : std::nullopt) {
    kernel.us = modelled->us;
    kernel.fills = modelled->fills;
  }
  ask(std::move(kernel));
}

void call_account::copied(asked::kind which, std::uint64_t bytes, bool pageable) {
  if (!is_open_) return;
  if (which == asked::kind::copy_to_host) so_far_.bytes_to_host += bytes;
  if (which == asked::kind::copy_to_device) so_far_.bytes_in += bytes;
  if (!clock_) return;
  if (copy_ && copy_->what == which) {
    copy_->bytes += bytes;
    return;
  }
  ask_copy();
  copy_.emplace();
  copy_->what = which;
  copy_->bytes = bytes;
  copy_->pageable = pageable;
}

// Called when all of the copy's rows have arrived.
void call_account::ask_copy() {
  if (copy_) ask(*std::exchange(copy_, std::nullopt));
}

void call_account::marked(asked::kind which, std::uint64_t event, std::uint64_t stream) {
  if (!is_open_ || !clock_) return;
  ask_copy();
  asked mark;
  mark.what = which;
  mark.event = event;
  mark.stream = stream;
  clock_->add(mark);
}

void call_account::ask(asked what) {
  what.stream = stream_.stream;
  what.non_blocking = stream_.non_blocking;
  clock_->add(what);
}

void call_account::failed(const status& how) {
  if (how.ok() || so_far_.failure != 0) return;
  so_far_.failure = static_cast<std::int32_t>(how.code);
  so_far_.message = how.message;
}

}  // namespace stepwise::remote
