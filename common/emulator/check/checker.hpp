// The checks of a kernel's memory accesses and of the ways in which its threads wait.
//
// idea    Reports, with lines and threads, what compute-sanitizer's four tools find, and more:
//         accesses outside of memory, reads of bytes that nobody wrote, races in shared and global
//         memory, barriers that not all threads reach. A lane whose access is wrong passes over
//         it, so that the other mistakes of a launch are found too; the launch then fails as it
//         would on a GPU.
// watch   What is remembered is bounded: see DESIGN.md.
//         Tested by tests/.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "common/emulator/check/advice/word_updates.hpp"
#include "common/emulator/check/cells.hpp"
#include "common/emulator/check/finding_log.hpp"
#include "common/emulator/check/kept_loads.hpp"
#include "common/emulator/check/order.hpp"
#include "common/emulator/check/places.hpp"
#include "common/emulator/check/statements.hpp"
#include "common/emulator/check/unfollowed/bulk_loads.hpp"
#include "common/emulator/check/written.hpp"
#include "common/emulator/machine/memory.hpp"
#include "common/emulator/run/scheduler.hpp"
#include "common/ptx/control_flow.hpp"

namespace stepwise::emulator {

class checker final : public observer {
 public:
  // Throws std::bad_alloc where the address space for what it remembers cannot be reserved.
  checker(const gpu& model, global_memory& memory);
  ~checker() override;

  // --- the device's memory. Origins are the current one, see device::set_origin.
  void set_origin(std::uint64_t code_address) { origin_ = code_address; }
  void allocated(device_address at, std::uint64_t bytes);
  // The same of memory that was mapped at reserved addresses.
  void mapped(device_address at, std::uint64_t bytes);
  // The host writes it without asking: managed and pinned memory.
  void initialised(device_address at, std::uint64_t bytes) {
    shares_memory_ = true;
    global_->written.mark(at - device_base_, bytes);
  }
  // A module's variable.
  void placed(const std::string& name, device_address at, std::uint64_t bytes, bool constant);
  void name(device_address at, std::string_view name);
  void freed(device_address at);
  // The host's free() was asked for an address that it does not know.
  void refused_free(device_address at);
  void wrote(device_address at, std::uint64_t bytes);  // a copy from the host
  void filled(device_address at, std::uint64_t bytes);
  void forgot(device_address at, std::uint64_t bytes);  // what was written there
  void copied(device_address to, device_address from, std::uint64_t bytes);
  void copied_home(device_address from, std::uint64_t bytes);
  // The memory shared with the host that is used by work which the host has not waited for.
  std::vector<unfinished_area> unfinished_areas();
  host_touch host_touches(device_address at, bool writes) const;
  void host_was_early(device_address at, bool writes, std::uint64_t origin);
  void host_waited_by(device_address at, bool writes);
  // What the host finds at an address, or near it; of no kind if nothing. `freed`: it was, before.
  finding_object object_at(device_address at, bool& freed);
  // The memory from which kernels allocate: of it, what malloc gave may be used.
  void set_heap(const access_window& heap) { heap_ = heap; }
  // A module's kernels go: what they did can no longer be reported.
  void forget_launches() {
    launches_.clear();
    code_ = nullptr;
    places_.forget();
    flows_.clear();
  }
  order& sequence() { return order_; }
  void set_stream(const stream_use& use) {
    stream_ = use;
    order_.enter_stream(use);
  }
  const stream_use& stream() const { return stream_; }

  std::vector<finding> take(bool at_exit);

  // --- observer
  void begin_launch(const launch_info& info) override;
  status end_launch(const status& failure) override;
  void begin_block(const block& b) override;
  void end_block(const block& b) override;
  void turn_to(const block& b) override;
  std::uint32_t access(const access_event& e) override;
  void access_range(const warp_event& e, const range_event& r) override;
  void turned(const warp_event& e, std::uint32_t to) override;
  void reached_barrier(const warp_event& e, unsigned id, bool arrive_only, bool aligned) override;
  void released_barrier(unsigned id, bool whole_block) override;
  void warp_met(const warp_event& e, bool orders_memory) override;
  void reached_warp_wide(const warp_event& e, std::uint32_t members) override;
  void met_at_two_places(const warp_event& one, const warp_event& other,
                         std::uint32_t members) override;
  void read_inactive_lane(const warp_event& e, int lane, int source) override;
  void fenced(const warp_event& e, memory_order o, sync_scope s) override;
  void exited(const warp_event& e) override;
  void committed_copies(const warp_event& e) override;
  void waited_for_copies(const warp_event& e, int groups_left) override;
  void arrived_at(const warp_event& e, int lane, std::uint64_t shared_offset) override;
  void saw_phase(const warp_event& e, int lane, std::uint64_t shared_offset) override;
  void in_deadlock(const block& b) override;
  void does_not_end(const standstill& s) override;
  void heap_gave(const warp_event& e, int lane, device_address at, std::uint64_t bytes) override;
  void heap_got(const warp_event& e, int lane, device_address at, bool is_known) override;
  void faulted(const warp_event& e, error code, const std::string& what, int lane,
               const std::string& advice) override;

 private:
  struct allocation {
    std::uint64_t bytes = 0;
    std::string name;
    bool variable = false, constant = false;
    std::uint64_t allocated_by = 0, freed_by = 0;
    std::shared_ptr<const finding_party> by_kernel;  // null: the host allocated it
    bool mapped = false;
    tick allocated_at = 0;  // accesses before this tick were to another allocation
  };
  using allocation_map = std::map<device_address, allocation>;

  // A memory that threads share, as the checks see it: positions are offsets from its first byte.
  struct watched_memory {
    watched_memory(std::uint64_t bytes, std::uint64_t most_pages);
    memory_cells cells;
    written_bytes written;
    std::uint64_t bytes_watched;
    bool is_shared = false;  // a block's shared memory
  };
  // Lanes that went a way on which they may miss a barrier.
  struct turning {
    const op* at;
    std::uint32_t to, lanes;
  };
  // A branch, one of those that it led away from a barrier, and how.
  struct parting {
    const op* at;
    std::uint32_t warp;
    int lane;
    way_past how;
    source_line line;
  };
  // What is known of a resident block.
  struct block_state {
    block_clock clock;
    std::unique_ptr<watched_memory> shared;
    tick stored_at = 0;  // the last time that a thread wrote there
    kept_loads kept;     // all since the block's last barrier
    tick kept_since = 0;
    bulk_loads bulk;
    const block* now = nullptr;
    struct arrival {
      std::uint32_t warp, lanes;
      const op* at;
      bool aligned;
    };
    std::array<std::vector<arrival>, 17> arrivals;
    std::optional<warp_event> first_exit;
    std::uint32_t exited = 0;
    bool met_apart = false;  // a barrier released threads that waited at different ones
    std::vector<std::vector<turning>> turnings;  // by warp: since the last barrier, in order
    bool has_turnings = false;
    // Why those who have left missed the first barrier without them.
    std::optional<parting> left_at;
  };
  // One lane's access, or a piece of it.
  struct touch {
    watched_memory* memory;
    const access_site* site;
    std::uint32_t number;  // of the site
    std::uint64_t at, bytes;
    int lane;
    std::uint32_t warp;  // in the block
    const op* op_at;
    const access_event* all = nullptr;  // of the warp's lanes at that time; null: it is alone
    // Whether other lanes access other places at the same time.
    bool spread() const { return all != nullptr && all->shape->span != site->bytes; }
  };
  struct place_in_memory {
    finding_object object;
    std::string words;  // "in[1024]"
  };
  // The stores of a launch to memory that the host can read while the launch runs. Through them,
  // the host may learn that this launch, or the work before it, has ended.
  struct host_flags {
    struct lone_store {
      device_address at;    // the only address to which the site stores; 0: there are several
      device_address base;  // of the allocation
    };
    std::map<std::uint32_t, lone_store> lone;  // by site
    std::set<device_address> loaded;           // allocations that the launch loads from
    bool strong = false;                       // there was a strong store
    bool fenced = false;                       // a thread executed a fence wider than its block
  };
  // A launch whose accesses may still be remembered.
  struct past_launch {
    std::uint32_t work;
    const program* code;
    extent grid, block;
    std::uint32_t block_warps;
    bool fences_system;  // has a system fence, so the host may see flags that it sets
  };
  // How work uses memory shared with the host. For a kernel, this covers a whole allocation, and
  // the cells show which parts the kernel accessed. For a copy or fill, it is exact.
  struct shared_use {
    std::uint32_t work;
    device_address first;
    std::uint64_t bytes;
    bool written;
    bool is_fill = false;
  };

  // checker.cpp
  block_state& state() { return *current_; }
  accessor accessor_of(std::uint32_t warp, std::uint32_t number, const watched_memory& m) const {
    const block_clock& b = current_->clock;
    const warp_clock& w = b.warps[warp];
    // Shared memory is accessed by its block alone.
    accessor a{m.is_shared ? b.barrier : order_.settled(),
               b.barrier,
               b.first_warp,
               block_warps_,
               order_.launch_began(),
               w.now,
               b.first_warp + warp,
               number};
    a.met = w.met;
    // A barrier alone does not complete asynchronous copies, which write to shared memory.
    if (m.is_shared) {
      a.copies_known = b.copies_known;
      if (w.copied >= w.copies_done) a.own_copies_known = w.copies_done;
    } else if (!order_.has_released_in_global()) {
      a.two_readers = order_.launch_began();
    }
    return a;
  }
  const access_site& site_at(std::uint32_t number) const;
  std::uint32_t extra_site(const warp_event& e, const range_event& r);
  std::uint32_t visit(const access_event& e, watched_memory& m, std::uint64_t base);
  void visit_copy(const access_event& e);
  std::uint32_t visit_copied(const access_event& e);
  [[gnu::always_inline]] bool keep_back(const access_event& e);
  void end_keeping(std::uint32_t warp, access_kind kind);
  void note_kept_loads();
  bool try_keep_walk(const access_event& e, watched_memory& m, const accessor& a,
                     std::uint64_t base, const cells& c, const std::uint64_t* at,
                     unsigned per_lane);
  void note_walks();
  void note_walk(const kept_walks::walk& w);
  [[gnu::always_inline]] bool visit_run(const access_site& s, watched_memory& m, grain g,
                                        const accessor& a, std::uint64_t at, const lane_run& run,
                                        bool falls);
  std::uint32_t visit_scattered(const access_event& e, watched_memory& m, const accessor& a,
                                std::uint64_t base);
  std::uint32_t existing_lanes(std::uint32_t warp) const;
  std::uint32_t visit_ordered(const access_event& e, watched_memory& m, std::uint64_t base,
                              std::uint32_t lanes_in);
  void visit_lanes(const access_event& e, watched_memory& m, std::uint64_t base,
                   std::uint32_t lanes_in);
  // bounds.cpp, outside.cpp
  std::uint32_t in_bounds_global(const access_event& e, std::uint32_t lanes_in);
  std::uint32_t in_bounds_shared(const access_event& e, std::uint32_t lanes_in);
  std::uint64_t local_limit() const;
  std::uint32_t in_bounds_local(const access_event& e);
  void outside(const access_event& e, int lane, std::uint64_t at);
  // What may be accessed around an address.
  std::optional<access_window> usable(device_address at) const;
  void outside_global(const access_event& e, std::uint64_t at, finding& f);
  void outside_shared(const access_event& e, std::uint64_t at, finding& f);
  bool launch_could_give(const access_event& e, std::uint64_t at) const;
  void note_missing_shared(const access_event& e, int lane, std::uint64_t at);
  void tell_missing_shared();
  const std::pair<const device_address, allocation>* allocation_at(const allocation_map& map,
                                                                   device_address at) const;
  // races.cpp, findings.cpp
  void look_closer(const touch& t);
  void check_cell(const touch& t, const cell& c, const accessor& a);
  void conflict(const touch& t, std::uint32_t other_warp, std::uint32_t other_lanes,
                std::uint32_t other_site, tick when, bool other_writes);
  finding race(const touch& t, race_between who, std::uint32_t other_warp,
               std::uint32_t other_lanes, std::uint32_t other_site, tick when, bool other_writes);
  bool both_strong(const access_site& s, std::uint32_t other, std::uint32_t other_warp) const;
  std::uint32_t state_warp(const touch& t) const { return current_->clock.first_warp + t.warp; }
  bool in_step(const touch& t, std::uint32_t other, std::uint32_t other_warp) const;
  bool copies_settled(std::uint32_t own_warp, std::uint32_t other, tick when,
                      std::uint32_t writer) const;
  void synchronise(const touch& t);
  bool same_value(const touch& t, int other_lane) const;
  bool at_once(const touch& t, std::uint32_t other_warp, std::uint32_t other_lanes,
               std::uint32_t other_site) const;
  race_between between(const touch& t, std::uint32_t other_warp, std::uint32_t other_lanes,
                       std::uint32_t other_site, tick when);
  std::string race_advice(race_between between, const touch& t, std::uint32_t other_site) const;
  // advice/
  std::optional<word_update> update_at(std::uint32_t site);
  std::string lost_update_advice(const touch& t, race_between who, std::uint32_t other_site);
  class fence_paths;
  struct flag_access;
  std::vector<flag_access> flag_accesses(fence_paths& paths, std::uint32_t function,
                                         std::int32_t data, bool writes);
  std::string missing_fence_advice(const touch& t, race_between who, std::uint32_t other_site);
  std::string fence_words(const touch& t, const access_site& earlier, const flag_access& set,
                          const flag_access& test, race_between who);
  // streams.cpp
  static constexpr std::uint32_t no_warp = ~std::uint32_t{0} / 32;
  bool streams_matter() const;
  bool host_reads(device_address at) const;
  void note_host_memory(const access_event& e, device_address at, access_window& window);
  void note_copy_to_host(std::uint64_t bytes);
  void note_host_flags();
  bool is_of_freed_memory(std::uint64_t at, tick when) const;
  void copy_touches(device_address at, std::uint64_t bytes, bool writes);
  void copy_touches_cell(const cell& c, std::uint64_t at, bool writes, const accessor& a);
  void copy_races(std::uint64_t at, bool writes, std::uint32_t warp, unsigned lane,
                  std::uint32_t site, tick when, bool other_writes);
  void begin_work();
  // host_access.cpp
  void kernel_uses(device_address base, std::uint64_t bytes, bool writes);
  void copy_uses(device_address at, std::uint64_t bytes, bool writes);
  void forget_finished_uses();
  // An access that is unordered with a host access: a kernel's (recorded in a cell), or a copy's.
  struct unfinished_access {
    std::uint32_t work;
    bool writes;
    bool is_fill = false;
    const past_launch* launch = nullptr;  // null: a copy or fill
    std::uint32_t warp = 0;
    int lane = 0;
    std::uint32_t site = no_site;
    const access_site* details() const {
      return launch != nullptr && site < launch->code->accesses.size()
                 ? &launch->code->accesses[site]
                 : nullptr;
    }
    bool is_flag() const;
  };
  std::optional<unfinished_access> access_unordered_with_host(device_address at, bool writes) const;
  std::optional<unfinished_access> kernel_unordered_with_host(device_address at, bool writes) const;
  const past_launch* launch_of(std::uint32_t work) const;
  // unwritten.cpp
  void read_unwritten(const touch& t);
  finding unwritten_finding(const unwritten_reads::read& r);
  void settle_unwritten();
  static std::uint32_t owner_of(const watched_memory& m, const block_clock& b) {
    return m.is_shared ? b.index + 1 : 0;
  }
  bool looks_like_padding(std::uint64_t at, std::uint64_t gaps) const;
  void leak_of_kernel(device_address at, const allocation& a);
  // words.cpp
  finding_party party(const op* at, std::uint32_t warp, int lane, std::string action);
  static std::string action_words(const access_site& s, bool writes);
  finding_party party_of_past(const past_launch& l, std::uint32_t warp, int lane,
                              std::uint32_t site, bool writes);
  finding_party party_of_other(std::uint32_t warp, int lane, std::uint32_t site, tick when,
                               bool writes);
  std::uint64_t object_address(const watched_memory& m, std::uint64_t at) const;
  const program::shared_variable* shared_variable_near(std::uint64_t at) const;
  const std::pair<const device_address, allocation>* allocation_near(device_address at,
                                                                     device_address wanted) const;
  place_in_memory describe(const watched_memory& m, std::uint64_t at, std::uint64_t element);
  // `base`: of the allocation to describe it by; 0: the one that holds it, or the nearest.
  place_in_memory describe_global(device_address at, std::uint64_t element,
                                  device_address base = 0);
  place_in_memory describe_shared(std::uint64_t offset, std::uint64_t element);
  std::string as_kernel_names(const std::string& variable) const;
  std::string kernel_name() const { return code_ != nullptr ? code_->pretty : ""; }
  std::int64_t place_number(const op* at) const { return at - code_->code.data(); }
  finding_key key(finding_kind kind, std::int64_t first, std::int64_t second, std::uint64_t object);
  void fail(error code, const finding& f);
  // unfollowed/
  void not_followed(std::int64_t why, std::int64_t where, code_place at, std::string action,
                    std::string message, const char* advice);
  void note_unfollowed_launch();
  void note_bulk_load(const warp_event& e, int lane, std::uint64_t barrier);
  unsigned phase_parity(std::uint64_t barrier) const;
  void use_of_bulk(const op* at, std::uint32_t warp, int lane, std::uint64_t first,
                   std::uint64_t bytes);
  void use_of_bulk(const access_event& e);
  void end_bulk_loads(const block_state& b);
  // waits.cpp, findings.cpp
  void check_arrivals(unsigned id, bool whole_block);
  void different_barriers(const block_state::arrival& one, const block_state::arrival& other,
                          bool same_warp);
  void missed_barrier(const block_state::arrival& waits);
  // partings.cpp
  struct function_flow {
    explicit function_flow(const ptx::body& b) : body(b), flow(b) {}
    const register_flow& values();
    bool is_in_loop(std::int32_t instruction) const;
    const std::vector<std::vector<std::uint32_t>>& towards(
        const std::vector<std::uint32_t>& wanted);
    const ptx::body& body;
    control_flow flow;
    std::unique_ptr<register_flow> registers;  // null: not requested yet
    std::map<std::vector<std::uint32_t>, std::vector<std::vector<std::uint32_t>>> ways;
  };
  function_flow& flow_of(const program_function& f);
  std::uint32_t block_of(const op* at);
  void forget_turnings();
  bool misses(const turning& t, const op* barrier);
  std::optional<parting> parting_of(const op* barrier, std::uint32_t waits_warp, int waits,
                                    std::uint32_t warp, std::uint32_t gone);
  parting describe_parting(const turning& t, const op* barrier, std::uint32_t warp, int lane);
  struct parting_words {
    std::string why, action, advice;
  };
  static parting_words words_of(const parting& p);
  static std::string no_parting_advice();

  const gpu& model_;
  global_memory& memory_;
  device_address device_base_;
  places places_;
  std::map<const ptx::function*, std::unique_ptr<function_flow>> flows_;
  finding_log log_;
  unwritten_reads unwritten_;  // of the running launch
  order order_;
  stream_use stream_;
  std::uint64_t origin_ = 0;
  allocation_map live_, gone_;
  std::unique_ptr<watched_memory> global_;

  // The running launch.
  const program* code_ = nullptr;
  const launch_config* config_ = nullptr;
  const context* context_ = nullptr;
  std::uint32_t block_warps_ = 1;
  std::uint64_t launch_origin_ = 0;
  status failure_;
  host_flags host_flags_;
  bool fences_system_ = false;
  // Accesses beyond the dynamic shared memory that the launch passes: one finding, at its end.
  struct missing_shared {
    finding first;
    std::uint64_t bytes = 0;  // that it takes at least
    std::uint64_t count = 0;
    std::int64_t place = 0;     // of the first
    bool several = false;       // places
    bool fails_launch = false;  // nothing had failed before
  };
  missing_shared missing_shared_;
  std::vector<access_window> windows_;    // by site
  std::vector<access_site> extra_sites_;  // of accesses that no op describes
  std::map<std::tuple<const op*, access_kind, memory_order, bool>, std::uint32_t> extra_numbers_;
  std::unordered_map<const block*, std::unique_ptr<block_state>> blocks_;
  std::vector<std::unique_ptr<block_state>> unused_;
  kept_walks walks_;  // through global memory
  block_state* current_ = nullptr;
  // The cp.async that executes next, and its lanes whose accesses were visited in whole rows.
  struct coming_copy {
    const op* at = nullptr;
    std::uint32_t warp = 0;
    std::uint32_t read = 0, written = 0;
    std::uint32_t read_site = no_site, write_site = no_site;
  };
  coming_copy copy_;
  written_range bulk_write_;
  std::deque<past_launch> launches_;
  bool shares_memory_ = false;               // some memory is shared with the host
  std::vector<std::uint64_t> work_origins_;  // by work number
  std::map<std::pair<device_address, std::uint64_t>, shared_use> kernel_uses_;  // and by stream
  std::deque<shared_use> copy_uses_;
  access_window heap_;
  // A finding has reported why the launch stops at this instruction: of a function's body.
  std::pair<const program_function*, std::int32_t> told_{nullptr, -1};
  std::pair<const program_function*, std::int32_t> instruction_of(const op* at) const {
    return {&code_->function_of(at),
            code_->instruction[static_cast<std::size_t>(place_number(at))]};
  }
  // Of a site: the same number for all sites of one line; and whether that is code of CUDA's
  // libraries, with no line of the user's around it.
  struct site_line {
    std::int64_t number = -1;  // not asked for yet
    bool is_library = false;
  };
  site_line line_of(std::uint32_t site);
  std::int64_t line_number(std::uint32_t site) {
    return site == no_site ? -1 : line_of(site).number;
  }
  bool is_library_line(std::uint32_t site) { return site != no_site && line_of(site).is_library; }
  std::map<std::pair<std::string, int>, std::int64_t> line_numbers_;
  std::vector<site_line> lines_of_sites_;
  std::vector<access_window> first_windows_;  // by site: what it touched first
};

}  // namespace stepwise::emulator
