// Registers a page with the driver, and runs a thread that opens the gate after `longest`.
#include "common/device/queue_gate.hpp"

#include <atomic>
#include <cstdlib>

namespace stepwise {
namespace {

constexpr std::size_t page = 4096;
constexpr std::uint32_t is_open = 1;

}  // namespace

queue_gate::queue_gate(const driver& cu) : cu_(cu) {
  void* const memory = std::aligned_alloc(page, page);
  if (memory == nullptr) return;
  if (cu_.mem_host_register(memory, page, CU_MEMHOSTREGISTER_DEVICEMAP) != CUDA_SUCCESS) {
    std::free(memory);
    return;
  }
  word_ = static_cast<std::uint32_t*>(memory);
  *word_ = is_open;
  watchdog_ = std::jthread([this](std::stop_token stop) { open_in_time(std::move(stop)); });
}

queue_gate::~queue_gate() {
  if (word_ == nullptr) return;
  open();
  watchdog_ = {};
  (void)cu_.ctx_synchronize();
  (void)cu_.mem_host_unregister(word_);
  std::free(word_);
}

void queue_gate::close() {
  if (word_ == nullptr) return;
  {
    const std::lock_guard lock(mutex_);
    store(0);
    is_closed_ = true;
    opens_at_ = std::chrono::steady_clock::now() + longest;
  }
  changed_.notify_one();
  // With unified addressing, which every 64-bit GPU has, the GPU uses the word's host address.
  const auto address = reinterpret_cast<CUdeviceptr>(word_);
  if (cu_.stream_wait_value_32(nullptr, address, is_open, CU_STREAM_WAIT_VALUE_EQ) != CUDA_SUCCESS)
    open();
}

void queue_gate::open() {
  if (word_ == nullptr) return;
  const std::lock_guard lock(mutex_);
  store(is_open);
  is_closed_ = false;
}

void queue_gate::store(std::uint32_t value) { std::atomic_ref<std::uint32_t>(*word_).store(value); }

void queue_gate::open_in_time(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [&] { return is_closed_; })) {
    const auto until = opens_at_;
    if (changed_.wait_until(lock, stop, until, [&] { return opens_at_ != until; })) continue;
    if (stop.stop_requested() || !is_closed_) continue;
    store(is_open);
    is_closed_ = false;
  }
}

}  // namespace stepwise
