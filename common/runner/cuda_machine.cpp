// The CUDA device of this process, through the CUDA runtime that is loaded.
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "common/lab/check.hpp"
#include "common/lab/cuda_error.hpp"
#include "common/runner/machine.hpp"
#include "common/runner/pageable_memory.hpp"
#include "common/runtime/stepwise.h"

namespace stepwise::runner {
namespace {

// Our runtime's extensions, looked up at run time. NVIDIA's runtime lacks them.
struct runtime_additions {
  bool emulated = false;
  int (*get_counters)(void*) = nullptr;
  void (*reset_counters)() = nullptr;
  const char* (*last_error_message)() = nullptr;
  int (*last_error)() = nullptr;
  void (*name_allocation)(const void*, const char*) = nullptr;
  void (*forget_contents)(const void*, std::uint64_t) = nullptr;
  void (*host_array)(const void*, std::uint64_t, std::uint64_t) = nullptr;
  void (*file)(const void*, std::uint64_t, std::uint64_t, int) = nullptr;
  void (*begin_call)() = nullptr;
  void (*end_call)() = nullptr;
};

runtime_additions look_up_additions() {
  const auto find = [](const char* name) { return dlsym(RTLD_DEFAULT, name); };
  runtime_additions found;
  found.emulated = find("stepwiseDeviceKind") != nullptr;
  found.get_counters = reinterpret_cast<int (*)(void*)>(find("stepwiseGetCounters"));
  found.reset_counters = reinterpret_cast<void (*)()>(find("stepwiseResetCounters"));
  found.last_error_message = reinterpret_cast<const char* (*)()>(find("stepwiseLastErrorMessage"));
  found.last_error = reinterpret_cast<int (*)()>(find("stepwiseLastError"));
  found.name_allocation =
      reinterpret_cast<void (*)(const void*, const char*)>(find("stepwiseNameAllocation"));
  found.forget_contents =
      reinterpret_cast<void (*)(const void*, std::uint64_t)>(find("stepwiseForgetContents"));
  found.host_array = reinterpret_cast<void (*)(const void*, std::uint64_t, std::uint64_t)>(
      find("stepwiseHostArray"));
  found.file = reinterpret_cast<void (*)(const void*, std::uint64_t, std::uint64_t, int)>(
      find("stepwiseFile"));
  found.begin_call = reinterpret_cast<void (*)()>(find("stepwiseBeginCall"));
  found.end_call = reinterpret_cast<void (*)()>(find("stepwiseEndCall"));
  return found;
}

class cuda_event {
 public:
  cuda_event() { check(cudaEventCreate(&event_)); }
  ~cuda_event() { cudaEventDestroy(event_); }
  cuda_event(const cuda_event&) = delete;
  cuda_event& operator=(const cuda_event&) = delete;

  void record() { check(cudaEventRecord(event_)); }
  float ms_since(const cuda_event& start) const {
    float ms = 0;
    check(cudaEventElapsedTime(&ms, start.event_, event_));
    return ms;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

struct event_pair {
  cuda_event start, stop;
};

class cuda_machine : public machine {
 public:
  cuda_machine() : additions_(look_up_additions()) {
    int devices = 0;
    const cudaError_t found = cudaGetDeviceCount(&devices);
    if (found != cudaSuccess || devices == 0) {
      throw std::runtime_error(found == cudaSuccess ? "there is no CUDA device"
                                                    : sentence_for(found));
    }
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, 0));
    name_ = properties.name;
    l2_bytes_ = static_cast<std::uint64_t>(std::max(properties.l2CacheSize, 0));
  }

  ~cuda_machine() override {
    if (overwritten_ != nullptr) release(overwritten_, 0);
  }

  void describe(call_file_header& header) const override {
    header.device_emulated = additions_.emulated ? 1 : 0;
    std::snprintf(header.device_name, sizeof header.device_name, "%s", name_.c_str());
    header.l2_bytes = l2_bytes_;
  }

  memory& host_memory() override { return host_memory_; }

  bool needs_guards() const override {
    const char* const exact = std::getenv("STEPWISE_EXACT_ALLOCATIONS");
    return !additions_.emulated && (exact == nullptr || std::strcmp(exact, "1") != 0);
  }

  const char* writer() const override { return "a kernel"; }

  std::byte* allocate(std::uint64_t bytes) override {
    void* allocation = nullptr;
    check(cudaMalloc(&allocation, bytes));
    return static_cast<std::byte*>(allocation);
  }
  void release(std::byte* allocation, std::uint64_t) noexcept override {
    cudaFree(allocation);  // fails after a fault
  }
  void copy_in(std::byte* to, std::span<const std::byte> from) override {
    check(cudaMemcpy(to, from.data(), from.size(), cudaMemcpyHostToDevice));
  }
  void copy_out(std::span<std::byte> to, const std::byte* from) override {
    check(cudaMemcpy(to.data(), from, to.size(), cudaMemcpyDeviceToHost));
  }
  void fill(std::byte* start, std::uint8_t value, std::uint64_t bytes) override {
    check(cudaMemset(start, value, bytes));
  }
  void name_allocation(const std::byte* allocation, const char* name) override {
    if (additions_.name_allocation) additions_.name_allocation(allocation, name);
  }
  void forget_contents(const std::byte* start, std::uint64_t bytes) override {
    if (additions_.forget_contents) additions_.forget_contents(start, bytes);
  }

  // Overwrites the L2 cache, except on the emulator, which has no warm cache. Writes twice the
  // cache size, because a GPU's cache need not replace its oldest lines.
  void make_cold(std::span<const std::span<std::byte>>) override {
    const std::uint64_t bytes = additions_.emulated ? 0 : 2 * l2_bytes_;
    if (bytes == 0) return;
    if (overwritten_ == nullptr) overwritten_ = allocate(bytes);
    fill(overwritten_, ++times_overwritten_, bytes);
  }

  void start_clock() override { events_->start.record(); }

  // A failed launch sets the last error, which fails the call. Prefers last_error() to
  // cudaGetLastError(), so that checks still report an error that the function did not check.
  float stop_clock(const char* function) override {
    const cudaError_t code =
        additions_.last_error ? cudaError_t(additions_.last_error()) : cudaGetLastError();
    if (code != cudaSuccess) {
      throw call_failure{code,
                         sentence_for(code) + "; " + function + "() did not check for this error"};
    }
    events_->stop.record();
    if (const cudaError_t code = cudaDeviceSynchronize(); code != cudaSuccess) {
      throw call_failure{code, sentence_for(code)};
    }
    return events_->stop.ms_since(events_->start);
  }

  void start_counting() override {
    if (additions_.get_counters && additions_.reset_counters) additions_.reset_counters();
  }
  void stop_counting(counter_record& counters) override {
    if (!additions_.get_counters || !additions_.reset_counters) return;
    stepwise_counters counted{};
    static_assert(sizeof(counter_record) == sizeof counted + sizeof counters.valid);
    if (additions_.get_counters(&counted) != 0) return;
    std::memcpy(&counters.launches, &counted, sizeof counted);
    counters.valid = 1;
  }

  void note_begin() override {
    if (additions_.begin_call) additions_.begin_call();
  }
  void note_end() override {
    if (additions_.end_call) additions_.end_call();
  }
  void note_host_array(const std::byte* first, std::uint64_t bytes, std::uint64_t place) override {
    if (additions_.host_array) additions_.host_array(first, bytes, place);
  }

  void note_file(std::span<const std::byte> content, std::uint64_t place, bool is_result) override {
    if (additions_.file) additions_.file(content.data(), content.size(), place, is_result ? 1 : 0);
  }

  // Creates the events again, because the previous call may have reset the device.
  void begin_call() override {
    events_.reset();
    if (overwritten_ != nullptr) release(std::exchange(overwritten_, nullptr), 0);
    cudaGetLastError();
    events_ = std::make_unique<event_pair>();
  }

  // Handles exceptions from check(), in the student's code or here.
  call_failure failure_of(const std::exception& thrown) const override {
    const auto* const error = dynamic_cast<const cuda_error*>(&thrown);
    if (error == nullptr) return {};
    const char* const known = additions_.last_error_message ? additions_.last_error_message() : "";
    if (known == nullptr || *known == 0) return {error->code(), error->what()};
    const std::string message = sentence_for(error->code()), thrown_at = error->what();
    // A kernel's message names the kernel's own line. Every later call returns the same error.
    if (cudaDeviceSynchronize() == error->code()) return {error->code(), message};
    return {error->code(), thrown_at.substr(0, thrown_at.find(' ') + 1) + message};
  }

  int lasting_error() override { return cudaDeviceSynchronize(); }

 private:
  // For example "an illegal memory access was encountered (cudaErrorIllegalAddress)", or our
  // runtime's more specific message.
  std::string sentence_for(cudaError_t code) const {
    const char* const known = additions_.last_error_message ? additions_.last_error_message() : "";
    const std::string sentence = known != nullptr && *known != 0 ? known : cudaGetErrorString(code);
    return sentence + " (" + cudaGetErrorName(code) + ")";
  }

  runtime_additions additions_;
  pageable_memory host_memory_;
  std::string name_;
  std::uint64_t l2_bytes_ = 0;
  std::byte* overwritten_ = nullptr;  // memory that cold calls overwrite
  std::uint8_t times_overwritten_ = 0;
  std::unique_ptr<event_pair> events_;  // of the current call
};

}  // namespace

std::unique_ptr<machine> make_machine() { return std::make_unique<cuda_machine>(); }

}  // namespace stepwise::runner
