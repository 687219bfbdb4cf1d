// Measures Hopper's tensor cores: the cycles of wgmma by shape, source of A and
// depth, the cycles of mma by shape and type, and the clock under load.
#include "common/gpus/measure/hopper.cuh"
#include "common/gpus/measure/timing.cuh"

namespace stepwise::measure {
namespace {

constexpr unsigned tile_bytes = 8192;  // 64 rows of 64 bf16 values

struct product_place {
  std::uint64_t a, b;  // descriptors
};

// Each warpgroup has its own A. All share one B.
__device__ product_place place_tiles() {
  extern __shared__ __align__(1024) unsigned char tiles[];
  const unsigned base = hopper::shared_address(tiles);
  return {hopper::tile_descriptor(base + 4 * tile_bytes + threadIdx.x / 128 * tile_bytes),
          hopper::tile_descriptor(base)};
}
constexpr unsigned product_bytes = 8 * tile_bytes;

__device__ void fill_tiles(unsigned seed) {
  extern __shared__ __align__(1024) unsigned char tiles[];
  auto* const words = reinterpret_cast<unsigned*>(tiles);
  for (unsigned i = threadIdx.x; i < product_bytes / 4; i += blockDim.x) {
    unsigned x = (i + 1) * 2654435761u * seed;
    x ^= x >> 15;
    // Two bf16 values between 1 and 2, or zeros.
    words[i] = seed == 0 ? 0 : (x & 0x007f007fu) | 0x3f803f80u | (x & 0x80008000u);
  }
  hopper::fence_proxy();
  __syncthreads();
}

template <int N, bool Registers, int PerGroup, int Pending>
__global__ void products(int groups, unsigned seed, float* to, bool keeps, span* spans,
                         unsigned long long* ns) {
  fill_tiles(seed);
  const product_place at = place_tiles();
  float d[N / 2];
  for (float& x : d) x = 0;
  const unsigned a[4] = {seed, seed + 1, seed + 2, seed + 3};
  unsigned long long from = 0, until = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(from));
  const long long begin = clock64();
  for (int g = 0; g < groups; ++g) {
    hopper::products_begin();
#pragma unroll
    for (int i = 0; i < PerGroup; ++i) {
      if constexpr (Registers)
        hopper::product<N>::of_registers(d, a, at.b + 2 * (i % 4), 1);
      else
        hopper::product<N>::of_shared(d, at.a + 2 * (i % 4), at.b + 2 * (i % 4), 1);
    }
    hopper::products_commit();
    hopper::products_wait<Pending>();
  }
  hopper::products_wait<0>();
  note_span(spans, begin);
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(until));
  if (threadIdx.x == 0) ns[blockIdx.x] = until - from;
  if (keeps)
    for (int i = 0; i < N / 2; ++i) to[threadIdx.x * N / 2 + i] = d[i];
}

struct product_rig {
  device_array<float> to{512 * 128};
  device_array<span> spans{16 * 132};
  device_array<unsigned long long> ns{132};
};

// The multiprocessor's cycles per instruction.
template <int N, bool Registers, int PerGroup, int Pending>
double product_cycles(const effort& e, product_rig& rig, int warpgroups) {
  const auto kernel = products<N, Registers, PerGroup, Pending>;
  require(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, product_bytes),
          "cudaFuncSetAttribute");
  const int groups = e.scaled(1024 / PerGroup, 1);
  std::vector<double> samples;
  for (int i = 0; i < e.samples(); ++i) {
    kernel<<<1, warpgroups * 128, product_bytes>>>(groups, 0, rig.to.data(), false,
                                                   rig.spans.data(), rig.ns.data());
    require(cudaDeviceSynchronize(), "products");
    samples.push_back(median_cycles(rig.spans, 1, warpgroups * 128));
  }
  return median(samples) / (groups * PerGroup * warpgroups);
}

template <int N>
void measure_shape(const effort& e, product_rig& rig, std::vector<figure>& all) {
  const std::string n = std::to_string(N);
  all.push_back({"wgmma_n" + n, "cycles", product_cycles<N, false, 8, 1>(e, rig, 1),
                 "m64n" + n + "k16 of bf16, A and B in shared memory, one warpgroup"});
  all.push_back({"wgmma_n" + n + "_a_in_registers", "cycles",
                 product_cycles<N, true, 8, 1>(e, rig, 1),
                 "m64n" + n + "k16 of bf16, A in registers, one warpgroup"});
  if constexpr (N <= 128) {
    all.push_back({"wgmma_n" + n + "_of_4_warpgroups", "cycles",
                   product_cycles<N, false, 8, 1>(e, rig, 4),
                   "m64n" + n + "k16 of bf16, A and B in shared memory, four warpgroups"});
    all.push_back({"wgmma_n" + n + "_a_in_registers_of_4_warpgroups", "cycles",
                   product_cycles<N, true, 8, 1>(e, rig, 4),
                   "m64n" + n + "k16 of bf16, A in registers, four warpgroups"});
  }
  all.push_back({"wgmma_n" + n + "_of_2_warpgroups", "cycles",
                 product_cycles<N, false, 8, 1>(e, rig, 2),
                 "m64n" + n + "k16 of bf16, A and B in shared memory, two warpgroups"});
}

template <int N>
void measure_depth(const effort& e, product_rig& rig, std::vector<figure>& all) {
  const std::string n = "wgmma_n" + std::to_string(N);
  all.push_back({n + "_alone", "cycles", product_cycles<N, false, 1, 0>(e, rig, 1),
                 "a wait after each instruction"});
  all.push_back({n + "_in_fours", "cycles", product_cycles<N, false, 4, 0>(e, rig, 1),
                 "groups of four instructions; a wait after each group"});
  all.push_back({n + "_in_fours_ahead", "cycles", product_cycles<N, false, 4, 1>(e, rig, 1),
                 "groups of four instructions; a wait for the group before the last"});
  all.push_back({n + "_a_in_registers_in_fours", "cycles", product_cycles<N, true, 4, 0>(e, rig, 1),
                 "A in registers, groups of four instructions; a wait after each group"});
  all.push_back({n + "_in_fours_of_2_warpgroups", "cycles",
                 product_cycles<N, false, 4, 0>(e, rig, 2),
                 "two warpgroups with groups of four instructions; a wait "
                 "after each group"});
}

// --- mma ---

#define MMA(name_, form_, a_, b_)                                                                  \
  struct name_ {                                                                                   \
    static constexpr const char* name = #name_;                                                    \
    __device__ static void step(unsigned (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]); \
  };                                                                                               \
  __device__ void name_::step(unsigned(&d)[4], const unsigned(&a)[4], const unsigned(&b)[2]) {     \
    asm volatile("mma.sync.aligned." form_ " {%0, %1, %2, %3}, " a_ ", " b_ ", {%0, %1, %2, %3};"  \
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                  \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));              \
  }
#define MMA2(name_, form_, a_, b_)                                                                 \
  struct name_ {                                                                                   \
    static constexpr const char* name = #name_;                                                    \
    __device__ static void step(unsigned (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]); \
  };                                                                                               \
  __device__ void name_::step(unsigned(&d)[4], const unsigned(&a)[4], const unsigned(&b)[2]) {     \
    asm volatile("mma.sync.aligned." form_ " {%0, %1}, " a_ ", " b_ ", {%0, %1};"                  \
                 : "+r"(d[0]), "+r"(d[1])                                                          \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));              \
  }
// The registers of A and B follow the accumulators.
MMA(mma_m16n8k16_bf16, "m16n8k16.row.col.f32.bf16.bf16.f32", "{%4, %5, %6, %7}", "{%8, %9}")
MMA(mma_m16n8k16_f16, "m16n8k16.row.col.f32.f16.f16.f32", "{%4, %5, %6, %7}", "{%8, %9}")
MMA(mma_m16n8k8_f16, "m16n8k8.row.col.f32.f16.f16.f32", "{%4, %5}", "{%8}")
MMA(mma_m16n8k8_tf32, "m16n8k8.row.col.f32.tf32.tf32.f32", "{%4, %5, %6, %7}", "{%8, %9}")
MMA(mma_m16n8k4_tf32, "m16n8k4.row.col.f32.tf32.tf32.f32", "{%4, %5}", "{%8}")
MMA(mma_m16n8k32_s8, "m16n8k32.row.col.s32.s8.s8.s32", "{%4, %5, %6, %7}", "{%8, %9}")
MMA(mma_m16n8k16_s8, "m16n8k16.row.col.s32.s8.s8.s32", "{%4, %5}", "{%8}")
MMA2(mma_m16n8k16_f16_to_f16, "m16n8k16.row.col.f16.f16.f16.f16", "{%2, %3, %4, %5}", "{%6, %7}")

struct mma_m8n8k4_f64 {
  static constexpr const char* name = "mma_m8n8k4_f64";
  __device__ static void step(unsigned (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm volatile(
        "{ .reg .f64 x, y, a, b; mov.b64 x, {%0, %1}; mov.b64 y, {%2, %3};\n"
        "mov.b64 a, {%4, %5}; mov.b64 b, {%6, %7};\n"
        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {x, y}, {a}, {b}, {x, "
        "y};\n"
        "mov.b64 {%0, %1}, x; mov.b64 {%2, %3}, y; }"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]));
  }
};

template <class Kind, int Chains>
__global__ void small_products(int rounds, unsigned seed, unsigned* to, span* spans) {
  unsigned d[Chains][4], a[4], b[2];
  for (int c = 0; c < Chains; ++c)
    for (unsigned i = 0; i < 4; ++i) d[c][i] = seed;
  for (unsigned i = 0; i < 4; ++i) a[i] = seed + i;
  for (unsigned i = 0; i < 2; ++i) b[i] = seed + i;
  __syncthreads();
  const long long begin = clock64();
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int u = 0; u < 8; ++u) {
#pragma unroll
      for (int c = 0; c < Chains; ++c) Kind::step(d[c], a, b);
    }
  }
  note_span(spans, begin);
  unsigned sum = 0;
  for (int c = 0; c < Chains; ++c)
    for (unsigned i = 0; i < 4; ++i) sum += d[c][i];
  to[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

template <class Kind>
void measure_mma(const effort& e, std::vector<figure>& all) {
  device_array<unsigned> to(1024);
  device_array<span> spans(32);
  const int rounds = e.scaled(128, 1);
  const auto typical = [&](int threads, auto launch) {
    std::vector<double> samples;
    for (int i = 0; i < e.samples(); ++i) {
      launch();
      require(cudaDeviceSynchronize(), Kind::name);
      samples.push_back(median_cycles(spans, 1, threads));
    }
    return median(samples);
  };
  const double full = typical(
      512, [&] { small_products<Kind, 4><<<1, 512>>>(rounds, 0, to.data(), spans.data()); });
  all.push_back({std::string(Kind::name) + "_rate", "warp instructions / clock / multiprocessor",
                 rounds * 8.0 * 4 * 16 / full,
                 "512 threads with four chains of dependent instructions each"});
  const double one =
      typical(32, [&] { small_products<Kind, 1><<<1, 32>>>(rounds, 0, to.data(), spans.data()); });
  all.push_back({std::string(Kind::name) + "_latency", "cycles", one / (rounds * 8.0),
                 "one warp; each instruction depends on the previous one"});
}

// The clock while every multiprocessor multiplies, in the given millisecond of
// the load.
void measure_clock(int multiprocessors, const effort& e, product_rig& rig,
                   std::vector<figure>& all) {
  const auto kernel = products<256, false, 8, 1>;
  require(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, product_bytes),
          "cudaFuncSetAttribute");
  const int groups = e.scaled(1800, 1), launches = e.scaled(300, 1);  // about 1 ms each
  for (const unsigned seed : {0u, 1u}) {
    const std::string data = seed == 0 ? "zeros" : "random_values";
    std::vector<double> ghz;
    for (int i = 0; i < launches; ++i) {
      kernel<<<multiprocessors, 256, product_bytes>>>(groups, seed, rig.to.data(), false,
                                                      rig.spans.data(), rig.ns.data());
      require(cudaDeviceSynchronize(), "products");
      ghz.push_back(median_cycles(rig.spans, 1, 256) / static_cast<double>(rig.ns.download()[0]));
    }
    for (const int at : {0, 1, 3, 10, 30, 100, 299})
      if (at < launches)
        all.push_back({"tensor_clock_" + data + "_after_" + std::to_string(at) + "_ms", "GHz",
                       ghz[static_cast<std::size_t>(at)],
                       "every multiprocessor executes m64n256k16 of bf16 without a "
                       "break"});
  }
}

}  // namespace

void measure_tensor(int multiprocessors, const effort& e, std::vector<figure>& all) {
  product_rig rig;
  measure_shape<8>(e, rig, all);
  measure_shape<16>(e, rig, all);
  measure_shape<32>(e, rig, all);
  measure_shape<64>(e, rig, all);
  measure_shape<96>(e, rig, all);
  measure_shape<128>(e, rig, all);
  measure_shape<192>(e, rig, all);
  measure_shape<256>(e, rig, all);
  measure_depth<64>(e, rig, all);
  measure_depth<128>(e, rig, all);
  measure_depth<256>(e, rig, all);
  measure_mma<mma_m16n8k16_bf16>(e, all);
  measure_mma<mma_m16n8k16_f16>(e, all);
  measure_mma<mma_m16n8k8_f16>(e, all);
  measure_mma<mma_m16n8k8_tf32>(e, all);
  measure_mma<mma_m16n8k4_tf32>(e, all);
  measure_mma<mma_m16n8k32_s8>(e, all);
  measure_mma<mma_m16n8k16_s8>(e, all);
  measure_mma<mma_m16n8k16_f16_to_f16>(e, all);
  measure_mma<mma_m8n8k4_f64>(e, all);
  measure_clock(multiprocessors, e, rig, all);
}

}  // namespace stepwise::measure
