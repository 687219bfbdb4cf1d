// Allocates, reuses and checks the buffers, repeats and times the call, and returns the outputs.
#include "common/runner/call_maker.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/runner/call_files.hpp"

namespace stepwise::runner {
namespace {

std::string parameter(std::uint32_t index, const contract& function) {
  return "pointer parameter " + std::to_string(index + 1) + " of " + function.name + "()";
}

}  // namespace

void refuse_scalar(std::int64_t scalar) {
  throw std::out_of_range("the number " + std::to_string(scalar) + " does not fit its parameter");
}

void call_main(int (*program)(int, char**), void* const* names) {
  char name[] = "program";
  char* arguments[] = {name, static_cast<char*>(names[0]), static_cast<char*>(names[1]), nullptr};
  const int status = program(3, arguments);
  if (status != 0)
    throw call_failure{0, "main() returned " + std::to_string(status) +
                              ", which reports a failure; a program that succeeds returns 0"};
}

call_failure outcome_of(const contract& function, const machine& where,
                        const std::function<void()>& call) {
  call_failure failure;
  try {
    call();
  } catch (const call_failure& known) {
    failure = known;
  } catch (const std::exception& thrown) {
    failure = where.failure_of(thrown);
    if (failure.message.empty())
      failure.message = std::string(function.name) + "() threw an exception: " + thrown.what();
  } catch (...) {
    failure.message = std::string(function.name) + "() threw an exception";
  }
  return failure;
}

void call_maker::make(mapped_call_file& file, std::uint32_t number) {
  const call_record request = file.checked_record(number, function_);
  call_record& answer = file.record(number);
  answer.cuda_error = 0;
  answer.message[0] = 0;
  answer.counters = {};
  answer.busy_calls = 0;
  answer.state = call_state::running;
  const call_failure failure = outcome_of(function_, where_, [&] {
    if (lost_ != 0) throw call_failure{lost_, "not made: an earlier call made the device unusable"};
    where_.begin_call();
    run(file, request, answer);
  });
  if (!failure.message.empty()) {
    lost_ = where_.lasting_error();
    buffers_.clear();
  }
  answer.cuda_error = failure.code;
  std::snprintf(answer.message, sizeof answer.message, "%s", failure.message.c_str());
  answer.state = failure.message.empty() ? call_state::done : call_state::failed;
  std::fflush(nullptr);  // the call's output must precede that of the next
}

void call_maker::run(mapped_call_file& file, const call_record& request, call_record& answer) {
  const bool is_fresh = request.plan.buffers == buffers_are::fresh;
  if (is_fresh || !has_buffers_of(request)) make_buffers(file, request);
  {
    noted_call noted(where_);
    for (const call_buffer& made : buffers_)
      if (made_in_ == memory_kind::host) noted.add(made.bytes(), 0);
    repeat(file, request, answer);
  }
  if (request.plan.buffers != buffers_are::reused) hand_back(file, request, answer);
  if (is_fresh) buffers_.clear();
}

memory& call_maker::memory_of(const call_record& request) const {
  return request.memory == memory_kind::device ? where_ : where_.host_memory();
}

void call_maker::make_buffers(mapped_call_file& file, const call_record& request) {
  buffers_.clear();  // first, since there may be no room for both
  memory& place = memory_of(request);
  made_in_ = request.memory;
  made_for_.assign(request.buffers, request.buffers + request.buffer_count);
  for (const buffer_record& wanted : made_for_) {
    call_buffer& made = buffers_.emplace_back(place, wanted.bytes);
    if (*wanted.name != 0) place.name_allocation(made.address(), wanted.name);
    if (wanted.role == buffer_role::input) made.upload(file.area(wanted.offset, wanted.bytes));
  }
}

bool call_maker::has_buffers_of(const call_record& request) const {
  return made_in_ == request.memory && buffers_.size() == request.buffer_count &&
         std::equal(made_for_.begin(), made_for_.end(), request.buffers,
                    request.buffers + request.buffer_count,
                    [](const buffer_record& a, const buffer_record& b) {
                      return a.role == b.role && a.bytes == b.bytes && a.offset == b.offset;
                    });
}

// Copies the outputs. Fails the call if a guard zone is broken or an input was changed.
void call_maker::hand_back(mapped_call_file& file, const call_record& request,
                           call_record& answer) const {
  std::string broken;
  for (std::uint32_t i = 0; i < request.buffer_count; ++i) {
    const buffer_record& wanted = request.buffers[i];
    const call_buffer& made = buffers_[i];
    const auto area = wanted.role == buffer_role::scratch ? std::span<std::byte>()
                                                          : file.area(wanted.offset, wanted.bytes);
    if (wanted.role == buffer_role::output) made.download(area);
    const std::uint64_t same =
        wanted.role == buffer_role::input ? made.first_difference(area) : wanted.bytes;
    answer.buffers[i].modified = same < wanted.bytes;
    answer.buffers[i].guard_broken = made.broken_guards();
    if (answer.buffers[i].guard_broken != 0) {
      const bool behind = (answer.buffers[i].guard_broken & 2) != 0;
      broken = std::string(memory_of(request).writer()) + " wrote " +
               (behind ? "past the end" : "before the start") + " of " + parameter(i, function_);
    } else if (same < wanted.bytes && broken.empty()) {
      const std::string name = *wanted.name != 0 ? wanted.name : parameter(i, function_);
      const auto element = same / std::max<std::uint64_t>(1, wanted.element_bytes);
      broken = name + "[" + std::to_string(element) + "] was changed, but " + function_.name +
               "() must not change " + name + ", which is const";
    }
  }
  if (!broken.empty()) throw call_failure{0, broken};
}

void call_maker::repeat(mapped_call_file& file, const call_record& request, call_record& answer) {
  const auto times = file.area(request.times_offset, request.plan.repetitions * sizeof(float));
  std::vector<void*> pointers;  // the function's pointer arguments
  std::vector<std::span<std::byte>> all;
  for (const call_buffer& buffer : buffers_) {
    pointers.push_back(buffer.address());
    all.push_back(buffer.bytes());
  }
  std::optional<call_files> files;
  if (request.memory == memory_kind::files) {
    files.emplace();
    for (std::uint32_t b = 0; b < request.buffer_count; ++b)
      pointers[b] = files->add(request.buffers[b].role, all[b]);
  }
  const std::uint32_t total = request.plan.warmups + request.plan.repetitions;
  for (std::uint32_t i = 0; i < total; ++i) {
    for (std::uint32_t b = 0; b < request.buffer_count; ++b) {
      const buffer_record& wanted = request.buffers[b];
      if (wanted.role == buffer_role::input) continue;
      buffers_[b].poison(wanted.poison);
      // For checks, these bytes count as uninitialised.
      memory_of(request).forget_contents(buffers_[b].address(), wanted.bytes);
    }
    if (files) files->write_inputs();
    if (request.plan.cold_l2 != 0) where_.make_cold(all);
    const bool counted = i + 1 == total;
    if (counted) where_.start_counting();

    where_.start_clock();
    function_.call(pointers.data(), request.scalars);
    const float ms = where_.stop_clock(function_.name);

    if (counted) where_.stop_counting(answer.counters);
    if (files) files->read_results([&](std::size_t b) { answer.buffers[b].modified = 1; });
    if (i < request.plan.warmups) continue;
    std::memcpy(times.data() + (i - request.plan.warmups) * sizeof ms, &ms, sizeof ms);
  }
  keep_busy(request, answer, pointers);
}

// Queues short calls in batches, so that the GPU has the next call before it finishes the current
// one.
void call_maker::keep_busy(const call_record& request, call_record& answer,
                           std::span<void* const> pointers) {
  using clock = std::chrono::steady_clock;
  constexpr auto long_enough = std::chrono::milliseconds(10);  // makes waiting negligible
  constexpr std::uint32_t largest_batch = 1 << 14;
  std::uint32_t calls = 0, batch = 1;
  const auto begin = clock::now();
  auto now = begin;
  while (now - begin < std::chrono::milliseconds(request.plan.busy_ms)) {
    where_.start_clock();
    for (std::uint32_t i = 0; i < batch; ++i) function_.call(pointers.data(), request.scalars);
    where_.stop_clock(function_.name);  // waits
    calls += batch;
    const auto before = std::exchange(now, clock::now());
    if (now - before < long_enough && batch < largest_batch) batch *= 2;
  }
  answer.busy_calls = calls;
  answer.busy_took_ms = std::chrono::duration<double, std::milli>(now - begin).count();
}

}  // namespace stepwise::runner
