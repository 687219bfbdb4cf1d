// A graded program's calls: judged where its process reaches nothing.
//
// idea    Three processes. This one, the judge, has the inputs, the expected values and the clock.
//         The device server (common/device/remote) has the device and the buffers of the current
//         call. The submission has a socket to the server, over which it may ask a device what any
//         program may, and another on which it receives "make call 7": addresses and numbers. What
//         came out the judge reads from the device itself.
// watch   Nothing that the submission says can make a call right. Outside of a call the server does
//         not listen to it. Answers of the server are checked like a stranger's: it executes a
//         student's kernels.
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
  // failure(environment) if one of the programs is missing or cannot be started. `file` must
  // outlive this; outputs and times are put there.
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
  bool go_on(int socket, short events);

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
  remote::descriptor control_, arrays_, kept_arrays_;  // the program's, and the judge's
  array_memory memory_;                                // both, mapped
  std::unique_ptr<remote::remote_device> device_;
  double deadline_s_ = 0;  // of the judge's own requests: the time left, in steady seconds
  std::map<std::size_t, std::vector<placed_buffer>> kept_;  // by plans whose buffers are left
  remote::channel_ends mine_;                               // until it is connected
  double host_ms_ = 0;
  bool first_ = true, is_over_ = false;
};

}  // namespace stepwise
