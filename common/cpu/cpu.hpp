// The CPU that this process runs on: its name for records, and how many threads to use.
//
// tested  common/cpu/tests/host_test.cpp
#pragma once

#include <string>
#include <string_view>

namespace stepwise::host {

// "Intel(R) Xeon(R) Platinum 8480C"; "an unknown CPU" if Linux does not report a name.
std::string cpu_name();

// The number of threads that compute at a time: OMP_NUM_THREADS, as in programs with OpenMP, or
// otherwise the number of CPUs that this process may run on, limited by its control group's share
// of those CPUs. At least 1.
int thread_count();

// Each reads one of these values from the text of /proc/cpuinfo, of a control group's cpu.max
// ("200000 100000" or "max 100000"), and of OMP_NUM_THREADS. "" or 0 if the text has no such value.
std::string name_in(std::string_view cpuinfo);
int cpus_of_quota(std::string_view cpu_max);
int threads_wanted(std::string_view omp_num_threads);

}  // namespace stepwise::host
