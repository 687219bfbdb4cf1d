// The contexts of the driver API: the primary context, which the runtime uses, the contexts that
// the program creates, and each thread's current context.
//
// idea    There is one device with one memory, so a context is only an owner. Objects that were
//         created in a context are released when the context is destroyed.
// watch   Once any thread has used the runtime, the primary context is current in every thread that
//         has no other context. With NVIDIA's driver, it is current only in the threads that used
//         the runtime.
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
  // Objects that were created in this context and still exist.
  std::set<CUdeviceptr> memory;
  std::set<void*> host_memory;
  std::set<CUmodule> modules;
  std::set<CUstream> streams;
  std::set<CUevent> events;
  std::set<CUarray> arrays;
  std::set<CUtexObject> textures;
  std::set<CUsurfObject> surfaces;
};

// Guarded by its own lock, which is never held while the runtime is called.
class contexts {
 public:
  // The contexts of this process. Never destroyed, because static destructors may call the driver.
  static contexts& get();

  void initialize();
  bool is_initialized() const;

  // The current context, or null if this thread has none or the context was destroyed.
  context* current();
  // False if this thread's stack is full.
  bool push(context* which);
  bool pop(context*& which);  // false if there is none
  void set(context* which);   // replaces the top of the stack; null pops it

  context* primary() { return &primary_; }
  context* create(unsigned flags);
  bool exists(const context* which);
  bool any_created();
  // Removes a context from this thread's stack and from the list. Its objects must be released.
  void forget(context* which);

  // Adds `change` to the primary context's reference count. Returns the new count, or -1 if it
  // would be negative.
  int retain_primary(int change);
  bool primary_is_active();

  // own() notes that an object belongs to a context. disown() removes it from its owner.
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
  // The context that created a stream, or `otherwise` if there is none.
  context* owner_of(CUstream stream, context* otherwise);
  // Returns everything that a context owns, and removes it from the context.
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
