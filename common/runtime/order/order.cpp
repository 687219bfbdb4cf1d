// Keeps the items, and runs those that are ready.
#include "common/runtime/order/order.hpp"

#include <algorithm>
#include <map>

namespace stepwise::runtime {
namespace {

// The legacy default stream is ordered with all streams except non-blocking streams.
bool is_ordered(const stream_use& a, const stream_use& b) {
  if (a.stream == b.stream) return true;
  if (a.stream != 0 && b.stream != 0) return false;
  return !a.non_blocking && !b.non_blocking;
}

}  // namespace

bool stream_order::must_wait(const stream_use& stream) const {
  if (doing_) return false;  // deferred work is running and need not wait again
  return std::ranges::any_of(items_, [&](const item& i) { return is_ordered(i.stream, stream); });
}

stream_order::item& stream_order::append(const stream_use& stream) {
  // The last item of a stream already comes after its earlier items.
  std::map<std::uint64_t, std::uint64_t> last;
  for (const item& i : items_)
    if (is_ordered(i.stream, stream)) last[i.stream.stream] = i.number;
  item fresh;
  fresh.number = ++last_number_;
  fresh.stream = stream;
  for (const auto& [other, number] : last) fresh.after.push_back(number);
  items_.push_back(std::move(fresh));
  return items_.back();
}

void stream_order::add_running(const stream_use& stream, std::uint64_t launch) {
  append(stream).launch = launch;
}

void stream_order::add(const stream_use& stream, work what, bool outside) {
  item& fresh = append(stream);
  fresh.what = std::move(what);
  fresh.outside = outside;
}

std::uint64_t stream_order::mark(const stream_use& stream, work what) {
  if (!must_wait(stream)) return 0;
  append(stream).what = std::move(what);
  return last_number_;
}

void stream_order::wait_until(const stream_use& stream, condition holds) {
  append(stream).until = std::move(holds);
}

void stream_order::hold(const stream_use& stream, clock::time_point until) {
  append(stream).held_until = until;
}

void stream_order::hurry_with_all_before(std::set<std::uint64_t> numbers) {
  for (auto i = items_.rbegin(); i != items_.rend(); ++i) {
    if (!numbers.contains(i->number)) continue;
    i->held_until = {};
    numbers.insert(i->after.begin(), i->after.end());
  }
}

void stream_order::hurry(std::uint64_t point) { hurry_with_all_before({point}); }

void stream_order::hurry(const stream_use& stream) {
  std::set<std::uint64_t> numbers;
  for (const item& i : items_)
    if (is_ordered(i.stream, stream)) numbers.insert(i.number);
  hurry_with_all_before(std::move(numbers));
}

void stream_order::hurry_all() {
  for (item& i : items_) i.held_until = {};
}

bool stream_order::waits_for_conditions() const {
  return std::ranges::any_of(items_, [&](const item& i) { return i.until && is_ready(i); });
}

void stream_order::wait(const stream_use& stream, std::uint64_t point, work what) {
  if (!is_outstanding(point)) return;
  item& fresh = append(stream);
  fresh.after.push_back(point);
  fresh.what = std::move(what);
}

stream_order::item* stream_order::find(std::uint64_t number) {
  const auto found = std::ranges::lower_bound(items_, number, {}, &item::number);
  return found != items_.end() && found->number == number ? &*found : nullptr;
}

bool stream_order::is_outstanding(std::uint64_t point) const {
  return const_cast<stream_order*>(this)->find(point) != nullptr;
}

bool stream_order::is_ready(const item& i) const {
  return i.launch == 0 && !i.begun &&
         std::ranges::none_of(i.after, [&](std::uint64_t n) { return is_outstanding(n); });
}

stream_order::item* stream_order::next_ready(bool outside_too, status& failed) {
  for (item& i : items_) {
    if (!is_ready(i) || (i.outside && !outside_too)) continue;
    if (i.held_until != clock::time_point{} && i.held_until > clock::now()) continue;
    bool holds = true;
    if (i.until) failed = i.until(holds);
    if (!failed.ok()) return nullptr;
    if (holds) return &i;
  }
  return nullptr;
}

status stream_order::advance(device& on, std::mutex& lock, bool outside_too) {
  waiting_launches* const waiting = on.extras().waiting;
  const auto left_launch = [&] { return waiting != nullptr ? waiting->left_launch() : 0; };
  while (!items_.empty()) {
    const std::size_t before = items_.size();
    std::erase_if(items_, [&](const item& i) { return i.launch != 0 && !waiting->runs(i.launch); });
    if (items_.size() != before) {
      if (status failed = on.synchronize(); !failed.ok()) {
        clear();
        return failed;
      }
    }
    status failed;
    item* const next = next_ready(outside_too, failed);
    if (!failed.ok()) {
      clear();
      return failed;
    }
    if (next == nullptr) break;
    next->begun = true;
    const std::uint64_t number = next->number, left_before = left_launch();
    const work what = std::move(next->what);
    status outcome;
    if (next->outside) {
      lock.unlock();
      outcome = what();
      lock.lock();
    } else if (what) {
      doing_ = true;
      outcome = what();
      doing_ = false;
    }
    item* const done = find(number);
    if (done == nullptr) break;  // the device was reset or lost
    if (!outcome.ok()) {
      clear();
      return outcome;
    }
    const std::uint64_t launch = left_launch();
    if (!done->outside && launch != left_before && launch != 0)
      done->launch = launch;
    else
      std::erase_if(items_, [&](const item& i) { return i.number == number; });
  }
  return {};
}

}  // namespace stepwise::runtime
