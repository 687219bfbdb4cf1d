// A multiprocessor's paths to memory, and the costs of a loop and of a new block.
#include <algorithm>
#include <cstdint>

#include "common/gpus/measure/timing.cuh"

namespace stepwise::measure {
namespace {

constexpr int line_words = 32;

// A relaxed load with block scope: L1 may serve it, and the compiler does not remove it.
__device__ unsigned load_word(const unsigned* at) {
  unsigned v;
  asm volatile("ld.relaxed.cta.global.u32 %0, [%1];" : "=r"(v) : "l"(at));
  return v;
}

// Each thread loads one word repeatedly.
__device__ void read_again(const unsigned* at, int passes, unsigned* to, span* spans) {
  unsigned sum = load_word(at);
  __syncthreads();
  const long long begin = clock64();
  for (int p = 0; p < passes; p += at_once) {
#pragma unroll
    for (int k = 0; k < at_once; ++k) sum += load_word(at);
  }
  __syncthreads();
  note_span(spans, begin);
  if (sum == 0x12345678u) *to = sum;
}

// 1024 threads repeatedly load words from 32 KiB. A warp's words are in `lines` lines, at the same
// offsets in each line or, with `own_banks`, each in a bank of its own.
__global__ void read_lines(const unsigned* from, int lines, bool own_banks, int passes,
                           unsigned* to, span* spans) {
  const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
  const int line = lane % lines, word = own_banks ? lane : lane / lines;
  const unsigned* at = from + (warp % (256 / 32) * 32 + line) * line_words + word;
  read_again(at, passes, to, spans);
}

// 1024 threads repeatedly load words. Lane i of each warp loads the word at index of_lane[i].
__global__ void read_words(const unsigned* from, const unsigned* of_lane, int passes, unsigned* to,
                           span* spans) {
  const unsigned* at = from + of_lane[threadIdx.x % 32];
  read_again(at, passes, to, spans);
}

// 1024 threads repeatedly load or store words of shared memory. A warp accesses `ways` words in
// each bank that it uses.
template <bool Stores>
__global__ void use_banks(int ways, int passes, unsigned* to, span* spans) {
  __shared__ unsigned words[32 * 32];
  for (unsigned i = threadIdx.x; i < 32 * 32; i += blockDim.x) words[i] = i;
  __syncthreads();
  const unsigned lane = threadIdx.x % 32;
  const unsigned place = lane % ways * 32 + lane / ways;
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(words + place));
  unsigned sum = 0;
  const long long begin = clock64();
  for (int p = 0; p < passes; p += at_once) {
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      if constexpr (Stores) {
        asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(at), "r"(lane));
      } else {
        unsigned v;
        asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(v) : "r"(at));
        sum += v;
      }
    }
  }
  __syncthreads();
  note_span(spans, begin);
  if (sum == 0x12345678u) *to = sum;
}

// One block repeatedly reads 512 KiB, bypassing L1.
__global__ void read_l2_alone(const uint4* from, std::size_t count, int passes, unsigned* to,
                              span* spans) {
  unsigned sum = 0;
  __syncthreads();
  const long long begin = clock64();
  for (int p = 0; p < passes; ++p)
    for (std::size_t i = threadIdx.x; i < count; i += std::size_t{at_once} * blockDim.x) {
      uint4 v[at_once];
#pragma unroll
      for (int k = 0; k < at_once; ++k) v[k] = __ldcg(from + i + k * blockDim.x);
#pragma unroll
      for (int k = 0; k < at_once; ++k) sum += folded(v[k]);
    }
  __syncthreads();
  note_span(spans, begin);
  if (sum == 0x12345678u) *to = sum;
}

// The blocks repeatedly write a small region, which stays in L2.
__global__ void write_l2(uint4* to, std::size_t count, int passes) {
  for (int p = 0; p < passes; ++p)
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
         i += std::size_t{gridDim.x} * blockDim.x)
      to[i] = make_uint4(1, 2, 3, static_cast<unsigned>(p));
}

// Stores one word per sector, or one word in a varying sector of each line.
__global__ void write_l2_words(unsigned* to, std::size_t count, bool in_lines, int passes) {
  for (int p = 0; p < passes; ++p)
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
         i += std::size_t{gridDim.x} * blockDim.x)
      to[in_lines ? line_words * i + (i ^ (i >> 5)) % 4 * 8 : 8 * i] = static_cast<unsigned>(p);
}

// An iteration has sixteen products, each of which needs the previous one, and a branch that does
// not wait for them.
__global__ void loop_of_products(int passes, float by, span* spans, float* to) {
  const long long begin = clock64();
  float product = by;
#pragma unroll 1
  for (int n = passes; n > 0; --n) {
#pragma unroll
    for (int k = 0; k < 16; ++k) product = fmaf(product, by, 1);
  }
  note_span(spans, begin);
  *to = product;
}

// Each iteration needs the sum of the previous one.
__global__ void loop(int passes, span* spans, unsigned* to) {
  const long long begin = clock64();
  unsigned sum = threadIdx.x;
#pragma unroll 1
  for (int n = passes; n > 0; --n) sum = sum * 3 + static_cast<unsigned>(n);
  note_span(spans, begin);
  *to = sum;
}

// Runs for `cycles` of the multiprocessor's clock. The shared memory `room` keeps other blocks off
// the multiprocessor. If `to` is not null, the last instruction of each thread stores a word.
__global__ void occupy(int cycles, unsigned* to) {
  extern __shared__ unsigned room[];
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
  if (cycles < 0) room[threadIdx.x] = 1;
  if (to != nullptr) to[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

// L1 looks up four lines per cycle if they are in four different banks. A line's bank is the
// exclusive or of the contributions of the bits that are set in the line's number; bits 0 and 1
// contribute 1 and 2 by definition. To find the contribution of another bit, a warp loads lines of
// bank 0, and lines of a bank b with this bit set in addition. The loads take longest if all of
// these lines are in bank 0. In that case, b is the contribution of the bit.
void measure_tag_banks(const effort& e, std::vector<figure>& all) {
  constexpr unsigned bits = 20, most_of_bank = 16, sides = 4;
  const unsigned measured = e.scaled(bits, 6U);
  const std::size_t region = std::size_t{line_words} << measured;  // aligned to its size
  const device_array<unsigned> memory(2 * region);
  const std::size_t bytes = region * sizeof(unsigned);
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  const auto* const from = memory.data() + (bytes - address % bytes) % bytes / sizeof(unsigned);
  device_array<unsigned> of_lane(32), sink(1);
  device_array<span> spans(32);
  const int rounds = e.scaled(512, at_once);
  std::vector<unsigned> bank_of_bit = {1, 2};
  const auto lines_of = [&](unsigned bank, unsigned below) {
    std::vector<unsigned> lines;
    for (unsigned line = 0; line < below && lines.size() < most_of_bank; ++line) {
      unsigned found = 0;
      for (unsigned bit = 0; line >> bit != 0; ++bit) found ^= (line >> bit & 1) * bank_of_bit[bit];
      if (found == bank) lines.push_back(line);
    }
    return lines;
  };
  for (unsigned bit = 2; bit < measured; ++bit) {
    const unsigned below = 1U << std::min(bit, 6U);
    double longest = 0;
    unsigned found = 0;
    for (unsigned bank = 0; bank < sides; ++bank) {
      std::vector<unsigned> lines = lines_of(0, below);
      for (const unsigned line : lines_of(bank, below)) lines.push_back(1U << bit | line);
      unsigned words[32];
      for (unsigned lane = 0; lane < 32; ++lane)  // one per bank; spare lanes load the first
        words[lane] = lane < lines.size() ? lines[lane] * line_words + lane : 0;
      require(cudaMemcpy(of_lane.data(), words, sizeof words, cudaMemcpyHostToDevice),
              "cudaMemcpy");
      read_words<<<1, 1024>>>(from, of_lane.data(), rounds, sink.data(), spans.data());
      require(cudaDeviceSynchronize(), "read_words");
      const double cycles = median_cycles(spans, 1, 1024);
      if (cycles > longest) {
        longest = cycles;
        found = bank;
      }
    }
    bank_of_bit.push_back(found);
  }
  bank_of_bit.resize(bits);
  for (unsigned bit = 0; bit < bits; ++bit)
    all.push_back({"l1_tag_bank_of_bit_" + std::to_string(bit), "",
                   static_cast<double>(bank_of_bit[bit]),
                   "the exclusive or of these values, over the bits set in a line's number, tells "
                   "which of four banks looks the line up"});
}

}  // namespace

void measure_multiprocessor(int multiprocessors, const effort& e, std::vector<figure>& all) {
  device_array<unsigned> sink(1);
  device_array<uint4> memory(std::size_t{1} << 23);  // 128 MiB
  const auto blocks = static_cast<unsigned>(multiprocessors);
  device_array<span> spans(std::size_t{blocks} * 32);
  const int rounds = e.scaled(512, at_once);
  for (const bool own_banks : {false, true}) {
    for (const int lines : {1, 2, 4, 8, 16, 32}) {
      read_lines<<<blocks, 1024>>>(reinterpret_cast<const unsigned*>(memory.data()), lines,
                                   own_banks, rounds, sink.data(), spans.data());
      require(cudaDeviceSynchronize(), "read_lines");
      all.push_back({"l1_request_of_" + std::to_string(lines) +
                         (own_banks ? "_lines_in_own_banks" : "_lines"),
                     "cycles", median_cycles(spans, blocks, 1024) / (32.0 * rounds),
                     own_banks ? "the same, but each word is in a different one of the 32 banks"
                               : "1024 threads; a warp's words are in this number of lines of 128 "
                                 "bytes, all in L1, at the same offsets in each line"});
    }
  }

  measure_tag_banks(e, all);
  for (const int ways : {1, 2, 4, 8, 16, 32}) {
    const std::string of = "_of_" + std::to_string(ways) + "_ways";
    use_banks<false><<<blocks, 1024>>>(ways, rounds, sink.data(), spans.data());
    require(cudaDeviceSynchronize(), "use_banks");
    all.push_back({"shared_load" + of, "cycles",
                   median_cycles(spans, blocks, 1024) / (32.0 * rounds),
                   "1024 threads; each bank that holds words of a warp holds this number of them"});
    use_banks<true><<<blocks, 1024>>>(ways, rounds, sink.data(), spans.data());
    require(cudaDeviceSynchronize(), "use_banks");
    all.push_back({"shared_store" + of, "cycles",
                   median_cycles(spans, blocks, 1024) / (32.0 * rounds),
                   "1024 threads; each bank that holds words of a warp holds this number of them"});
  }

  const std::size_t own = std::size_t{1} << 15;  // 512 KiB
  const int passes = e.scaled(32, 1);
  read_l2_alone<<<1, 1024>>>(memory.data(), own, passes, sink.data(), spans.data());
  require(cudaDeviceSynchronize(), "read_l2_alone");
  all.push_back({"l2_read_of_one", "bytes / clock / multiprocessor",
                 16.0 * static_cast<double>(own) * passes / median_cycles(spans, 1, 1024),
                 "one block of 1024 threads reads 512 KiB repeatedly, bypassing L1"});
  const std::size_t count = e.scaled(std::size_t{1} << 20, std::size_t{1} << 14);
  const double write =
      time_ms(e, [&] { write_l2<<<multiprocessors * 8, 256>>>(memory.data(), count, passes); });
  all.push_back({"l2_write", "GB/s", 16.0 * static_cast<double>(count) * passes / write / 1e6,
                 "16 MiB written repeatedly"});
  const auto written_per_ns = [&](std::size_t words, bool in_lines) {
    const double ms = time_ms(e, [&] {
      write_l2_words<<<multiprocessors * 8, 256>>>(reinterpret_cast<unsigned*>(memory.data()),
                                                   words, in_lines, passes);
    });
    return static_cast<double>(words) * passes / ms / 1e6;
  };
  all.push_back({"l2_write_of_words", "sectors / ns", written_per_ns(count / 2, false),
                 "one word per sector of 16 MiB, written repeatedly"});
  all.push_back({"l2_write_of_lines", "lines / ns", written_per_ns(count / 8, true),
                 "one word per line of 16 MiB, in any of its sectors, written repeatedly"});

  const int iterations = e.scaled(4096, 8);
  loop<<<1, 32>>>(iterations, spans.data(), sink.data());
  require(cudaDeviceSynchronize(), "loop");
  all.push_back({"loop_turn", "cycles", median_cycles(spans, 1, 32) / iterations,
                 "one iteration of one warp's loop of a product, a comparison and a branch"});
  loop_of_products<<<1, 32>>>(iterations, 0.5F, spans.data(),
                              reinterpret_cast<float*>(sink.data()));
  require(cudaDeviceSynchronize(), "loop_of_products");
  all.push_back({"loop_turn_of_16_products", "cycles", median_cycles(spans, 1, 32) / iterations,
                 "one iteration of one warp's loop of 16 products, each of which depends on the "
                 "previous one"});

  int most = 0;
  require(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0),
          "cudaDeviceGetAttribute");
  require(cudaFuncSetAttribute(occupy, cudaFuncAttributeMaxDynamicSharedMemorySize, most),
          "cudaFuncSetAttribute");
  const int cycles = e.scaled(4000, 1), few = e.scaled(20, 2), many = e.scaled(220, 4);
  for (const bool stores : {false, true}) {
    for (const int threads : {32, 256, 1024}) {
      unsigned* const to = stores ? reinterpret_cast<unsigned*>(memory.data()) : nullptr;
      const auto waves_us = [&](int of_one, int wait) {
        return 1e3 *
               time_ms(e, [&] { occupy<<<multiprocessors * of_one, threads, most>>>(wait, to); });
      };
      const double each = (waves_us(many, cycles) - waves_us(few, cycles)) / (many - few),
                   longer = (waves_us(many, 2 * cycles) - waves_us(few, 2 * cycles)) / (many - few);
      // In the test on the emulator, times mean nothing, and the difference may be negative.
      all.push_back({(stores ? "block_turnover_behind_stores_of_" : "block_turnover_of_") +
                         std::to_string(threads),
                     "ns", e.small ? 1 : 1e3 * (2 * each - longer),
                     stores ? "the same, but each thread stores a word last"
                            : "from a block's end to the first work of the next block, with one "
                              "block at a time on a multiprocessor"});
    }
  }
}

}  // namespace stepwise::measure
