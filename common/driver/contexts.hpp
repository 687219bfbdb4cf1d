// The contexts of the driver API: the primary one, which the runtime uses, and those that the
// program creates; and which of them is current in each thread.
//
// idea    There is one device with one memory, so a context is an owner: what was made in it is
//         released when it is destroyed.
// watch   A thread without a context of its own sees the primary one as current once the runtime
//         has been used, in whichever thread: under NVIDIA's driver, in that thread.
// tests   tests/
#pragma once

#include <cuda.h>

#include <array>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

namespace stepwise::driver {

struct context {
  unsigned flags = 0;
  unsigned long long id = 1;
  // What was made in it and is there still.
  std::set<CUdeviceptr> memory;
  std::set<void*> host_memory;
  std::set<CUmodule> modules;
  std::set<CUstream> streams;
  std::set<CUevent> events;
  std::set<CUarray> arrays;
  std::set<CUtexObject> textures;
  std::set<CUsurfObject> surfaces;
};

// Guarded by a lock of its own, which no call of the runtime is made under.
class contexts {
 public:
  // Of this process. Never destroyed: programs call from static destructors.
  static contexts& get();

  void initialize();
  bool is_initialized() const;

  // Null if this thread has none, or one that was destroyed.
  context* current();
  // False if this thread's stack is full.
  bool push(context* which);
  bool pop(context*& which);  // false if there is none
  void set(context* which);   // the top of the stack; null takes it off

  context* primary() { return &primary_; }
  context* create(unsigned flags);
  bool exists(const context* which);
  bool any_created();
  // Takes it off this thread's stack, and out of the list; what it owned has been released.
  void forget(context* which);

  // How often the primary context is retained, after adding `change`; -1 if it would be negative.
  int retain_primary(int change);
  bool primary_is_active();

  // Notes what belongs to a context, and what does no longer, whichever owned it.
  template <class T>
  void own(context& owner, std::set<T> context::*kind, T what) {
    const std::lock_guard guard(lock_);
    (owner.*kind).insert(what);
  }
  template <class T>
  void disown(std::set<T> context::*kind, T what) {
    const std::lock_guard guard(lock_);
    (primary_.*kind).erase(what);
    for (const auto& c : created_) (c.get()->*kind).erase(what);
  }
  // Which context made a stream; `otherwise` for those that none did.
  context* owner_of(CUstream stream, context* otherwise);
  // Everything that a context owns, which it does no longer.
  context take_all(context& owner);

 private:
  mutable std::mutex lock_;
  bool initialized_ = false;
  int primary_retained_ = 0;
  unsigned long long made_ = 1;
  context primary_;
  std::vector<std::unique_ptr<context>> created_;
};

inline CUcontext handle_of(context* which) { return reinterpret_cast<CUcontext>(which); }
inline context* context_of(CUcontext handle) { return reinterpret_cast<context*>(handle); }

}  // namespace stepwise::driver
