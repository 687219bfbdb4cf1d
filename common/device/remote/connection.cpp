// Sends a batch and waits for its reply.
#include "common/device/remote/connection.hpp"

#include <poll.h>

#include <utility>

namespace stepwise::remote {

connection::connection(descriptor socket, descriptor window, patience wait)
    : socket_(std::move(socket)),
      window_(window.get()),
      wait_(std::move(wait)),
      is_whole_(!window_.bytes().empty()) {}

void connection::queue(const message& command) { append(batch_, command); }

bool connection::send(const message& request) {
  if (!is_whole_) return false;
  append(batch_, request);
  const std::vector<std::byte> batch = batch_.take();
  if (batch.size() > most_batch_bytes || !send_frame(socket_.get(), batch, wait_))
    is_whole_ = false;
  return is_whole_;
}

std::optional<std::vector<std::byte>> connection::receive() {
  if (!is_whole_) return std::nullopt;
  while (true) {
    const bool more = incoming_.receive(socket_.get());
    if (auto frame = incoming_.next()) return frame;
    if (!more || !wait_(socket_.get(), POLLIN)) {
      is_whole_ = false;
      return std::nullopt;
    }
  }
}

}  // namespace stepwise::remote
