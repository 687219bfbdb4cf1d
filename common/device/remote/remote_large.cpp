// A judge's large transfers. The server copies one half of the window while this process fills or
// reads the other half.
#include <algorithm>

#include "common/device/remote/remote_device.hpp"

namespace stepwise::remote {

// Only a judge's window is larger than the usual size. A submission's copies are not split, because
// the time model counts them.
bool remote_device::goes_in_chunks(std::size_t bytes) const {
  const std::size_t window = to_.window().size();
  return window > window_bytes && bytes > window / 4;
}

// Waits for the reply to a posted request.
template <class Request>
status remote_device::collect() {
  auto reply = to_.collect<Request>();
  status how = note(reply ? &reply->head : nullptr);
  return lost_.ok() ? how : lost_;
}

status remote_device::write_in_chunks(device_address to, std::span<const std::byte> from) {
  status s = send_queue();  // now the window is free
  const std::size_t half = to_.window().size() / 2;
  bool is_posted = false;
  for (std::size_t at = 0, offset = 0; s.ok() && at < from.size();
       at += half, offset = half - offset) {
    const std::size_t bytes = std::min(half, from.size() - at);
    copy_bytes_(to_.window().data() + offset, from.data() + at, bytes);
    if (is_posted) s = collect<flush>();
    if (!s.ok()) return s;
    to_.queue(write_bytes{
        to + at, {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(bytes)}, 0});
    is_posted = to_.post(flush{});
    if (!is_posted) s = note(nullptr);
  }
  return is_posted && s.ok() ? collect<flush>() : s;
}

status remote_device::read_pieces(device_address from, std::size_t bytes, const taker& take) {
  const std::lock_guard guard(lock_);
  status s = check_area(from, bytes, "reading");
  if (s.ok()) s = send_queue();
  const std::size_t half = to_.window().size() / 2;
  const auto part = [&](std::size_t at) {
    return window_part{static_cast<std::uint32_t>(at / half % 2 * half),
                       static_cast<std::uint32_t>(std::min(half, bytes - at))};
  };
  const auto post = [&](std::size_t at) {
    if (!to_.post(read_bytes{from + at, part(at), 0})) s = note(nullptr);
  };
  if (s.ok() && bytes > 0) post(0);
  for (std::size_t at = 0; s.ok() && at < bytes; at += half) {
    s = collect<read_bytes>();
    if (!s.ok()) return s;
    const bool is_last = at + half >= bytes;
    if (!is_last) post(at + half);
    const window_part here = part(at);
    if (take(at, to_.window().subspan(here.at, here.bytes))) continue;
    return is_last || !s.ok() ? s : collect<read_bytes>();
  }
  return s;
}

}  // namespace stepwise::remote
