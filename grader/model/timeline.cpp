// Goes through the calls once, with a clock for the host, for each stream and for each engine.
#include "grader/model/timeline.hpp"

#include <algorithm>
#include <map>

namespace stepwise {
namespace {

using asks = asked::kind;

bool is_host_copy(asks k) { return k == asks::copy_to_device || k == asks::copy_to_host; }
bool is_work(asks k) {
  return k == asks::kernel || k == asks::copy_on_device || k == asks::fill || is_host_copy(k);
}

struct stretch {
  double from = 0, to = 0;
};

// Their union, in order.
std::vector<stretch> joined_stretches(std::vector<stretch> all) {
  std::ranges::sort(all, {}, &stretch::from);
  std::vector<stretch> joined;
  for (const stretch& s : all) {
    if (!joined.empty() && s.from <= joined.back().to)
      joined.back().to = std::max(joined.back().to, s.to);
    else
      joined.push_back(s);
  }
  return joined;
}
double length_of(const std::vector<stretch>& all) {
  double sum = 0;
  for (const stretch& s : all) sum += s.to - s.from;
  return sum;
}

// How long a launch takes, and which part of the GPU its blocks fill.
struct kernel_cost {
  std::string name;
  double us = 0, fills = 1;
};

class layout {
 public:
  layout(const std::vector<kernel_profile>& kernels, const transfer_rates& rates,
         int multiprocessors)
      : kernels_(kernels), rates_(rates), multiprocessors_(multiprocessors) {}

  timeline of(const asked_list& list) {
    for (const asked& a : list.all) add(a);
    for (const device_work& a : t_.activities) t_.us = std::max(t_.us, a.end_us());
    t_.us = std::max(t_.us, host_);
    sum_up();
    return std::move(t_);
  }

 private:
  void add(const asked& a) {
    host_call& call = call_of(a);
    const double before = host_;
    if (is_work(a.what)) {
      host_ += rates_.launch_us;
      start(a);
      if (a.pageable && a.name.find("Async") != a.name.npos) ++t_.pageable_copies;
    } else if (a.what == asks::record) {
      events_[a.event] = std::max(host_, ready_of(a));
    } else if (a.what == asks::wait_event) {
      auto& ready = ready_[a.stream];
      ready = std::max(ready, time_of_event(a.event));
      blocking_[a.stream] = !a.non_blocking;
    } else if (a.what == asks::host_event) {
      wait_until(time_of_event(a.event), call);
    } else if (a.what == asks::host_stream) {
      wait_until(ready_of(a), call);
    } else if (a.what == asks::host_all) {
      for (const auto& [stream, ready] : ready_) wait_until(ready, call);
    }
    call.us += host_ - before;
  }

  host_call& call_of(const asked& a) {
    if (t_.calls.empty() || a.call != last_call_) {
      t_.calls.push_back({a.name, host_});
      last_call_ = a.call;
    }
    return t_.calls.back();
  }

  void wait_until(double us, host_call& call) {
    call.waits = call.waits || us > host_;
    host_ = std::max(host_, us);
  }

  double time_of_event(std::uint64_t event) const {
    const auto found = events_.find(event);
    return found != events_.end() ? found->second : 0;
  }

  // When all that was asked of a stream before has ended. The legacy default stream and those that
  // are not made with cudaStreamNonBlocking wait for each other.
  double ready_of(const asked& a) const {
    const auto own = ready_.find(a.stream);
    double ready = own != ready_.end() ? own->second : 0;
    for (const auto& [stream, end] : ready_) {
      const auto blocks = blocking_.find(stream);
      const bool is_blocking = blocks != blocking_.end() && blocks->second;
      if (a.stream == 0 ? is_blocking : stream == 0 && !a.non_blocking)
        ready = std::max(ready, end);
    }
    return ready;
  }

  std::size_t row_of(const asked& a) {
    const auto found = rows_.find(a.stream);
    if (found != rows_.end()) return found->second;
    constexpr std::uint64_t per_thread = std::uint64_t{1} << 32;
    // The runtime numbers streams from 3 on.
    t_.rows.push_back(a.stream == 0 ? "default stream"
                      : a.stream >= per_thread
                          ? "per thread " + std::to_string(a.stream - per_thread)
                      : a.stream > 2 ? "stream " + std::to_string(a.stream - 2)
                                     : "stream " + std::to_string(a.stream));
    return rows_[a.stream] = t_.rows.size() - 1;
  }

  void start(const asked& a) {
    device_work one{a.what, {}, row_of(a), std::max(host_, ready_of(a)), 0, a.bytes, a.pageable};
    double fills = 1;
    if (a.what == asks::kernel) {
      const kernel_cost cost = cost_of(a);
      one.name = cost.name;
      one.us = cost.us;
      fills = cost.fills;
    } else {
      one.us = rates_.start_us + 1e6 * static_cast<double>(a.bytes) / rate_of(a);
    }
    if (is_host_copy(a.what)) {
      const bool back = a.what == asks::copy_to_host && rates_.copy_engines > 1;
      double& free = engine_free_[back ? 1 : 0];
      one.start_us = std::max(one.start_us, free);
      free = one.end_us();
    } else {
      one.start_us = room_from(one.start_us, one.us, fills);
      running_.push_back({one.start_us, one.end_us(), fills});
    }
    ready_[a.stream] = one.end_us();
    blocking_[a.stream] = a.stream != 0 && !a.non_blocking;
    t_.activities.push_back(std::move(one));
  }

  double rate_of(const asked& a) const {
    if (a.what == asks::fill) return rates_.fill_bytes_per_s;
    if (a.what == asks::copy_on_device) return rates_.copy_bytes_per_s;
    return rates_.link.bytes_per_s * (a.pageable ? rates_.pageable_share : 1);
  }

  kernel_cost cost_of(const asked& a) {
    for (const kernel_profile& k : kernels_) {
      const auto same = [](const extent& x, const extent& y) {
        return x.x == y.x && x.y == y.y && x.z == y.z;
      };
      if (k.mangled != a.kernel || !same(k.grid, a.grid) || !same(k.block, a.block) ||
          k.dynamic_shared_bytes != a.dynamic_shared_bytes || k.launches == 0)
        continue;
      if (k.timing.us <= 0) ++t_.untimed;
      const double room = static_cast<double>(k.fits.blocks) * multiprocessors_;
      const double blocks = static_cast<double>(volume(k.grid));
      return {k.kernel, k.timing.us / static_cast<double>(k.launches),
              room > 0 ? std::min(1.0, blocks / room) : 1};
    }
    ++t_.untimed;
    return {a.kernel, 0, 1};
  }

  // The first time from `earliest` on at which nothing that was started before leaves too little.
  double room_from(double earliest, double us, double fills) {
    std::erase_if(running_, [&](const running& r) { return r.to <= host_ - rates_.launch_us; });
    std::vector<double> times = {earliest};
    for (const running& r : running_)
      if (r.to > earliest) times.push_back(r.to);
    std::ranges::sort(times);
    for (const double at : times) {
      constexpr double rounding = 1e-9;
      // The fullest moment is where one of the others begins, or at the start.
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

  void sum_up() {
    std::vector<stretch> kernels, copies, all;
    for (const device_work& a : t_.activities) {
      const stretch s{a.start_us, a.end_us()};
      (a.what == asks::kernel ? kernels : copies).push_back(s);
      all.push_back(s);
    }
    t_.kernels_us = length_of(joined_stretches(kernels));
    t_.copies_us = length_of(joined_stretches(copies));
    t_.busy_us = length_of(joined_stretches(all));
    t_.overlap_us = t_.kernels_us + t_.copies_us - t_.busy_us;
  }

  struct running {
    double from = 0, to = 0, fills = 0;
  };

  const std::vector<kernel_profile>& kernels_;
  const transfer_rates& rates_;
  int multiprocessors_;
  timeline t_;
  double host_ = 0;
  std::uint64_t last_call_ = 0;
  double engine_free_[2] = {};
  std::map<std::uint64_t, double> ready_;  // by stream
  std::map<std::uint64_t, bool> blocking_;
  std::map<std::uint64_t, double> events_;
  std::map<std::uint64_t, std::size_t> rows_;
  std::vector<running> running_;
};

}  // namespace

transfer_rates rates_of(const gpu& model) {
  constexpr double of_the_link = 0.8;
  transfer_rates rates;
  const int capability = model.compute_capability();
  rates.link = *find_link(capability >= 90 ? "pcie5" : capability >= 80 ? "pcie4" : "pcie3");
  rates.link.bytes_per_s *= of_the_link;
  const auto measured = [&](const char* name, double otherwise) {
    const auto found = model.measured.find(name);
    return found != model.measured.end() ? found->second : otherwise;
  };
  const auto paper = paper_rates(model);
  const double memory = paper ? paper->bytes_per_s / 1e9 : 100;
  rates.measured = !model.measured.empty();
  rates.copy_bytes_per_s = 1e9 * measured("dram_copy", memory) / 2;  // read and written
  rates.fill_bytes_per_s = 1e9 * measured("dram_write", memory);
  rates.start_us = rates.launch_us = measured("launch_in_a_row", 2);
  const auto engines = model.attributes.find(40);  // cudaDevAttrAsyncEngineCount
  rates.copy_engines = engines != model.attributes.end() ? std::clamp(engines->second, 1, 2) : 1;
  return rates;
}

timeline lay_out(const asked_list& calls, const std::vector<kernel_profile>& kernels,
                 const transfer_rates& rates, int multiprocessors) {
  return layout(kernels, rates, multiprocessors).of(calls);
}

}  // namespace stepwise
