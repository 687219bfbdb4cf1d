// The file that carries calls to a runner and outputs back (common/lab/call_file.hpp).
//
// idea    lab lays out the file and keeps the layout to itself. Whatever the runner writes into the
//         records, lab reads outputs and times only from positions that lab itself chose.
// Tested by tests/session_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "common/lab/call_file.hpp"
#include "common/lab/problem.hpp"

namespace stepwise {

// The next multiple of a cache line's 64 bytes.
inline std::size_t aligned_to_line(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

// The n-th of the bytes that fill outputs and scratch before a call. Each byte is odd. Four equal
// bytes are a float between -7e9 and -6e3, which is visible in every sum to which it is added.
constexpr std::uint8_t fill_byte(std::uint64_t n) {
  return static_cast<std::uint8_t>(0xc5 + 2 * (n % 6));
}

struct planned_call {
  std::size_t data = 0;  // index of its problem_call; several plans may share one
  runner::call_plan how = {};
};

class call_file {
 public:
  // Creates a sealed memfd, which no process can shrink while we use it, or a file on disk if
  // `file` is not empty. `calls` must outlive this object. Throws failure(environment) if memory or
  // space is missing.
  call_file(const std::vector<problem_call>& calls, const std::vector<planned_call>& plans,
            const std::filesystem::path& file = {});
  ~call_file();
  call_file(const call_file&) = delete;
  call_file& operator=(const call_file&) = delete;

  // Writes the inputs if they are not there yet. A file on disk has its inputs from the start. A
  // memfd gets them only for a program that maps it, because a judge sends inputs in another way.
  void write_inputs() const;
  // Writes the inputs again for the next call, after the caller has changed their content.
  void rewrite_inputs() const;

  // Whether a program maps the file: only such a program finds its inputs there.
  bool is_shared() const { return has_inputs_; }
  int descriptor() const { return descriptor_; }
  std::size_t bytes() const { return bytes_; }
  std::size_t plan_count() const { return plans_.size(); }
  const planned_call& plan(std::size_t number) const { return plans_[number]; }
  const problem_call& call(std::size_t plan) const { return calls_[plans_[plan].data]; }

  // Copies the content of a file on disk, made from the same calls and plans, after a
  // runner has made the calls. Returns false if its size differs.
  bool load(const std::filesystem::path& file);

  // A copy of the record that the runner wrote. message and device_name are NUL-terminated.
  runner::call_record record(std::size_t plan) const;
  runner::call_file_header header() const;

  // Copies of the outputs, in the order of the contract.
  std::vector<std::vector<std::byte>> outputs(std::size_t plan) const;
  // The outputs without a copy, for gigabytes. Only for a program of the course that waits for its
  // next call. Such a program shares the file, and another program could change outputs after a
  // check.
  std::vector<std::span<const std::byte>> outputs_in_place(std::size_t plan) const;
  // Let a judge store its own results: an output, a time.
  std::span<std::byte> output_area(std::size_t plan, std::size_t buffer) const;
  void set_time(std::size_t plan, std::uint32_t repetition, double ms) const;
  // The positive finite times of the repetitions, in ms.
  std::vector<double> times(std::size_t plan) const;

 private:
  void write_records();
  void write_at(std::size_t offset, std::span<const std::byte> bytes) const;

  const std::vector<problem_call>& calls_;
  std::vector<planned_call> plans_;
  std::vector<std::vector<std::size_t>> offsets_;  // per problem_call: its buffers
  std::vector<std::size_t> times_offsets_;         // per plan
  int descriptor_ = -1;
  std::size_t bytes_ = 0;
  std::byte* data_ = nullptr;
  mutable bool has_inputs_ = false;
};

// Runs problem::check on copied outputs.
std::optional<std::string> check_outputs(const problem& p, const problem_call& call,
                                         const std::vector<std::vector<std::byte>>& outputs);
// Runs problem::check on a call's outputs. Copies them first if a program maps the file, because
// the program could change them during the check.
std::optional<std::string> check_outputs(const problem& p, const call_file& file, std::size_t plan);

}  // namespace stepwise
