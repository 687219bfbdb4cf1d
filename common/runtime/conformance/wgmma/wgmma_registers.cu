// setmaxnreg: warpgroups that pass registers to each other, one that waits until others have freed
// enough, and kernels for which ptxas ignores the instruction because they have no launch bounds.
#include "common/emulator/tests/programs/program.hpp"

constexpr int group = 128, groups = 3;

template <int Registers>
__device__ void fewer() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers) : "memory");
}
template <int Registers>
__device__ void more() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers) : "memory");
}

// 168 registers per thread at entry: 24 + 2 * 240 = 3 * 168. The consumers cannot continue before
// the producer has freed its registers, and by then it has set the flag.
__global__ void __launch_bounds__(groups* group, 1) roles(int* out) {
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x < group) {
    if (threadIdx.x == 0) flag = 7;
    __threadfence_block();
    asm volatile("bar.sync 1, 128;" ::: "memory");
    fewer<24>();
  } else {
    more<240>();
    out[threadIdx.x] = flag;
  }
  __syncthreads();
  if (threadIdx.x < group) out[threadIdx.x] = flag + 1;
}

// 128 registers per thread at entry, which go from group to group: 24 + 232 = 2 * 128.
__global__ void __launch_bounds__(2 * group, 2) in_turn(int* out) {
  const int mine = threadIdx.x / group;
  int sum = 0;
  for (int turn = 0; turn < 4; ++turn) {
    if (turn % 2 == mine)
      fewer<24>();
    else
      more<232>();
    sum += turn * (mine + 1);
    __syncthreads();
    if (turn % 2 == mine)
      more<128>();
    else
      fewer<128>();
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}

__global__ void __maxnreg__(128) within_limit(int* out) {
  fewer<40>();
  out[threadIdx.x] = 1;
  __syncthreads();
  more<128>();
  out[threadIdx.x] += 1;
}

// Without bounds, the count at entry is unknown. All warps ask for more registers than there are.
__global__ void without_bounds(int* out) {
  more<240>();
  out[threadIdx.x] = 3;
}
__global__ void __launch_bounds__(groups* group) with_half_of_the_bounds(int* out) {
  more<240>();
  out[threadIdx.x] = 4;
}

std::vector<int> run(void (*kernel)(int*), int threads) {
  const device_array<int> out(threads);
  kernel<<<1, threads>>>(out.get());
  finish();
  return out.values();
}

int main() {
  std::vector<int> of_roles(groups * group, 7), of_turns(2 * group, 6);
  std::fill_n(of_roles.begin(), group, 8);
  std::fill_n(of_turns.begin() + group, group, 12);
  int wrong = compare("producer and consumers", run(roles, groups * group), of_roles);
  wrong |= compare("registers in turn", run(in_turn, 2 * group), of_turns);
  wrong |= compare("within a limit", run(within_limit, group), std::vector<int>(group, 2));
  wrong |= compare("without bounds", run(without_bounds, groups * group),
                   std::vector<int>(groups * group, 3));
  wrong |= compare("half of the bounds", run(with_half_of_the_bounds, groups * group),
                   std::vector<int>(groups * group, 4));
  return wrong;
}
