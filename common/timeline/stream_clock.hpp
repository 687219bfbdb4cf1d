// Computes when the work that a program requests would begin on the emulated GPU. There is a clock
// for the host, for each stream and for each engine. Each call of the program advances them.
//
// idea    Work begins when its call has been made, earlier work in its stream has ended, the events
//         that its stream waits for have happened, and its engine is free. The time model gives the
//         duration of a kernel. The duration of a copy is its bytes divided by a rate. The runtime
//         uses this class while the program runs, and the timeline uses it afterwards.
// watch   The time of a kernel, a copy or a fill includes the launch overhead, because two events
//         around the work also measure it. The host continues after launch_us. We assume that
//         kernels whose blocks fit together run at the same time and do not slow each other down.
//         The host's own work between calls takes no time. Calls that only manage objects take no
//         time either, except for allocations if they were measured.
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

// Whether the call runs on the device.
bool is_work(asked::kind k);

class stream_clock {
 public:
  explicit stream_clock(transfer_rates rates) : rates_(std::move(rates)) {}

  // Microseconds since the first call.
  struct step {
    double host_us = 0;           // time at which the host makes the call
    double host_took_us = 0;      // time until the host continues
    bool waits = false;           // the host waits until work on the device has ended
    double start_us = 0, us = 0;  // start and duration of work
  };
  step add(const asked& a);

  // The time at which an event happened in its stream; 0 if it was never recorded.
  double time_of_event(std::uint64_t event) const;
  // The earliest start of the next work in a stream, if its engine is free.
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
