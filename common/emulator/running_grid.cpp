// Runs a grid's workers, and hands the blocks of the calling thread to another thread.
#include "common/emulator/running_grid.hpp"

namespace stepwise::emulator {

running_grid::~running_grid() {
  if (breaks_ != nullptr) stop();
}

void running_grid::end_worker() {
  if (breaks_ != nullptr) breaks_->worker_ended();
}

bool running_grid::run(unsigned workers, bool may_leave) {
  if (may_leave) breaks_ = std::make_unique<launch_breaks>(workers, state.patience.duration());
  state.breaks = breaks_.get();
  for (unsigned n = 1; n < workers; ++n) {
    others_.push_back(threads_.start([this] {
      scheduler(state).run();
      end_worker();
    }));
  }
  first_ = std::make_unique<scheduler>(state);
  const bool first_ended = first_->run(may_leave);
  if (first_ended) {
    end_worker();
    for (const auto& other : others_) other.look_for_end();
  }
  if (first_ended && (breaks_ == nullptr || breaks_->wait_for_others())) {
    others_.clear();
    return true;
  }
  breaks_->leave();
  if (!first_ended) {
    others_.push_back(threads_.start([this] {
      first_->run();
      end_worker();
    }));
  }
  return false;
}

void running_grid::stop() {
  state.stop.store(true);
  others_.clear();
}

}  // namespace stepwise::emulator
