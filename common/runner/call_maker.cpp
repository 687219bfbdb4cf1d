#include "common/runner/call_maker.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

#include "common/lab/check.hpp"
#include "common/runner/device_buffer.hpp"
#include "common/runtime/stepwise.h"

namespace stepwise::runner {
namespace {

runtime_additions look_up_additions() {
  const auto find = [](const char* name) { return dlsym(RTLD_DEFAULT, name); };
  runtime_additions found;
  found.emulated = find("stepwiseDeviceKind") != nullptr;
  found.get_counters = reinterpret_cast<int (*)(void*)>(find("stepwiseGetCounters"));
  found.reset_counters = reinterpret_cast<void (*)()>(find("stepwiseResetCounters"));
  found.last_error_message = reinterpret_cast<const char* (*)()>(find("stepwiseLastErrorMessage"));
  found.name_allocation =
      reinterpret_cast<void (*)(const void*, const char*)>(find("stepwiseNameAllocation"));
  found.forget_contents =
      reinterpret_cast<void (*)(const void*, std::uint64_t)>(find("stepwiseForgetContents"));
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

// A failure that is the call's, in words for the record.
struct call_failure {
  int code;  // cudaError_t
  std::string message;
};

std::string parameter(std::uint32_t index, const contract& function) {
  return "pointer parameter " + std::to_string(index + 1) + " of " + function.name + "()";
}

}  // namespace

call_maker::call_maker(const contract& function)
    : function_(function), additions_(look_up_additions()) {
  const char* const exact = std::getenv("STEPWISE_EXACT_ALLOCATIONS");
  guarded_ = !additions_.emulated && (exact == nullptr || std::strcmp(exact, "1") != 0);
  int devices = 0;
  const cudaError_t found = cudaGetDeviceCount(&devices);
  if (found != cudaSuccess || devices == 0) {
    throw std::runtime_error(found == cudaSuccess ? "there is no CUDA device"
                                                  : sentence_for(found));
  }
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0));
  device_name_ = properties.name;
  l2_bytes_ = static_cast<std::uint64_t>(std::max(properties.l2CacheSize, 0));
}

void call_maker::describe_device(call_file_header& header) const {
  header.device_emulated = additions_.emulated ? 1 : 0;
  std::snprintf(header.device_name, sizeof header.device_name, "%s", device_name_.c_str());
  header.l2_bytes = l2_bytes_;
}

// "an illegal memory access was encountered (cudaErrorIllegalAddress)", or what our runtime knows.
std::string call_maker::sentence_for(int code) const {
  const auto error = static_cast<cudaError_t>(code);
  const char* const known = additions_.last_error_message ? additions_.last_error_message() : "";
  const std::string sentence = known != nullptr && *known != 0 ? known : cudaGetErrorString(error);
  return sentence + " (" + cudaGetErrorName(error) + ")";
}

void call_maker::make(mapped_call_file& file, std::uint32_t number) {
  const call_record request = file.checked_record(number, function_);
  call_record& answer = file.record(number);
  answer.cuda_error = 0;
  answer.message[0] = 0;
  answer.counters = {};
  answer.busy_calls = 0;
  answer.state = call_state::running;
  call_failure failure{0, ""};
  try {
    if (lost_ != 0) throw call_failure{lost_, "not made: an earlier call made the device unusable"};
    cudaGetLastError();  // an error of the call before is not this call's
    run(file, request, answer);
  } catch (const call_failure& known) {
    failure = known;
  } catch (const cuda_error& thrown) {  // from check(), in the student's code or here
    failure = {thrown.code(), thrown.what()};
    const char* const known = additions_.last_error_message ? additions_.last_error_message() : "";
    if (known != nullptr && *known != 0) failure.message += std::string("; ") + known;
  } catch (const std::exception& thrown) {
    failure.message = std::string(function_.name) + "() threw an exception: " + thrown.what();
  } catch (...) {
    failure.message = std::string(function_.name) + "() threw an exception";
  }
  if (!failure.message.empty()) {
    lost_ = cudaDeviceSynchronize();
    buffers_.clear();
  }
  answer.cuda_error = failure.code;
  std::snprintf(answer.message, sizeof answer.message, "%s", failure.message.c_str());
  answer.state = failure.message.empty() ? call_state::done : call_state::failed;
  std::fflush(nullptr);  // what the call printed belongs before the next one's
}

void call_maker::run(mapped_call_file& file, const call_record& request, call_record& answer) {
  const bool is_fresh = request.buffers_here == buffers_are::fresh;
  if (is_fresh || !has_buffers_of(request)) make_buffers(file, request);
  repeat(file, request, answer);
  if (request.buffers_here != buffers_are::reused) hand_back(file, request, answer);
  if (is_fresh) buffers_.clear();
}

void call_maker::make_buffers(mapped_call_file& file, const call_record& request) {
  buffers_.clear();  // before the new ones: there may be no room for both
  made_for_.assign(request.buffers, request.buffers + request.buffer_count);
  for (const buffer_record& wanted : made_for_) {
    device_buffer& made = buffers_.emplace_back(wanted.bytes, guarded_);
    const char* const name = wanted.name;
    if (additions_.name_allocation && *name != 0) additions_.name_allocation(made.address(), name);
    if (wanted.role == buffer_role::input) made.upload(file.area(wanted.offset, wanted.bytes));
  }
}

bool call_maker::has_buffers_of(const call_record& request) const {
  return buffers_.size() == request.buffer_count &&
         std::equal(made_for_.begin(), made_for_.end(), request.buffers,
                    request.buffers + request.buffer_count,
                    [](const buffer_record& a, const buffer_record& b) {
                      return a.role == b.role && a.bytes == b.bytes && a.offset == b.offset;
                    });
}

// Copies the outputs, and says what must not be as it is.
void call_maker::hand_back(mapped_call_file& file, const call_record& request,
                           call_record& answer) const {
  std::string broken;
  for (std::uint32_t i = 0; i < request.buffer_count; ++i) {
    const buffer_record& wanted = request.buffers[i];
    const device_buffer& made = buffers_[i];
    const auto area = wanted.role == buffer_role::scratch ? std::span<std::byte>()
                                                          : file.area(wanted.offset, wanted.bytes);
    if (wanted.role == buffer_role::output) made.download(area);
    const std::uint64_t same =
        wanted.role == buffer_role::input ? made.first_difference(area) : wanted.bytes;
    answer.buffers[i].modified = same < wanted.bytes;
    answer.buffers[i].guard_broken = made.broken_guards();
    if (answer.buffers[i].guard_broken != 0) {
      const bool behind = (answer.buffers[i].guard_broken & 2) != 0;
      broken = std::string("a kernel wrote ") + (behind ? "past the end" : "before the start") +
               " of " + parameter(i, function_);
    } else if (same < wanted.bytes && broken.empty()) {
      broken = "the input behind " + parameter(i, function_) + " was changed, first at byte " +
               std::to_string(same) + "; it is const";
    }
  }
  if (!broken.empty()) throw call_failure{0, broken};
}

void call_maker::repeat(mapped_call_file& file, const call_record& request, call_record& answer) {
  const auto times = file.area(request.times_offset, request.repetitions * sizeof(float));
  // The emulator has no L2 cache that would stay warm. Twice the size, because a GPU's cache is
  // not bound to replace its oldest lines.
  const bool flushing = request.cold_l2 != 0 && !additions_.emulated;
  device_buffer flush(flushing ? 2 * l2_bytes_ : 0, false);
  std::vector<void*> pointers;  // as the function takes them
  for (const device_buffer& buffer : buffers_) pointers.push_back(buffer.address());
  cuda_event start, stop;
  const std::uint32_t total = request.warmups + request.repetitions;
  for (std::uint32_t i = 0; i < total; ++i) {
    for (std::uint32_t b = 0; b < request.buffer_count; ++b) {
      const buffer_record& wanted = request.buffers[b];
      if (wanted.role == buffer_role::input) continue;
      buffers_[b].poison(wanted.poison);
      // For checks it counts as what nobody wrote.
      if (additions_.forget_contents) {
        additions_.forget_contents(buffers_[b].address(), wanted.bytes);
      }
    }
    flush.poison(static_cast<std::uint8_t>(i));
    const bool counted = i + 1 == total && additions_.get_counters && additions_.reset_counters;
    if (counted) additions_.reset_counters();

    start.record();
    invoke(request, pointers);
    stop.record();
    if (const cudaError_t code = cudaDeviceSynchronize(); code != cudaSuccess) {
      throw call_failure{code, sentence_for(code)};
    }

    if (counted) {
      stepwise_counters counted_now{};
      static_assert(sizeof(counter_record) == sizeof counted_now + sizeof answer.counters.valid);
      if (additions_.get_counters(&counted_now) == 0) {
        std::memcpy(&answer.counters.launches, &counted_now, sizeof counted_now);
        answer.counters.valid = 1;
      }
    }
    if (i < request.warmups) continue;
    const float ms = stop.ms_since(start);
    std::memcpy(times.data() + (i - request.warmups) * sizeof ms, &ms, sizeof ms);
  }
  keep_busy(request, answer, pointers);
}

// Short calls go in batches: the GPU has the next one before it is done with this one.
void call_maker::keep_busy(const call_record& request, call_record& answer,
                           std::span<void* const> pointers) const {
  using clock = std::chrono::steady_clock;
  constexpr auto long_enough = std::chrono::milliseconds(10);  // beside it, waiting is short
  constexpr std::uint32_t largest_batch = 1 << 14;
  std::uint32_t calls = 0, batch = 1;
  const auto begin = clock::now();
  auto now = begin;
  while (now - begin < std::chrono::milliseconds(request.busy_ms)) {
    for (std::uint32_t i = 0; i < batch; ++i) invoke(request, pointers);
    if (const cudaError_t code = cudaDeviceSynchronize(); code != cudaSuccess) {
      throw call_failure{code, sentence_for(code)};
    }
    calls += batch;
    const auto before = std::exchange(now, clock::now());
    if (now - before < long_enough && batch < largest_batch) batch *= 2;
  }
  answer.busy_calls = calls;
  answer.busy_took_ms = std::chrono::duration<double, std::milli>(now - begin).count();
}

// The call itself. A launch that could not be made leaves its error behind: it is the call's.
void call_maker::invoke(const call_record& request, std::span<void* const> pointers) const {
  function_.call(pointers, {request.scalars, request.scalar_count});
  if (const cudaError_t code = cudaGetLastError(); code != cudaSuccess) {
    throw call_failure{code, "a CUDA call in " + std::string(function_.name) +
                                 "() failed and was not checked: " + sentence_for(code)};
  }
}

}  // namespace stepwise::runner
