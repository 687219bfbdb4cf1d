// Tests the limits of a kernel: reading the times, doubts about parts, measuring and recording.
#include "grader/measure/limits.hpp"

#include <doctest/doctest.h>

#include "grader/judge/tests/doubling.hpp"
#include "grader/measure/limits_record.hpp"
#include "grader/measure/record.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

using namespace stepwise;
using namespace stepwise::tests;

namespace {

bool says(const std::string& text, const char* what) {
  return text.find(what) != std::string::npos;
}

limit_reading read(double full, double memory, double compute) {
  return read_limits(full, {{"memory", memory}, {"compute", compute}});
}

// 100 blocks of 256 threads, 1000 sectors each way, 5000 wavefronts, 64 resident warps.
limit_counts counts(std::uint64_t fp32) {
  limit_counts n;
  n.launches = {{{100, 1, 1}, {256, 1, 1}, 1, 64}};
  n.warps[static_cast<int>(pipe::fp32)] = fp32;
  n.warps[static_cast<int>(pipe::integer)] = 3000;
  n.load_sectors = n.store_sectors = 1000;
  n.shared_load_wavefronts = n.shared_wavefronts = 5000;
  return n;
}

}  // namespace

TEST_CASE("reading: the full kernel takes as long as its longest part") {
  const auto memory = read(1.0, 0.97, 0.4);
  CHECK(memory.found == limited_by::one_part);
  CHECK(memory.parts == std::vector<std::string>{"memory"});
  CHECK(memory.sum_ms == doctest::Approx(1.37));
  CHECK(memory.longest_ms == doctest::Approx(0.97));
  CHECK(*memory.overlap == doctest::Approx(0.37 / 0.4));
  CHECK(says(in_words(memory), "memory is the bottleneck"));
  CHECK(read(1.0, 0.3, 0.95).parts == std::vector<std::string>{"compute"});
  const auto both = read(1.0, 0.93, 0.98);
  CHECK(both.found == limited_by::several_parts);
  CHECK(both.parts == std::vector<std::string>{"memory", "compute"});
  CHECK(says(in_words(both), "memory and compute"));
}

TEST_CASE("reading: the full kernel takes the sum of its parts, or something in between") {
  const auto latency = read(1.0, 0.55, 0.5);
  CHECK(latency.found == limited_by::latency);
  CHECK(latency.parts.empty());
  CHECK(*latency.overlap == doctest::Approx(0.1));
  CHECK(says(in_words(latency), "occupancy"));
  const auto between = read(1.0, 0.8, 0.5);
  CHECK(between.found == limited_by::in_between);
  CHECK(*between.overlap == doctest::Approx(0.6));
  CHECK(says(in_words(between), "60 %"));
  CHECK(says(in_words(between), "1.25x"));
}

TEST_CASE("reading: three parts") {
  const std::vector<part_time> parts = {{"memory", 0.2}, {"shared", 0.3}, {"compute", 0.5}};
  CHECK(read_limits(1.0, parts).found == limited_by::latency);
  CHECK(*read_limits(1.0, parts).overlap == doctest::Approx(0));
  CHECK(read_limits(0.52, parts).found == limited_by::one_part);
  CHECK(*read_limits(0.5, parts).overlap == doctest::Approx(1));
  CHECK(*read_limits(0.75, parts).overlap == doctest::Approx(0.5));
}

TEST_CASE("reading: a part without time overlaps nothing, and the other part is the bottleneck") {
  const auto r = read(1.0, 1.0, 0);
  CHECK(r.found == limited_by::one_part);
  CHECK(r.parts == std::vector<std::string>{"memory"});
  CHECK(!r.overlap);
  // A small part next to a large one: the time is equally near to the sum and to the longest part.
  // The longest part counts.
  CHECK(read(1.03, 1.0, 0.05).found == limited_by::one_part);
}

TEST_CASE("reading: times that contradict each other are reported, not forced into a category") {
  const auto longer = read(1.0, 1.3, 0.2);  // other caches, or other clocks
  CHECK(longer.found == limited_by::no_part);
  CHECK(longer.parts == std::vector<std::string>{"memory"});
  CHECK(says(in_words(longer), "memory takes longer than the whole"));
  CHECK(read(1.0, 1.05, 0.2).found == limited_by::one_part);  // within the tolerance
  const auto more = read(1.0, 0.4, 0.3);
  CHECK(more.found == limited_by::unknown_work);
  CHECK(*more.overlap < 0);
  CHECK(read(1.0, 0.5, 0.45).found == limited_by::latency);
  CHECK(read(1.0, 0, 0).found == limited_by::unknown_work);
}

TEST_CASE("reading: certain if the intervals of all times allow no other reading") {
  const auto parts = [](interval memory, interval compute) {
    return std::vector<part_time>{{"memory", 0, memory}, {"compute", 0, compute}};
  };
  CHECK(is_certain({0.99, 1.01}, parts({0.96, 0.98}, {0.3, 0.4})));
  CHECK(is_certain({0.99, 1.01}, parts({0.53, 0.55}, {0.47, 0.5})));
  CHECK(!is_certain({0.99, 1.2}, parts({0.96, 0.98}, {0.3, 0.4})));    // it may also be in between
  CHECK(!is_certain({0.99, 1.01}, parts({0.96, 0.98}, {0.3, 0.95})));  // it may also be both parts
  CHECK(!is_certain({0.99, 1.01}, parts({0.7, 0.98}, {0.3, 0.4})));
}

TEST_CASE("reading: an overlap that noise put outside 0 to 100 % is clamped") {
  CHECK(overlap_text(read(1.0, 0.8, 0.5)) == "60 %");
  CHECK(overlap_text(read(1.05, 0.5, 0.5)) == "0 %");
  CHECK(overlap_text(read(0.98, 1.0, 0.5)) == "100 %");
  CHECK(overlap_text(read(1.0, 1.0, 0)) == "none");
}

TEST_CASE("doubts: a correct part raises none") {
  auto memory = counts(0), compute = counts(1010), shared = counts(0);
  compute.load_sectors = compute.store_sectors = compute.shared_load_wavefronts = 0;
  shared.load_sectors = shared.store_sectors = 0;
  CHECK(doubts(counts(1000), "memory", memory).empty());
  CHECK(doubts(counts(1000), "compute", compute).empty());
  CHECK(doubts(counts(1000), "shared", shared).empty());
}

TEST_CASE("doubts: each common mistake has its own sentence") {
  const auto only = [](const std::string& part, const limit_counts& n, const char* what) {
    const auto found = doubts(counts(1000), part, n);
    REQUIRE(found.size() == 1);
    INFO(found[0]);
    CHECK(says(found[0], what));
  };
  auto n = counts(0);
  n.load_sectors = 500;
  only("memory", n, "500 sectors loaded, but the full kernel has 1000: did the compiler remove");
  n = counts(0);
  n.store_sectors = 8000;
  only("memory", n, "8000 sectors stored, but the full kernel has 1000: its addresses");
  only("memory", counts(500), "50 % of the arithmetic is still there");
  n = counts(0);
  n.launches[0].resident_warps = 32;
  only("memory", n, "32 warps fit on a multiprocessor, but 64 of the full kernel: it uses more");
  n = counts(0);
  n.launches[0].grid.x = 50;
  only("memory", n,
       "launches 1 x (50 blocks of 256), but the full kernel launches 1 x (100 blocks");
  n = counts(0);
  n.launches.push_back(n.launches[0]);
  only("memory", n, "but the full kernel launches nothing");
  n = counts(1000);
  n.load_sectors = 0;
  only("compute", n,
       "1000 sectors of global memory are loaded or stored, but there should be none");
  n = counts(10);
  n.load_sectors = n.store_sectors = 0;
  only("compute", n, "1 % of the arithmetic remains");
  n = counts(0);
  n.load_sectors = n.store_sectors = 0;
  n.shared_load_wavefronts = 100;
  only("shared", n, "100 wavefronts of shared loads, but the full kernel has 5000");

  auto full = counts(1000), part = counts(0);
  full.launches[0].resident_warps = 16;
  const auto found = doubts(full, "memory", part);
  REQUIRE(found.size() == 1);
  CHECK(says(found[0], "hold_blocks()"));
}

TEST_CASE("doubts: a kernel without floating-point work is judged by its integer instructions") {
  auto part = counts(0);
  part.load_sectors = part.store_sectors = 0;
  CHECK(doubts(counts(0), "compute", part).empty());
  CHECK(doubts(counts(0), "memory", counts(0)).empty());
  part.warps[static_cast<int>(pipe::integer)] = 1000;  // a third of them
  CHECK(doubts(counts(0), "compute", part).size() == 1);
}

TEST_CASE("counts are summed over kernels, and each launch is stored") {
  kernel_profile k;
  k.grid = {4, 2, 1};
  k.block = {128, 1, 1};
  k.launches = 3;
  k.resident_warps = 48;
  k.total.global_load.sectors = 5;
  k.total.global_store.sectors = 6;
  k.total.global_atomic.sectors = 1;
  k.total.shared_load.wavefronts = 7;
  k.total.shared_store.wavefronts = 8;
  k.total.instructions[static_cast<int>(pipe::special)].warps = 9;
  const auto n = counts_of({k, k});
  CHECK(n.launches.size() == 2);
  CHECK(n.launches[1].times == 3);
  CHECK(n.launches[1].resident_warps == 48);
  CHECK(n.load_sectors == 10);
  CHECK(n.store_sectors == 14);
  CHECK(n.shared_load_wavefronts == 14);
  CHECK(n.shared_wavefronts == 30);
  CHECK(n.arithmetic(false) == 18);
}

namespace {

// Fake runners with a fixed time per call in milliseconds.
class timed_programs {
 public:
  timed_programs() : folder_(fs::temp_directory_path()) {}
  contender add(const std::string& name, const std::string& what, const std::string& ms) const {
    const fs::path file = folder_.path() / name;
    write_atomically(file, "#!/bin/sh\nFAKE='" + what + "' FAKE_MS=" + ms + " exec '" +
                               fake_runner().string() + "' \"$@\"\n");
    fs::permissions(file, fs::perms::owner_all);
    return {name, file};
  }

 private:
  temporary_folder folder_;
};

lab lab_with_parts() {
  lab l = doubling_lab();
  l.parts = {{"01_second", "memory", "loads and stores", "m.cu"},
             {"01_second", "compute", "doubling", "c.cu"}};
  return l;
}

}  // namespace

TEST_CASE("the full kernel and its parts are timed alternately; only a part may be wrong") {
  const timed_programs programs;
  const lab l = lab_with_parts();
  const auto time = [&](const contender& full) {
    return time_limits(
        l, doubling(), full,
        {programs.add("memory", "wrong", "0.6"), programs.add("compute", "wrong", "0.5")},
        gpu_device(), {1000}, 7, {});
  };
  const auto rows = time(programs.add("full", "good", "1"));
  REQUIRE(rows.size() == 3);
  for (const auto& row : rows) REQUIRE(row.found.ok());
  CHECK(rows[0].name == "full");
  CHECK(rows[0].cells[0].cold.median_ms == doctest::Approx(1));
  CHECK(rows[2].cells[0].cold.median_ms == doctest::Approx(0.5));
  CHECK(rows[2].cells[0].cold.samples == 8);
  CHECK(time(programs.add("full", "wrong", "1"))[0].found.what == verdict::wrong);
  CHECK(!time(programs.add("full", "crash", "1"))[0].found.ok());
}

TEST_CASE("recorded limits become the handout's table, with their reading") {
  const timed_programs programs;
  const lab l = lab_with_parts();
  const temporary_folder root(fs::temp_directory_path());
  CHECK(says(limits_markdown(root.path(), l), "Nothing has been measured this way yet"));
  CHECK(limits_markdown(root.path(), doubling_lab()).empty());

  const auto rows =
      time_limits(l, doubling(), programs.add("full", "good", "1"),
                  {programs.add("memory", "good", "0.97"), programs.add("compute", "good", "0.25")},
                  gpu_device(), {1000}, 7, {});
  auto device = gpu_device();
  device.name = "NVIDIA H200";
  device.state.driver_version = "580.1";
  const auto record = limits_record(l, device, "01_second", rows, "2026-11-20T10:00:00Z",
                                    "./lab dev limits doubling --record");
  CHECK(record.at("entries").size() == 3);
  CHECK(record.at("entries")[1].at("part") == "memory");
  CHECK(record.at("entries")[1].at("median_ms") == doctest::Approx(0.97));
  const fs::path folder = root.path() / "solutions/doubling/measured";
  write_record(folder / "h200.limits.jsonl", record);
  const auto text = limits_markdown(root.path(), l);
  INFO(text);
  CHECK(says(text,
             "`01_second` on an NVIDIA H200, n = 1000 (cold L2; 2026-11-20, driver 580.1, "
             "`./lab dev limits doubling --record`)"));
  CHECK(says(text, "| full | the step itself | 1.00 ms | 100 % |"));
  CHECK(says(text, "| memory | loads and stores | 970 us | 97 % |"));
  CHECK(says(text, "Conclusion: memory is the bottleneck"));
  CHECK(!says(text, uncertain_words));
  auto vague = record;
  vague["entries"][0]["high_ms"] = 1.5;
  write_record(folder / "h200.limits.jsonl", vague);
  CHECK(says(limits_markdown(root.path(), l), uncertain_words));
  // This is a record of another kind, so the table of speeds ignores it.
  CHECK(handout_markdown(root.path(), l) == "No GPU has been measured yet.\n");
  write_atomically(folder / "broken.limits.jsonl", "{\"step\": 1}");
  CHECK_THROWS_AS(limits_markdown(root.path(), l), failure);
}

TEST_CASE("only the table between the named markers of a handout is replaced") {
  const std::string handout =
      "<!-- limits:begin -->\nold\n<!-- limits:end -->\n<!-- results:begin -->\n"
      "old\n<!-- results:end -->\n";
  const auto fresh = with_results(handout, "new\n", "limits");
  CHECK(says(fresh, "<!-- limits:begin -->\nnew\n<!-- limits:end -->"));
  CHECK(says(fresh, "<!-- results:begin -->\nold\n<!-- results:end -->"));
  CHECK_THROWS_AS(with_results("no markers", "new", "limits"), failure);
}
