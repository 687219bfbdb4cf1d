// Serves each call for all of its lanes: reads arguments, keeps output for the host, runs the heap.
#include "common/emulator/run/device_library.hpp"

#include <cstdio>
#include <cstring>

#include "common/emulator/run/device_printf.hpp"
#include "common/emulator/run/lane_memory.hpp"

namespace stepwise::emulator {
namespace {

constexpr std::uint64_t heap_grain = 16;

std::string text_at(const context& x, std::uint64_t address, int lane) {
  if (address == 0) return "(null)";
  const auto bytes = bytes_at(x, address, lane, ~std::uint64_t{0});
  const char* first = reinterpret_cast<const char*>(bytes.data());
  return std::string(first, strnlen(first, bytes.size()));
}

}  // namespace

status device_library::make_heap(std::uint64_t bytes) {
  if (heap_ != 0) return {};
  const auto at = memory_.allocate(bytes);
  if (!at.ok()) return {at.failure().code, "the heap of kernels: " + at.failure().message};
  heap_ = *at;
  heap_bytes_ = bytes;
  heap_holes_.give_back(heap_, bytes / heap_grain * heap_grain);
  return {};
}

void device_library::flush() {
  for (const line& l : lines_) {
    std::FILE* to = l.is_error ? stderr : stdout;
    std::fwrite(l.text.data(), 1, l.text.size(), to);
  }
  if (!lines_.empty()) std::fflush(stdout);
  lines_.clear();
  kept_bytes_ = 0;
}

void device_library::keep(bool is_error, std::string text) {
  const std::lock_guard lock(mutex_);
  kept_bytes_ += text.size();
  lines_.push_back({is_error, std::move(text)});
  if (kept_bytes_ > printf_bytes_) flush();
}

const op* device_library::call(const library_call& site, scheduler& owner, context& x,
                               const op* i) {
  switch (site.which) {
    case device_function::vprintf:
      return print(site, owner, x, i);
    case device_function::malloc:
      return allocate(site, owner, x, i);
    case device_function::free:
      return release(site, owner, x, i);
    default:
      return fail_assertion(site, owner, x, i);
  }
}

// Warns once per specification, because output that is right here would be rubbish on a GPU.
void device_library::warn_of_format(const std::string& specification) {
  {
    const std::lock_guard lock(mutex_);
    if (!warned_.insert(specification).second) return;
  }
  keep(true, "stepwise: printf on a GPU does not support " + specification + "\n");
}

// int vprintf(const char* format, const void* arguments)
const op* device_library::print(const library_call& site, scheduler& owner, context& x,
                                const op* i) {
  for (std::uint32_t m = x.active; m != 0; m &= m - 1) {
    const int lane = first_lane(m);
    const std::uint64_t format = argument(x, owner, site, 0, lane);
    std::uint64_t at = argument(x, owner, site, 1, lane);
    std::int32_t result = -1;
    if (format != 0) {
      printf_arguments from;
      from.next = [&](unsigned bytes) {
        at = (at + bytes - 1) / bytes * bytes;
        std::uint64_t value = 0;
        const auto there = bytes_at(x, at, lane, bytes);
        std::memcpy(&value, there.data(), there.size());
        at += bytes;
        return value;
      };
      from.text = [&](std::uint64_t address) { return text_at(x, address, lane); };
      printf_result printed = format_printf(text_at(x, format, lane), from);
      if (!printed.unknown.empty()) warn_of_format(printed.unknown);
      keep(false, std::move(printed.text));
      result = printed.arguments;
    }
    std::memcpy(owner.frame_bytes(x, lane) + site.result, &result, sizeof result);
  }
  return i + 1;
}

std::uint64_t device_library::take(std::uint64_t bytes) {
  const std::uint64_t wanted =
      std::max((bytes + heap_grain - 1) / heap_grain, std::uint64_t{1}) * heap_grain +
      room_between_;
  if (wanted < bytes) return 0;
  const std::lock_guard lock(mutex_);
  const auto at = heap_holes_.take(wanted, heap_grain);
  if (!at) return 0;
  heap_used_[*at] = wanted;
  return *at;
}

bool device_library::give_back(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto used = heap_used_.find(address);
  if (used == heap_used_.end()) return false;
  heap_holes_.give_back(address, used->second);
  heap_used_.erase(used);
  return true;
}

// void* malloc(size_t bytes): null where the heap has no room.
const op* device_library::allocate(const library_call& site, scheduler& owner, context& x,
                                   const op* i) {
  for (std::uint32_t m = x.active; m != 0; m &= m - 1) {
    const int lane = first_lane(m);
    const std::uint64_t bytes = argument(x, owner, site, 0, lane);
    const std::uint64_t at = take(bytes);
    if (x.watch != nullptr && at != 0)
      x.watch->heap_gave({owner.warp_index(), x.active, i}, lane, at, bytes);
    std::memcpy(owner.frame_bytes(x, lane) + site.result, &at, sizeof at);
  }
  return i + 1;
}

const op* device_library::release(const library_call& site, scheduler& owner, context& x,
                                  const op* i) {
  for (std::uint32_t m = x.active; m != 0; m &= m - 1) {
    const int lane = first_lane(m);
    const std::uint64_t at = argument(x, owner, site, 0, lane);
    const bool is_known = at == 0 || give_back(at);
    if (x.watch != nullptr && at != 0)
      x.watch->heap_got({owner.warp_index(), x.active, i}, lane, at, is_known);
    if (!is_known) {
      return owner.stop(i, is_heap(at) ? error::launch_failure : error::illegal_address,
                        "free of an address that the kernels' malloc did not return, or that is "
                        "free already",
                        lane);
    }
  }
  return i + 1;
}

// void __assertfail(const char* condition, const char* file, unsigned line, const char* function,
//                   size_t bytes_per_character)
const op* device_library::fail_assertion(const library_call& site, scheduler& owner, context& x,
                                         const op* i) {
  std::string what;
  for (std::uint32_t m = x.active; m != 0; m &= m - 1) {
    const int lane = first_lane(m);
    const auto text = [&](std::size_t n) {
      return text_at(x, argument(x, owner, site, n, lane), lane);
    };
    const auto [block, thread] = owner.place_of(lane);
    const auto triple = [](const extent& e) {
      return "[" + std::to_string(e.x) + "," + std::to_string(e.y) + "," + std::to_string(e.z) +
             "]";
    };
    what = "assertion `" + text(0) + "` failed";
    keep(true, text(1) + ":" + std::to_string(argument(x, owner, site, 2, lane, 4)) + ": " +
                   text(3) + ": block: " + triple(block) + ", thread: " + triple(thread) +
                   " Assertion `" + text(0) + "` failed.\n");
  }
  return owner.stop(i, error::assert_triggered, what, first_lane(x.active));
}

}  // namespace stepwise::emulator
