// Launches, one grid after the other, and the copies and fills between them.
#include "common/emulator/grids.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "common/device/launch_check.hpp"
#include "common/emulator/options.hpp"
#include "common/emulator/prepare.hpp"
#include "common/emulator/run/scheduler.hpp"

namespace stepwise::emulator {
namespace {

using steady = std::chrono::steady_clock;

// What grid.sync() keeps of a cooperative launch: its barrier takes a few words.
constexpr std::uint64_t grid_workspace_bytes = 256;

}  // namespace

grids::grids(parts of) : of_(std::move(of)), runtime_(of_.model, of_.memory, of_.library) {
  runtime_.limit = of_.limit;
  runtime_.prepare = [this](loaded_kernel& k) {
    return prepare(k, of_.model, of_.watch != nullptr);
  };
}

status grids::launch(loaded_kernel& k, const launch_config& config,
                     std::span<const std::byte> parameters, status& failure) {
  last_.reset();
  const double limit_s = time_limit_s();
  deadline_ = steady::time_point::max();
  if (limit_s > 0) {
    deadline_ = steady::now() + std::chrono::duration_cast<steady::duration>(
                                    std::chrono::duration<double>(limit_s));
  }
  if (!k.code->uses(device_function::runtime))
    return run_grid(k, config, parameters, nullptr, failure);
  {
    grid_launches launches(runtime_, *k.module, config, 0);
    if (status s = run_grid(k, config, parameters, &launches, failure); !s.ok()) return s;
    push(launches);
  }
  while (failure.ok() && !left_.empty()) {
    child_work next = std::move(left_.back());
    left_.pop_back();
    failure = run_work(next);
    // A grid of few instructions does not look at the clock itself.
    if (failure.ok() && !left_.empty() && limit_s > 0 && steady::now() > deadline_) {
      failure = {error::launch_timeout, k.code->pretty + ": the kernels that it launches in turn " +
                                            "have not ended within the time limit"};
    }
  }
  left_.clear();
  return {};
}

// The children that were launched first come first, and the tail launches after all of them.
void grids::push(grid_launches& launches) {
  for (auto list : {launches.take_tails(), launches.take_children()})
    std::move(list.rbegin(), list.rend(), std::back_inserter(left_));
}

status grids::run_work(child_work& work) {
  if (work.kind != child_work::what::grid) return move_bytes(work);
  status failure;
  grid_launches launches(runtime_, *work.kernel->module, work.config, work.depth);
  if (status s = run_grid(*work.kernel, work.config, work.parameters, &launches, failure); !s.ok())
    return s;
  push(launches);
  return failure;
}

status grids::move_bytes(const child_work& work) {
  const bool copies = work.kind == child_work::what::copy;
  for (std::uint64_t plane = 0; plane < work.planes; ++plane) {
    for (std::uint64_t row = 0; row < work.height; ++row) {
      const auto place = [&](const child_area& a) {
        return a.at + plane * a.plane + row * a.pitch;
      };
      const std::uint64_t to = place(work.to), from = place(work.from);
      for (const std::uint64_t at : {to, copies ? from : to}) {
        const auto found = of_.memory.find(at);
        if (found && work.width <= found->bytes - (at - found->base)) continue;
        return {error::illegal_address,
                std::string("a ") + (copies ? "copy" : "fill") + " of " +
                    std::to_string(work.width) + " bytes that a kernel asks for" +
                    (work.where.empty() ? "" : " at " + work.where) + " leaves its allocation"};
      }
      if (copies)
        std::memmove(of_.memory.host(to), of_.memory.host(from), work.width);
      else
        std::memset(of_.memory.host(to), work.value, work.width);
      if (of_.check != nullptr && copies) of_.check->copied(to, from, work.width);
      if (of_.check != nullptr && !copies) of_.check->wrote(to, work.width);
    }
  }
  return {};
}

status grids::run_grid(loaded_kernel& k, const launch_config& config,
                       std::span<const std::byte> parameters, grid_launches* launches,
                       status& failure) {
  if (const status s = prepare_library(*k.code); !s.ok()) return s;
  launch_state state;
  state.code = k.code.get();
  state.library = &of_.library;
  state.launches = launches;
  state.stack_limit = of_.limit(device_limit::stack_bytes);
  result<device_address> workspace(device_address{0});
  if (config.cooperative) {
    workspace = of_.memory.allocate(grid_workspace_bytes);
    if (!workspace.ok()) return workspace.failure();
    std::memset(of_.memory.host(*workspace), 0, grid_workspace_bytes);
    state.grid_workspace = *workspace;
    if (of_.check) of_.check->placed("the grid's barrier", *workspace, grid_workspace_bytes, false);
  }
  state.model = &of_.model;
  state.watch = of_.watch;
  state.attributes = &k.attributes;
  state.machine_code = k.module->resources(k.code->name);
  state.memory = &of_.memory;
  state.config = config;
  state.parameters.assign(parameters.begin(), parameters.end());
  state.block_count = volume(config.grid);
  const std::uint64_t threads = volume(config.block);
  const std::uint64_t per_multiprocessor = std::max<std::uint64_t>(
      1, std::min<std::uint64_t>(
             static_cast<std::uint64_t>(of_.model.max_blocks_per_multiprocessor),
             static_cast<std::uint64_t>(of_.model.max_threads_per_multiprocessor) / threads));
  state.resident_blocks = static_cast<unsigned>(
      per_multiprocessor * static_cast<std::uint64_t>(of_.model.multiprocessors));
  state.time_limit_s = time_limit_s();
  state.deadline = deadline_;
  time_.launch(state, [this](launch_state& s) { run_blocks(s); });
  of_.memory.registered().write_back();
  if (*workspace != 0) of_.memory.free(*workspace);
  if (*workspace != 0 && of_.check) of_.check->freed(*workspace);
  counters_.launches += 1;
  counters_ += state.counters;
  failure = state.failure;
  if (of_.profile != nullptr) {
    const auto modelled = of_.profile->last_launch();
    if (modelled && last_)
      last_->us += modelled->us;
    else
      last_ = modelled;
  }
  return {};
}

// The heap is made for the first kernel that may allocate from it.
status grids::prepare_library(const program& code) {
  of_.library.set_printf_bytes(of_.limit(device_limit::printf_bytes));
  if (code.uses(device_function::runtime)) {
    const status s = runtime_.make([this](std::uint64_t at, std::uint64_t bytes, const char* name) {
      if (of_.check != nullptr) of_.check->placed(name, at, bytes, true);
    });
    if (!s.ok()) return s;
  }
  const bool allocates = std::ranges::any_of(code.library_calls, [](const library_call& c) {
    return c.which == device_function::malloc ||
           (c.which == device_function::runtime && c.of_runtime == runtime_function::malloc);
  });
  if (!allocates) return {};
  const status s = of_.library.make_heap(of_.limit(device_limit::heap_bytes));
  if (of_.check && s.ok()) of_.check->set_heap(of_.library.heap());
  return s;
}

// Spreads a launch's blocks over the workers; this thread is one of them.
void grids::run_blocks(launch_state& state) {
  const std::uint64_t useful = std::max<std::uint64_t>(1, state.block_count / 4);
  const unsigned workers =
      state.watch != nullptr ? 1
                             : static_cast<unsigned>(std::min<std::uint64_t>(of_.workers, useful));
  std::vector<std::jthread> others;
  for (unsigned n = 1; n < workers; ++n) {
    others.emplace_back([&state] { scheduler(state).run(); });
  }
  scheduler(state).run();
}

}  // namespace stepwise::emulator
