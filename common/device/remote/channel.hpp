// A socket that carries frames, and the window beside it: memory that both ends map.
//
// idea    Whoever starts both processes makes the channel; each end inherits two descriptors. The
//         window is a memfd sealed in its size, so that no end can make the other fault.
// watch   What lies in the window may change while it is read: numbers that must hold are in
//         frames, which are copied before they are looked at.
// tests   tests/message_test.cpp
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace stepwise::remote {

// Owns a descriptor; -1: none.
class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int number) : number_(number) {}
  ~descriptor();
  descriptor(descriptor&& other) noexcept : number_(other.release()) {}
  descriptor& operator=(descriptor&& other) noexcept;
  int get() const { return number_; }
  int release();
  void reset() { *this = descriptor(); }

 private:
  int number_ = -1;
};

inline constexpr std::size_t window_bytes = 8 << 20;         // of a submission's
inline constexpr std::size_t most_window_bytes = 256 << 20;  // of any

// The two ends of a socket, and a window for both. Empty, with errno set, if the system has none.
struct channel_ends {
  descriptor first, second, window;
};
std::optional<channel_ends> make_channel(std::size_t window = window_bytes);

// A window, mapped; empty if the descriptor is not sealed in its size.
class mapped_window {
 public:
  mapped_window() = default;
  explicit mapped_window(int window);
  ~mapped_window();
  mapped_window(mapped_window&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  mapped_window& operator=(mapped_window&&) = delete;
  std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

// All of a memory file that is sealed in its size, mapped until the process ends; else nothing.
std::span<std::byte> mapped_for_good(int file);

// Frames of at most `most` bytes from a socket that may bring them in any pieces.
class frame_buffer {
 public:
  explicit frame_buffer(std::size_t most) : most_(most) {}
  // Reads what is there without waiting; false at the other end's end, and for a frame that is too
  // long.
  bool receive(int socket);
  // The next whole frame, if there is one.
  std::optional<std::vector<std::byte>> next();
  // The other end has begun a frame that is too long.
  bool is_too_long() const;

 private:
  std::size_t most_;
  std::vector<std::byte> bytes_;
};

// Sends a frame. `wait` is asked when the socket takes no more: whether to continue; without it the
// frame is given up. False if it was not sent whole.
using patience = std::function<bool(int socket, short events)>;
bool send_frame(int socket, std::span<const std::byte> frame, const patience& wait);

// Waits for as long as it takes: poll() on the socket.
bool wait_for_ever(int socket, short events);

}  // namespace stepwise::remote
