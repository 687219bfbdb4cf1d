// One check's state of every resident block.
#pragma once

#include <memory>
#include <unordered_map>

namespace stepwise::emulator {

struct block;

// The scheduler reuses the objects of blocks that have ended, so their states are reused, too.
// `begin` returns a state as the previous block left it.
template <class State>
class by_block {
 public:
  template <class Make>
  State& begin(const block& b, Make make) {
    std::unique_ptr<State>& state = states_[&b];
    if (state == nullptr) state = make();
    return *state;
  }
  State& begin(const block& b) {
    return begin(b, [] { return std::make_unique<State>(); });
  }
  State& of(const block& b) { return *states_.at(&b); }
  void switch_to(const block& b) { current_ = &of(b); }
  void end_launch() {
    states_.clear();
    current_ = nullptr;
  }
  // The state for which a predicate holds; null if there is none.
  template <class Is>
  const State* find(Is is) const {
    for (const auto& [b, state] : states_)
      if (is(*state)) return state.get();
    return nullptr;
  }
  // The state of the block that runs.
  State& current() const { return *current_; }

 private:
  std::unordered_map<const block*, std::unique_ptr<State>> states_;
  State* current_ = nullptr;
};

}  // namespace stepwise::emulator
