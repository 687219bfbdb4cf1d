// A runner as a child process that makes calls one at a time.
//
// idea    The runner is started with --control. lab requests one call and waits for its answer with
//         a deadline, so it knows which call hung, crashed or printed too much. Data that the
//         runner writes into the call file is read only as the answer to that call.
// Tested by tests/session_test.cpp with tests/fake_runner.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "grader/judge/call_file.hpp"
#include "grader/judge/device_choice.hpp"
#include "grader/judge/verdict.hpp"
#include "grader/system/files.hpp"
#include "grader/system/process.hpp"

namespace stepwise {

struct session_options {
  double time_limit_s = 10;            // per call
  double start_limit_s = 60;           // added for the first call: loading, a GPU's context
  std::uint64_t data_limit_bytes = 0;  // 0: none (CUDA maps far more than it uses)
  std::uint64_t output_limit_bytes = 1 << 20;
  int workers = 0;                  // emulator threads; 0: all cores
  std::filesystem::path profile;    // if not empty, receives a profile line by line
  std::string times;                // with a profile: STEPWISE_TIMES, what the model times
  bool modelled_events = false;     // with times: event times are modelled, too
  std::filesystem::path findings;   // if not empty, all checks run, and findings go there
  unsigned sample = 0;              // with findings: STEPWISE_SAMPLE, which blocks run; 0: all
  std::filesystem::path recording;  // if not empty, receives the recorded warps
  std::string recorded;             // their selection: STEPWISE_RECORD_OF
  bool tensor_cores = true;         // else the emulator refuses kernels that use them
  std::uint64_t host_bytes = 0;     // limit of a judged call's copies from device to host
  std::function<void()> tick;
};

// The limits for this device. The emulator's memory is limited, but a GPU process's memory is not.
session_options options_for(const device_choice& device, double time_limit_s,
                            std::size_t call_file_bytes);

// Makes calls. The program itself holds the data in practice mode; otherwise, a judge does.
class call_session {
 public:
  virtual ~call_session() = default;

  // Makes one call. After an outcome that is not ok, the session is over.
  virtual call_outcome call(std::size_t number) = 0;

  // Makes `count` empty calls, and returns the time of each in ms by the host's clock. Empty in
  // practice mode, where the program's own clock is trusted.
  virtual std::vector<double> empty_calls(std::size_t count) {
    return (void)count, std::vector<double>{};
  }
  // The last timed call's time on the host in ms, outside its time on the device, including the
  // cost of the request. 0 in practice mode, and for host arrays, which the protocol copies.
  virtual double host_ms() const { return 0; }

  // Lets the program end by itself, so that checks report leaks, and waits at most `seconds`. The
  // outcome is not ok if the requested findings or profile did not arrive although all calls
  // succeeded, because a missing report cannot count as success. Does nothing if the program has
  // ended.
  virtual call_outcome finish(double seconds) = 0;

  // The program's output up to now, without our runtime's own lines. Its length is limited.
  virtual std::string printed() const = 0;
};

// The fat binary that nvcc made for a compiled submission. It has all the kernels that the
// submission may run when it is judged. Programs of the course have no such binary and may load any
// kernel.
inline std::filesystem::path kernels_of(const std::filesystem::path& program) {
  return program.parent_path() / "kernels";
}

// A session of the kind that `device` and the calls require. `file` must outlive it. Throws like
// session, a program's (program_sessions.hpp) at the first call.
std::unique_ptr<call_session> start_session(const std::filesystem::path& program,
                                            const device_choice& device, const call_file& file,
                                            session_options options);

class session : public call_session {
 public:
  // Throws failure(environment) if the program is missing or cannot start. `file` must outlive this
  // object.
  session(const std::filesystem::path& program, const device_choice& device, const call_file& file,
          session_options options);
  ~session() override;

  call_outcome call(std::size_t number) override;
  call_outcome finish(double seconds) override;
  std::string printed() const override;

 private:
  call_outcome classify_failed_call(const runner::call_record& record) const;
  call_outcome too_slow(child_end::cause cause);
  bool send(std::uint32_t number);

  const call_file& file_;
  session_options options_;
  std::string program_;
  int control_ = -1;
  bool first_ = true;
  std::unique_ptr<temporary_folder> files_;  // of a whole program's calls
  std::unique_ptr<child> process_;
};

}  // namespace stepwise
