// matmul baseline: OpenBLAS on the CPU, whose inner loops are written for each kind of CPU by hand.
//
// watch   It looks its CPU up in a table. A CPU that is newer than the library is taken for one of
//         2004, with vectors of 4 floats. The program then restarts and names a kind itself. `sudo
//         apt-get install libopenblas-dev`, then `ninja -C build baselines` build this baseline;
//         nothing else needs the library.
// source  OpenBLAS's cblas.h, and its README on OPENBLAS_CORETYPE.
#include <cblas.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "common/cpu/cpu.hpp"
#include "labs/matmul/matmul.hpp"

namespace {

constexpr const char* kind_variable = "OPENBLAS_CORETYPE";  // read when the library is loaded

[[gnu::constructor]] void use_all_of_this_cpu(int, char** arguments, char**) {
  const bool is_unknown = std::strcmp(openblas_get_corename(), "Prescott") == 0;
  if (!is_unknown || std::getenv(kind_variable) != nullptr || !__builtin_cpu_supports("avx2"))
    return;
  const bool has_512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                       __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  setenv(kind_variable, has_512 ? "SkylakeX" : "Haswell", 1);
  execv("/proc/self/exe", arguments);  // if this fails, the program continues as it is
}

}  // namespace

void matmul(const float* a, const float* b, float* c, int n) {
  static const bool is_set = (openblas_set_num_threads(stepwise::host::thread_count()), true);
  static_cast<void>(is_set);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a, n, b, n, 0, c, n);
}
