// State that all checks share: the device's memory and its shadow, the running launch, the order of
// what its threads did, and the findings so far.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/emulator/check/allocations.hpp"
#include "common/emulator/check/async/bulk_loads.hpp"
#include "common/emulator/check/async/mbarrier_uses.hpp"
#include "common/emulator/check/by_block.hpp"
#include "common/emulator/check/finding_log.hpp"
#include "common/emulator/check/function_flow.hpp"
#include "common/emulator/check/order.hpp"
#include "common/emulator/check/places.hpp"
#include "common/emulator/check/shadow_memory.hpp"
#include "common/emulator/run/scheduler.hpp"

namespace stepwise::emulator {

// A resident block.
struct checked_block {
  block_clock clock;
  std::unique_ptr<shadow_memory> shared;
  const block* now = nullptr;
  mbarrier_uses mbarriers;
  // Other blocks' accesses to its shared memory: the last one of each warp.
  struct peer_access {
    std::uint32_t warp;  // in the launch
    int lane;
    std::uint32_t site;
    tick when;
    std::uint64_t at, bytes;
    bool writes;
  };
  std::vector<peer_access> by_peers;
  warp_event last_exit{};
};

// A launch whose accesses may still be remembered.
struct past_launch {
  std::uint32_t work;
  const program* code;
  extent grid, block;
  std::uint32_t block_warps;
  bool fences_system;  // has a system fence, so the host may see flags that it sets
};

// One lane's access, or a piece of it.
struct lane_access {
  shadow_memory* memory;
  const access_site* site;
  std::uint32_t number;  // the site's number
  std::uint64_t at, bytes;
  int lane;
  std::uint32_t warp;  // in the block
  const op* op_at;
  const access_event* all = nullptr;  // the whole warp's access; null: the lane is alone
  bool has_ended = false;             // a unit's access, recorded again at its end
  // Whether other lanes access other places at the same time.
  bool spread() const { return all != nullptr && all->shape->span != site->bytes; }
};

struct place_in_memory {
  finding_object object;
  std::string words;  // "in[1024]"
};

// Whether a kernel, or a function that it calls, reads a special register, such as threadIdx.y.
bool reads_special(const program& code, special which);

// For example "256" or "32x8".
std::string block_shape(const extent& block);

inline constexpr const char* advice_for_warpgroup =
    "All 128 threads of a warpgroup must execute every wgmma together, with the same descriptors: "
    "move wgmma out of the condition, and do not add the warp's offset to a descriptor. wgmma "
    "itself assigns 16 of the 64 rows to each warp.";

inline bool is_strong(const access_site& s) { return s.order != memory_order::weak; }

struct evidence {
  // Throws std::bad_alloc if the address space for the shadow cannot be reserved.
  evidence(const gpu& model, global_memory& memory);

  void begin_launch(const observer::launch_info& info);
  void end_launch(bool fences_system);
  void begin_block(const block& b);
  // Called when a module is unloaded. Accesses of its kernels can no longer be reported.
  void forget_launches();
  // A launch, copy or fill of the current stream begins.
  void begin_work(order::work_kind kind = order::work_kind::other);

  // --- the running launch's code
  const access_site& site_at(std::uint32_t number) const;
  // The number of the site for an access that no op describes.
  std::uint32_t extra_site(const warp_event& e, const observer::range_event& r);
  // A number that all sites of one source line share; -1 for no_site.
  std::int64_t line_number(std::uint32_t site) {
    return site == no_site ? -1 : line_of(site).number;
  }
  // Whether the site is in CUDA's libraries, with no line of the user's code around it.
  bool is_library_line(std::uint32_t site) { return site != no_site && line_of(site).is_library; }
  function_flow& flow_of(const program_function& f);
  // The basic block that holds an op.
  std::uint32_t block_of(const op* at);
  std::pair<const program_function*, std::int32_t> instruction_of(const op* at) const;
  std::string kernel_name() const { return code != nullptr ? code->pretty : ""; }
  std::int64_t place_number(const op* at) const { return at - code->code.data(); }
  // Whether the memory around a position that was accessed at `when` has been freed and allocated
  // again since. Such accesses are ordered, even if a stream's allocation reuses memory that
  // another stream has freed.
  bool is_of_freed_memory(std::uint64_t at, tick when) const;
  // The owner of a memory: 0 for global memory, otherwise the block's index + 1.
  std::uint32_t owner_of(const shadow_memory& m) const { return m.is_shared ? m.block + 1 : 0; }

  // --- parties and objects of findings
  finding_party party(const op* at, std::uint32_t warp, int lane, std::string action);
  static std::string action_words(const access_site& s, bool writes);
  finding_party party_of_past(const past_launch& l, std::uint32_t warp, int lane,
                              std::uint32_t site, bool writes);
  finding_party party_of_other(std::uint32_t warp, int lane, std::uint32_t site, tick when,
                               bool writes);
  const past_launch* launch_of(std::uint32_t work) const;
  std::uint64_t object_address(const shadow_memory& m, std::uint64_t at) const;
  place_in_memory describe(const shadow_memory& m, std::uint64_t at, std::uint64_t element);
  // `base`: the base of the allocation to use. 0: the allocation that holds the address, or the
  // nearest.
  place_in_memory describe_global(device_address at, std::uint64_t element,
                                  device_address base = 0);
  place_in_memory describe_shared(std::uint64_t offset, std::uint64_t element);
  std::string as_kernel_names(const std::string& variable) const;
  finding_key key(finding_kind kind, std::int64_t first, std::int64_t second,
                  std::uint64_t object) const;
  void fail(error code, const finding& f);

  // The running block.
  checked_block& running() const { return blocks.current(); }

  // --- the device
  const gpu& model;
  global_memory& memory;
  const device_address device_base;
  shadow_memory global;
  allocations areas;
  stream_use stream;
  std::uint64_t origin = 0;
  order sequence;
  std::vector<std::uint64_t> work_origins;  // by work number
  std::deque<past_launch> launches;
  finding_log log;
  places source;

  // --- the running launch
  const program* code = nullptr;
  const launch_config* config = nullptr;
  const context* state = nullptr;
  std::uint32_t block_warps = 1;
  std::uint64_t launch_origin = 0;
  status failure;
  by_block<checked_block> blocks;
  // A finding has reported why the launch stops at this instruction of a function's body.
  std::pair<const program_function*, std::int32_t> reported{nullptr, -1};

 private:
  struct site_line {
    std::int64_t number = -1;  // not looked up yet
    bool is_library = false;
  };
  site_line line_of(std::uint32_t site);
  const program::shared_variable* shared_variable_near(std::uint64_t at) const;

  std::map<const ptx::function*, std::unique_ptr<function_flow>> flows_;
  std::vector<access_site> extra_sites_;
  std::map<std::tuple<const op*, access_kind, memory_order, bool>, std::uint32_t> extra_numbers_;
  std::map<std::pair<std::string, int>, std::int64_t> line_numbers_;
  std::vector<site_line> lines_of_sites_;
};

// Base of a check: observes a launch, and adds findings to the shared evidence.
class check : public observer {
 protected:
  explicit check(evidence& all) : evidence_(all) {}

  evidence& evidence_;
};

}  // namespace stepwise::emulator
