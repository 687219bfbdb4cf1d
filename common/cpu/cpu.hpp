// The CPU that this process runs on: what a record says of it, and how many threads to use.
//
// tested  common/cpu/tests/host_test.cpp
#pragma once

#include <string>
#include <string_view>

namespace stepwise::host {

// "Intel(R) Xeon(R) Platinum 8480C"; "an unknown CPU" if Linux does not say.
std::string cpu_name();

// How many threads compute at a time here: as many as OMP_NUM_THREADS says, as in programs with
// OpenMP; else the CPUs that this process may run on, but no more than its control group's share of
// them allows. At least 1.
int thread_count();

// The same of /proc/cpuinfo's text, of a control group's cpu.max ("200000 100000", "max 100000"),
// and of OMP_NUM_THREADS; "" and 0: they do not say.
std::string name_in(std::string_view cpuinfo);
int cpus_of_quota(std::string_view cpu_max);
int threads_wanted(std::string_view omp_num_threads);

}  // namespace stepwise::host
