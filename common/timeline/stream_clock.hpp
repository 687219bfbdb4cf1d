// When what a program asks for would begin on the emulated GPU: a clock for the host, for
// each stream and for each engine, moved by one thing asked after the other.
//
// idea    Streams, events and engines decide: work begins when its call was made, what is before it
//         in its stream has ended, what its stream waits for has happened, and its engine is free.
//         How long a kernel takes is the time model's, how long a copy takes is its bytes over a
//         rate. The runtime asks as the program runs, the timeline when it is over.
// watch   What it takes to launch is a part of a kernel's, a copy's or a fill's own time, as two
//         events around it measure that; the host continues after launch_us. Assumed: kernels run
//         at the same time if their blocks fit together, and do not slow each other down; the
//         host's own work between the calls takes no time, and neither do calls that only manage
//         things, but for allocations where they were measured.
// source  Engines: cudaDeviceProp::asyncEngineCount. Order of streams: CUDA C++ Programming Guide,
//         "Streams", "Default Stream".
// Tested by tests/stream_clock_test.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "common/report/timeline.hpp"
#include "common/timeline/transfer_rates.hpp"

namespace stepwise {

// Whether it runs on the device.
bool is_work(asked::kind k);

class stream_clock {
 public:
  explicit stream_clock(transfer_rates rates) : rates_(std::move(rates)) {}

  // Microseconds since the first call.
  struct step {
    double host_us = 0;           // when the host asks
    double host_took_us = 0;      // until it continues
    bool waits = false;           // the host, until work on the device has ended
    double start_us = 0, us = 0;  // of work
  };
  step add(const asked& a);

  // When an event's stream came to it; 0 if it was never recorded.
  double time_of_event(std::uint64_t event) const;
  // When work that is asked of a stream next can begin, if its engine is free.
  double begin_of_next(std::uint64_t stream, bool non_blocking) const;

 private:
  void start(const asked& a, step& s);
  void wait_until(double us, step& s);
  double ready(std::uint64_t stream, bool non_blocking) const;
  double us_of(const asked& a) const;
  double room_from(double earliest, double us, double fills);

  struct running {
    double from = 0, to = 0, fills = 0;
  };
  transfer_rates rates_;
  double host_ = 0;
  double engine_free_[2] = {};
  std::map<std::uint64_t, double> ready_;  // by stream
  std::map<std::uint64_t, bool> blocking_;
  std::map<std::uint64_t, double> events_;
  std::vector<running> running_;
};

}  // namespace stepwise
