// Reads /proc/cpuinfo, OMP_NUM_THREADS, the CPUs on which this process may run, and its cgroup's
// quota.
#include "common/cpu/cpu.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

namespace stepwise::host {
namespace {

constexpr long most_threads = 1024;

std::string content(const char* file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// The positive number at the start of the text; 0 if there is none.
long leading_number(std::string_view text) {
  long number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return std::max(number, 0l);
}

}  // namespace

std::string name_in(std::string_view cpuinfo) {
  const auto line = cpuinfo.find("model name");
  if (line == std::string_view::npos) return "";
  const auto end = std::min(cpuinfo.find('\n', line), cpuinfo.size());
  const auto colon = cpuinfo.find(": ", line);
  return colon < end ? std::string(cpuinfo.substr(colon + 2, end - colon - 2)) : "";
}

int cpus_of_quota(std::string_view cpu_max) {
  const long quota = leading_number(cpu_max);  // "max" is not a number
  const auto blank = cpu_max.find(' ');
  const long period = blank < cpu_max.size() ? leading_number(cpu_max.substr(blank + 1)) : 0;
  if (quota == 0 || period == 0) return 0;
  return static_cast<int>(std::max(1l, quota / period));
}

int threads_wanted(std::string_view omp_num_threads) {
  return static_cast<int>(std::min(leading_number(omp_num_threads), most_threads));
}

std::string cpu_name() {
  const std::string name = name_in(content("/proc/cpuinfo"));
  return name.empty() ? "an unknown CPU" : name;
}

int thread_count() {
  if (const char* const text = std::getenv("OMP_NUM_THREADS"); text != nullptr)
    if (const int wanted = threads_wanted(text); wanted > 0) return wanted;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  const bool known = sched_getaffinity(0, sizeof allowed, &allowed) == 0;  // fails above 1024 CPUs
  const int count =
      known ? CPU_COUNT(&allowed) : static_cast<int>(std::thread::hardware_concurrency());
  const int quota = cpus_of_quota(content("/sys/fs/cgroup/cpu.max"));
  return std::max(1, quota > 0 ? std::min(count, quota) : count);
}

}  // namespace stepwise::host
