// Reads requests, makes each call between start_clock() and stop_clock() (which waits), and
// answers.
#include "common/runner/judged_calls.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/lab/judged_call.hpp"
#include "common/runner/call_buffer.hpp"
#include "common/runner/call_files.hpp"
#include "common/runner/call_maker.hpp"
#include "common/runner/machine.hpp"
#include "common/runner/whole_io.hpp"

namespace stepwise::runner {
namespace {

// The memory of host arrays; empty if there is none.
std::span<std::byte> map_arrays(int arrays) {
  struct stat about {};
  if (fstat(arrays, &about) != 0 || about.st_size <= 0) return {};
  const auto size = static_cast<std::size_t>(about.st_size);
  void* const start = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, arrays, 0);
  if (start == MAP_FAILED) return {};
  return {static_cast<std::byte*>(start), size};
}

// A call's arrays in host memory, as in the user's own program, or in files.
class host_arrays {
 public:
  host_arrays(const judged_request& request, memory& place, std::span<std::byte> shared)
      : request_(request), shared_(shared) {
    for (std::uint32_t i = 0; i < request.buffer_count; ++i) {
      const judged_buffer& wanted = request.buffers[i];
      call_buffer& made = buffers_.emplace_back(place, wanted.bytes);
      if (wanted.role == buffer_role::input) {
        made.upload(area(wanted));
      } else {
        made.poison(static_cast<std::uint8_t>(wanted.poison));
      }
      names_.push_back(request.memory == memory_kind::files ? files_.add(wanted.role, made.bytes())
                                                            : nullptr);
    }
    files_.write_inputs();
  }

  std::byte* address(std::uint32_t i) const { return buffers_[i].address(); }
  // The function's argument: the array, or the name of its file.
  void* argument(std::uint32_t i) const {
    return names_[i] == nullptr ? buffers_[i].address() : names_[i];
  }

  void hand_back(judged_answer& answer) const {
    files_.read_results([&](std::size_t) { answer.modified = 1; });
    for (std::uint32_t i = 0; i < request_.buffer_count; ++i) {
      const judged_buffer& wanted = request_.buffers[i];
      const call_buffer& made = buffers_[i];
      if (wanted.role == buffer_role::output) made.download(area(wanted));
      if (wanted.role == buffer_role::input && made.first_difference(area(wanted)) < wanted.bytes)
        answer.modified = 1;
      if (made.broken_guards() != 0) answer.guard_broken = 1;
    }
    const char* const what = answer.guard_broken != 0 ? "the function wrote past an end of an array"
                             : answer.modified != 0   ? "the function changed an input; it is const"
                                                      : nullptr;
    if (what != nullptr) throw call_failure{0, what};
  }

 private:
  std::span<std::byte> area(const judged_buffer& wanted) const {
    if (wanted.address > shared_.size() || wanted.bytes > shared_.size() - wanted.address)
      throw call_failure{0, "an array outside of the shared memory"};
    return shared_.subspan(wanted.address, wanted.bytes);
  }

  const judged_request& request_;
  std::span<std::byte> shared_;
  std::vector<call_buffer> buffers_;
  call_files files_;  // empty if the arrays are not in files
  std::vector<void*> names_;
};

class judged_calls {
 public:
  judged_calls(const contract& function, std::span<std::byte> shared)
      : function_(function), shared_(shared) {}

  judged_answer make(const judged_request& request) {
    judged_answer answer{};
    answer.number = request.number;
    call_failure failure;
    try {
      if (request.buffer_count != function_.pointers || request.scalar_count != function_.integers)
        throw call_failure{0, "the judge's call is for a different contract"};
      if (lost_ != 0)
        throw call_failure{lost_, "not made: an earlier call made the device unusable"};
      if (!where_) where_ = make_machine();
      failure = outcome_of(function_, *where_, [&] { run(request, answer); });
      if (!failure.message.empty()) lost_ = where_->lasting_error();
    } catch (const call_failure& known) {
      failure = known;
    } catch (const std::exception& thrown) {
      failure = {0, std::string("cannot use a CUDA device: ") + thrown.what()};
    }
    answer.state = failure.message.empty() ? call_state::done : call_state::failed;
    answer.cuda_error = failure.code;
    std::snprintf(answer.message, sizeof answer.message, "%s", failure.message.c_str());
    std::fflush(nullptr);  // the call's output must precede that of the next
    return answer;
  }

 private:
  void run(const judged_request& request, judged_answer& answer) {
    where_->begin_call();
    if (request.is_empty != 0) {
      where_->start_clock();
      where_->stop_clock(function_.name);
      return;
    }
    std::vector<void*> pointers;
    std::unique_ptr<host_arrays> arrays;
    if (request.memory != memory_kind::device)
      arrays = std::make_unique<host_arrays>(request, where_->host_memory(), shared_);
    noted_call noted(*where_);
    for (std::uint32_t i = 0; arrays && i < request.buffer_count; ++i) {
      const judged_buffer& b = request.buffers[i];
      const std::span<const std::byte> bytes(arrays->address(i), b.bytes);
      if (request.memory == memory_kind::host) {
        noted.add(bytes, b.address);
      } else {
        noted.add_file(bytes, b.address, b.role == buffer_role::output);
      }
    }
    for (std::uint32_t i = 0; i < request.buffer_count; ++i)
      pointers.push_back(arrays ? arrays->argument(i)
                                : reinterpret_cast<void*>(request.buffers[i].address));
    where_->start_clock();
    function_.call(pointers.data(), request.scalars);
    where_->stop_clock(function_.name);
    if (arrays) arrays->hand_back(answer);
  }

  const contract& function_;
  std::span<std::byte> shared_;
  std::unique_ptr<machine> where_;
  int lost_ = 0;
};

}  // namespace

int make_judged_calls(const contract& function, int control, int arrays) {
  signal(SIGPIPE, SIG_IGN);
  judged_calls calls(function, map_arrays(arrays));
  for (judged_request request; read_all(control, &request, sizeof request);) {
    const judged_answer answer = calls.make(request);
    if (!write_all(control, &answer, sizeof answer)) break;
  }
  return 0;
}

}  // namespace stepwise::runner
