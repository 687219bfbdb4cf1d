// Waits for both sockets, and answers complete batches.
#include "common/device/remote/serve.hpp"

#include <errno.h>
#include <poll.h>

#include <utility>

#include "common/device/remote/service.hpp"

namespace stepwise::remote {
namespace {

class served_end {
 public:
  served_end(shared_device& shared, server_end end, service::client whose)
      : end_(std::move(end)),
        window_(end_.window.get()),
        service_(shared, window_.bytes(), whose),
        why_(window_.bytes().empty() ? "a malformed window" : "") {}

  int socket() const { return end_.socket.get(); }
  std::span<std::byte> window() const { return window_.bytes(); }
  bool is_open() const { return socket() >= 0; }
  // The reason why the connection was closed, or empty.
  const std::string& why() const { return why_; }

  // Reads and answers the available batches. Closes the connection if the other end is closed or
  // sends a malformed message.
  void answer() {
    const bool more = frames_.receive(socket());
    while (const auto batch = frames_.next()) {
      const auto reply = service_.answer(*batch);
      if (!reply) return close(service_.why());
      // There is room, because a client reads a reply before it sends the next batch.
      if (!send_frame(socket(), *reply, wait_)) return close("a reply that was not received");
    }
    if (frames_.is_too_long()) return close("a message that is too long");
    if (!more) end_.socket.reset();
  }
  void wait_for_room(patience wait) { wait_ = std::move(wait); }

 private:
  void close(const std::string& why) {
    why_ = why;
    end_.socket.reset();
  }

  server_end end_;
  mapped_window window_;
  service service_;
  frame_buffer frames_{most_batch_bytes};
  patience wait_;
  std::string why_;
};

// Registers a window with the device for this object's lifetime, if the device supports it.
class registered_window {
 public:
  registered_window(device& on, std::span<std::byte> window)
      : by_(on.extras().registration), window_(window) {
    if (window.empty() || (by_ != nullptr && !by_->register_host(window).ok())) by_ = nullptr;
  }
  ~registered_window() {
    if (by_ != nullptr) (void)by_->unregister_host(window_.data());
  }
  registered_window(const registered_window&) = delete;

 private:
  host_registration* by_;  // null if not registered
  std::span<std::byte> window_;
};

}  // namespace

void serve_alone(device& on, server_end program) {
  shared_device shared(on);
  served_end client(shared, std::move(program), service::client::program);
  client.wait_for_room(wait_for_ever);
  while (client.is_open() && client.why().empty() && wait_for_ever(client.socket(), POLLIN))
    client.answer();
}

void serve_judged(device& on, server_end judge, server_end submission, std::span<std::byte> arrays,
                  bool locks, std::vector<std::byte> kernels) {
  shared_device shared(on);
  shared.kernels = std::move(kernels);
  shared.arrays = arrays;
  shared.has_judge = true;
  if (auto* const counts = on.extras().profile) counts->count_transfers(false);  // until a call
  served_end asking(shared, std::move(judge), service::client::judge);
  served_end asked(shared, std::move(submission), service::client::program);
  asking.wait_for_room(wait_for_ever);
  const registered_window kept(on, locks ? asking.window() : std::span<std::byte>{});
  while (asking.is_open() && asking.why().empty()) {
    const bool listens = asked.is_open() && asked.why().empty() && shared.call.is_open();
    pollfd ready[] = {{asking.socket(), POLLIN, 0}, {listens ? asked.socket() : -1, POLLIN, 0}};
    if (poll(ready, 2, -1) < 0) {
      if (errno == EINTR) continue;
      return;
    }
    if (ready[0].revents != 0) {
      asking.answer();
    } else if (ready[1].revents != 0) {
      asked.answer();
      shared.broken = asked.why();
    }
  }
}

}  // namespace stepwise::remote
