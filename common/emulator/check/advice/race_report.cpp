#include "common/emulator/check/advice/race_report.hpp"

#include <algorithm>
#include <cstring>

#include "common/emulator/check/advice/wrong_parity.hpp"

namespace stepwise::emulator {
namespace {

// `more`: what else to check.
std::string advice_for_one_store(const std::string& more = "") {
  return std::string(check_index_advice) + more +
         "; else let one thread store it, or use an atomic operation.";
}

constexpr const char* advice_for_cluster =
    "The blocks of a cluster run at the same time: put cluster.sync() between the two accesses, or "
    "an mbarrier at which the other block arrives. __syncthreads() waits only for threads of the "
    "same block.";

// For two threads of one column of a block that store to the same element.
std::string advice_for_rows(const launch_config& config, bool reads_row, bool is_in_loop) {
  if (reads_row)
    return std::string(check_row_advice) +
           (is_in_loop ? ": is it in the index, has the block as many rows as the kernel expects, "
                         "and does the loop advance by all " +
                             std::to_string(volume(config.block)) + " threads of the block?"
                       : ": is it in the index, and has the block as many rows as the kernel "
                         "expects?");
  return std::string(check_row_advice) + ", which the kernel does not read, but a block has " +
         std::to_string(config.block.y) +
         " rows: put threadIdx.y into the index, or launch blocks of one row.";
}

// A number of the thread that the kernel does not read, although threads differ in it.
struct unread_number {
  const char* name = nullptr;  // null: there is none
  std::uint32_t count = 0;
  bool is_of_blocks() const { return name[0] == 'b'; }
  char axis() const { return std::string_view(name).back(); }
  std::string text() const {
    return std::string("he kernel does not read ") + name + ", but " +
           (is_of_blocks() ? "the grid has " : "a block has ") + std::to_string(count) +
           (is_of_blocks() ? " blocks" : " threads") + " in " + axis();
  }
};

unread_number unread_in(const program& code, const launch_config& config) {
  const struct {
    const char* name;
    std::uint32_t count;
    special which;
  } numbers[] = {{"blockIdx.z", config.grid.z, special::ctaid_z},
                 {"threadIdx.z", config.block.z, special::tid_z},
                 {"blockIdx.y", config.grid.y, special::ctaid_y},
                 {"threadIdx.y", config.block.y, special::tid_y},
                 {"blockIdx.x", config.grid.x, special::ctaid_x},
                 {"threadIdx.x", config.block.x, special::tid_x}};
  for (const auto& n : numbers)
    if (n.count > 1 && !reads_special(code, n.which)) return {n.name, n.count};
  return {};
}

// If the same thread of two blocks in one row or column of the grid stores to one element, the
// number in which the blocks differ; otherwise null.
const char* only_difference(const finding_party& a, const finding_party& b) {
  const bool is_known = a.has_thread && b.has_thread;
  if (!is_known || a.thread.x != b.thread.x || a.thread.y != b.thread.y || a.block.z != b.block.z)
    return nullptr;
  if (a.block.x == b.block.x) return a.block.y == b.block.y ? nullptr : "blockIdx.y";
  return a.block.y == b.block.y ? "blockIdx.x" : nullptr;
}

bool differ_in_row(const finding_party& a, const finding_party& b) {
  return a.has_thread && b.has_thread && a.block.x == b.block.x && a.block.y == b.block.y &&
         a.block.z == b.block.z && a.thread.x == b.thread.x && a.thread.z == b.thread.z &&
         a.thread.y != b.thread.y;
}

// `other`: null if unknown.
std::string advice_for_blocks(const access_site& own, const access_site* other) {
  const auto reads_plainly = [](const access_site& s) {
    return s.kind == access_kind::load && !is_strong(s);
  };
  if (other != nullptr && ((reads_plainly(own) && other->kind == access_kind::atomic) ||
                           (reads_plainly(*other) && own.kind == access_kind::atomic)))
    return "If any value of it will do, as before atomicCAS, read it through a pointer to volatile "
           "or with an atomic operation; else order the two with __threadfence() and a flag.";
  if (is_strong(own) || (other != nullptr && is_strong(*other)))
    return "Make every access to it atomic, of a scope that includes all blocks, or order them "
           "with __threadfence() and a flag.";
  if (own.kind == access_kind::load || (other != nullptr && other->kind == access_kind::load))
    return "Blocks run in any order: divide the work into two launches, or write to another array "
           "that does not overlap this one.";
  if (other != nullptr)
    return std::string(check_index_advice) +
           " in both lines, and whether both are needed; else divide the work into two launches.";
  return "Blocks run in any order: use an atomic operation, or divide the work into two launches.";
}

// Advice if both accesses are on one line, where no barrier can come between them: a loop's step
// or an index gives one element to two threads, or a kernel works in place. Otherwise empty.
std::string advice_for_one_line(const finding& f, bool both_write) {
  const code_place &own = f.parties[0].at, &other = f.parties[1].at;
  const bool is_one_line = own.line != 0 && own.line == other.line && own.file == other.file;
  if (!is_one_line || f.between == race_between::streams || f.between == race_between::copy)
    return "";
  if (both_write) return advice_for_one_store();
  return f.between == race_between::blocks
             ? "The line reads and writes the same array: write to another one, or divide the work "
               "into two launches."
             : "";
}

// One of the two accesses is asynchronous.
const char* advice_for_unit(const lane_access& t, const access_site* other) {
  const access_site& own = *t.site;
  if (own.unit != async_unit::none && own.kind == access_kind::load && !t.has_ended)
    return "The data must be in place before the operation that reads it is issued: let the "
           "threads that write it wait for their own copies, if any, and then put a barrier before "
           "the operation.";
  const auto is_one = [&](async_unit u) {
    return own.unit == u || (other != nullptr && other->unit == u);
  };
  if (is_one(async_unit::products) && is_one(async_unit::counted_copy))
    return "The copy overwrites a tile that wgmma may still read. Let the threads execute "
           "wgmma.wait_group and then arrive at a barrier or an mbarrier. The thread that issues "
           "the copy must wait there first.";
  if (is_one(async_unit::products))
    return "wgmma may read its operands until wgmma.wait_group returns: release or overwrite the "
           "tile only after that wait.";
  if (is_one(async_unit::grouped_copy))
    return "The copy may access its source and its destination until the thread that issued it has "
           "waited: let that thread execute cp.async.bulk.wait_group, and put a barrier after the "
           "wait.";
  if (own.unit == async_unit::counted_copy && other != nullptr &&
      other->unit == async_unit::counted_copy)
    return "Let only one thread issue the copy, and let no copy overwrite the data of another copy "
           "before all threads have used that data.";
  if (is_one(async_unit::counted_copy))
    return "The copy may begin as soon as it is issued: let the issuing thread first wait until "
           "all threads have used the old data and arrived at a barrier or an mbarrier.";
  return "The copy is asynchronous: wait for it in the thread that started it, and put a barrier "
         "between that wait and the other threads' accesses. A copy for a later step must go to "
         "memory that no thread still reads.";
}

const char* who_are_with_unit(const access_site& own, const access_site* other) {
  const async_unit theirs = other != nullptr ? other->unit : async_unit::none;
  if (own.unit == async_unit::products || theirs == async_unit::products)
    return own.unit != async_unit::none && theirs != async_unit::none ? "wgmma and a bulk copy"
                                                                      : "wgmma and a thread";
  if (own.unit != async_unit::none && theirs != async_unit::none) return "two bulk copies";
  return own.unit != async_unit::none || theirs != async_unit::none ? "a bulk copy and a thread"
                                                                    : "two threads";
}

const char* who_are(race_between between) {
  switch (between) {
    case race_between::lanes:
    case race_between::one_store:
      return "two threads of a warp";
    case race_between::warps:
    case race_between::block_store:
      return "two threads of a block";
    case race_between::blocks:
      return "threads of two blocks";
    case race_between::streams:
      return "two kernels";
    default:
      return "two threads";
  }
}

}  // namespace

std::string race_report::race_advice(race_between between, const lane_access& t,
                                     std::uint32_t other_site) const {
  const bool is_of_warps = between == race_between::lanes || between == race_between::warps;
  if (is_of_warps && !t.memory->is_shared && other_site != no_site &&
      t.site->kind == access_kind::store &&
      evidence_.site_at(other_site).kind == access_kind::store)
    return "Two lines store to one element: is an index wrong, or does one array run into the "
           "next? "
           "If not, put a barrier between the two stores.";
  switch (between) {
    case race_between::streams:
      if (evidence_.config->may_begin_early)
        return "The kernel may begin before the previous kernel has ended: call "
               "cudaGridDependencySynchronize() before the first access to that kernel's data.";
      return "Put both into one stream, or let one stream wait for the other "
             "(cudaStreamWaitEvent).";
    case race_between::copy:
      return advice_for_unit(t, other_site == no_site ? nullptr : &evidence_.site_at(other_site));
    case race_between::blocks:
      if (other_site == t.number && t.site->kind == access_kind::store)
        return advice_for_one_store();
      return advice_for_blocks(*t.site,
                               other_site == no_site ? nullptr : &evidence_.site_at(other_site));
    case race_between::block_store:
    case race_between::one_store:
      return advice_for_one_store();
    case race_between::lanes:
      return "The threads of a warp need not run in step: put __syncwarp() between the two "
             "accesses.";
    case race_between::warps:
    case race_between::none:
    case race_between::host:
      break;
  }
  return "Put __syncthreads() between the two accesses, where all threads of the block reach it.";
}

// Advice if one statement of several threads stores to one element, probably by a wrong index.
std::string race_report::index_advice(const finding& f, const access_site& s) const {
  const launch_config& config = *evidence_.config;
  const bool is_in_loop =
      s.instruction >= 0 &&
      evidence_.flow_of(evidence_.code->functions[s.function]).is_in_loop(s.instruction);
  if (differ_in_row(f.parties[0], f.parties[1]))
    return advice_for_rows(config, reads_special(*evidence_.code, special::tid_y), is_in_loop);
  const unread_number unread = unread_in(*evidence_.code, config);
  if (unread.name != nullptr && unread.axis() == 'z')
    return "T" + unread.text() + ": a dim3 holds x, y and z, in this order.";
  if (unread.name != nullptr) return advice_for_one_store(": t" + unread.text());
  const bool is_1d = config.grid.y * config.grid.z * config.block.y * config.block.z == 1;
  const bool is_of_blocks = f.between == race_between::blocks;
  if (is_in_loop && is_of_blocks && is_1d)
    return advice_for_one_store(
        " and the step of the loop (the grid has gridDim.x * blockDim.x = " +
        std::to_string(volume(config.grid) * volume(config.block)) + " threads)");
  if (is_in_loop)
    return advice_for_one_store(" and the step of the loop (a block has " +
                                block_shape(config.block) + " threads)");
  if (is_1d || !is_of_blocks) return f.advice;
  if (const char* const number = only_difference(f.parties[0], f.parties[1]))
    return advice_for_one_store(std::string(": the two threads differ only in ") + number);
  return advice_for_one_store(", and whether threads beyond the last column or row store nothing");
}

finding race_report::of_threads(const lane_access& t, race_between who, std::uint32_t other_warp,
                                std::uint32_t other_lanes, std::uint32_t other_site, tick when,
                                bool other_writes, bool was_unwritten) {
  const bool writes = t.site->kind != access_kind::load;
  const place_in_memory where = evidence_.describe(*t.memory, t.at, t.site->element_bytes);
  finding f;
  f.kind = finding_kind::race;
  f.between = who;
  const char* const what = writes && other_writes ? "both write" : "one writes and the other reads";
  const int other_lane = who == race_between::one_store ? __builtin_ctz(other_lanes) : -1;
  const std::string lost_update = lost_update_advice(t, who, other_site);
  const char* const same =
      lost_update.empty() && writes && other_writes && same_value(t, other_lane)
          ? "; the value is the same, which does not make it safe"
          : "";
  f.message = std::string(who == race_between::copy
                              ? who_are_with_unit(*t.site, other_site == no_site
                                                               ? nullptr
                                                               : &evidence_.site_at(other_site))
                              : who_are(who)) +
              " access " + where.words + ", " + what + ", and nothing orders the two" + same;
  f.parties.push_back(
      evidence_.party(t.op_at, t.warp, t.lane,
                      t.site->unit != async_unit::none
                          ? evidence::action_words(*t.site, writes)
                          : (t.site->kind == access_kind::atomic ? "updates atomically "
                             : writes                            ? "writes "
                                                                 : "reads ") +
                                std::to_string(t.bytes) + (t.bytes == 1 ? " byte" : " bytes")));
  f.parties.push_back(evidence_.party_of_other(other_warp, __builtin_ctz(other_lanes), other_site,
                                               when, other_writes));
  f.object = where.object;
  if (who == race_between::blocks && t.memory->is_shared) f.advice = advice_for_cluster;
  if (who == race_between::copy)
    f.advice = counted_copy_advice(t, other_warp, other_lanes, other_site, when, was_unwritten);
  if (f.advice.empty()) f.advice = missing_fence_advice(t, who, other_site);
  if (f.advice.empty()) f.advice = lost_update;
  if (f.advice.empty()) f.advice = advice_for_one_line(f, writes && other_writes);
  if (f.advice.empty()) f.advice = race_advice(who, t, other_site);
  if (f.advice == advice_for_one_store()) f.advice = index_advice(f, *t.site);
  f.origin = evidence_.launch_origin;
  return f;
}

// Advice if an mbarrier counts the bytes of the copy, and the mistake is in a wait. Otherwise
// empty.
std::string race_report::counted_copy_advice(const lane_access& t, std::uint32_t other_warp,
                                             std::uint32_t other_lanes, std::uint32_t other_site,
                                             tick when, bool was_unwritten) const {
  const auto is_counted = [](const access_site& s) { return s.unit == async_unit::counted_copy; };
  if (!is_counted(*t.site) && (other_site == no_site || !is_counted(evidence_.site_at(other_site))))
    return "";
  const block_clock& b = evidence_.running().clock;
  std::string advice = wrong_parity_advice(
      evidence_, {b.first_warp + t.warp, t.lane, t.number, b.warps[t.warp].now});
  if (advice.empty())
    advice =
        wrong_parity_advice(evidence_, {other_warp, __builtin_ctz(other_lanes), other_site, when});
  if (advice.empty() && was_unwritten)
    advice =
        "The memory was read before anything had been written to it: let each thread that uses the "
        "data first wait for the copy's mbarrier.";
  return advice;
}

void race_report::add_exit(const checked_block& b, const checked_block::peer_access& p) {
  const finding_key k = evidence_.key(finding_kind::race, evidence_.line_number(p.site), -1,
                                      evidence_.object_address(*b.shared, p.at));
  if (!evidence_.log.is_new(k)) return;
  const place_in_memory where = evidence_.describe(*b.shared, p.at, p.bytes);
  finding f;
  f.kind = finding_kind::race;
  f.between = race_between::blocks;
  f.message = "a block exits while another block of its cluster may still access its " +
              where.words + ", and nothing orders the two";
  f.parties.push_back(evidence_.party_of_other(p.warp, p.lane, p.site, p.when, p.writes));
  f.parties.push_back(
      evidence_.party(b.last_exit.at, b.last_exit.warp, first_lane(b.last_exit.lanes), "exits"));
  f.object = where.object;
  f.advice =
      "Shared memory is lost when its block exits: put cluster.sync() before the end of the "
      "kernel.";
  f.origin = evidence_.launch_origin;
  evidence_.log.add(k, std::move(f));
}

void race_report::add_copy(std::uint64_t at, bool writes, std::uint32_t warp, unsigned lane,
                           std::uint32_t site, tick when, bool other_writes) {
  const finding_key k{finding_kind::race, evidence_.origin, evidence_.sequence.work_of(when), site,
                      evidence_.object_address(evidence_.global, at)};
  if (!evidence_.log.is_new(k)) return;
  const place_in_memory where = evidence_.describe_global(evidence_.device_base + at, 4);
  finding f;
  f.kind = finding_kind::race;
  f.between = race_between::streams;
  f.message = std::string("a copy or fill ") + (writes ? "writes " : "reads ") + where.words +
              ", which another stream " + (other_writes ? "writes" : "reads") +
              ", and nothing orders the two";
  finding_party copy;
  copy.action = writes ? "a copy or fill writes" : "a copy reads";
  copy.has_thread = false;
  f.parties.push_back(std::move(copy));
  f.parties.push_back(
      evidence_.party_of_other(warp, static_cast<int>(lane), site, when, other_writes));
  f.object = where.object;
  f.advice =
      "Put both into one stream, or let one stream wait for the other (cudaStreamWaitEvent).";
  f.origin = evidence_.origin;
  evidence_.log.add(k, std::move(f));
}

// Whether a store writes the value that is already there.
bool race_report::same_value(const lane_access& t, int other_lane) const {
  const access_site& s = *t.site;
  if (s.kind != access_kind::store || s.value_bytes == 0 || s.element_bytes == 0) return false;
  const std::byte* const memory = t.memory->is_shared
                                      ? evidence_.state->shared + t.at
                                      : evidence_.memory.host(evidence_.device_base + t.at);
  for (unsigned k = 0; k * s.element_bytes < s.bytes; ++k) {
    const std::byte* const vreg = evidence_.state->registers + s.values[k];
    // With two lanes of one instruction, nothing is in memory yet.
    const std::byte* const old = other_lane >= 0
                                     ? vreg + static_cast<unsigned>(other_lane) * s.value_bytes
                                     : memory + k * s.element_bytes;
    if (std::memcmp(old, vreg + static_cast<unsigned>(t.lane) * s.value_bytes, s.element_bytes) !=
        0)
      return false;
  }
  return true;
}

}  // namespace stepwise::emulator
