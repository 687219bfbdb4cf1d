// A grid that runs on the thread that launched it and on others. If the grid waits, it may continue
// without the first thread.
//
// idea    A grid runs to its end before run() returns, unless it waits for the host or for a later
//         kernel, or may never end. In that case, the thread that launched the grid leaves, and
//         another thread continues with its blocks where they are.
//         Tested by run/tests/left_launches_test.cpp and common/runtime/conformance/beside.
#pragma once

#include <memory>
#include <vector>

#include "common/emulator/kernel_time.hpp"
#include "common/emulator/run/grid_launches.hpp"
#include "common/emulator/run/scheduler.hpp"
#include "common/emulator/worker_threads.hpp"

namespace stepwise::emulator {

class running_grid {
 public:
  // Its workers, except for the first, are among `threads`, which outlive this object.
  explicit running_grid(worker_threads& threads) : threads_(threads) {}
  ~running_grid();
  running_grid(const running_grid&) = delete;
  running_grid& operator=(const running_grid&) = delete;

  launch_state state;
  kernel_time::following time;
  std::unique_ptr<grid_launches> launches;  // null: the kernel does not call the runtime

  // Runs the grid on this thread and `workers` - 1 others. Returns false if the grid continues
  // without this thread, which is possible only if `may_leave` is set.
  bool run(unsigned workers, bool may_leave);

  // The following functions are for a grid that continues. Only one thread at a time may call each
  // of them.
  bool ended() const { return breaks_->ended(); }
  bool has_polled() const { return breaks_->has_polled(); }
  // No worker runs between pause() and resume().
  void pause() { breaks_->pause(); }
  void resume() { breaks_->resume(); }
  // Ends the grid soon, wherever it is, and waits for its end.
  void stop();

 private:
  void end_worker();

  std::unique_ptr<launch_breaks> breaks_;
  std::unique_ptr<scheduler> first_;  // the worker that began on the thread that launched it
  worker_threads& threads_;
  std::vector<worker_threads::task> others_;
};

}  // namespace stepwise::emulator
