// Chooses the blocks that are run and recorded; launch_time.cpp combines their results.
#include "common/emulator/time/timer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/emulator/machine/memory.hpp"

namespace stepwise::emulator {
namespace {

// For a sampled launch: the warp instructions of the wave, and the minimum per block.
constexpr std::int64_t wave_instructions = 8'000'000;
constexpr std::int64_t least_of_block = 1500;
// A launch without loops and with no more warp instructions than these runs completely.
constexpr double whole_instructions = 4e6;
constexpr std::uint64_t further_rounds = 2;  // of the recorded multiprocessor, after its first
// The most instructions of all recorded blocks. If the first block shows that there would be more,
// fewer rounds are recorded.
constexpr std::uint64_t recorded_instructions = 4'000'000;
// The number of blocks across the grid that are probed, and the limit of their work
// (run/block_probe.hpp).
constexpr std::uint64_t probed_blocks = 32, most_probed_work = 1500;
// The same limit, for finding out whether a block writes anything. A block may loop over all of the
// input before it writes. If the last block does more than `cheap_work`, only every fourth of the
// 32 is probed.
constexpr std::uint64_t most_work_to_write = 20'000'000, cheap_work = 100'000, few_probes_step = 4;
// The middle of the grid represents all of it if the average block's work is within these factors.
constexpr double even_from = 0.8, even_to = 1.25;
constexpr std::int64_t interleaved_slice = 512;  // a poll's cost in a slice (ops/ops_control.cpp)
constexpr std::size_t most_addresses = 4096;     // of a site's atomics that are distinguished

}  // namespace

timer::timer(const gpu& model, const options& how)
    : model_(model),
      usual_costs_(costs_of(model)),
      costs_(usual_costs_),
      how_(how),
      dirty_(costs_.dirty_at_rest) {}
timer::~timer() = default;

void timer::begin(const launch_shape& shape) {
  shape_ = shape;
  costs_ = usual_costs_;
  const observer::launch_info& launch = shape.launch;
  memory_ = launch.memory;
  auto& known = known_[launch.code];
  if (known.second == nullptr || known.first != launch.code->code.size())
    known = {launch.code->code.size(),
             std::make_unique<code_costs>(*launch.code, launch.machine_code)};
  code_ = known.second.get();

  const std::uint64_t processors = processors_ = costs_.multiprocessors_of(shape.cluster);
  wave_ = std::min(shape.blocks, processors * shape.resident);
  cuts_ = how_.sampling && !code_->waits_for_blocks && !launch.config->cooperative && !is_small();
  const std::uint64_t waves = shape.blocks / wave_;
  // If blocks get their work from a counter, the first blocks have most of it.
  first_ = waves > 2 && !code_->draws_work ? waves / 2 * wave_ : 0;
  // A multiprocessor in the middle of the multiprocessors with the most blocks.
  const std::uint64_t busiest = shape.blocks % processors;
  lane_ = shape.blocks <= processors ? shape.blocks / 2
          : busiest == 0             ? processors / 2
                                     : busiest / 2;
  find_uneven();
  find_idle();
  find_early();
  choose_by_seed();
  recorded_blocks_ = std::uint64_t{shape.resident} * (1 + further_rounds);
  enough_ = std::max(least_of_block, wave_instructions / static_cast<std::int64_t>(wave_));
  run_instructions_ = sectors_ = shared_wavefronts_ = 0;
  each_.begin_launch(launch.warps);
  add_up_costs();
  stored_before_.insert(stored_.begin(), stored_.end());
  stored_.clear();
  loaded_.clear();
  loads_of_.clear();
  last_loaded_ = last_stored_ = {};
  atomics_.clear();
  reduced_.clear();
  trace_ = &recorder_.trace();
  drawn_trace_ = {};
  recorder_.begin(launch.warps, drawn_.empty() ? shape.resident : 2 * shape.resident);
}

// Issue slots times the cycles for which the pipe is busy. An instruction without machine
// instructions costs nothing, so a block with many of them does not look busy.
void timer::add_up_costs() {
  constexpr double parts_of_a_cycle = 16;
  cost_before_.assign(1, 0);
  for (const instruction_cost& c : code_->at) {
    const double interval =
        c.on == unit::none ? 1 : std::max(1.0, costs_.of[static_cast<int>(c.on)].interval);
    const auto cost = std::llround(parts_of_a_cycle * c.slots * interval);
    cost_before_.push_back(cost_before_.back() + static_cast<std::uint64_t>(cost));
  }
}

// A few instructions per warp. Such a launch often prepares what later kernels read.
bool timer::is_small() const {
  const auto warps = static_cast<double>(shape_.blocks) * shape_.launch.warps;
  return !code_->has_loops && warps * static_cast<double>(code_->at.size()) <= whole_instructions;
}

std::uint64_t timer::probed_block(std::uint64_t n) const {
  return (2 * n + 1) * shape_.blocks / (2 * probed_blocks);
}

// Unless a probe at the end of the grid ends and writes nothing, no other block is probed:
// blocks beyond the work are the last ones.
void timer::find_idle() {
  unwritten_share_ = 0;
  const auto& work_of = shape_.launch.work_of_block;
  if (shape_.blocks < probed_blocks || !work_of || code_->waits_for_blocks ||
      shape_.launch.config->cooperative)
    return;
  const auto is_idle = [](const probed_work& found) {
    return found.writes == 0 && found.total() < most_work_to_write;
  };
  const probed_work last = work_of(probed_block(probed_blocks - 1), most_work_to_write);
  if (!is_idle(last)) return;
  const std::uint64_t step = last.total() < cheap_work ? 1 : few_probes_step;
  std::uint64_t idle = step;
  for (std::uint64_t n = step - 1; n + 1 < probed_blocks; n += step)
    if (is_idle(work_of(probed_block(n), most_work_to_write))) idle += step;
  if (idle < probed_blocks)  // else the kernel's results are somewhere else
    unwritten_share_ = static_cast<double>(idle) / static_cast<double>(probed_blocks);
}

// If a grid has more blocks than work, the first blocks have all of the work. The wave is then
// taken from the blocks that have work, and represents the other blocks in proportion to their
// work.
void timer::find_uneven() {
  instruction_share_ = request_share_ = busy_share_ = 1;
  idle_share_ = 0;
  const auto& work_of = shape_.launch.work_of_block;
  if (first_ == 0 || !work_of || code_->waits_for_blocks || shape_.launch.config->cooperative)
    return;
  std::vector<double> work;  // of each probed block
  double instructions = 0, requests = 0, most_instructions = 0, most_requests = 0;
  for (std::size_t n = 0; n < probed_blocks; ++n) {
    const probed_work found = work_of(probed_block(n), most_probed_work);
    work.push_back(static_cast<double>(std::min(found.total(), most_probed_work)));
    instructions += static_cast<double>(found.instructions);
    requests += static_cast<double>(found.requests);
    most_instructions = std::max(most_instructions, static_cast<double>(found.instructions));
    most_requests = std::max(most_requests, static_cast<double>(found.requests));
  }
  const double average =
      std::accumulate(work.begin(), work.end(), 0.0) / static_cast<double>(probed_blocks);
  const auto [less, more] = std::minmax(work[probed_blocks / 2 - 1], work[probed_blocks / 2]);
  const double middle = (less + more) / 2;
  const bool is_edge = less < 0.5 * more;  // half of the grid has the work
  if (!is_edge && middle >= even_from * average && middle <= even_to * average) return;
  const double most = *std::ranges::max_element(work);
  std::vector<std::size_t> busiest;
  double of_busy = 0, idle = 0;
  for (std::size_t n = 0; n < probed_blocks; ++n) {
    if (work[n] > 0.9 * most) busiest.push_back(n);
    if (work[n] > 0.5 * most)
      of_busy += work[n];
    else
      ++idle;
  }
  first_ = probed_block(busiest[busiest.size() / 2]) / wave_ * wave_;
  first_ = std::min(first_, (shape_.blocks / wave_ - 1) * wave_);
  constexpr auto probes = static_cast<double>(probed_blocks);
  instruction_share_ = instructions / most_instructions / probes;
  request_share_ = most_requests > 0 ? requests / most_requests / probes : instruction_share_;
  busy_share_ = of_busy / most / static_cast<double>(probed_blocks);
  idle_share_ = idle / static_cast<double>(probed_blocks);
}

// While all blocks are resident, nothing evens out the load, and the remainder of divided work goes
// to the first blocks. The multiprocessor that has most of these blocks ends last.
void timer::find_early() {
  early_.clear();
  const std::uint64_t processors = processors_;
  if (shape_.cluster > 1 || shape_.blocks > processors * shape_.resident) return;
  const std::uint64_t most = (shape_.blocks + processors - 1) / processors;
  const std::vector<std::uint64_t>& known = costs_.early_blocks;
  if (most <= known.size() && known[most - 1] < shape_.blocks)
    early_.assign(known.begin(), known.begin() + static_cast<std::ptrdiff_t>(most));
}

// With a judge's seed, a kernel that does less in the recorded blocks would have to guess which
// blocks these are. If all blocks are resident, the early multiprocessor is recorded all the same,
// because it ends last, and a second multiprocessor is compared with it.
void timer::choose_by_seed() {
  drawn_.clear();
  if (how_.seed == 0 || cuts_) return;
  std::uint64_t state = how_.seed + 0x9e3779b97f4a7c15 * ++launches_;
  const auto draw = [&](std::uint64_t below) {  // SplitMix64
    std::uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (z ^ (z >> 31)) % below;
  };
  const std::uint64_t processors = processors_;
  if (!early_.empty()) {
    const auto is_taken = [&](std::uint64_t lane) {
      return std::ranges::any_of(early_, [&](std::uint64_t b) { return b % processors == lane; });
    };
    std::uint64_t lane = draw(processors);
    for (std::uint64_t tries = 0; tries < processors && is_taken(lane); ++tries)
      lane = (lane + 1) % processors;
    for (std::uint64_t b = lane; b < shape_.blocks && drawn_.size() < early_.size();
         b += processors)
      drawn_.push_back(b);
    return;
  }
  const std::uint64_t busiest = shape_.blocks % processors;
  lane_ = draw(shape_.blocks <= processors ? shape_.blocks : busiest == 0 ? processors : busiest);
  // The first wave finds empty caches, and the last waves are short.
  const std::uint64_t waves = shape_.blocks / wave_;
  const bool is_even = idle_share_ == 0 && busy_share_ == 1;
  if (first_ != 0 && waves > 4 && is_even) first_ = (1 + draw(waves - 4)) * wave_;
}

bool timer::is_recorded(std::uint64_t block) const {
  const auto holds = [&](const std::vector<std::uint64_t>& all) {
    return std::find(all.begin(), all.end(), block) != all.end();
  };
  if (!early_.empty()) return holds(early_) || holds(drawn_);
  const std::uint64_t processors = processors_;
  if (block < first_ || block % processors != (first_ + lane_) % processors) return false;
  return (block - first_) / processors < recorded_blocks_;
}

bool timer::wants(std::uint64_t block) const {
  return !cuts_ || is_recorded(block) || (block >= first_ && block - first_ < wave_);
}

std::int64_t timer::slice() const {
  // A poll ends such a slice, and the next block runs.
  if (code_->draws_work) return interleaved_slice;
  if (!cuts_ || recorder_.is_on()) return slice_instructions;
  return done_ >= enough_
             ? 0
             : std::max<std::int64_t>(
                   200, enough_ / (2 * std::max<std::int64_t>(1, shape_.launch.warps)));
}

void timer::begin_block(std::uint64_t index) {
  block_ = index;
  done_ = 0;
  each_.switch_to(index);
  if (is_recorded(index)) recorder_.begin_block(index);
}

void timer::end_block(std::uint64_t index) {
  each_.end_block(index, is_recorded(index));
  const std::vector<block_trace>& seen = recorder_.trace().blocks;
  if (seen.size() != 1 || seen.front().index != index) return;
  while (recorded_blocks_ > shape_.resident &&
         recorded_blocks_ * seen.front().instructions > recorded_instructions)
    recorded_blocks_ -= shape_.resident;
}

void timer::switch_to(std::uint64_t index) {
  if (index != block_) done_ = 0;
  block_ = index;
  each_.switch_to(index);
  recorder_.switch_to(index);
}

const timer::allocation& timer::allocation_of(std::uint64_t address, allocation& last) const {
  if (!last.holds(address) && memory_ != nullptr) {
    if (const auto found = memory_->allocation_at(address))
      last = {found->base, found->base + found->bytes};
  }
  return last;
}

void timer::loaded(std::uint32_t site, std::uint64_t address) {
  const allocation& a = allocation_of(address, last_loaded_);
  if (!a.holds(address)) return;
  loaded_[a.first] = a.end - a.first;
  loads_of_[site] = a.first;
}

void timer::stored(std::uint64_t address) {
  const allocation& a = allocation_of(address, last_stored_);
  if (a.holds(address)) stored_[a.first] = a.end - a.first;
}

void timer::counts::add(std::uint64_t key) {
  ++all;
  if (times.size() < most_addresses) {
    ++times[key];
  } else if (const auto known = times.find(key); known != times.end()) {
    ++known->second;
  }
}

double timer::counts::share_of_most() const {
  std::uint64_t most = 0;
  for (const auto& [key, n] : times) most = std::max(most, n);
  return static_cast<double>(most) / static_cast<double>(std::max<std::uint64_t>(1, all));
}

void timer::atomic(std::uint32_t site, const std::uint64_t* address, std::uint32_t active) {
  wanted& w = atomics_[site];
  unsigned position[32];  // the lane's position at its address
  for (std::uint32_t m = active; m != 0; m &= m - 1) {
    const int lane = __builtin_ctz(m);
    const std::uint64_t at = address[lane];
    w.addresses.add(at);
    position[lane] = 0;
    bool is_first = true;  // of its sector at this position
    for (std::uint32_t before = active & ((1U << lane) - 1); before != 0; before &= before - 1)
      position[lane] += address[__builtin_ctz(before)] == at;
    for (std::uint32_t before = active & ((1U << lane) - 1); before != 0; before &= before - 1) {
      const int other = __builtin_ctz(before);
      is_first = is_first && (address[other] / 32 != at / 32 || position[other] < position[lane]);
    }
    if (is_first) w.lines.add(at / 128);
  }
}

void timer::reduced(std::uint32_t site, std::uint64_t line) {
  if (auto& lines = reduced_[site]; lines.size() < few_lines) lines.insert(line);
}

void timer::executed(std::uint32_t warp, std::uint32_t first, std::uint32_t end) {
  done_ += end - first;
  run_instructions_ += end - first;
  const std::size_t last = cost_before_.size() - 1;
  each_.executed(warp, cost_before_[std::min<std::size_t>(end, last)] -
                           cost_before_[std::min<std::size_t>(first, last)]);
  recorder_.executed(warp, first, end);
}

}  // namespace stepwise::emulator
