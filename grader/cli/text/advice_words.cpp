// The advice texts. Each explains a cause, and then what to try.
#include "grader/cli/text/advice_words.hpp"

#include <fmt/core.h>

#include <string>
#include <vector>

namespace stepwise::cli {

const char* part_words(part p) {
  constexpr const char* words[busy_parts] = {
      "issue slots",           "ALU pipe", "FMA pipe", "tensor cores",
      "L1/shared-memory pipe", "L2",       "DRAM",     "atomics"};
  return words[static_cast<int>(p)];
}

const char* stall_words(const kernel_analysis& a, stall s) {
  return s == stall::shared_dependency && a.kernel->timing.special_in_shared ? "special or shared"
                                                                             : name_of(s);
}

namespace {

// " No unit is nearly full, ..." if that is true. The bottleneck is then only part of the reason.
std::string stalls_sentence(const kernel_analysis& a) {
  constexpr double least = 0.1;
  constexpr std::size_t most = 2;
  if (a.is_nearly_full()) return {};
  std::vector<std::string> named;
  for (const stall_share& s : a.stalled)
    if (s.why != stall::not_selected && s.share >= least && named.size() < most)
      named.push_back(fmt::format("{} is {:.0f} %", stall_words(a, s.why), 100 * s.share));
  if (named.empty()) return {};
  return " No unit is nearly full, because warps also wait: " + named[0] + " of the stalls" +
         (named.size() > 1 ? ", " + named[1] : "") + ".";
}

std::string bottleneck_sentence(const kernel_analysis& a) {
  const double compute = 100 * a.busy.compute, memory = 100 * a.busy.memory;
  switch (a.limit) {
    case limiter::memory:
      return fmt::format("Memory is the bottleneck: {} busy for {:.0f} % of the time.",
                         a.busy.memory_part == part::atomics ? "atomics are"
                         : a.busy.memory_part == part::l1_pipe
                             ? "the L1/shared-memory pipe is"
                             : std::string(part_words(a.busy.memory_part)) + " is",
                         memory);
    case limiter::compute:
      return fmt::format(
          "Compute is the bottleneck: the {} {} busy for {:.0f} % of the time.",
          part_words(a.busy.compute_part),
          a.busy.compute_part == part::issue || a.busy.compute_part == part::tensor ? "are" : "is",
          compute);
    case limiter::both:
      return fmt::format(
          "Compute ({:.0f} %) and memory ({:.0f} %) are about equally busy: both are bottlenecks.",
          compute, memory);
    case limiter::latency:
      return "Latency is the bottleneck: neither compute nor memory is busy for 60 % of the time. "
             "Warps wait, and too few other warps are ready to run in the meantime.";
  }
  return {};
}

}  // namespace

std::string limit_sentence(const kernel_analysis& a) {
  // If memory is the bottleneck, the warps that wait for it are not a second reason.
  const bool is_compute = a.limit == limiter::compute || a.limit == limiter::both;
  return bottleneck_sentence(a) + (is_compute ? stalls_sentence(a) : "");
}

const char* cause_words(cause c) {
  switch (c) {
    case cause::one_thread:
      return "One thread does all the work: 31 of the 32 lanes of its warp are idle, and so are "
             "all other multiprocessors. Divide the work among threads, in blocks of 128 or more.";
    case cause::partial_warps:
      return "Partly filled warps: the block's threads do not fill its last warp, so some lanes "
             "are idle. Make the block size a multiple of 32, and at least 128.";
    case cause::one_block:
      return "One block: it runs on one multiprocessor, and all others are idle. Use at least one "
             "block per multiprocessor, with 128 threads or more per block.";
    case cause::idle_blocks:
      return "Idle blocks: many blocks write nothing to memory. Is the grid larger than the work? "
             "If a thread handles several elements, fewer blocks are enough.";
    case cause::uncoalesced:
      return "Uncoalesced accesses: a warp's lanes touch more 32-byte sectors than their data "
             "fill. Let neighbouring threads access neighbouring elements, and use one array per "
             "field instead of an array of structures. If the load or the store cannot be "
             "coalesced, rearrange the data in a shared-memory tile.";
    case cause::bank_conflicts:
      return "Bank conflicts: lanes that need different words in the same bank are served one "
             "after the other. Let neighbouring lanes access neighbouring words, or pad the rows "
             "of the tile.";
    case cause::same_address:
      return "Atomics to one address: the lanes are served one after the other. Combine their "
             "values first: in the thread, in the warp (shuffles, or __reduce_add_sync for "
             "integers), or in the block's own copy in shared memory. Then issue one atomic for "
             "all of them.";
    case cause::local_arrays:
      return "Arrays in local memory: an index unknown at compile time, or an address passed to a "
             "function, keeps an array out of registers. Index it with the counters of unrolled "
             "loops (#pragma unroll), let the function be inlined, or use shared memory.";
    case cause::spills:
      return "Spilled registers: values that do not fit in registers are kept in local memory. The "
             "model does not count these accesses. Keep fewer values live at a time, or allow more "
             "registers per thread: use smaller blocks or a smaller __launch_bounds__.";
    case cause::l1_traffic:
      return "The L1/shared-memory pipe is busy. Do more arithmetic per load: keep values in "
             "registers and reuse them, compute several results per thread, or load 16 bytes at a "
             "time.";
    case cause::l2_traffic:
      return "L2 is busy. Read each value once per block, into shared memory or registers, and "
             "write whole sectors.";
    case cause::dram_traffic:
      return "DRAM is busy. Move fewer bytes: do not store what is read again, fuse kernels, use "
             "smaller types. If the kernel already moves only the bytes it must, more bytes in "
             "flight may still help (several elements or 16 bytes per thread); after that, it has "
             "reached the limit of the hardware.";
    case cause::atomics:
      return "Atomics are busy. Combine values first, in the thread, the warp, or the block's "
             "shared memory, and issue one atomic for all.";
    case cause::divergence:
      return "Divergence: lanes are idle while their warp executes the branches of other lanes. "
             "Let whole warps take the same branch: sort the work so that neighbouring threads do "
             "the same, spread the loops of a few lanes over the whole warp, or choose a block "
             "shape that fits the edges of the data.";
    case cause::integer_work:
      return "Integer work: too many instructions compute indices and conditions. Move them out of "
             "the loop, unroll the loop, and avoid % and / by variables.";
    case cause::instructions:
      return "Many instructions: issue slots are busier than any other unit of compute. Do more "
             "work per instruction: unroll loops, load and store 16 bytes at a time, remove "
             "barriers and "
             "tests.";
    case cause::arithmetic:
      return "The arithmetic itself fills its pipe: this is the limit of the hardware, unless "
             "another algorithm needs less arithmetic, or narrower types or other units can do it.";
    case cause::doubles:
      return "Double arithmetic: warps wait for the double-precision pipe, which is slower than "
             "the one for floats. If float is accurate enough, use it everywhere: 0.5f and not "
             "0.5, sqrtf() and not sqrt().";
    case cause::launches:
      return "Short launches: starting the kernel takes about as long as its work. Do more work "
             "per launch.";
    case cause::small_grid:
      return "A small grid: it has fewer blocks than the GPU can hold at once. Use more and "
             "smaller blocks, or give the GPU more work.";
    case cause::few_blocks:
      return "Few blocks: the GPU can hold more blocks at once. Divide the work among more threads "
             "and more blocks, or give the GPU more work.";
    case cause::short_blocks:
      return "Short blocks: they finish faster than new blocks can start, so most warp slots stay "
             "empty. Use larger blocks, or give each thread more work.";
    case cause::occupancy:
      return "Low occupancy: too few warps are resident to hide latency. Use fewer registers or "
             "less shared memory, or change the block size (./lab occupancy).";
    case cause::barriers:
      return "Waiting at barriers: warps that arrive early wait for the slowest warp of the block. "
             "Use smaller blocks or fewer barriers, or no barrier where one warp is enough.";
    case cause::memory_latency:
      return "Waiting for global memory: too few loads are in flight. Issue several independent "
             "loads per thread before you use the first result, or use more warps.";
    case cause::shared_latency:
      return "Waiting for shared memory or shuffles: read several values before you use the first, "
             "or keep them in registers.";
    case cause::special_latency:
      return "Waiting for special functions (sin, exp, rsqrt, quotients, __popc): they share one "
             "small unit, and their latency is high. Use fewer of them; if few warps are resident, "
             "compute several before you use the first result.";
    case cause::shared_or_special_latency:
      return "Waiting for special functions (sin, exp, rsqrt, quotients) or shared memory, which "
             "the GPU counts together: compute or read several values before you use the first.";
    case cause::dependencies:
      return "Dependent arithmetic: each instruction needs the result of the previous one. Let "
             "each thread compute several independent results.";
    case cause::products:
      return "Waiting for products: the warpgroup waits for its own wgmma. Leave a product in "
             "flight (wait_group 1), or let a second warpgroup multiply meanwhile.";
    case cause::bulk_copies:
      return "Waiting for bulk copies: they begin too late. Begin them several steps ahead, in a "
             "ring of tiles, and let another warp issue them.";
    case cause::busy_pipe:
      return "A busy pipe: warps wait for a unit that other warps are using. Use fewer or cheaper "
             "instructions: float instead of double, no % and / by variables.";
    case cause::throttle:
      return "Too many requests: the memory queue is full. Use fewer, wider accesses that touch "
             "fewer sectors each.";
    case cause::fetch:
      return "Branches and instruction fetch: use fewer branches, and unroll less if the code is "
             "long.";
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
      return "accesses touch only as many sectors as their bytes fill";
    case what_if::no_bank_conflicts:
      return "one wavefront per request";
    case what_if::full_occupancy:
      return "a resident warp in every warp slot";
    case what_if::twice_the_registers:
      return "of a multiprocessor";
    case what_if::no_local_memory:
      return "local accesses cost nothing";
    case what_if::no_divergence:
      return "only as many warps as the lanes fill";
  }
  return "";
}

}  // namespace stepwise::cli
