// The rules of streams, events and engines.
#include "common/timeline/stream_clock.hpp"

#include <algorithm>

namespace stepwise {
namespace {

using asks = asked::kind;

bool is_host_copy(asks k) { return k == asks::copy_to_device || k == asks::copy_to_host; }

}  // namespace

bool is_work(asks k) {
  return k == asks::kernel || k == asks::copy_on_device || k == asks::fill || is_host_copy(k);
}

stream_clock::step stream_clock::add(const asked& a) {
  step s;
  s.host_us = host_;
  if (is_work(a.what)) {
    start(a, s);
    host_ += rates_.launch_us;
  } else if (a.what == asks::allocate) {
    host_ += rates_.allocate_us;
  } else if (a.what == asks::release) {
    host_ += rates_.release_us;
  } else if (a.what == asks::record) {
    events_[a.event] = std::max(host_, ready(a.stream, a.non_blocking));
  } else if (a.what == asks::wait_event) {
    double& own = ready_[a.stream];
    own = std::max(own, time_of_event(a.event));
    blocking_[a.stream] = !a.non_blocking;
  } else if (a.what == asks::host_event) {
    wait_until(time_of_event(a.event), s);
  } else if (a.what == asks::host_stream) {
    wait_until(ready(a.stream, a.non_blocking), s);
  } else if (a.what == asks::host_all) {
    for (const auto& [stream, end] : ready_) wait_until(end, s);
  }
  s.host_took_us = host_ - s.host_us;
  return s;
}

void stream_clock::wait_until(double us, step& s) {
  s.waits = s.waits || us > host_;
  host_ = std::max(host_, us);
}

double stream_clock::time_of_event(std::uint64_t event) const {
  const auto found = events_.find(event);
  return found != events_.end() ? found->second : 0;
}

double stream_clock::begin_of_next(std::uint64_t stream, bool non_blocking) const {
  return std::max(host_, ready(stream, non_blocking));
}

// The time at which all earlier work in a stream has ended. The legacy default stream and streams
// that are created without cudaStreamNonBlocking wait for each other.
double stream_clock::ready(std::uint64_t stream, bool non_blocking) const {
  const auto own = ready_.find(stream);
  double ready = own != ready_.end() ? own->second : 0;
  for (const auto& [other, end] : ready_) {
    const auto blocks = blocking_.find(other);
    const bool is_blocking = blocks != blocking_.end() && blocks->second;
    if (stream == 0 ? is_blocking : other == 0 && !non_blocking) ready = std::max(ready, end);
  }
  return ready;
}

void stream_clock::start(const asked& a, step& s) {
  s.start_us = std::max(host_, ready(a.stream, a.non_blocking));
  s.us = us_of(a);
  if (is_host_copy(a.what)) {
    const bool back = a.what == asks::copy_to_host && rates_.copy_engines > 1;
    double& free = engine_free_[back ? 1 : 0];
    s.start_us = std::max(s.start_us, free);
    free = s.start_us + s.us;
  } else {
    const double fills = a.what == asks::kernel ? a.fills : 1;
    s.start_us = room_from(s.start_us, s.us, fills);
    running_.push_back({s.start_us, s.start_us + s.us, fills});
  }
  ready_[a.stream] = s.start_us + s.us;
  blocking_[a.stream] = a.stream != 0 && !a.non_blocking;
}

double stream_clock::us_of(const asked& a) const {
  if (a.what == asks::kernel) return a.us;
  const auto copied = [&](double start_us, double bytes_per_s) {
    return start_us + 1e6 * static_cast<double>(a.bytes) / bytes_per_s;
  };
  if (a.what == asks::fill) return copied(rates_.start_us, rates_.fill_bytes_per_s);
  if (a.what == asks::copy_on_device) return copied(rates_.start_us, rates_.copy_bytes_per_s);
  if (!a.pageable) return copied(rates_.start_us, rates_.link.bytes_per_s);
  return a.what == asks::copy_to_device
             ? copied(rates_.pageable_start_to_device, rates_.pageable_to_device)
             : copied(rates_.pageable_start_to_host, rates_.pageable_to_host);
}

// The first time from `earliest` on at which earlier work leaves enough room.
double stream_clock::room_from(double earliest, double us, double fills) {
  std::erase_if(running_, [&](const running& r) { return r.to <= host_; });
  std::vector<double> times = {earliest};
  for (const running& r : running_)
    if (r.to > earliest) times.push_back(r.to);
  std::ranges::sort(times);
  for (const double at : times) {
    constexpr double rounding = 1e-9;
    // The GPU is fullest when other work begins, or at the start.
    const auto filled = [&](double moment) {
      double sum = fills;
      for (const running& r : running_)
        if (r.from <= moment && r.to > moment) sum += r.fills;
      return sum;
    };
    bool fits = filled(at) <= 1 + rounding;
    for (const running& r : running_)
      if (r.from > at && r.from < at + us) fits = fits && filled(r.from) <= 1 + rounding;
    if (fits) return at;
  }
  return times.back();
}

}  // namespace stepwise
