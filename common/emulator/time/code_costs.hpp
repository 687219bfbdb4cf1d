// The cost of each PTX instruction of a program: issue slots, unit, and dependencies.
//
// idea    The cubin's line table shows how many machine instructions a PTX line became, and where.
//         If ptxas copied a block (an unrolled loop), each execution runs one of the copies. The
//         PTX's registers represent those of the machine code, because the dependencies are the
//         same.
// watch   Without a line table, every instruction counts as one slot, except moves and parameters.
// Tested by tests/code_costs_test.cpp, and by the tests "lab times" and "lab profile".
#pragma once

#include <cstdint>
#include <vector>

#include "common/emulator/machine/program.hpp"
#include "common/emulator/time/costs.hpp"
#include "common/image/image.hpp"

namespace stepwise::emulator {

enum class step_kind : std::uint8_t {
  compute,
  load,
  store,
  atomic,
  copy,         // cp.async
  commit,       // cp.async.commit_group
  wait_copies,  // cp.async.wait_group, wait_all
  barrier,      // of the block
  arrive,       // at a barrier, without waiting
  fence,
  branch,
  // Hopper's asynchronous units.
  signal,         // an arrival at an mbarrier, or bytes that it expects or has received
  arrive_copies,  // an arrival once the warp's cp.async copies are complete
  wait_phase,     // try_wait, test_wait
  bulk_copy,      // cp.async.bulk, cp.reduce.async.bulk
  commit_bulk,    // cp.async.bulk.commit_group
  wait_bulk,
  product,          // wgmma
  commit_products,  // wgmma.commit_group
  wait_products,    // wgmma.wait_group
  arrive_cluster,
  wait_cluster,
  fence_proxy,
};

// Whether memory accesses cannot move across the instruction, as with a fence.
constexpr bool is_asynchronous(step_kind k) { return k >= step_kind::signal; }

struct instruction_cost {
  step_kind kind = step_kind::compute;
  unit on = unit::none;
  bool is_memory = false;         // has access events
  bool is_shared = false;         // names shared memory
  bool may_move = false;          // loads: past stores of the same memory (ld.global.nc)
  bool adds_floats = false;       // atomics
  bool adds_warps = false;        // atomics: the machine code first adds up a warp's lanes
  std::uint8_t registers = 0;     // 32-bit registers that it writes
  std::int16_t groups_left = 0;   // waits for groups: how many may be unfinished; -1: waits for all
  bool releases_cluster = false;  // signal: at cluster scope
  // wmma.load: blocks of 8 x 8 elements that the machine code transposes after the load (MOVM).
  unsigned transposed_blocks = 0;
  tensor_work tensor;
  float slots = 1;  // machine instructions
  // For a branch that became predicates: its target, and the slots of the instructions between.
  std::uint32_t target = 0;
  float skipped_slots = 0;
  std::uint32_t first_read = 0, reads = 0;  // into code_costs::names
  std::uint32_t first_written = 0, written = 0;
  std::uint32_t first_place = 0, places = 0;  // of its line: into code_costs::places
};

step_kind kind_of(const ptx::instruction& i);
tensor_work tensor_work_of(const ptx::instruction& i);

struct code_costs {
  code_costs() = default;  // no instructions
  code_costs(const program& code, const image::kernel_resources* machine_code);

  std::vector<instruction_cost> at;  // by ordinal
  std::vector<std::uint8_t> copies;  // by ordinal: how often ptxas unrolled its loop, at least 1
  std::vector<std::uint32_t> names;  // registers, by number
  // The places of machine instructions in the kernel's code, counted in instructions. Each line's
  // places, over all of its copies, are ascending.
  std::vector<std::uint32_t> places;
  std::uint32_t register_count = 0;  // of the PTX
  int registers = 0;                 // of a thread, 32-bit; 0: unknown
  bool knows_machine_code = false;
  bool waits_for_blocks = false;  // atomics whose results are used, or ordered loads
  bool draws_work = false;        // such an atomic in a loop: blocks may get their work from it
  bool has_loops = false;

 private:
  void add_function(const program& code, std::size_t index,
                    const image::kernel_resources* machine_code);
  void find_predicated(const program_function& f, std::uint32_t first);
};

}  // namespace stepwise::emulator
