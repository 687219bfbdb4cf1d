// The messages of a launch that fails: the kernel, the line, the thread, and what it did.
#include <algorithm>
#include <cstdio>

#include "common/device/interruption.hpp"
#include "common/emulator/machine/influence.hpp"
#include "common/emulator/machine/standstill.hpp"
#include "common/emulator/run/register_pool.hpp"
#include "common/emulator/run/scheduler.hpp"
#include "common/ptx/control_flow.hpp"

namespace stepwise::emulator {
namespace {

std::string triple(const extent& e) {
  return "(" + std::to_string(e.x) + "," + std::to_string(e.y) + "," + std::to_string(e.z) + ")";
}

std::string counted(std::uint64_t n, const char* one) {
  return std::to_string(n) + " " + one + (n == 1 ? "" : "s");
}

}  // namespace

std::string words_of(const stuck_warps& g, const extent& grid) {
  using doing = stuck_warps::doing;
  const extent first = place(g.first_block, grid);
  const bool one = g.warps == 1;
  const std::string verb = g.what == doing::run    ? one ? "is" : "are"
                           : g.what == doing::poll ? one ? "polls" : "poll"
                           : one                   ? "waits"
                                                   : "wait";
  std::string where;
  if (g.what == doing::wait_at_barrier) where = " at " + name_of_wait(g.barrier);
  if (g.what == doing::wait_for_cluster) where = " at the cluster's barrier";
  if (g.what == doing::wait_for_lanes) where = " for other lanes";
  return counted(g.warps, "warp") + " of " +
         (g.blocks == 1 ? "block " + triple(first) : counted(g.blocks, "block")) + " " + verb +
         where;
}

bool scheduler::never_ends() {
  const auto hang = hangs_.look(resident_, clock_readings_);
  if (!hang) return false;
  x_.watch->does_not_end(*hang);
  fail(error::launch_timeout, code_.pretty + " never ends: " + words_of(*hang));
  return true;
}

void scheduler::announce_wait(bool idle) {
  if (!idle_.is_idle_for(launch_.patience.duration(), idle) ||
      !launch_.announces_wait.exchange(false))
    return;
  std::fprintf(
      stderr,
      "stepwise: %s has only polled for %s: %s. While a program is checked, counted, timed "
      "or recorded, its kernels run one after the other. A kernel that waits for a later "
      "kernel or copy, or for the thread that launched it, does not end; set "
      "STEPWISE_TIME_LIMIT_S to stop it.\n",
      code_.pretty.c_str(), launch_.patience.text().c_str(), words_of(stand()).c_str());
}

std::string scheduler::words_of(const standstill& s) const {
  constexpr std::size_t most_groups = 3;
  std::string words;
  for (std::size_t n = 0; n < std::min(s.groups.size(), most_groups); ++n) {
    const stuck_warps& g = s.groups[n];
    const std::string line = code_.source_line(g.at);
    words += (n == 0 ? "" : ", ") + emulator::words_of(g, launch_.config.grid) +
             (line.empty() ? "" : " at " + line);
  }
  if (s.groups.size() > most_groups)
    words += ", and more at " + counted(s.groups.size() - most_groups, "other line");
  if (!s.about_registers.empty()) words += "; " + s.about_registers;
  if (s.unbegun_blocks != 0) words += "; " + counted(s.unbegun_blocks, "block") + " not begun";
  return words;
}

void scheduler::fail(error code, std::string message) {
  const std::lock_guard lock(launch_.mutex);
  launch_.stop.store(true);
  if (launch_.failure.ok()) launch_.failure = {code, std::move(message)};
}

bool scheduler::out_of_time() {
  const bool is_interrupted = interrupted.signal.load(std::memory_order_relaxed) != 0;
  const bool is_over =
      launch_.time_limit_s != 0 && std::chrono::steady_clock::now() >= launch_.deadline;
  if (!is_interrupted && !is_over) return false;
  const standstill all = stand();
  const std::string where = words_of(all);
  if (is_interrupted) {
    fail(error::launch_timeout,
         code_.pretty + " was stopped" + (where.empty() ? "" : ": " + where));
    return true;
  }
  if (x_.watch != nullptr && !all.groups.empty()) x_.watch->does_not_end(all);
  std::string limit = std::to_string(launch_.time_limit_s);
  limit.erase(limit.find_last_not_of('0') + 1);
  if (limit.back() == '.') limit.pop_back();
  const std::uint64_t begun = launch_.block_count - all.unbegun_blocks;
  // Threads that wait at a barrier wait for those that do not.
  const auto holds_up = std::ranges::find_if(all.groups, [](const stuck_warps& g) {
    return g.what == stuck_warps::doing::run || g.what == stuck_warps::doing::poll;
  });
  const auto named = holds_up != all.groups.end() ? holds_up : all.groups.begin();
  const std::string line = all.groups.empty() ? "" : code_.source_line(named->at);
  const bool only_waits =
      !all.groups.empty() && std::ranges::none_of(all.groups, [](const stuck_warps& g) {
        return g.what == stuck_warps::doing::run;
      });
  fail(
      error::launch_timeout,
      code_.pretty + (line.empty() ? "" : " at " + line) +
          ": still running after the time limit of " + limit + " s; " +
          (all.groups.empty() ? std::to_string(begun) + " of its " +
                                    std::to_string(launch_.block_count) + " blocks have begun"
           : only_waits
               ? where
               : "check that every loop ends, and that no thread does the work of all the others"));
  return true;
}

std::string scheduler::thread_name(const block& b, const warp& w, int lane) const {
  const auto index =
      static_cast<std::uint64_t>(&w - b.warps.data()) * lanes + static_cast<std::uint64_t>(lane);
  return "block " + triple(place(b.index, launch_.config.grid)) + ", thread " +
         triple(place(index, launch_.config.block));
}

scheduler::thread_place scheduler::place_of(int lane) const {
  const auto index = static_cast<std::uint64_t>(warp_ - block_->warps.data()) * lanes +
                     static_cast<std::uint64_t>(lane);
  return {place(block_->index, launch_.config.grid), place(index, launch_.config.block)};
}

// Whether cooperative groups trap here because the launch gave them no memory for the grid's
// barrier. In optimised code, the branch around the trap shows it, since it reads the address of
// that memory. In other code, the function names show it.
bool scheduler::is_trap_of_grid_group(const op* i) const {
  if (launch_.grid_workspace != 0) return false;
  const auto instruction_of = [this](const op* at) {
    return static_cast<std::size_t>(
        code_.instruction[static_cast<std::size_t>(at - code_.code.data())]);
  };
  // In that whole header, only the grid's barrier traps. Code from nvcc -G does not name inlined
  // functions.
  const auto is_of_grid_group = [&](const op* at) {
    const program_function& f = code_.function_of(at);
    if (f.function->name.find("grid_group") != std::string_view::npos) return true;
    const std::int32_t position = f.body->instructions[instruction_of(at)].position;
    if (position < 0) return false;
    const ptx::source_position& p = f.body->positions[static_cast<std::size_t>(position)];
    const auto file = f.module->files.find(p.file);
    return p.function.find("grid_group") != std::string_view::npos ||
           (file != f.module->files.end() && file->second.ends_with("/cooperative_groups.h"));
  };
  if (is_of_grid_group(i)) return true;
  for (const frame* in = frame_; in->caller != nullptr; in = in->caller)
    if (is_of_grid_group(in->call)) return true;
  const ptx::body& body = *code_.function_of(i).body;
  const control_flow flow(body);
  const std::uint32_t before = flow.blocks[flow.block_of[instruction_of(i)]].dominator;
  std::string_view guard = body.instructions[instruction_of(i)].guard;
  if (guard.empty() && before < flow.blocks.size())
    guard = body.instructions[flow.blocks[before].end - 1].guard;
  return registers_influenced_by(body, {"%envreg1", "%envreg2"}).contains(guard);
}

const op* scheduler::trap(const op* i) {
  std::string what = "the kernel executed a trap", advice;
  if (is_trap_of_grid_group(i)) {
    what +=
        ": grid.sync() needs cudaLaunchCooperativeKernel, and this kernel was launched by <<<>>> "
        "or another ordinary launch";
    advice =
        "Launch it with cudaLaunchCooperativeKernel (driver API: cuLaunchCooperativeKernel) and no "
        "more blocks than fit on the GPU at once: cudaOccupancyMaxActiveBlocksPerMultiprocessor.";
  }
  return stop(i, error::launch_failure, what, first_lane(x_.active), advice);
}

const op* scheduler::stop(const op* i, error code, const std::string& what, int lane,
                          const std::string& advice) {
  if (x_.watch != nullptr) x_.watch->faulted(event_at(i, x_.mask), code, what, lane, advice);
  const std::string line = code_.source_line(i);
  const program_function& f = code_.function_of(i);
  const std::string name =
      &f == &code_.functions.front() ? f.pretty : f.pretty + ", called by " + code_.pretty;
  fail(code, name + (line.empty() ? "" : " at " + line) + ": " + what + "; " +
                 thread_name(*block_, *warp_, lane));
  return nullptr;
}

std::string swapped_launch_words(const launch_config& config) {
  const std::uint64_t blocks = volume(config.grid), threads = volume(config.block);
  // The grid's size would be a plausible block size, and the block's size is unusually small.
  if (threads >= lanes || blocks < 2 * lanes || blocks > 1024) return "";
  return "; the launch has " + std::to_string(blocks) + " blocks of " + std::to_string(threads) +
         (threads == 1 ? " thread" : " threads") +
         ": are the two swapped in <<<blocks, threads>>>?";
}

const op* scheduler::stop(const op* i, const access_fault& fault) {
  const char* verb = fault.kind == access_kind::load    ? "read"
                     : fault.kind == access_kind::store ? "write"
                                                        : "atomic operation";
  static constexpr const char* spaces[] = {"global", "shared", "local", "parameter", "generic"};
  char address[32];
  std::snprintf(address, sizeof address, "0x%llx", static_cast<unsigned long long>(fault.address));
  const std::string at = std::string(spaces[static_cast<int>(fault.space)]) + " address " + address;
  std::string what = fault.whose + std::to_string(fault.bytes) + "-byte " + verb;
  if (fault.misaligned) {
    what = "misaligned: " + what + " at " + at + ", which is not a multiple of " +
           std::to_string(fault.alignment != 0 ? fault.alignment : fault.bytes);
  } else {
    what = "out of bounds: " + what;
    const auto bytes = [](std::uint64_t n) {
      return std::to_string(n) + (n == 1 ? " byte" : " bytes");
    };
    if (fault.space == memory_space::shared) {
      what += " outside the block's " + bytes(x_.shared_bytes) + " of shared memory";
      const std::uint64_t own = code_.static_shared_bytes;
      if (!code_.dynamic_shared.empty() && fault.address >= own)
        what += "; the launch passes " + bytes(x_.shared_bytes - own) + " for extern __shared__ " +
                code_.dynamic_shared;
    } else if (fault.space == memory_space::local) {
      what += " outside the thread's " + bytes(x_.local_bytes) + " of local memory";
    } else if (const auto near = launch_.memory->before(fault.address);
               near && launch_.memory->is_device(fault.address)) {
      const std::uint64_t past = fault.address - near->base;
      const std::string where = past < near->bytes    ? "across the end"
                                : past == near->bytes ? "just past the end"
                                                      : bytes(past - near->bytes) + " past the end";
      what += " " + where + " of an allocation of " + bytes(near->bytes);
      // The index may be one below the next allocation.
      const device_address next = (fault.address / 256 + 1) * 256;
      if (past > near->bytes && launch_.memory->allocation_at(next))
        what += " and " + bytes(next - fault.address) + " before the start of the next one";
      if (past + fault.bytes <= (near->bytes + 511) / 512 * 512)
        what += "; a GPU rounds that up to a multiple of 512 and would not notice";
      what += swapped_launch_words(launch_.config);
    } else {
      // A negative index into the first allocation leads to an address before all device memory.
      std::optional<access_window> after;
      for (std::uint64_t next = (fault.address / 256 + 1) * 256;
           !after && next - fault.address <= 65536; next += 256)
        after = launch_.memory->allocation_at(next);
      what += fault.address < 4096                       ? " through a null pointer"
              : launch_.memory->is_device(fault.address) ? " of bytes that no allocation holds"
              : after ? " " + bytes(after->base - fault.address) +
                            " before the start of an allocation of " + bytes(after->bytes)
              : launch_.memory->is_near_device(fault.address)
                  ? " far outside of every allocation; are all values from which the index is "
                    "computed set?"
                  : " through a pointer that is not a device address; is it a host address?";
    }
    what += "; " + at;
  }
  // An H200 reports "illegal address" for an access outside of a block's shared memory, and
  // "illegal instruction" beyond the 16 MB of addresses that shared memory has.
  const bool no_shared_address =
      fault.space == memory_space::shared && fault.address >= (std::uint64_t{1} << 24);
  const error code = fault.misaligned    ? error::misaligned_address
                     : no_shared_address ? error::illegal_instruction
                                         : error::illegal_address;
  return stop(i, code, what, fault.lane);
}

void scheduler::report_deadlock(const block& b) {
  if (x_.watch != nullptr) x_.watch->in_deadlock(b);
  std::string what = "deadlock: no thread of the block can continue";
  const std::string about_registers = words_about_registers(b, code_);
  if (!about_registers.empty()) what += ": " + about_registers;
  // The threads that wait at one line for the same reason. Most threads at the cluster's barrier
  // only wait for the rest of the block, so they come last.
  struct waiting_threads {
    std::string where;
    std::uint32_t threads;
    bool for_cluster;
  };
  std::vector<waiting_threads> waits;
  const auto add = [&](const split& s, const std::string& at, bool for_cluster) {
    const std::string line = code_.source_line(s.at);
    const std::string where = at + (line.empty() ? "" : " at " + line);
    const auto same = std::ranges::find(waits, where, &waiting_threads::where);
    if (same == waits.end())
      waits.push_back({where, count_of(s.mask), for_cluster});
    else
      same->threads += count_of(s.mask);
  };
  for (const warp& w : b.warps) {
    for (const auto& wait : w.at_barrier)
      add(wait.waiting, name_of_wait(wait.barrier), wait.barrier == cluster_barrier);
    for (const auto& p : w.parked) add(p.waiting, "a warp-wide operation", false);
  }
  std::ranges::stable_partition(waits, [](const waiting_threads& w) { return !w.for_cluster; });
  constexpr std::size_t most_waits = 3;
  for (std::size_t n = 0; n < std::min(waits.size(), most_waits); ++n)
    what += (n > 0                     ? ", "
             : about_registers.empty() ? ": "
                                       : "; ") +
            counted(waits[n].threads, "thread") + (waits[n].threads == 1 ? " waits" : " wait") +
            " at " + waits[n].where;
  fail(error::launch_timeout,
       code_.pretty + ": " + what + "; block " + triple(place(b.index, launch_.config.grid)));
}

}  // namespace stepwise::emulator
