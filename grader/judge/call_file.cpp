// Lays out records, inputs, outputs and times in a memory file or named file, and reads answers.
#include "grader/judge/call_file.hpp"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise {
namespace {

using runner::buffer_role;

[[noreturn]] void fail(std::size_t bytes, int error) {
  throw failure(exit_code::environment, "cannot create a call file of " +
                                            bytes_text(static_cast<double>(bytes)) + ": " +
                                            strerror(error) + "; choose a smaller --size");
}

int open_file(const std::filesystem::path& file, std::size_t bytes) {
  const int descriptor = file.empty()
                             ? memfd_create("stepwise-call", MFD_CLOEXEC | MFD_ALLOW_SEALING)
                             : open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) fail(bytes, errno);
  int error = ftruncate(descriptor, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
  // On disk, reserve the space now, because a full disk must be an error here, not SIGBUS later.
  if (error == 0 && !file.empty())
    error = posix_fallocate(descriptor, 0, static_cast<off_t>(bytes));
  if (error == 0 && file.empty() &&
      fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    error = errno;
  }
  if (error != 0) {
    close(descriptor);
    if (!file.empty()) unlink(file.c_str());
    fail(bytes, error);
  }
  return descriptor;
}

}  // namespace

call_file::call_file(const std::vector<problem_call>& calls, const std::vector<planned_call>& plans,
                     const std::filesystem::path& file)
    : calls_(calls), plans_(plans) {
  std::size_t end = sizeof(runner::call_file_header) + plans.size() * sizeof(runner::call_record);
  for (const auto& plan : plans_) {
    times_offsets_.push_back(end = aligned_to_line(end));
    end += plan.how.repetitions * sizeof(float);
  }
  for (const auto& call : calls_) {
    if (call.buffers.size() > runner::max_buffers || call.scalars.size() > runner::max_scalars) {
      throw failure(exit_code::ours, call.label + ": too many buffers or scalars");
    }
    auto& offsets = offsets_.emplace_back();
    for (const auto& buffer : call.buffers) {
      const bool in_file = buffer.role != buffer_role::scratch;
      offsets.push_back(in_file ? end = aligned_to_line(end) : 0);
      if (in_file) end += buffer.bytes;
    }
  }
  bytes_ = aligned_to_line(end);
  descriptor_ = open_file(file, bytes_);
  void* mapped = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (mapped == MAP_FAILED) {
    const int error = errno;
    close(descriptor_);
    fail(bytes_, error);
  }
  data_ = static_cast<std::byte*>(mapped);

  write_records();
  if (!file.empty()) write_inputs();
}

void call_file::write_records() {
  runner::call_file_header head{};
  std::memcpy(head.magic, runner::call_file_magic, sizeof head.magic);
  head.version = runner::call_file_version;
  head.call_count = static_cast<std::uint32_t>(plans_.size());
  head.file_bytes = bytes_;
  std::memcpy(data_, &head, sizeof head);
  for (std::size_t p = 0; p < plans_.size(); ++p) {
    const auto& plan = plans_[p];
    const auto& call = calls_[plan.data];
    runner::call_record record{};
    record.memory = call.memory;
    record.buffer_count = static_cast<std::uint32_t>(call.buffers.size());
    record.scalar_count = static_cast<std::uint32_t>(call.scalars.size());
    for (std::size_t b = 0; b < call.buffers.size(); ++b) {
      auto& to = record.buffers[b];
      to.role = call.buffers[b].role;
      to.bytes = call.buffers[b].bytes;
      to.element_bytes = call.buffers[b].element_bytes;
      to.offset = offsets_[plan.data][b];
      // Neighbouring calls differ, so that no call can pass with the previous call's bytes.
      to.poison = fill_byte(p);
      call.buffers[b].name.copy(to.name, sizeof to.name - 1);
    }
    std::copy(call.scalars.begin(), call.scalars.end(), record.scalars);
    record.plan = plan.how;
    record.times_offset = times_offsets_[p];
    std::memcpy(data_ + sizeof head + p * sizeof record, &record, sizeof record);
  }
}

// Writing through the mapping would cause a page fault for every page.
void call_file::write_at(std::size_t offset, std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t n = pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail(bytes_, errno);
    offset += static_cast<std::size_t>(n);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

void call_file::write_inputs() const {
  if (!has_inputs_) rewrite_inputs();
}

void call_file::rewrite_inputs() const {
  has_inputs_ = true;
  for (std::size_t c = 0; c < calls_.size(); ++c) {
    for (std::size_t b = 0; b < calls_[c].buffers.size(); ++b) {
      const auto& buffer = calls_[c].buffers[b];
      if (buffer.role != buffer_role::input) continue;
      write_at(
          offsets_[c][b],
          std::span(buffer.data).first(std::min<std::size_t>(buffer.bytes, buffer.data.size())));
    }
  }
}

call_file::~call_file() {
  munmap(data_, bytes_);
  close(descriptor_);
}

bool call_file::load(const std::filesystem::path& file) {
  const auto content = read_if_there(file);
  if (!content || content->size() != bytes_) return false;
  std::memcpy(data_, content->data(), bytes_);
  return true;
}

runner::call_record call_file::record(std::size_t plan) const {
  runner::call_record copy;
  std::memcpy(&copy, data_ + sizeof(runner::call_file_header) + plan * sizeof copy, sizeof copy);
  copy.message[sizeof copy.message - 1] = '\0';
  return copy;
}

runner::call_file_header call_file::header() const {
  runner::call_file_header copy;
  std::memcpy(&copy, data_, sizeof copy);
  copy.device_name[sizeof copy.device_name - 1] = '\0';
  return copy;
}

std::vector<std::vector<std::byte>> call_file::outputs(std::size_t plan) const {
  std::vector<std::vector<std::byte>> result;
  for (const auto bytes : outputs_in_place(plan)) result.emplace_back(bytes.begin(), bytes.end());
  return result;
}

std::vector<std::span<const std::byte>> call_file::outputs_in_place(std::size_t plan) const {
  std::vector<std::span<const std::byte>> result;
  const auto& buffers = call(plan).buffers;
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    if (buffers[b].role != buffer_role::output) continue;
    result.emplace_back(data_ + offsets_[plans_[plan].data][b], buffers[b].bytes);
  }
  return result;
}

std::span<std::byte> call_file::output_area(std::size_t plan, std::size_t buffer) const {
  return {data_ + offsets_[plans_[plan].data][buffer], call(plan).buffers[buffer].bytes};
}

void call_file::set_time(std::size_t plan, std::uint32_t repetition, double ms) const {
  const auto time_ms = static_cast<float>(ms);
  std::memcpy(data_ + times_offsets_[plan] + repetition * sizeof time_ms, &time_ms, sizeof time_ms);
}

std::vector<double> call_file::times(std::size_t plan) const {
  std::vector<double> result;
  for (std::uint32_t r = 0; r < plans_[plan].how.repetitions; ++r) {
    float time_ms;
    std::memcpy(&time_ms, data_ + times_offsets_[plan] + r * sizeof time_ms, sizeof time_ms);
    if (std::isfinite(time_ms) && time_ms > 0) result.push_back(time_ms);
  }
  return result;
}

std::optional<std::string> check_outputs(const problem& p, const problem_call& call,
                                         const std::vector<std::vector<std::byte>>& outputs) {
  std::vector<std::span<const std::byte>> spans(outputs.begin(), outputs.end());
  return p.check(call, spans);
}

std::optional<std::string> check_outputs(const problem& p, const call_file& file,
                                         std::size_t plan) {
  if (file.is_shared()) return check_outputs(p, file.call(plan), file.outputs(plan));
  return p.check(file.call(plan), file.outputs_in_place(plan));
}

}  // namespace stepwise
