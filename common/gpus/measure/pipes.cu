// Arithmetic: the instructions of each kind that a multiprocessor executes per clock, and the
// latency of one instruction.
#include "common/gpus/measure/timing.cuh"

namespace stepwise::measure {
namespace {

constexpr int unrolled = 32;

// One dependent step of each kind. The compiler does not know `a` and `b`. If it could fold several
// equal steps into one, a step is a pair of different instructions and counts as two.
struct fma_f32 {
  using type = float;
  static constexpr const char* name = "fma_f32";
  static constexpr int count = 1;
  __device__ static void step(float& x, float a, float b) {
    asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(a), "f"(b));
  }
};
struct add_f32 {
  using type = float;
  static constexpr const char* name = "add_f32";
  static constexpr int count = 1;
  __device__ static void step(float& x, float a, float) {
    asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(a));
  }
};
struct fma_f64 {
  using type = double;
  static constexpr const char* name = "fma_f64";
  static constexpr int count = 1;
  __device__ static void step(double& x, double a, double b) {
    asm volatile("fma.rn.f64 %0, %0, %1, %2;" : "+d"(x) : "d"(a), "d"(b));
  }
};
struct fma_f16x2 {
  using type = unsigned;
  static constexpr const char* name = "fma_f16x2";
  static constexpr int count = 1;
  __device__ static void step(unsigned& x, unsigned a, unsigned b) {
    asm volatile("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(x) : "r"(a), "r"(b));
  }
};
struct mad_s32 {
  using type = int;
  static constexpr const char* name = "mad_s32";
  static constexpr int count = 1;
  __device__ static void step(int& x, int a, int b) {
    asm volatile("mad.lo.s32 %0, %0, %1, %2;" : "+r"(x) : "r"(a), "r"(b));
  }
};
struct add_xor_s32 {
  using type = int;
  static constexpr const char* name = "add_and_xor_s32";
  static constexpr int count = 2;
  __device__ static void step(int& x, int a, int b) {
    asm volatile("add.s32 %0, %0, %1;\n\txor.b32 %0, %0, %2;" : "+r"(x) : "r"(a), "r"(b));
  }
};
struct min_max_s32 {
  using type = int;
  static constexpr const char* name = "min_and_max_s32";
  static constexpr int count = 2;
  __device__ static void step(int& x, int a, int b) {
    asm volatile("min.s32 %0, %0, %1;\n\tmax.s32 %0, %0, %2;" : "+r"(x) : "r"(a), "r"(b));
  }
};
struct funnel_shift {
  using type = int;
  static constexpr const char* name = "funnel_shift_b32";
  static constexpr int count = 1;
  __device__ static void step(int& x, int a, int b) {
    asm volatile("shf.l.wrap.b32 %0, %0, %1, %2;" : "+r"(x) : "r"(a), "r"(b));
  }
};
struct dot4 {
  using type = int;
  static constexpr const char* name = "dp4a_s32";
  static constexpr int count = 1;
  __device__ static void step(int& x, int a, int b) {
    asm volatile("dp4a.s32.s32 %0, %0, %1, %2;" : "+r"(x) : "r"(a), "r"(b));
  }
};
struct population {
  using type = int;
  static constexpr const char* name = "popc_b32";
  static constexpr int count = 1;
  __device__ static void step(int& x, int, int) { asm volatile("popc.b32 %0, %0;" : "+r"(x)); }
};
struct conversions {
  using type = int;
  static constexpr const char* name = "convert_s32_f32_and_back";
  static constexpr int count = 2;
  __device__ static void step(int& x, int, int) {
    asm volatile("{.reg .f32 t;\n\tcvt.rn.f32.s32 t, %0;\n\tcvt.rzi.s32.f32 %0, t;}" : "+r"(x));
  }
};
struct root {
  using type = float;
  static constexpr const char* name = "rsqrt_f32";
  static constexpr int count = 1;
  __device__ static void step(float& x, float, float) {
    asm volatile("rsqrt.approx.ftz.f32 %0, %0;" : "+f"(x));
  }
};
struct exponential {
  using type = float;
  static constexpr const char* name = "ex2_f32";
  static constexpr int count = 1;
  __device__ static void step(float& x, float, float) {
    asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x));
  }
};
struct shuffle {
  using type = int;
  static constexpr const char* name = "shuffle_b32";
  static constexpr int count = 1;
  __device__ static void step(int& x, int, int) {
    asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 31, -1;" : "+r"(x));
  }
};
struct matrix_transpose {  // 8 x 8 values of 16 bits
  using type = int;
  static constexpr const char* name = "movmatrix_b16";
  static constexpr int count = 1;
  __device__ static void step(int& x, int, int) {
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;" : "+r"(x));
  }
};
struct vote {
  using type = int;
  static constexpr const char* name = "vote_ballot";
  static constexpr int count = 2;  // the vote and the comparison before it
  __device__ static void step(int& x, int a, int) {
    asm volatile("{.reg .pred p;\n\tsetp.gt.s32 p, %0, %1;\n\tvote.sync.ballot.b32 %0, p, -1;}"
                 : "+r"(x)
                 : "r"(a));
  }
};
struct warp_sum {
  using type = int;
  static constexpr const char* name = "redux_add_s32";
  static constexpr int count = 1;
  __device__ static void step(int& x, int, int) {
    asm volatile("redux.sync.add.s32 %0, %0, -1;" : "+r"(x));
  }
};

template <class Kind, int Chains>
__global__ void run(int rounds, typename Kind::type a, typename Kind::type b,
                    typename Kind::type* to, span* spans) {
  typename Kind::type x[Chains];
#pragma unroll
  for (int c = 0; c < Chains; ++c)
    x[c] = threadIdx.x < 4096u * rounds ? a : b;  // the compiler cannot assume a uniform value
  __syncthreads();
  const long long begin = clock64();
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int u = 0; u < unrolled; ++u) {
#pragma unroll
      for (int c = 0; c < Chains; ++c) Kind::step(x[c], a, b);
    }
  }
  __syncthreads();
  note_span(spans, begin);
  typename Kind::type sum = x[0];
#pragma unroll
  for (int c = 1; c < Chains; ++c) sum = sum + x[c];
  to[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

template <class Kind>
void measure_kind(int multiprocessors, const effort& e, std::vector<figure>& all) {
  using type = typename Kind::type;
  constexpr int chains = 4, threads = 1024;
  const int rounds = e.scaled(256, 1);
  const auto blocks = static_cast<std::size_t>(multiprocessors);
  device_array<type> to(blocks * threads);
  device_array<span> spans(blocks * threads / 32);
  const type a = static_cast<type>(1), b = static_cast<type>(0);
  const auto typical = [&](unsigned grid, int block, auto launch) {
    std::vector<double> samples;
    for (int i = 0; i < e.samples(); ++i) {
      launch();
      require(cudaDeviceSynchronize(), Kind::name);
      samples.push_back(median_cycles(spans, grid, block));
    }
    return median(samples);
  };
  const auto grid = static_cast<unsigned>(blocks);
  const double full = typical(grid, threads, [&] {
    run<Kind, chains><<<grid, threads>>>(rounds, a, b, to.data(), spans.data());
  });
  const double steps = static_cast<double>(rounds) * unrolled * Kind::count;
  all.push_back({std::string(Kind::name) + "_rate", "warp instructions / clock / multiprocessor",
                 steps * chains * threads / 32 / full,
                 "1024 threads with four chains of dependent instructions each"});
  const double one =
      typical(1, 32, [&] { run<Kind, 1><<<1, 32>>>(rounds, a, b, to.data(), spans.data()); });
  all.push_back({std::string(Kind::name) + "_latency", "cycles", one / steps,
                 "one warp; each instruction depends on the previous one"});
}

}  // namespace

void measure_pipes(int multiprocessors, const effort& e, std::vector<figure>& all) {
  measure_kind<fma_f32>(multiprocessors, e, all);
  measure_kind<add_f32>(multiprocessors, e, all);
  measure_kind<fma_f64>(multiprocessors, e, all);
  measure_kind<fma_f16x2>(multiprocessors, e, all);
  measure_kind<mad_s32>(multiprocessors, e, all);
  measure_kind<add_xor_s32>(multiprocessors, e, all);
  measure_kind<min_max_s32>(multiprocessors, e, all);
  measure_kind<funnel_shift>(multiprocessors, e, all);
  measure_kind<dot4>(multiprocessors, e, all);
  measure_kind<population>(multiprocessors, e, all);
  measure_kind<conversions>(multiprocessors, e, all);
  measure_kind<root>(multiprocessors, e, all);
  measure_kind<exponential>(multiprocessors, e, all);
  measure_kind<shuffle>(multiprocessors, e, all);
  measure_kind<matrix_transpose>(multiprocessors, e, all);
  measure_kind<vote>(multiprocessors, e, all);
  measure_kind<warp_sum>(multiprocessors, e, all);
  // The whole GPU computes at its own clock for about as long as a lab's kernel. The theoretical
  // peak is compared with this rate.
  const int rounds = e.scaled(4096, 1), blocks = multiprocessors * 2;
  device_array<float> to(static_cast<std::size_t>(blocks) * 1024);
  device_array<span> spans(static_cast<std::size_t>(blocks) * 32);
  const double ms = time_ms(
      e, [&] { run<fma_f32, 8><<<blocks, 1024>>>(rounds, 1.0f, 0.0f, to.data(), spans.data()); });
  all.push_back(
      {"peak_fma_f32", "TFLOP/s", 2.0 * rounds * unrolled * 8 * 1024 * blocks / ms / 1e9,
       "eight chains of dependent instructions in each of a multiprocessor's 2048 threads"});
}

}  // namespace stepwise::measure
