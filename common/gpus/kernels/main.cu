// Runs whole Hopper kernels, checks their results, and prints their times as
// JSON lines.
//
// usage   hopper-kernels [--once] [--large] [NAME...]
//         --large: runs products of 4096 x 4096 matrices instead
//         --once: runs each kernel once and no other kernels, for a profiler
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "common/gpus/kernels/copies.cuh"
#include "common/gpus/kernels/products.cuh"
#include "common/gpus/measure/timing.cuh"

namespace {

using namespace stepwise::hopper;
using stepwise::measure::device_array;
using stepwise::measure::median;
using stepwise::measure::require;
using bf16 = __nv_bfloat16;

bool is_once = false;
std::vector<std::string> wanted;

struct launch_shape {
  dim3 grid;
  unsigned threads;
  unsigned shared = 0;
  unsigned cluster = 1;
};

template <class... P, class... A>
void launch(void (*kernel)(P...), const launch_shape& s, A... arguments) {
  require(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(s.shared)),
          "cudaFuncSetAttribute");
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {s.cluster, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = s.grid;
  config.blockDim = s.threads;
  config.dynamicSmemBytes = s.shared;
  config.attrs = &attribute;
  config.numAttrs = s.cluster > 1 ? 1 : 0;
  require(cudaLaunchKernelEx(&config, kernel, P(arguments)...), "cudaLaunchKernelEx");
}

struct spin_and_flush {
  static constexpr std::size_t bytes = 256u << 20;
  void* memory = nullptr;
  void run() {
    if (memory == nullptr) require(cudaMalloc(&memory, bytes), "cudaMalloc");
    require(cudaMemsetAsync(memory, 1, bytes), "cudaMemset");
    stepwise::measure::spin<<<1, 1>>>(100'000);
  }
};

bool is_emulated() {
  static const bool is = std::getenv("STEPWISE_TIMES") != nullptr;
  return is;
}

// `is_right` checks the results of the last launch.
void measure(const std::string& name, const std::function<void()>& run,
             const std::function<bool()>& is_right) {
  if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), name) == wanted.end()) return;
  if (is_once) {
    run();
    require(cudaDeviceSynchronize(), name.c_str());
    std::printf("{\"name\": \"%s\", \"right\": %s}\n", name.c_str(), is_right() ? "true" : "false");
    return;
  }
  static spin_and_flush between;
  cudaEvent_t begin, end;
  require(cudaEventCreate(&begin), "cudaEventCreate");
  require(cudaEventCreate(&end), "cudaEventCreate");
  std::vector<double> times;
  const int samples = is_emulated() ? 1 : 15, warm = is_emulated() ? 0 : 3;
  for (int i = 0; i < samples + warm; ++i) {
    if (!is_emulated()) between.run();
    require(cudaEventRecord(begin), "cudaEventRecord");
    run();
    require(cudaEventRecord(end), "cudaEventRecord");
    require(cudaEventSynchronize(end), name.c_str());
    float ms = 0;
    require(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
    if (i >= warm) times.push_back(ms);
  }
  std::sort(times.begin(), times.end());
  std::printf(
      "{\"name\": \"%s\", \"us\": %.3f, \"low_us\": %.3f, \"high_us\": "
      "%.3f, \"right\": %s}\n",
      name.c_str(), median(times) * 1e3, times[times.size() / 10] * 1e3,
      times[times.size() * 9 / 10] * 1e3, is_right() ? "true" : "false");
  std::fflush(stdout);
}

std::vector<bf16> random_values(std::size_t count, unsigned seed) {
  std::mt19937 source(seed);
  std::vector<bf16> values(count);
  for (bf16& v : values)
    v = __float2bfloat16(static_cast<float>(static_cast<int>(source() % 2001) - 1000) / 1000.0f);
  return values;
}
bool is_near(double found, double expected, double size) {
  return std::abs(found - expected) <= 0.01 * size + 0.01 * std::abs(expected);
}

// --- products ---

struct product_case {
  int m, n, k;
  std::vector<bf16> a, b;
  device_array<bf16> at_a, at_b, at_c;
  product_case(int m_, int n_, int k_)
      : m(m_),
        n(n_),
        k(k_),
        a(random_values(std::size_t(m) * k, 1)),
        b(random_values(std::size_t(n) * k, 2)),
        at_a(a.size()),
        at_b(b.size()),
        at_c(std::size_t(m) * n) {
    at_a.upload(a);
    at_b.upload(b);
  }
  bool is_right() const {
    const auto c = at_c.download();
    std::mt19937 source(3);
    for (int i = 0; i < 200; ++i) {
      const std::size_t row = source() % m, col = source() % n;
      double sum = 0;
      for (int x = 0; x < k; ++x)
        sum += double(__bfloat162float(a[row * k + x])) * double(__bfloat162float(b[col * k + x]));
      if (!is_near(__bfloat162float(c[row * n + col]), sum, 1)) return false;
    }
    return true;
  }
  CUtensorMap map(bool of_a, unsigned rows) const {
    CUtensorMap made;
    if (!encode_map(made, of_a ? at_a.data() : at_b.data(), of_a ? m : n, k, rows, tile_k)) {
      std::fputs("cuTensorMapEncodeTiled failed\n", stderr);
      std::exit(1);
    }
    return made;
  }
};

void measure_product(const std::string& name, const product_case& p,
                     const std::function<void(const product_case&)>& run) {
  measure(
      name, [&] { run(p); }, [&] { return p.is_right(); });
}

template <int BM, int BN>
void run_stored(const product_case& p) {
  launch(stored_product<BM, BN>, {dim3(p.n / BN, p.m / BM), BM * 2, (BM + BN) * row_bytes},
         p.at_a.data(), p.at_b.data(), p.at_c.data(), p.n, p.k);
}
template <int BM, int BN>
void run_loaded(const product_case& p) {
  launch(loaded_product<BM, BN>, {dim3(p.n / BN, p.m / BM), BM * 2, (BM + BN) * row_bytes},
         p.map(true, BM), p.map(false, BN), p.at_c.data(), p.n, p.k);
}
template <int BM, int BN, int Stages, int Cluster = 1, int Lag = 0>
std::function<void(const product_case&)> run_ring(unsigned blocks = 0) {
  return [blocks](const product_case& p) {
    using shape = ring<BM, BN, Stages, Cluster, Lag>;
    const unsigned all = static_cast<unsigned>(p.m / BM * (p.n / BN));
    launch(ring_product<BM, BN, Stages, Cluster, Lag>,
           {dim3(blocks == 0 ? all : blocks), shape::threads, shape::shared_bytes, Cluster},
           p.map(true, BM), p.map(false, BN / Cluster), p.at_c.data(), p.m, p.n, p.k);
  };
}
template <int Stages>
void run_warps(const product_case& p) {
  launch(warp_product<Stages>, {dim3(p.n / 128, p.m / 128), 256, Stages * 2 * 128 * 80},
         p.at_a.data(), p.at_b.data(), p.at_c.data(), p.n, p.k);
}

void measure_products() {
  const product_case small(512, 1024, 512), usual(1536, 2816, 1024), deep(768, 1408, 4096),
      waves(3072, 2816, 512), square(2048, 2048, 2048);
  measure_product("stored_64x64", usual, run_stored<64, 64>);
  measure_product("stored_128x128", usual, run_stored<128, 128>);
  measure_product("loaded_64x64", usual, run_loaded<64, 64>);
  measure_product("loaded_128x128", usual, run_loaded<128, 128>);
  measure_product("loaded_128x256", usual, run_loaded<128, 256>);
  measure_product("loaded_64x128_small", small, run_loaded<64, 128>);
  measure_product("ring_64x64_of_4", usual, run_ring<64, 64, 4>());
  measure_product("ring_64x256_of_4", usual, run_ring<64, 256, 4>());
  measure_product("ring_128x64_of_6", deep, run_ring<128, 64, 6>());
  measure_product("ring_128x128_of_2", usual, run_ring<128, 128, 2>());
  measure_product("ring_128x128_of_5", usual, run_ring<128, 128, 5>());
  measure_product("ring_128x128_of_5_deep", deep, run_ring<128, 128, 5>());
  measure_product("ring_128x128_lagging", usual, run_ring<128, 128, 5, 1, 1>());
  measure_product("ring_128x256_of_3", usual, run_ring<128, 256, 3>());
  measure_product("ring_128x256_of_4", usual, run_ring<128, 256, 4>());
  measure_product("ring_128x256_waves", waves, run_ring<128, 256, 4>());
  measure_product("ring_128x256_persistent", waves, run_ring<128, 256, 4>(132));
  measure_product("ring_128x128_persistent", waves, run_ring<128, 128, 6>(132));
  measure_product("ring_128x128_multicast", usual, run_ring<128, 128, 5, 2>());
  measure_product("ring_128x256_multicast", usual, run_ring<128, 256, 4, 2>());
  measure_product("ring_128x256_multicast_persistent", waves, run_ring<128, 256, 4, 2>(132));
  measure_product("ring_128x256_square", square, run_ring<128, 256, 4>());
  measure_product("warps_128x128_of_1", usual, run_warps<1>);
  measure_product("warps_128x128_of_3", usual, run_warps<3>);
  measure_product("warps_128x128_of_4_deep", deep, run_warps<4>);
  measure_product("naive_warps", small, [](const product_case& p) {
    launch(naive_warp_product, {dim3(p.n / 64, p.m / 16), 128}, p.at_a.data(), p.at_b.data(),
           p.at_c.data(), p.n, p.k);
  });
  measure_product("direct_warps", usual, [](const product_case& p) {
    launch(direct_warp_product, {dim3(p.n / 64, p.m / 64), 128}, p.at_a.data(), p.at_b.data(),
           p.at_c.data(), p.n, p.k);
  });
}

void measure_large_products() {
  const product_case p(4096, 4096, 4096);
  measure_product("large_loaded_128x128", p, run_loaded<128, 128>);
  measure_product("large_ring_128x128_of_5", p, run_ring<128, 128, 5>());
  measure_product("large_ring_128x256_of_4", p, run_ring<128, 256, 4>());
  measure_product("large_ring_128x256_persistent", p, run_ring<128, 256, 4>(132));
  measure_product("large_ring_128x256_multicast_persistent", p, run_ring<128, 256, 4, 2>(132));
  measure_product("large_warps_128x128_of_3", p, run_warps<3>);
}

// --- attention ---

template <int Consumers, int Stages>
void measure_attention(const std::string& name, int heads, int length) {
  const std::size_t count = std::size_t(heads) * length * 64;
  const auto q = random_values(count, 4), k = random_values(count, 5), v = random_values(count, 6);
  device_array<bf16> at_q(count), at_k(count), at_v(count), at_o(count);
  at_q.upload(q);
  at_k.upload(k);
  at_v.upload(v);
  CUtensorMap maps[3];
  encode_map(maps[0], at_q.data(), std::uint64_t(heads) * length, 64, 64, 64);
  encode_map(maps[1], at_k.data(), std::uint64_t(heads) * length, 64, 64, 64);
  encode_map(maps[2], at_v.data(), std::uint64_t(heads) * 64, length, 64, 64);
  measure(
      name,
      [&] {
        launch(attention<Consumers, Stages>,
               {dim3(length / (64 * Consumers), heads), (Consumers + 1) * 128,
                (Consumers + 2 * Stages) * 8192 + 1024},
               maps[0], maps[1], maps[2], at_o.data(), length);
      },
      [&] {
        const auto o = at_o.download();
        std::mt19937 source(7);
        for (int i = 0; i < 20; ++i) {
          const std::size_t head = source() % heads, row = head * length + source() % length;
          std::vector<double> weight(length);
          double all = 0;
          for (int j = 0; j < length; ++j) {
            double s = 0;
            for (int x = 0; x < 64; ++x)
              s += double(__bfloat162float(q[row * 64 + x])) *
                   double(__bfloat162float(k[(head * length + j) * 64 + x]));
            all += weight[j] = std::exp2(s);
          }
          for (int x = 0; x < 64; x += 13) {
            double s = 0;
            for (int j = 0; j < length; ++j)
              s += weight[j] / all * double(__bfloat162float(v[(head * 64 + x) * length + j]));
            if (!is_near(__bfloat162float(o[row * 64 + x]), s, 0.5)) return false;
          }
        }
        return true;
      });
}

// --- copies ---

void measure_copies() {
  const std::size_t words = 16u << 20;  // 64 MiB
  std::vector<float> x(words);
  for (std::size_t i = 0; i < words; ++i) x[i] = static_cast<float>(i * 7 % 1001);
  device_array<float> from(words), to(words);
  from.upload(x);
  const auto* const bytes_from = reinterpret_cast<const unsigned char*>(from.data());
  auto* const bytes_to = reinterpret_cast<unsigned char*>(to.data());
  const auto is_copy = [&] { return to.download() == x; };
  const int all = static_cast<int>(words * 4);
  measure(
      "copy_16k_of_4",
      [&] {
        launch(copy_chunks<16384, 4>, {132, 32, 65536}, bytes_from, bytes_to, all / 16384);
      },
      is_copy);
  measure(
      "copy_4k_of_3",
      [&] {
        launch(copy_chunks<4096, 3>, {528, 32, 12288}, bytes_from, bytes_to, all / 4096);
      },
      is_copy);
  measure(
      "copy_1k_of_8",
      [&] {
        launch(copy_chunks<1024, 8>, {1056, 32, 8192}, bytes_from, bytes_to, all / 1024);
      },
      is_copy);
  const int rows = 4096, cols = 8192;  // of 16 bits
  CUtensorMap in, out, transposed;
  encode_map(in, from.data(), rows, cols, 64, 64);
  encode_map(out, to.data(), rows, cols, 64, 64);
  encode_map(transposed, to.data(), cols, rows, 64, 64);
  measure(
      "copy_boxes",
      [&] {
        launch(copy_box, {dim3(cols / 64, rows / 64), 32, 8192}, in, out);
      },
      is_copy);
  for (const unsigned threads : {128u, 512u})
    measure(
        "transpose_boxes_by_" + std::to_string(threads),
        [&] {
          launch(transpose_boxes, {dim3(cols / 64, rows / 64), threads, 16384}, in, transposed);
        },
        [&] {
          const auto found = to.download();
          const auto* const t = reinterpret_cast<const unsigned short*>(found.data());
          const auto* const s = reinterpret_cast<const unsigned short*>(x.data());
          for (int i = 0; i < 10000; ++i) {
            const std::size_t r = i * 37 % rows, c = i * 101 % cols;
            if (t[c * rows + r] != s[r * cols + c]) return false;
          }
          return true;
        });
  const auto is_scaled = [&] {
    const auto found = to.download();
    for (std::size_t i = 0; i < words; ++i)
      if (found[i] != 3 * x[i] + 1) return false;
    return true;
  };
  measure(
      "scale_of_2",
      [&] {
        launch(scale_chunks<2>, {264, 160, 4 * 8192}, from.data(), to.data(), all / 8192);
      },
      is_scaled);
  measure(
      "scale_of_6",
      [&] {
        launch(scale_chunks<6>, {264, 160, 8 * 8192}, from.data(), to.data(), all / 8192);
      },
      is_scaled);
  const auto is_sum = [&] {
    const auto found = to.download();
    double sum = 0, expected = 0;
    for (int i = 0; i < 256; ++i) sum += found[i];
    for (const float v : x) expected += v;
    return is_near(sum, expected, 0) || is_near(sum, 18 * expected, 0);  // one sum per launch
  };
  const auto clear = [&] { require(cudaMemset(to.data(), 0, words * 4), "cudaMemset"); };
  clear();
  measure(
      "sum_of_4",
      [&] {
        launch(sum_chunks<4>, {132, 288, 4 * 16384}, from.data(), to.data(), all / 16384);
      },
      is_sum);
  clear();
  measure(
      "sum_of_2",
      [&] {
        launch(sum_chunks<2>, {264, 288, 2 * 16384}, from.data(), to.data(), all / 16384);
      },
      is_sum);
  for (const int places : {8192, 16}) {
    clear();
    measure(
        "add_rows_to_" + std::to_string(places),
        [&] {
          launch(add_rows, {512, 32, 8192}, from.data(), to.data(), 16, places);
        },
        [&] {
          const auto found = to.download();
          double sum = 0, expected = 0;
          for (int i = 0; i < places * 1024; ++i) sum += found[i];
          for (int i = 0; i < 8192 * 1024; ++i) expected += x[i];
          return is_near(sum, expected, 0) || is_near(sum, 18 * expected, 0);
        });
  }
}

// --- clusters ---

void measure_clusters() {
  const int count = 8 << 20;
  std::vector<unsigned> values(count);
  std::mt19937 source(8);
  for (unsigned& v : values) v = source();
  device_array<unsigned> at(count), to(1 << 20);
  at.upload(values);
  const auto clear = [&] { require(cudaMemset(to.data(), 0, 4u << 20), "cudaMemset"); };
  const auto histogram = [&](const std::string& name, auto kernel, int cluster) {
    clear();
    measure(
        name,
        [&] {
          launch(kernel, {static_cast<unsigned>(132 / cluster * cluster), 512}, at.data(),
                 to.data(), count);
        },
        [&] {
          const auto found = to.download();
          std::vector<unsigned> expected(2048 * cluster);
          for (const unsigned v : values) ++expected[v % expected.size()];
          const unsigned launches = found[0] / std::max(1u, expected[0]);
          for (std::size_t i = 0; i < expected.size(); ++i)
            if (found[i] != expected[i] * launches) return false;
          return launches > 0;
        });
  };
  histogram("cluster_histogram_of_2", cluster_histogram<2>, 2);
  histogram("cluster_histogram_of_4", cluster_histogram<4>, 4);
  std::vector<float> line(256 * 8192);
  for (std::size_t i = 0; i < line.size(); ++i) line[i] = static_cast<float>(i * 13 % 257);
  device_array<float> x(line.size()), y(line.size());
  x.upload(line);
  const auto smoothed = [&](int cluster, int steps) {
    const auto found = y.download();
    const int size = cluster * 1024;
    std::vector<float> now(line.begin(), line.begin() + size), next(size);
    for (int s = 0; s < steps; ++s) {
      for (int i = 0; i < size; ++i) {
        const float left = i == 0 ? 0 : now[i - 1], right = i + 1 == size ? 0 : now[i + 1];
        next[i] = 0.25f * left + 0.5f * now[i] + 0.25f * right;
      }
      now.swap(next);
    }
    for (int i = 0; i < size; ++i)
      if (!is_near(found[i], now[i], 0.1)) return false;
    return true;
  };
  measure(
      "smooth_in_2",
      [&] {
        launch(smooth<2>, {128, 1024}, x.data(), y.data(), 40);
      },
      [&] { return smoothed(2, 40); });
  measure(
      "smooth_in_8",
      [&] {
        launch(smooth<8>, {128, 1024}, x.data(), y.data(), 40);
      },
      [&] { return smoothed(8, 40); });
  const auto summed = [&](int cluster, int rounds) {
    const auto found = y.download();
    for (int t = 0; t < 512; t += 37) {
      double sum = 0;
      for (int r = 0; r < rounds; ++r)
        for (int i = 0; i < 4; ++i)
          for (int j = 0; j < 4; ++j)
            sum += line[static_cast<std::size_t>(r % cluster) * 8192 + (t + i * 512) * 4 + j];
      if (!is_near(found[t], sum, 0)) return false;
    }
    return true;
  };
  measure(
      "sum_of_cluster_of_2",
      [&] {
        launch(sum_of_cluster<2>, {256, 512, 32768}, x.data(), y.data(), 32);
      },
      [&] { return summed(2, 32); });
  measure(
      "sum_of_cluster_of_4",
      [&] {
        launch(sum_of_cluster<4>, {128, 512, 32768}, x.data(), y.data(), 64);
      },
      [&] { return summed(4, 64); });
  std::vector<unsigned> table(8192);
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<unsigned>(i * 2654435761u);
  device_array<unsigned> at_table(table.size());
  at_table.upload(table);
  CUtensorMap map;
  encode_map(map, at_table.data(), 256, 64, 32, 64, false);
  const auto looked_up = [&](int blocks) {
    const auto found = to.download();
    const auto* const of = reinterpret_cast<const unsigned short*>(table.data());
    for (int t = 0; t < blocks * 256; t += 97) {
      unsigned sum = 0;
      for (int i = t; i < count; i += blocks * 256) sum += of[values[i] % 16384];
      if (found[t] != sum) return false;
    }
    return true;
  };
  measure(
      "look_up_in_2",
      [&] {
        launch(look_up<2>, {528, 256, 32768}, map, at.data(), to.data(), count);
      },
      [&] { return looked_up(528); });
  measure(
      "look_up_in_4",
      [&] {
        launch(look_up<4>, {1056, 256, 32768}, map, at.data(), to.data(), count);
      },
      [&] { return looked_up(1056); });
}

}  // namespace

int main(int count, char** words) {
  bool is_large = false;
  for (int i = 1; i < count; ++i) {
    if (std::strcmp(words[i], "--once") == 0)
      is_once = true;
    else if (std::strcmp(words[i], "--large") == 0)
      is_large = true;
    else
      wanted.push_back(words[i]);
  }
  try {
    if (is_large) {
      measure_large_products();
      return 0;
    }
    measure_products();
    measure_attention<1, 2>("attention_by_1", 8, 1024);
    measure_attention<2, 2>("attention_by_2", 8, 1024);
    measure_attention<3, 4>("attention_by_3", 8, 1536);
    measure_copies();
    measure_clusters();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hopper-kernels: %s\n", error.what());
    return 1;
  }
  return 0;
}
