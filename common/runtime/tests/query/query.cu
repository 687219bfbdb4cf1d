// Asks a CUDA runtime everything that ours must answer in the same way, and prints the answers.
//
// idea    Each section is a child process, so that a fault ends with it. query.expected is the
//         output with NVIDIA's runtime on an H200, and query.differences lists intended
//         differences. Questions that crash NVIDIA's runtime are not asked.
// record  LD_LIBRARY_PATH=FOLDER_OF_NVIDIA_RUNTIME runtime_query > query.expected, built with nvcc
//         13.0. Differences from the last record are changes of NVIDIA's runtime, or of ptxas.
#include "common/runtime/tests/query/ask.h"
#include "common/runtime/tests/query/device.h"
#include "common/runtime/tests/query/launch.h"
#include "common/runtime/tests/query/memory.h"
#include "common/runtime/tests/query/objects.h"
#include "common/runtime/tests/query/shared.h"

int main(int argc, char** argv) {
  const char* only = argc > 1 ? argv[1] : nullptr;
#define R(f) \
  if (!only || strcmp(only, #f) == 0) section(#f, f)
  R(versions);
  R(attributes);
  R(properties);
  R(functions);
  R(occupancy);
  R(limits);
  R(nonsticky);
  R(copies);
  R(pointers);
  R(symbols);
  R(launches);
  R(bad_args);
  R(sticky);
  R(sticky_reset_before_get);
  R(sticky_memcpy);
  R(sticky_free);
  R(sticky_then_nonsticky);
  R(f_trap);
  R(f_misaligned);
  R(f_null);
  R(f_host);
  R(f_near);
  R(f_shared);
  R(f_shared_near);
  R(f_shared_mis);
  R(f_local);
  R(events);
  R(streams);
  R(threads);
  R(corrupt_zero);
  R(corrupt_empty);
  R(corrupt_magic);
  R(corrupt_version);
  R(corrupt_null);
  R(devices);
  R(managed);
  R(pools);
  R(boxes);
  R(peers);
  R(libraries);
}
