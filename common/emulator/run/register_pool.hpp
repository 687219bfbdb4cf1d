// The registers of a block's warps, which setmaxnreg moves between them.
//
// idea    A block begins with the registers that its threads have at entry, and none of them is
//         free. setmaxnreg.dec frees registers of a warp, and setmaxnreg.inc waits until enough
//         registers are free. The pool only counts registers. It does not store their values.
// watch   ptxas ignores setmaxnreg if it does not know the count at entry, and so do we. A warp can
//         take only registers that warps with the same register file have freed. Every fourth warp
//         of a block has the same register file. A warp that exits frees nothing. The last
//         two facts were measured on an H200.
// source  PTX ISA 9.1, "setmaxnreg"; ptxas 13.0 (message C7508, and the counts that -v prints).
// tests   tests/register_pool_test.cpp, ../../runtime/conformance/wgmma/wgmma_registers.cu,
//         ../check/tests/programs/faulty/units/deadlock_registers.cu
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/device/gpu.hpp"
#include "common/emulator/machine/program.hpp"
#include "common/emulator/run/block.hpp"

namespace stepwise::emulator {

// The registers of a thread when the kernel begins, as ptxas allocates them for a kernel with
// setmaxnreg: as many as its bounds allow, but no more than the largest count that it asks for,
// rounded up to a multiple of 8. 0: ptxas ignores setmaxnreg, because the kernel has neither
// .maxnreg nor a block size with .minnctapersm. With a block size alone, ptxas 13.0 ignores it in
// small kernels, and gives other kernels the registers of a whole multiprocessor.
// `machine_registers`: the count in the kernel's machine code, or 0 if it has none.
std::uint32_t registers_at_entry(const program& code, const gpu& model, int machine_registers);

// A split that waits for registers, and its warp's index.
struct register_waiter {
  std::uint32_t warp = 0;
  const split* waiting = nullptr;
};
// The first waiter of a block, if there is one.
std::optional<register_waiter> first_register_waiter(const block& b);

// Describes the first waiter: "warp 4 asks at roles.cu:12 for 240 registers per thread instead of
// 168, which takes ...". Empty if there is none.
std::string words_about_registers(const block& b, const program& code);

}  // namespace stepwise::emulator
