// A runner as a child process that makes calls one at a time.
//
// idea    The runner is started with --control; lab asks for one call, waits for the answer with a
//         deadline, and so knows which call never ended, crashed or flooded. What the runner writes
//         into the call file is read only as that call's answer.
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
#include "grader/system/process.hpp"

namespace stepwise {

struct session_options {
  double time_limit_s = 10;            // of one call
  double start_limit_s = 60;           // more for the first call: loading, a GPU's context
  std::uint64_t data_limit_bytes = 0;  // 0: none (CUDA maps far more than it uses)
  std::uint64_t output_limit_bytes = 1 << 20;
  int workers = 0;                  // emulator threads; 0: all cores
  std::filesystem::path profile;    // not empty: counted line by line, and the profile goes there
  std::string times;                // with a profile: STEPWISE_TIMES, what the model times
  bool modelled_events = false;     // with times: those between events are the model's, too
  std::filesystem::path findings;   // not empty: with all checks on, and what they find goes there
  std::filesystem::path recording;  // not empty: warps are recorded, and this file is written
  std::string recorded;             // which: STEPWISE_RECORD_OF
  bool tensor_cores = true;         // else the emulator launches no kernel that uses them
  std::uint64_t host_bytes = 0;     // that a judged call may copy from the device to the host
  std::function<void()> tick;
};

// The limits for this device: the emulator's memory is limited, a GPU process's is not.
session_options options_for(const device_choice& device, double time_limit_s,
                            std::size_t call_file_bytes);

// Makes calls, wherever the data is held: in practice the program itself, else a judge.
class call_session {
 public:
  virtual ~call_session() = default;

  // Makes one call. After an outcome that is not ok, the session is over.
  virtual call_outcome call(std::size_t number) = 0;

  // Asks for a call of nothing, so often, and how long each took in ms, by the host's clock. Empty
  // in practice, where the program's own clock is believed.
  virtual std::vector<double> empty_calls(std::size_t count) {
    return (void)count, std::vector<double>{};
  }
  // What the last timed call took on the host besides its time on the device; includes what asking
  // for a call costs. 0 in practice, and where arrays of the host's are copied to and fro.
  virtual double host_ms() const { return 0; }

  // Lets the program end by itself, so that checks report what is left, and waits for it for
  // `seconds` at most. Not ok if what was asked for (findings, a profile) did not arrive although
  // all calls succeeded: a report that is missing says nothing good. Does nothing if it has ended.
  virtual call_outcome finish(double seconds) = 0;

  // What the program printed so far, without our runtime's own lines; bounded.
  virtual std::string printed() const = 0;
};

// The fat binary that nvcc made of a compiled submission: all the kernels that it may run when it
// is judged. Programs of the course have none, and load what they like.
inline std::filesystem::path kernels_of(const std::filesystem::path& program) {
  return program.parent_path() / "kernels";
}

// Of the kind that `device` asks for; errors as of session.
std::unique_ptr<call_session> start_session(const std::filesystem::path& program,
                                            const device_choice& device, const call_file& file,
                                            session_options options);

class session : public call_session {
 public:
  // failure(environment) if the program is missing or cannot be started. `file` must outlive this.
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
  std::unique_ptr<child> process_;
};

}  // namespace stepwise
