// Goes through the calls once, and stores the stream clock's times for each call.
#include "grader/model/timeline.hpp"

#include <algorithm>
#include <map>

#include "common/device/names.hpp"
#include "common/timeline/stream_clock.hpp"

namespace stepwise {
namespace {

using asks = asked::kind;

struct stretch {
  double from = 0, to = 0;
};

// The union of the intervals, in order.
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

class layout {
 public:
  explicit layout(const transfer_rates& rates) : clock_(rates) {}

  timeline of(const asked_list& list) {
    for (const asked& a : list.all) add(a);
    for (const device_work& a : t_.activities) t_.us = std::max(t_.us, a.end_us());
    for (const host_call& c : t_.calls) t_.us = std::max(t_.us, c.start_us + c.us);
    sum_up();
    return std::move(t_);
  }

 private:
  void add(const asked& a) {
    const stream_clock::step s = clock_.add(a);
    if (t_.calls.empty() || a.call != last_call_) t_.calls.push_back({a.name, s.host_us});
    last_call_ = a.call;
    host_call& call = t_.calls.back();
    call.us += s.host_took_us;
    call.waits = call.waits || s.waits;
    if (!is_work(a.what)) return;
    const bool is_kernel = a.what == asks::kernel;
    t_.activities.push_back({a.what, is_kernel ? readable_name(a.kernel) : "", row_of(a),
                             s.start_us, s.us, a.bytes, a.pageable});
    if (is_kernel && a.us <= 0) ++t_.untimed;
    if (a.pageable && a.name.find("Async") != a.name.npos) ++t_.pageable_copies;
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

  stream_clock clock_;
  timeline t_;
  std::uint64_t last_call_ = 0;
  std::map<std::uint64_t, std::size_t> rows_;
};

}  // namespace

timeline lay_out(const asked_list& calls, const transfer_rates& rates) {
  return layout(rates).of(calls);
}

}  // namespace stepwise
