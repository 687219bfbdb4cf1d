// Measures Hopper's asynchronous copies, mbarriers and clusters: latencies, and
// rates by size, source and number of receiving blocks.
#include <string>

#include "common/gpus/measure/hopper.cuh"
#include "common/gpus/measure/timing.cuh"

namespace stepwise::measure {
namespace {

using namespace hopper;

constexpr unsigned most_shared = 200 * 1024;

template <class... P, class... A>
void launch(void (*kernel)(P...), unsigned blocks, unsigned threads, unsigned cluster,
            unsigned shared, A... arguments) {
  require(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most_shared),
          "cudaFuncSetAttribute");
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {cluster, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = threads;
  config.dynamicSmemBytes = shared;
  config.attrs = &attribute;
  config.numAttrs = cluster > 1 ? 1 : 0;
  require(cudaLaunchKernelEx(&config, kernel, P(arguments)...), "cudaLaunchKernelEx");
}

// --- mbarriers ---

enum class mbarrier_test {
  arrivals,
  arrivals_and_waits,
  ping_pong,
  remote_ping_pong,
  everyone,
  proxy_fences
};

// The cycles are those of block 0's first warp.
__global__ void barrier_times(mbarrier_test what, int rounds, long long* cycles) {
  __shared__ __align__(8) unsigned long long words[2];
  const unsigned first = shared_address(&words[0]), second = shared_address(&words[1]);
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    init_barrier(first, what == mbarrier_test::everyone ? blockDim.x : 1);
    init_barrier(second, 1);
    fence_init();
  }
  __syncthreads();
  if (what == mbarrier_test::remote_ping_pong) cluster_sync();
  const long long begin = clock64();
  switch (what) {
    case mbarrier_test::arrivals:  // each arrival completes a phase
      if (threadIdx.x == 0)
        for (int r = 0; r < rounds; ++r) arrive(first);
      break;
    case mbarrier_test::arrivals_and_waits:
      if (threadIdx.x == 0)
        for (int r = 0; r < rounds; ++r) {
          arrive(first);
          wait_for(first, r & 1);
        }
      break;
    case mbarrier_test::ping_pong:
      if (lane == 0)
        for (int r = 0; r < rounds; ++r) {
          if (warp == 0) arrive(first);
          wait_for(warp == 0 ? second : first, r & 1);
          if (warp == 1) arrive(second);
        }
      break;
    case mbarrier_test::remote_ping_pong:
      if (threadIdx.x == 0) {
        const unsigned rank = cluster_rank();
        for (int r = 0; r < rounds; ++r) {
          if (rank == 0) arrive_remote(first, 1);
          wait_for(first, r & 1);
          if (rank == 1) arrive_remote(first, 0);
        }
      }
      break;
    case mbarrier_test::everyone:
      for (int r = 0; r < rounds; ++r) {
        arrive(first);
        wait_for(first, r & 1);
      }
      break;
    case mbarrier_test::proxy_fences:
      for (int r = 0; r < rounds; ++r) fence_proxy();
      break;
  }
  if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - begin;
  if (what == mbarrier_test::remote_ping_pong) cluster_sync();
}

void measure_mbarriers(const effort& e, std::vector<figure>& all) {
  device_array<long long> cycles(16);
  const int rounds = e.scaled(1024, 2);
  const auto measure = [&](const char* name, mbarrier_test what, unsigned threads, unsigned cluster,
                           const char* text) {
    for (int i = 0; i < 2; ++i) {
      launch(barrier_times, cluster, threads, cluster, 0, what, rounds, cycles.data());
      require(cudaDeviceSynchronize(), name);
    }
    all.push_back({name, "cycles", static_cast<double>(cycles.download()[0]) / rounds, text});
  };
  using enum mbarrier_test;
  measure("mbarrier_arrive", arrivals, 32, 1, "one thread; an arrival completes each phase");
  measure("mbarrier_round", arrivals_and_waits, 32, 1,
          "one thread arrives and waits for the phase, which is complete");
  measure("mbarrier_ping_pong", ping_pong, 64, 1,
          "two warps wait for each other in turn; two arrivals and two waits");
  measure("mbarrier_ping_pong_in_cluster", remote_ping_pong, 32, 2,
          "two blocks of a cluster wait for each other in turn; two arrivals "
          "and two waits");
  for (const unsigned threads : {32u, 128u, 256u, 512u})
    measure(("mbarrier_of_" + std::to_string(threads)).c_str(), everyone, threads, 1,
            "all threads arrive and wait for the phase");
  measure("proxy_fence", proxy_fences, 32, 1, "one fence.proxy.async after the other");
  measure("proxy_fence_of_128", proxy_fences, 128, 1, "the same, by 128 threads");
}

// --- loads ---

// One thread repeatedly loads `bytes` bytes and waits. Each load reads from
// an address `apart` bytes after that of the previous load.
__global__ void wait_for_each(const unsigned char* from, unsigned bytes, unsigned long long apart,
                              unsigned wrap, int rounds, long long* cycles) {
  extern __shared__ __align__(1024) unsigned char to[];
  __shared__ __align__(8) unsigned long long word;
  const unsigned barrier = shared_address(&word);
  init_barrier(barrier, 1);
  fence_init();
  const long long begin = clock64();
  for (int r = 0; r < rounds; ++r) {
    expect_bytes(barrier, bytes);
    load_bytes(shared_address(to), from + static_cast<unsigned>(r) % wrap * apart, bytes, barrier);
    wait_for(barrier, r & 1);
  }
  cycles[0] = clock64() - begin;
}
__global__ void wait_for_each_box(const __grid_constant__ CUtensorMap map, unsigned bytes,
                                  unsigned rows, unsigned wrap, int rounds, long long* cycles) {
  extern __shared__ __align__(1024) unsigned char to[];
  __shared__ __align__(8) unsigned long long word;
  const unsigned barrier = shared_address(&word);
  init_barrier(barrier, 1);
  fence_init();
  const long long begin = clock64();
  for (int r = 0; r < rounds; ++r) {
    expect_bytes(barrier, bytes);
    load_box(shared_address(to), map, 0, static_cast<int>(static_cast<unsigned>(r) % wrap * rows),
             barrier);
    wait_for(barrier, r & 1);
  }
  cycles[0] = clock64() - begin;
}

// --- stores ---

enum class store_test { plain, adds };

__global__ void store_stream(store_test what, unsigned char* to, unsigned long long size,
                             unsigned bytes, unsigned copies, span* spans) {
  extern __shared__ __align__(1024) unsigned char from[];
  if (threadIdx.x != 0) return;
  const unsigned at = shared_address(from);
  const long long begin = clock64();
  for (unsigned n = 0; n < copies; ++n) {
    unsigned char* const place =
        to + (static_cast<unsigned long long>(blockIdx.x) * copies + n) * bytes % size;
    if (what == store_test::plain)
      store_bytes(place, at + n % 4 * bytes, bytes);
    else
      add_floats(reinterpret_cast<float*>(place), at + n % 4 * bytes, bytes);
    commit_copies();
    wait_for_reads<3>();
  }
  wait_for_copies<0>();
  note_span(spans, begin);
}
// The cycles of a store until its source in shared memory may be overwritten, and
// until the store is complete.
__global__ void wait_for_each_store(unsigned char* to, unsigned bytes, bool reads, int rounds,
                                    long long* cycles) {
  extern __shared__ __align__(1024) unsigned char from[];
  const unsigned at = shared_address(from);
  const long long begin = clock64();
  for (int r = 0; r < rounds; ++r) {
    store_bytes(to + static_cast<unsigned>(r) * bytes, at, bytes);
    commit_copies();
    if (reads)
      wait_for_reads<0>();
    else
      wait_for_copies<0>();
  }
  cycles[0] = clock64() - begin;
}

void measure_copies(int multiprocessors, const effort& e, std::vector<figure>& all) {
  const auto blocks = static_cast<unsigned>(multiprocessors);
  const unsigned long long large = e.scaled(1ull << 31, 1ull << 22),
                           small = e.scaled(1ull << 24, 1ull << 20);
  device_array<unsigned char> memory(large);
  device_array<long long> cycles(1);
  device_array<span> spans(blocks * 32);
  const auto flush = [&] { require(cudaMemset(memory.data(), 0, large), "cudaMemset"); };
  const auto once = [&](const std::string& name, double rounds, const char* text, auto run) {
    run();
    require(cudaDeviceSynchronize(), name.c_str());
    all.push_back({name, "cycles", static_cast<double>(cycles.download()[0]) / rounds, text});
  };
  const int rounds = e.scaled(256, 2);
  for (const unsigned bytes : {16u, 128u, 1024u, 4096u, 16384u, 32768u}) {
    const std::string size = "_of_" + std::to_string(bytes);
    for (int i = 0; i < 2; ++i) {
      if (i == 1) all.pop_back();
      once("bulk_load_from_l2" + size, rounds, "one load, waited for; the same bytes again", [&] {
        launch(wait_for_each, 1, 1, 1, 32768, memory.data(), bytes, 0ull, 1u, rounds,
               cycles.data());
      });
    }
    flush();  // leaves the end of the memory in L2
    once("bulk_load_from_dram" + size, rounds, "one load, waited for; other bytes each time", [&] {
      launch(wait_for_each, 1, 1, 1, 32768, memory.data(), bytes, e.scaled(1ull << 19, 1ull << 15),
             4096u, rounds, cycles.data());
    });
  }
  for (const unsigned box : {8u, 64u, 256u}) {  // rows of 128 bytes
    CUtensorMap map;
    if (!encode_map(map, memory.data(), large / 128, 64, box, 64))
      throw std::runtime_error("cuTensorMapEncodeTiled");
    for (int i = 0; i < 2; ++i) {
      if (i == 1) all.pop_back();
      once("tensor_load_from_l2_of_" + std::to_string(box * 128), rounds,
           "one box with rows of 128 bytes, waited for; the same box again", [&] {
             launch(wait_for_each_box, 1, 1, 1, 32768, map, box * 128, box, 1u, rounds,
                    cycles.data());
           });
    }
  }

  const auto rate = [&](const std::string& name, double bytes, const char* text, auto run) {
    std::vector<double> samples;
    for (int i = 0; i < (e.small ? 1 : 5); ++i) {
      run();
      require(cudaDeviceSynchronize(), name.c_str());
      samples.push_back(median_cycles(spans, blocks, 32));
    }
    all.push_back({name, "bytes / clock / multiprocessor", bytes / median(samples), text});
  };
  for (const bool adds : {false, true})
    for (const bool to_l2 : {true, false})
      for (const unsigned bytes : {4096u, 16384u}) {
        const unsigned copies = e.scaled((2u << 20) / bytes, 2u);
        rate(std::string(adds ? "bulk_add" : "bulk_store") + "_stream_to_" +
                 (to_l2 ? "l2" : "dram") + "_of_" + std::to_string(bytes),
             static_cast<double>(bytes) * copies, "1-D copies from shared memory, 4 in flight",
             [&] {
               launch(store_stream, blocks, 32, 1, most_shared,
                      adds ? store_test::adds : store_test::plain, memory.data(),
                      to_l2 ? small : large, bytes, copies, spans.data());
             });
      }
  {
    const unsigned bytes = 4096, copies = e.scaled(128u, 2u);
    rate("bulk_add_stream_to_one_place", static_cast<double>(bytes) * copies,
         "every multiprocessor adds 4 KiB to the same place", [&] {
           launch(store_stream, blocks, 32, 1, most_shared, store_test::adds, memory.data(),
                  4096ull, bytes, copies, spans.data());
         });
  }
  for (const unsigned bytes : {128u, 4096u, 16384u})
    for (const bool reads : {true, false})
      once(std::string(reads ? "bulk_store_read" : "bulk_store") + "_of_" + std::to_string(bytes),
           rounds,
           reads ? "one store, waited for until shared memory may be overwritten"
                 : "one store, waited for until it is complete",
           [&] {
             launch(wait_for_each_store, 1, 1, 1, 65536, memory.data(), bytes, reads, rounds,
                    cycles.data());
           });
}

// --- clusters ---

enum class cluster_test { barriers, adds, chase, copies };

__global__ void cluster_times(cluster_test what, int rounds, unsigned* to, span* spans) {
  extern __shared__ __align__(1024) unsigned char memory[];
  __shared__ __align__(8) unsigned long long words[2];
  unsigned cluster;
  asm volatile("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(cluster));
  const unsigned rank = cluster_rank();
  for (unsigned i = threadIdx.x; i < 16384; i += blockDim.x) memory[i] = 0;
  const unsigned own = shared_address(memory);
  const unsigned there = map_shared(own, (rank + 1) % cluster);
  if (threadIdx.x == 0) {
    for (unsigned long long& word : words) init_barrier(shared_address(&word), 1);
    fence_init();
  }
  cluster_sync();
  const long long begin = clock64();
  unsigned sum = 0;
  switch (what) {
    case cluster_test::barriers:
      for (int r = 0; r < rounds; ++r) cluster_sync();
      break;
    case cluster_test::adds:
      for (int r = 0; r < rounds; ++r) add_cluster(there + threadIdx.x * 4 % 16384, 1);
      break;
    case cluster_test::chase:
      for (int r = 0; r < rounds; ++r) sum = load_cluster(there + sum);
      break;
    case cluster_test::copies:
      // Two barriers in turn: the bytes of the next round may arrive before all of this round's.
      if (threadIdx.x == 0) {
        for (int r = 0; r < rounds; ++r) {
          const unsigned barrier = shared_address(words + r % 2);
          expect_bytes(barrier, 8192);
          send_bytes(there + 8192, own, 8192, map_shared(barrier, (rank + 1) % cluster));
          wait_for(barrier, r / 2 & 1);
        }
      }
      __syncthreads();
      break;
  }
  note_span(spans, begin);
  if (sum != 0) to[threadIdx.x] = sum;
  cluster_sync();
}

__global__ void empty_block() {}

// How many clusters fit on the GPU, with one block per multiprocessor. The emulator does not know
// this number.
void count_clusters(unsigned blocks, std::vector<figure>& all) {
  constexpr int most = 227 * 1024;
  cudaFuncSetAttribute(empty_block, cudaFuncAttributeMaxDynamicSharedMemorySize, most);
  cudaFuncSetAttribute(empty_block, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {blocks, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = 128;
  config.dynamicSmemBytes = most;
  config.attrs = &attribute;
  config.numAttrs = 1;
  int count = 0;
  if (cudaOccupancyMaxActiveClusters(&count, empty_block, &config) == cudaSuccess)
    all.push_back({"clusters_of_" + std::to_string(blocks), "clusters", static_cast<double>(count),
                   "clusters of blocks with 227 KiB of shared memory each that fit on the GPU"});
  cudaGetLastError();
}

void measure_clusters(int multiprocessors, const effort& e, std::vector<figure>& all) {
  device_array<unsigned> to(1024);
  device_array<span> spans(static_cast<std::size_t>(multiprocessors) * 32);
  for (const unsigned cluster : {2u, 4u, 8u}) {
    const unsigned blocks = static_cast<unsigned>(multiprocessors) / 16 * 8;
    const auto cycles = [&](cluster_test what, unsigned threads, int rounds) {
      std::vector<double> samples;
      for (int i = 0; i < e.samples(); ++i) {
        launch(cluster_times, blocks, threads, cluster, 131072, what, rounds, to.data(),
               spans.data());
        require(cudaDeviceSynchronize(), "cluster_times");
        samples.push_back(median_cycles(spans, blocks, static_cast<int>(threads)));
      }
      return median(samples) / rounds;
    };
    const std::string of = "_in_cluster_of_" + std::to_string(cluster);
    const int rounds = e.scaled(256, 2);
    for (const unsigned threads : {32u, 128u, 384u, 1024u})
      all.push_back({"cluster_barrier_of_" + std::to_string(threads) + of, "cycles",
                     cycles(cluster_test::barriers, threads, rounds), "one after the other"});
    all.push_back({"cluster_load_latency" + of, "cycles", cycles(cluster_test::chase, 32, rounds),
                   "dependent loads from the next block's shared memory"});
    all.push_back({"cluster_add" + of, "lanes / clock / multiprocessor",
                   1024 / cycles(cluster_test::adds, 1024, rounds),
                   "red.add.u32 in the next block's shared memory, 1024 "
                   "threads, own addresses"});
    // In larger clusters, a block could run more than one phase ahead of its
    // neighbour.
    if (cluster == 2)
      all.push_back({"cluster_copy_of_8192" + of, "cycles",
                     cycles(cluster_test::copies, 32, rounds),
                     "a bulk copy to the next block, and a wait for the one "
                     "that arrives here"});
    const unsigned many = e.scaled(1u << 18, 64u);
    all.push_back({"block_starts" + of, "blocks / us",
                   many / 1e3 / time_ms(e, [&] { launch(empty_block, many, 128, cluster, 0); }),
                   "empty blocks of 128 threads in clusters"});
  }
  for (const unsigned cluster : {2u, 4u, 8u, 16u}) count_clusters(cluster, all);
}

}  // namespace

void measure_async(int multiprocessors, const effort& e, std::vector<figure>& all) {
  measure_mbarriers(e, all);
  measure_copies(multiprocessors, e, all);
  measure_clusters(multiprocessors, e, all);
}

}  // namespace stepwise::measure
