// Runs grids one after the other, the copies and fills between them, and launches that were left
// running.
#include "common/emulator/grids.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "common/device/launch_check.hpp"
#include "common/emulator/prepare.hpp"
#include "common/emulator/run/scheduler.hpp"

namespace stepwise::emulator {
namespace {

using steady = std::chrono::steady_clock;

bool allocates(const program& code) {
  return std::ranges::any_of(code.library_calls, [](const library_call& c) {
    return c.which == device_function::malloc ||
           (c.which == device_function::runtime && c.of_runtime == runtime_function::malloc);
  });
}

}  // namespace

grids::grids(parts of) : of_(std::move(of)), runtime_(of_.model, of_.memory, of_.library) {
  runtime_.limit = of_.limit;
  runtime_.prepare = [this](loaded_kernel& k) {
    return prepare(k, of_.model, watched_by_these(of_.watch, of_.check));
  };
}

status grids::launch(loaded_kernel& k, const launch_config& config,
                     std::span<const std::byte> parameters, status& failure) {
  last_.reset();
  last_left_ = 0;
  if (of_.transfers != nullptr) of_.transfers->end_rows();
  auto all = std::make_unique<host_launch>();
  all->code = k.code.get();
  if (const double limit_s = of_.settings.time_limit_s; limit_s > 0) {
    all->deadline = steady::now() + std::chrono::duration_cast<steady::duration>(
                                        std::chrono::duration<double>(limit_s));
  }
  if (status s = start(*all, k, config, parameters, 0); !s.ok()) return s;
  if (resume(*all)) {
    failure = all->failure;
  } else {
    last_left_ = all->number = ++left_so_far_;
    left_running_.push_back(std::move(all));
  }
  return {};
}

// Runs the work that a launch's grids have requested. Returns false if a grid is left running.
bool grids::resume(host_launch& in) {
  while (in.running == nullptr && in.failure.ok() && !in.to_do.empty()) {
    child_work next = std::move(in.to_do.back());
    in.to_do.pop_back();
    if (status s = run_work(in, next); !s.ok()) in.failure = std::move(s);
    // A grid of few instructions does not check the time limit itself.
    if (in.failure.ok() && !in.to_do.empty() && in.deadline != steady::time_point::max() &&
        steady::now() > in.deadline) {
      in.failure = {error::launch_timeout, in.code->pretty +
                                               ": the kernels that it launches in turn " +
                                               "have not ended within the time limit"};
    }
  }
  return in.running == nullptr;
}

status grids::run_work(host_launch& in, child_work& work) {
  if (work.kind != child_work::what::grid) return move_bytes(work);
  return start(in, *work.kernel, work.config, work.parameters, work.depth);
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
                    std::to_string(work.width) + " bytes that a kernel requests" +
                    (work.where.empty() ? "" : " at " + work.where) + " exceeds its allocation"};
      }
      if (copies)
        std::memmove(of_.memory.host(to), of_.memory.host(from), work.width);
      else
        std::memset(of_.memory.host(to), work.value, work.width);
      if (of_.check != nullptr && copies) of_.check->copied(to, from, work.width);
      if (of_.check != nullptr && !copies) of_.check->filled(to, work.width);
      if (of_.transfers == nullptr) continue;
      const double us = copies ? of_.transfers->copied(to, from, work.width)
                               : of_.transfers->filled(to, work.width);
      if (last_) last_->us += us;
    }
  }
  return {};
}

// Starts a grid. Afterwards, the grid has ended or is left running. Returns why it did not start.
status grids::start(host_launch& in, loaded_kernel& k, const launch_config& config,
                    std::span<const std::byte> parameters, int depth) {
  if (!k.code->tensor_instruction.empty() && !of_.settings.tensor_cores)
    return {error::not_permitted, k.code->pretty + " has the instruction " +
                                      k.code->tensor_instruction +
                                      ": the contract rules tensor cores out"};
  auto grid = std::make_unique<running_grid>(threads_);
  launch_state& state = grid->state;
  {
    // Pausing takes a slice of every worker, so we pause only where memory is allocated.
    std::optional<quiet> others;
    if (config.cooperative || k.code->uses(device_function::runtime) || allocates(*k.code))
      others.emplace(*this);
    if (const status s = prepare_library(*k.code); !s.ok()) return s;
    if (config.cooperative) {
      const auto workspace = of_.memory.allocate(grid_workspace_bytes);
      if (!workspace.ok()) return workspace.failure();
      std::memset(of_.memory.host(*workspace), 0, grid_workspace_bytes);
      state.grid_workspace = *workspace;
      if (of_.check) of_.check->placed(grid_barrier_name, *workspace, grid_workspace_bytes, false);
    }
  }
  if (k.code->uses(device_function::runtime)) {
    grid->launches = std::make_unique<grid_launches>(runtime_, *k.module, config, depth);
    state.launches = grid->launches.get();
  }
  describe(state, k, config, parameters);
  state.deadline = in.deadline;
  in.running = std::move(grid);
  time_.begin(state, in.running->time);
  if (run_blocks(*in.running)) finish(in);
  return {};
}

void grids::describe(launch_state& state, const loaded_kernel& k, const launch_config& config,
                     std::span<const std::byte> parameters) const {
  state.code = k.code.get();
  state.library = &of_.library;
  state.stack_limit = of_.limit(device_limit::stack_bytes);
  state.model = &of_.model;
  state.watch = of_.watch;
  state.attributes = &k.attributes;
  state.machine_code = k.module->resources(k.code->name);
  state.memory = &of_.memory;
  state.config = config;
  state.parameters.assign(parameters.begin(), parameters.end());
  state.block_count = volume(config.grid);
  const extent cluster = cluster_of(k.attributes, config);
  state.is_explicit_cluster = cluster != no_cluster;
  if (state.is_explicit_cluster) state.cluster = cluster;
  const std::uint64_t threads = volume(config.block);
  const std::uint64_t per_multiprocessor = std::max<std::uint64_t>(
      1, std::min<std::uint64_t>(
             static_cast<std::uint64_t>(of_.model.max_blocks_per_multiprocessor),
             static_cast<std::uint64_t>(of_.model.max_threads_per_multiprocessor) / threads));
  state.resident_blocks = static_cast<unsigned>(
      per_multiprocessor * static_cast<std::uint64_t>(of_.model.multiprocessors));
  state.time_limit_s = of_.settings.time_limit_s;
  // The kernels that this kernel launches run after it.
  state.ends_hangs = of_.check != nullptr && !k.code->uses(device_function::runtime);
  state.others_write = of_.check == nullptr || !of_.check->stream().is_alone;
  state.patience = {of_.settings.patience_s};
  state.copy_seed = of_.settings.copy_seed;
}

// Completes a grid that has ended. Its children run in launch order, and its tail launches
// run after all of them.
void grids::finish(host_launch& in) {
  std::optional<quiet> others;
  if (in.running->state.grid_workspace != 0 || in.running->launches != nullptr ||
      !of_.memory.registered().empty())
    others.emplace(*this);
  const std::unique_ptr<running_grid> ended = std::move(in.running);
  launch_state& state = ended->state;
  time_.end(state, ended->time);
  of_.memory.registered().write_back();
  if (state.grid_workspace != 0) of_.memory.free(state.grid_workspace);
  if (state.grid_workspace != 0 && of_.check) of_.check->freed(state.grid_workspace);
  counters_.launches += 1;
  counters_ += state.counters;
  in.failure = state.failure;
  if (of_.profile != nullptr) {
    const auto modelled = of_.profile->last_launch();
    if (modelled && last_)
      last_->us += modelled->us;
    else
      last_ = modelled;
  }
  if (ended->launches == nullptr) return;
  for (auto list : {ended->launches->take_tails(), ended->launches->take_children()})
    std::move(list.rbegin(), list.rend(), std::back_inserter(in.to_do));
}

// The heap is created for the first kernel that may allocate from it.
status grids::prepare_library(const program& code) {
  of_.library.set_printf_bytes(of_.limit(device_limit::printf_bytes));
  if (code.uses(device_function::runtime)) {
    const status s = runtime_.make([this](std::uint64_t at, std::uint64_t bytes, const char* name) {
      if (of_.check != nullptr) of_.check->placed(name, at, bytes, true);
    });
    if (!s.ok()) return s;
  }
  if (!allocates(code)) return {};
  const status s = of_.library.make_heap(of_.limit(device_limit::heap_bytes));
  if (of_.check && s.ok()) of_.check->set_heap(of_.library.heap());
  return s;
}

// Distributes a grid's blocks over the workers, including this thread. Returns false if the grid is
// left running.
bool grids::run_blocks(running_grid& grid) {
  const std::uint64_t useful = std::max<std::uint64_t>(1, grid.state.block_count / 4);
  const bool watched = grid.state.watch != nullptr;
  const unsigned workers =
      watched ? 1 : static_cast<unsigned>(std::min<std::uint64_t>(of_.workers, useful));
  grid.state.announces_wait = announces_wait_;
  return grid.run(workers, leaves_);
}

// --- launches that were left -------------------------------------------------------------------

bool grids::runs(std::uint64_t launch) const {
  return std::ranges::any_of(left_running_, [&](const auto& l) { return l->number == launch; });
}

std::string grids::running_kernels(bool only_waiting) const {
  std::string names;
  for (const auto& l : left_running_) {
    if (only_waiting && !l->running->has_polled()) continue;
    names += (names.empty() ? "" : ", ") + l->running->state.code->pretty;
  }
  return names;
}

bool grids::may_lower_kernels() const {
  return std::ranges::any_of(left_running_,
                             [](const auto& l) { return l->running->launches != nullptr; });
}

void grids::collect(status& failure) {
  if (left_running_.empty()) return;
  for (const auto& l : left_running_) {
    if (!l->running->ended()) continue;
    finish(*l);
    if (!resume(*l)) continue;
    if (failure.ok()) failure = l->failure;
  }
  std::erase_if(left_running_, [](const auto& l) { return l->running == nullptr; });
  if (!failure.ok()) stop_left();
}

void grids::stop_left() {
  for (const auto& l : left_running_) l->running->state.stop.store(true);
  for (const auto& l : left_running_) l->running->stop();
  for (const auto& l : left_running_) finish(*l);
  left_running_.clear();
}

grids::quiet::quiet(grids& all) : all_(all) {
  for (const auto& l : all_.left_running_)
    if (l->running != nullptr) l->running->pause();
}

// Launches whose grid finish() has taken in the meantime have no workers.
grids::quiet::~quiet() {
  for (const auto& l : all_.left_running_)
    if (l->running != nullptr) l->running->resume();
}

}  // namespace stepwise::emulator
