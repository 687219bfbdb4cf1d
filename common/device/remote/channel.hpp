// A socket that carries frames, and a window of memory that both ends map.
//
// idea    The parent of both processes makes the channel, and each end inherits two descriptors.
//         The window is a memfd whose size is sealed, so neither end can make the other fault.
// watch   The other end may change the window while it is read. Numbers that must stay valid are
//         sent in frames, which are copied before they are examined.
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

// Owns a descriptor; -1 if there is none.
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

inline constexpr std::size_t window_bytes = 8 << 20;         // of a submission's channel
inline constexpr std::size_t most_window_bytes = 256 << 20;  // of any channel

// The two ends of a socket, and a window for both. make_channel() returns nothing, with errno set,
// on failure.
struct channel_ends {
  descriptor first, second, window;
};
std::optional<channel_ends> make_channel(std::size_t window = window_bytes);

// A mapped window; empty if the descriptor's size is not sealed.
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

// Maps a whole memory file until the process ends. Empty if its size is not sealed.
std::span<std::byte> mapped_for_good(int file);

// Assembles frames of at most `most` bytes from a socket, which may deliver them in pieces.
class frame_buffer {
 public:
  explicit frame_buffer(std::size_t most) : most_(most) {}
  // Reads the available bytes without waiting. False if the other end is closed, or if a frame is
  // too long.
  bool receive(int socket);
  // The next whole frame, if there is one.
  std::optional<std::vector<std::byte>> next();
  // The other end has begun a frame that is too long.
  bool is_too_long() const;

 private:
  std::size_t most_;
  std::vector<std::byte> bytes_;
};

// Sends a frame. If the socket is full, `wait` waits and returns whether to continue; without
// `wait`, the frame is dropped. False if the frame was not sent completely.
using patience = std::function<bool(int socket, short events)>;
bool send_frame(int socket, std::span<const std::byte> frame, const patience& wait);

// Waits without a timeout, by poll() on the socket.
bool wait_for_ever(int socket, short events);

}  // namespace stepwise::remote
