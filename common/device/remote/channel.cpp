// Sockets, sealed memory, and frames in pieces.
#include "common/device/remote/channel.hpp"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace stepwise::remote {
namespace {

constexpr int size_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
constexpr std::size_t length_bytes = sizeof(std::uint32_t);

}  // namespace

descriptor::~descriptor() {
  if (number_ >= 0) close(number_);
}

descriptor& descriptor::operator=(descriptor&& other) noexcept {
  if (this == &other) return *this;
  if (number_ >= 0) close(number_);
  number_ = other.release();
  return *this;
}

int descriptor::release() { return std::exchange(number_, -1); }

std::optional<channel_ends> make_channel(std::size_t window) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return std::nullopt;
  channel_ends made;
  made.first = descriptor(ends[0]);
  made.second = descriptor(ends[1]);
  made.window = descriptor(memfd_create("stepwise-window", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (made.window.get() < 0 || ftruncate(made.window.get(), static_cast<off_t>(window)) != 0 ||
      fcntl(made.window.get(), F_ADD_SEALS, size_seals) != 0)
    return std::nullopt;
  return made;
}

std::span<std::byte> mapped_for_good(int file) {
  struct stat about {};
  const int seals = fcntl(file, F_GET_SEALS);
  if (fstat(file, &about) != 0 || seals < 0 || (seals & size_seals) != size_seals ||
      about.st_size <= 0)
    return {};
  const auto size = static_cast<std::size_t>(about.st_size);
  void* const start = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (start == MAP_FAILED) return {};
  return {static_cast<std::byte*>(start), size};
}

mapped_window::mapped_window(int window) : bytes_(mapped_for_good(window)) {
  if (bytes_.size() <= most_window_bytes) return;
  munmap(bytes_.data(), bytes_.size());
  bytes_ = {};
}

mapped_window::~mapped_window() {
  if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
}

bool frame_buffer::receive(int socket) {
  constexpr std::size_t piece = 64 << 10;
  while (true) {
    // If a frame is complete, the caller must take it before we read more.
    std::uint32_t length = 0;
    if (bytes_.size() >= length_bytes) {
      std::memcpy(&length, bytes_.data(), length_bytes);
      if (length > most_) return false;
      if (bytes_.size() >= length_bytes + length) return true;
    }
    const std::size_t before = bytes_.size();
    bytes_.resize(before + piece);
    const ssize_t n = recv(socket, bytes_.data() + before, piece, MSG_DONTWAIT);
    const int code = errno;
    bytes_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
    if (n > 0) continue;
    if (n == 0) return false;
    if (code == EINTR) continue;
    return code == EAGAIN || code == EWOULDBLOCK;
  }
}

bool frame_buffer::is_too_long() const {
  std::uint32_t length = 0;
  if (bytes_.size() >= length_bytes) std::memcpy(&length, bytes_.data(), length_bytes);
  return length > most_;
}

std::optional<std::vector<std::byte>> frame_buffer::next() {
  if (bytes_.size() < length_bytes) return std::nullopt;
  std::uint32_t length = 0;
  std::memcpy(&length, bytes_.data(), length_bytes);
  if (length > most_ || bytes_.size() < length_bytes + length) return std::nullopt;
  const auto first = bytes_.begin() + length_bytes;
  std::vector<std::byte> frame(first, first + length);
  bytes_.erase(bytes_.begin(), first + length);
  return frame;
}

bool send_frame(int socket, std::span<const std::byte> frame, const patience& wait) {
  const auto length = static_cast<std::uint32_t>(frame.size());
  std::vector<std::byte> all(length_bytes + frame.size());
  std::memcpy(all.data(), &length, length_bytes);
  std::copy(frame.begin(), frame.end(), all.begin() + length_bytes);
  std::span<const std::byte> left(all);
  while (!left.empty()) {
    const ssize_t n = send(socket, left.data(), left.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) {
      left = left.subspan(static_cast<std::size_t>(n));
    } else if (n < 0 && errno == EINTR) {
      continue;
    } else if (n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK) || !wait ||
               !wait(socket, POLLOUT)) {
      return false;
    }
  }
  return true;
}

bool wait_for_ever(int socket, short events) {
  pollfd ready{socket, events, 0};
  while (poll(&ready, 1, -1) < 0) {
    if (errno != EINTR) return false;
  }
  return true;
}

}  // namespace stepwise::remote
