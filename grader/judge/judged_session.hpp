// Makes a graded program's calls, and judges them in a place to which the program's process has no
// access.
//
// idea    There are three processes. This process, the judge, has the inputs, the expected values
//         and the clock. The device server (common/device/remote) has the device and the buffers of
//         the current call. The submission has a socket to the server, over which it may use a
//         device as any program does, and a socket for requests such as "make call 7", with
//         addresses and numbers. The judge reads the results from the device itself.
// watch   No message of the submission can make a call right. Between calls, the server ignores the
//         submission. The judge treats the server's answers as untrusted, because the server
//         executes a student's kernels.
// Tested by tests/judged_session_test.cpp.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/device/remote/remote_device.hpp"
#include "common/lab/judged_call.hpp"
#include "grader/judge/judged_buffers.hpp"
#include "grader/judge/session.hpp"

namespace stepwise {

class judged_session : public call_session {
 public:
  // Throws failure(environment) if one of the programs is missing or cannot be started. `file` must
  // outlive this object; it receives outputs and times.
  judged_session(const std::filesystem::path& program, const device_choice& device,
                 const call_file& file, session_options options);
  ~judged_session() override;

  call_outcome call(std::size_t number) override;
  std::vector<double> empty_calls(std::size_t count) override;
  double host_ms() const override { return host_ms_; }
  call_outcome finish(double seconds) override;
  std::string printed() const override;

 private:
  void start_server(const device_choice& device, remote::channel_ends& mine,
                    remote::channel_ends& theirs);
  void start_submission(const std::filesystem::path& program, const device_choice& device,
                        remote::channel_ends& theirs, int control);
  void make_arrays();
  bool is_connected();
  bool handle_events(int socket, short events);

  call_outcome one(std::size_t number, std::uint32_t repetition, bool is_timed);
  call_outcome ask_for(const runner::judged_request& request, runner::judged_answer& answer);
  call_outcome judge_answer(const problem_call& call, const runner::judged_answer& answer,
                            const remote::end_call::answer& did) const;
  call_outcome server_gone();
  call_outcome submission_ended();
  call_outcome stop(call_outcome why);
  bool keep_report(remote::report_kind which, const std::filesystem::path& file);

  const call_file& file_;
  session_options options_;
  std::string program_;
  bool is_gpu_;
  memory_limits limits_;
  std::unique_ptr<child> server_, submission_;
  remote::descriptor control_, arrays_, kept_arrays_;  // the program's and the judge's
  array_memory memory_;                                // both arrays, mapped
  std::unique_ptr<remote::remote_device> device_;
  double deadline_s_ = 0;  // for the judge's own requests, in steady seconds
  std::map<std::size_t, std::vector<placed_buffer>> kept_;  // per plan, for buffers that stay
  remote::channel_ends mine_;                               // until it connects
  double host_ms_ = 0;
  bool first_ = true, is_over_ = false;
};

}  // namespace stepwise
