// The advice texts: each explains a cause, then what to try.
#include "grader/cli/text/advice_words.hpp"

#include <fmt/core.h>

namespace stepwise::cli {

const char* part_words(part p) {
  constexpr const char* words[busy_parts] = {
      "issue slots", "ALU pipe", "FMA pipe", "L1/shared port", "L2", "DRAM", "atomics"};
  return words[static_cast<int>(p)];
}

const char* stall_words(const kernel_analysis& a, stall s) {
  return s == stall::shared_dependency && a.kernel->timing.special_in_shared ? "special or shared"
                                                                             : name_of(s);
}

std::string limit_sentence(const kernel_analysis& a) {
  const double compute = 100 * a.busy.compute, memory = 100 * a.busy.memory;
  switch (a.limit) {
    case limiter::memory:
      return fmt::format("Memory limits it: {} busy for {:.0f} % of the time.",
                         a.busy.memory_part == part::atomics
                             ? "atomics are"
                             : std::string(part_words(a.busy.memory_part)) + " is",
                         memory);
    case limiter::compute:
      return fmt::format("Compute limits it: the {} {} busy for {:.0f} % of the time.",
                         part_words(a.busy.compute_part),
                         a.busy.compute_part == part::issue ? "are" : "is", compute);
    case limiter::both:
      return fmt::format(
          "Compute ({:.0f} %) and memory ({:.0f} %) are nearly as busy as each other: both limit "
          "it.",
          compute, memory);
    case limiter::latency:
      return "Latency limits it: neither is busy for 60 % of the time. Warps wait, and too few "
             "others have something to do meanwhile.";
  }
  return {};
}

const char* cause_words(cause c) {
  switch (c) {
    case cause::one_thread:
      return "One thread does all the work: 31 of 32 lanes of its warp are idle, and all other "
             "multiprocessors. Divide the work among threads, in blocks of 128 or more.";
    case cause::partial_warps:
      return "Partly filled warps: a block's threads do not fill its warps, whose other lanes are "
             "idle. Let a block have a multiple of 32 threads, 128 or more.";
    case cause::one_block:
      return "One block: it runs on one multiprocessor, and all others are idle. Divide the work "
             "among at least as many blocks as there are multiprocessors, of 128 threads or more.";
    case cause::uncoalesced:
      return "Uncoalesced accesses: a warp's lanes touch more sectors of 32 bytes than their data "
             "fill. Let neighbouring threads touch neighbouring elements, with an array for each "
             "field in place of an array of structures; where one side cannot, turn the data in a "
             "tile of shared memory.";
    case cause::bank_conflicts:
      return "Bank conflicts: lanes that need different words of one bank are served one after the "
             "other. Let neighbouring lanes touch neighbouring words, or pad the rows of a tile.";
    case cause::same_address:
      return "Atomics at one address: lanes that meet there are served one after the other. "
             "Combine their values first: in the thread, in the warp (shuffles, or "
             "__reduce_add_sync for integers), or in the block's own copy in shared memory. Then "
             "send one atomic for all.";
    case cause::local_arrays:
      return "Arrays in local memory: an index that the compiler does not know, or an address that "
             "a function receives, keeps them out of registers. Index them by constants of "
             "unrolled loops (#pragma unroll), let functions be inlined, or use shared memory.";
    case cause::spills:
      return "Spilled registers: values that do not fit in registers are kept in local memory. The "
             "model does not count these accesses. Keep fewer values live at a time, or allow more "
             "registers per thread: use smaller blocks or a smaller __launch_bounds__.";
    case cause::port_traffic:
      return "The L1/shared-memory pipe is busy. Do more arithmetic per load: keep values in "
             "registers and reuse them, compute several results per thread, or load 16 bytes at a "
             "time.";
    case cause::l2_traffic:
      return "L2 is busy. Read each value once per block, into shared memory or registers, and "
             "write whole sectors.";
    case cause::dram_traffic:
      return "DRAM is busy. Move fewer bytes: do not store what is read again, fuse kernels, use "
             "smaller types. If it already moves only the bytes it must, this is the roof.";
    case cause::atomics:
      return "Atomics are busy. Combine values first, in the thread, the warp, or the block's "
             "shared "
             "memory, and send one for all.";
    case cause::divergence:
      return "Divergence: lanes are idle while their warp executes the branches of others, one "
             "after the other. Let whole warps take the same branch: sort the work, so that "
             "neighbouring threads do the same, share a few lanes' loops among all, or choose "
             "blocks that fit the data's edges.";
    case cause::integer_work:
      return "Integer work: more instructions compute indices and conditions than the task asks "
             "for. Take them out of the loop, unroll it, avoid % and / by variables.";
    case cause::instructions:
      return "Many instructions: the schedulers have no free slot. Do more with each: unroll "
             "loops, load and store 16 bytes at a time, drop barriers and tests.";
    case cause::arithmetic:
      return "The arithmetic itself fills its pipe: this is the roof, unless another algorithm "
             "needs less of it, or narrower types or other units do it.";
    case cause::launches:
      return "Short launches: starting a kernel takes as long as its work. Do more in each launch.";
    case cause::small_grid:
      return "A small grid: it has fewer blocks than the GPU holds at once. Use more, smaller "
             "blocks, or give the GPU more work.";
    case cause::few_blocks:
      return "Few blocks: the GPU holds more of them at once. Divide the work among more threads, "
             "and these among more blocks, or give the GPU more work.";
    case cause::short_blocks:
      return "Short blocks: they end sooner than new ones start, and most warp slots stay empty. "
             "Use "
             "larger blocks, or give each thread more work.";
    case cause::occupancy:
      return "Low occupancy: too few warps are resident to hide latency. Let the block need fewer "
             "registers or less shared memory, or change its size (./lab occupancy).";
    case cause::barriers:
      return "Waiting at barriers: warps that arrive early wait for the slowest warp of the block. "
             "Use smaller blocks or fewer barriers, or no barrier where one warp is enough.";
    case cause::memory_latency:
      return "Waiting for global memory: too few loads are in flight. Issue several independent "
             "loads per thread before the first result is used, or have more warps.";
    case cause::shared_latency:
      return "Waiting for shared memory or shuffles: read several values before the first is used, "
             "or keep them in registers.";
    case cause::special_latency:
      return "Waiting for special functions (sin, exp, rsqrt, quotients, __popc): they share "
             "one small unit, and their results come late. Use fewer of them; where few warps are "
             "resident, compute several before the first result is used.";
    case cause::shared_or_special_latency:
      return "Waiting for special functions (sin, exp, rsqrt, quotients) or shared memory, which "
             "the GPU counts together: compute or read several values before the first is used.";
    case cause::dependencies:
      return "Dependent arithmetic: each instruction needs the result of the previous one. Let "
             "each thread compute several independent results.";
    case cause::busy_pipe:
      return "A busy pipe: warps wait for a unit that other warps are using. "
             "Use "
             "fewer or cheaper instructions: float in place of double, no % and / by variables.";
    case cause::throttle:
      return "Too many requests: the memory queue is full. Use fewer, wider accesses that touch "
             "fewer sectors each.";
    case cause::fetch:
      return "Branches and instruction fetch: branch less, and unroll less where the code is long.";
  }
  return "";
}

const char* experiment_words(what_if e) {
  switch (e) {
    case what_if::no_global_memory:
      return "global accesses cost nothing";
    case what_if::no_arithmetic:
      return "floats cost nothing";
    case what_if::perfect_coalescing:
      return "no more sectors than bytes fill";
    case what_if::no_bank_conflicts:
      return "a wavefront for each request";
    case what_if::full_occupancy:
      return "as many warps as there are slots";
    case what_if::twice_the_registers:
      return "of a multiprocessor";
    case what_if::no_local_memory:
      return "local accesses cost nothing";
    case what_if::no_divergence:
      return "as few warps as the lanes fill";
  }
  return "";
}

}  // namespace stepwise::cli
