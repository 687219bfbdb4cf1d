// The observers of a running kernel: the checks (../check), the profiler (../profile), and the
// clock that a kernel reads.
//
// idea    A kernel that is watched is lowered with an op before every memory access, which
//         describes the access to the observers before it is made. The scheduler notifies them of
//         barriers, warp-wide operations, fences, branches and exits. A kernel that is not watched
//         has none of these ops and pays nothing.
// watch   A watched launch runs on one worker, so observers need no locks, and runs repeat exactly.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "common/device/device.hpp"
#include "common/emulator/machine/access_shape.hpp"
#include "common/emulator/machine/context.hpp"

namespace stepwise::image {
struct kernel_resources;
}

namespace stepwise::emulator {

struct program;
struct block;
struct standstill;
class global_memory;
class warp_time;

enum class memory_space : std::uint8_t { global, shared, local, parameter, generic };
enum class access_kind : std::uint8_t { load, store, atomic };
// PTX ISA 9.0, "Memory Consistency Model". A volatile access is relaxed, of the system's scope.
enum class memory_order : std::uint8_t { weak, relaxed, acquire, release, acquire_release };
enum class sync_scope : std::uint8_t { block, gpu, system };

// The unit that makes an access. Its names say what shows the end of an asynchronous access: the
// wait for a group of bulk copies, the phase of an mbarrier, or the wait for a group of wgmma
// products.
enum class async_unit : std::uint8_t { none, grouped_copy, counted_copy, products };

// The steps of a warp that concern asynchronous work, apart from the accesses.
enum class async_step : std::uint8_t {
  commit_copies,    // cp.async.commit_group
  wait_for_copies,  // cp.async.wait_group, wait_all; value: how many groups may be unfinished, -1
                    // for none at all, or completed_by_mbarrier
  commit_bulk,      // cp.async.bulk.commit_group
  wait_for_bulk,    // cp.async.bulk.wait_group; value: how many groups may be unfinished
  wait_for_bulk_reads,  // cp.async.bulk.wait_group.read
  fence_copies,         // fence.proxy.async
  acquire_map,          // fence.proxy.tensormap...acquire; value: the map's generic address
  release_maps,         // fence.proxy.tensormap...release
  fence_products,       // wgmma.fence
  commit_products,      // wgmma.commit_group
  wait_for_products,    // wgmma.wait_group; value: how many groups may be unfinished
  wait_for_grids        // griddepcontrol.wait
};

// The instructions that one warp executes before others run.
inline constexpr std::int64_t slice_instructions = 65536;

// cp.async.mbarrier.arrive: the copies so far end before the mbarrier's phase does.
inline constexpr int completed_by_mbarrier = -2;

// The access of a memory instruction, known when it is lowered. Index: op::slot of its "<watch>".
struct access_site {
  std::uint32_t function = 0;     // index into program::functions
  std::int32_t instruction = -1;  // index into that function's body
  std::uint32_t ordinal = 0;
  memory_space space = memory_space::generic;  // as the instruction names it
  access_kind kind = access_kind::load;
  std::uint8_t bytes = 0;          // per lane: all elements of a vector
  std::uint8_t element_bytes = 0;  // per element
  memory_order order = memory_order::weak;
  sync_scope scope = sync_scope::system;
  bool is_volatile = false;
  bool reduction = false;     // red: an atomic without a result
  bool asynchronous = false;  // cp.async's write: done at any time until it is waited for
  bool constant = false;      // ld.const
  async_unit unit = async_unit::none;
  bool matrix = false;  // ldmatrix, stmatrix: `active` lanes give addresses of 16-byte rows
  // This event is for counting. The checks receive the lanes' accesses by access_range().
  bool counted_only = false;
  // No access event describes its lanes, only access_range() (bulk copies).
  bool ranged = false;
  // For a store: the vector registers of its elements, and the width of their registers, to compare
  // values.
  std::uint32_t values[4] = {};
  std::uint8_t value_bytes = 0;
};

// An access that a warp is about to make.
struct access_event {
  const access_site* site;
  std::uint32_t index;           // the site's index
  memory_space space;            // the space it goes to: global, shared, local or parameter
  std::uint32_t active;          // lanes
  std::uint32_t warp;            // in its block
  const std::uint64_t* address;  // by lane: device address; offset in shared or local memory
  const access_shape* shape;     // for the lanes that the op found active, if there are any
  const op* at;
};

// An event of a warp of the running block: the warp, its lanes, and the op.
struct warp_event {
  std::uint32_t warp;
  std::uint32_t lanes;
  const op* at;
};

// The work of one block.
struct probed_work {
  std::uint64_t instructions = 0;  // PTX instructions of its warps
  std::uint64_t requests = 0;      // to global memory
  std::uint64_t writes = 0;        // those of them that are stores or atomics

  // A request to memory takes about as long as eight instructions.
  std::uint64_t total() const { return instructions + 8 * requests; }
};

class observer {
 public:
  virtual ~observer() = default;

  struct launch_info {
    const program* code = nullptr;
    const gpu* model = nullptr;
    const launch_config* config = nullptr;
    const context* state = nullptr;  // the worker's: shared memory, local memory
    std::uint32_t warps = 0;         // per block
    std::uint32_t threads = 0;
    const kernel_attributes* attributes = nullptr;
    const image::kernel_resources* machine_code = nullptr;  // its tables; null: there is none
    const global_memory* memory = nullptr;
    const warp_time* time = nullptr;  // null: the kernel reads no clock
    // The work of a block, up to about `enough`, found by a probe without effects
    // (run/block_probe.hpp). Empty if the kernel cannot be probed. Valid during begin_launch().
    std::function<probed_work(std::uint64_t block, std::uint64_t enough)> work_of_block;
  };
  virtual void begin_launch(const launch_info&) {}
  // `failure`: how the launch ended. The returned status replaces it if it was ok.
  virtual status end_launch(const status& failure) { return failure; }
  // Whether a block is to run. A sampled launch does not run all of its blocks.
  virtual bool wants(std::uint64_t block) {
    (void)block;
    return true;
  }
  // Instructions that a warp of the running block executes before the other warps run. 0: the
  // block ends early, here.
  virtual std::int64_t slice() { return slice_instructions; }
  virtual void begin_block(const block&) {}
  virtual void end_block(const block&) {}
  // The worker switches to another resident block.
  virtual void switch_to(const block&) {}
  // Whether a block that polls lets the other resident blocks run at once. Blocks that draw their
  // work from a counter then share it as they would on a GPU.
  virtual bool interleaves_blocks() { return false; }

  // Returns the lanes that may make the access. The other lanes skip it.
  virtual std::uint32_t access(const access_event& e) { return e.active; }
  // `bytes` bytes from `address` on, read or written by one lane (bulk copies, mbarriers, tensor
  // tiles); `space` is global or shared.
  struct range_event {
    memory_space space;
    access_kind kind;
    memory_order order;
    bool asynchronous;
    std::uint64_t address, bytes;
    int lane;
    bool inside = true;          // else the launch is about to be stopped
    bool of_tensor_map = false;  // a copy reads its tensor map; not counted as a request
    unsigned alignment = 1;      // that the operation requires of the address
  };
  virtual void access_range(const warp_event&, const range_event&) {}

  // An access to the shared memory of a block of the cluster after all threads of that block have
  // exited.
  virtual void reached_exited_block(const warp_event&, const block& owner, const range_event&) {
    (void)owner;
  }

  // The PTX instructions of ordinals [first, end) were executed by `lanes` of a warp.
  virtual void executed(std::uint32_t warp, std::uint32_t first, std::uint32_t end,
                        std::uint32_t lanes) {
    (void)warp, (void)first, (void)end, (void)lanes;
  }
  // A branch divided the lanes: `taken` of them go to its target.
  virtual void diverged(const warp_event&, std::uint32_t taken) { (void)taken; }

  // Lanes take a branch to block `to` of their function, and another target of the same branch
  // leads towards a barrier or a call.
  virtual void took_branch(const warp_event&, std::uint32_t to) { (void)to; }

  // Lanes read a value that is not set on the path they took (program::unset_origins).
  virtual void read_unset(const warp_event&, std::uint32_t origin) { (void)origin; }
  // A value that depends on an unset value has an effect (program::unset_uses). `by_store`: the
  // warp's next access stores the value.
  virtual void used_unset(const warp_event&, std::uint32_t use, bool by_store) {
    (void)use, (void)by_store;
  }
  // The lanes whose last load read nothing but unset bytes, for this element of a vector.
  virtual std::uint32_t loaded_unset(std::uint32_t warp, unsigned element) {
    return (void)warp, (void)element, 0;
  }

  // A barrier of the block. `aligned`: every lane of a warp executes the same instruction.
  virtual void reached_barrier(const warp_event&, unsigned id, bool arrive_only, bool aligned) {
    (void)id, (void)arrive_only, (void)aligned;
  }
  // All threads that it waited for have arrived. `whole_block`: no live thread is missing.
  virtual void released_barrier(unsigned id, bool whole_block) { (void)id, (void)whole_block; }
  // All live threads of a cluster have arrived at its barrier.
  virtual void released_cluster_barrier(std::span<block* const> blocks) { (void)blocks; }
  // The warps of a warpgroup have met at wgmma.wait_group.
  virtual void met_in_warpgroup(std::span<const warp_event> warps) { (void)warps; }
  // A __syncwarp or another warp-wide operation is complete: `lanes` took part. `orders_memory`: it
  // is bar.warp.sync.
  virtual void warp_met(const warp_event&, bool orders_memory) { (void)orders_memory; }
  // A warp reaches a warp-wide operation and has not waited yet. `members`: the first lane's mask.
  virtual void reached_warp_wide(const warp_event&, std::uint32_t members) { (void)members; }
  // Lanes of a warp named by one membermask complete a warp-wide operation from two places.
  virtual void met_at_two_places(const warp_event& one, const warp_event& other,
                                 std::uint32_t members) {
    (void)one, (void)other, (void)members;
  }
  // In `lane`, a shuffle reads from lane `source`, which takes no part.
  virtual void read_inactive_lane(const warp_event&, int lane, int source) {
    (void)lane, (void)source;
  }
  virtual void fenced(const warp_event&, memory_order, sync_scope) {}
  virtual void exited(const warp_event&) {}
  virtual void took_step(const warp_event&, async_step, std::int64_t value) { (void)value; }
  // A lane uses an mbarrier. Called before the operation takes effect.
  enum class mbarrier_use : std::uint8_t {
    begins,   // mbarrier.init
    expects,  // bytes, without an arrival
    arrives,
    receives,  // bytes of a copy
    passes,    // a wait has found its phase complete
    polls      // a wait has not
  };
  struct mbarrier_event {
    mbarrier_use use;
    int lane;
    std::uint64_t address;      // an offset in the shared memory of the cluster
    const std::uint64_t* word;  // its state (async.hpp)
    std::int64_t bytes = 0;     // that the operation announces or receives
    // Sectors of the received box that consist of fill, because its elements lie outside the
    // tensor.
    std::uint64_t filled_sectors = 0;
  };
  virtual void used_mbarrier(const warp_event&, const mbarrier_event&) {}
  virtual void in_deadlock(const block&) {}
  // Whether this warp is followed op by op until the other warps run. before() and after() are
  // then called for each of its ops. `next` is the op that it continues with, or null.
  virtual bool follows(const block&, std::uint32_t warp) { return (void)warp, false; }
  virtual void before(const context&, const op*) {}
  virtual void after(const context&, const op*, const op* next) { (void)next; }
  // The launch is stopped because it never ends or its time limit has expired.
  virtual void does_not_end(const standstill&) {}
  // A kernel's malloc returned memory to a lane. Its free got memory back, or an unknown address.
  virtual void heap_gave(const warp_event&, int lane, device_address at, std::uint64_t bytes) {
    (void)lane, (void)at, (void)bytes;
  }
  virtual void heap_got(const warp_event&, int lane, device_address at, bool is_known) {
    (void)lane, (void)at, (void)is_known;
  }
  // The launch is stopped by a trap, an assertion, or an access that only the op itself checks.
  // `advice` may be empty.
  virtual void faulted(const warp_event&, error, const std::string& what, int lane,
                       const std::string& advice) {
    (void)what, (void)lane, (void)advice;
  }
};

}  // namespace stepwise::emulator
