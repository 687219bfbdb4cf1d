// A client's end of a channel. The client sends batches, and receives one reply per batch.
//
// watch   A reply is trusted as little as a batch, since the judge is a client of a server that
//         executes a student's kernels. A malformed reply breaks the connection permanently.
// tests   tests/service_test.cpp
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "common/device/remote/channel.hpp"
#include "common/device/remote/message.hpp"

namespace stepwise::remote {

class connection {
 public:
  // Takes ownership of `socket` and `window`. `wait` waits for the other end, or gives up.
  connection(descriptor socket, descriptor window, patience wait);

  bool is_whole() const { return is_whole_; }
  std::span<std::byte> window() const { return window_.bytes(); }

  void queue(const message& command);
  std::size_t queued_bytes() const { return batch_.bytes().size(); }

  // Sends all queued commands and the request, and returns the reply. Returns nothing if the
  // connection breaks or is already broken.
  template <class Request>
  struct reply {
    reply_head head;
    typename Request::answer with = {};
  };
  template <class Request>
  std::optional<reply<Request>> ask(const Request& request) {
    return post(request) ? collect<Request>() : std::nullopt;
  }

  // The same request in two halves. post() sends the commands and the request. collect() waits for
  // the reply, and must be called before the next request. The other end works in between.
  template <class Request>
  bool post(const Request& request) {
    return send(request);
  }
  template <class Request>
  std::optional<reply<Request>> collect() {
    auto bytes = receive();
    if (!bytes) return std::nullopt;
    byte_reader from(*bytes);
    reply<Request> found;
    from.get(found.head);
    if (from.ok() && found.head.code == 0) from.get(found.with);
    if (from.complete()) return found;
    is_whole_ = false;
    return std::nullopt;
  }

 private:
  bool send(const message& request);
  std::optional<std::vector<std::byte>> receive();

  descriptor socket_;
  mapped_window window_;
  patience wait_;
  frame_buffer incoming_{most_reply_bytes};
  byte_writer batch_;
  bool is_whole_ = true;
};

}  // namespace stepwise::remote
