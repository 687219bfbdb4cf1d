// The lists of contexts, and each thread's stack.
#include "common/driver/contexts.hpp"

#include <algorithm>

#include "common/runtime/state.hpp"

namespace stepwise::driver {
namespace {

constexpr std::size_t most_pushed = 64;

struct context_stack {
  std::array<context*, most_pushed> entries;
  std::size_t depth;
};

// Has no destructor, because static destructors may call the driver.
thread_local context_stack own_stack{};

bool runtime_has_made_primary_current() {
  runtime::state& s = runtime::state::get();
  const std::lock_guard guard(s.lock);
  return s.used_by_runtime;
}

}  // namespace

contexts& contexts::get() {
  static contexts& only = *new contexts;
  return only;
}

void contexts::initialize() {
  const std::lock_guard guard(lock_);
  initialized_ = true;
}

bool contexts::is_initialized() const {
  {
    const std::lock_guard guard(lock_);
    if (initialized_) return true;
  }
  return runtime_has_made_primary_current();
}

context* contexts::current() {
  if (own_stack.depth == 0) {
    return runtime_has_made_primary_current() ? &primary_ : nullptr;
  }
  context* const top = own_stack.entries[own_stack.depth - 1];
  return exists(top) ? top : nullptr;
}

bool contexts::push(context* which) {
  if (own_stack.depth == most_pushed) return false;
  own_stack.entries[own_stack.depth++] = which;
  return true;
}

bool contexts::pop(context*& which) {
  if (own_stack.depth == 0) return false;
  which = own_stack.entries[--own_stack.depth];
  return true;
}

void contexts::set(context* which) {
  if (own_stack.depth > 0) own_stack.depth--;
  if (which) push(which);
}

context* contexts::create(unsigned flags) {
  const std::lock_guard guard(lock_);
  auto made = std::make_unique<context>();
  made->flags = flags;
  made->id = ++made_;
  return created_.emplace_back(std::move(made)).get();
}

bool contexts::exists(const context* which) {
  if (which == &primary_) return true;
  const std::lock_guard guard(lock_);
  return std::any_of(created_.begin(), created_.end(),
                     [&](const auto& c) { return c.get() == which; });
}

bool contexts::any_created() {
  const std::lock_guard guard(lock_);
  return !created_.empty();
}

void contexts::forget(context* which) {
  if (own_stack.depth > 0 && own_stack.entries[own_stack.depth - 1] == which) own_stack.depth--;
  const std::lock_guard guard(lock_);
  std::erase_if(created_, [&](const auto& c) { return c.get() == which; });
}

int contexts::retain_primary(int change) {
  const std::lock_guard guard(lock_);
  if (primary_retained_ + change < 0) return -1;
  return primary_retained_ += change;
}

bool contexts::primary_is_active() {
  return retain_primary(0) > 0 || runtime_has_made_primary_current();
}

context* contexts::owner_of(CUstream stream, context* otherwise) {
  const std::lock_guard guard(lock_);
  if (primary_.streams.count(stream)) return &primary_;
  for (const auto& c : created_) {
    if (c->streams.count(stream)) return c.get();
  }
  return otherwise;
}

context contexts::take_all(context& owner) {
  const std::lock_guard guard(lock_);
  context taken;
  taken.memory.swap(owner.memory);
  taken.host_memory.swap(owner.host_memory);
  taken.modules.swap(owner.modules);
  taken.streams.swap(owner.streams);
  taken.events.swap(owner.events);
  taken.arrays.swap(owner.arrays);
  taken.textures.swap(owner.textures);
  taken.surfaces.swap(owner.surfaces);
  return taken;
}

}  // namespace stepwise::driver
