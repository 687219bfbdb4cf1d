// Protects pages, and handles the resulting signals: SIGSEGV from accesses, SIGTRAP from single
// steps, SIGSYS from system calls.
#include "common/runtime/host/guarded_pages.hpp"

#include <errno.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "common/runtime/host/poll_loops.hpp"

// The only code whose system calls are not dispatched to us: the direct system call, and the return
// from our handlers, which would otherwise be dispatched as well. Unwinders recognise a signal
// frame by the two instructions of that return. The nop keeps unwinders from attributing the frame
// to the preceding function.
asm(R"(
  .pushsection .text
  .balign 16
stepwise_direct_begin:
  nop
stepwise_end_of_handler:
  movq $15, %rax
  syscall
stepwise_direct_call:
  movq %rdi, %rax
  movq %rsi, %rdi
  movq %rdx, %rsi
  movq %rcx, %rdx
  movq %r8, %r10
  movq %r9, %r8
  movq 8(%rsp), %r9
  syscall
  ret
stepwise_direct_end:
  .popsection
)");
extern "C" {
extern const char direct_begin[] asm("stepwise_direct_begin");
extern const char direct_end[] asm("stepwise_direct_end");
extern const char end_of_handler[] asm("stepwise_end_of_handler");
long direct_call(long number, long a, long b, long c, long d, long e,
                 long f) asm("stepwise_direct_call");
}

namespace stepwise::runtime {
namespace {

// source  linux/prctl.h and asm-generic/siginfo.h; older headers lack them.
constexpr int set_user_dispatch = 59, dispatch_on = 1;
constexpr int from_user_dispatch = 2;  // si_code
constexpr char allow = 0, dispatch = 1;
constexpr unsigned long has_restorer = 0x04000000;
constexpr greg_t trap_flag = 0x100;
constexpr greg_t write_access = 2;  // in a page fault's error code (Intel's manual, 4.7)

constexpr std::uintptr_t page = 4096;
constexpr std::size_t most_areas = 256;
constexpr int most_steps = 256;  // between two API calls; after that, pages stay open
// The limit in total. Beyond it, nothing is guarded, so that the program is not slowed down
// indefinitely.
constexpr int most_faults = 5'000;
constexpr std::uint64_t most_bytes = std::uint64_t{16} << 30;
constexpr std::size_t most_opened = 1024;

// The Linux kernel's own structure, because the C library would set its own `restorer`.
struct kernel_action {
  void (*handler)(int, siginfo_t*, void*) = nullptr;
  unsigned long flags = 0;
  const char* restorer = nullptr;
  unsigned long mask = 0;
};

struct protected_area {
  std::uintptr_t first = 0, end = 0;
  int protection = PROT_NONE;
  bool operator==(const protected_area&) const = default;
};

enum class stepping : std::uint8_t {
  none,
  over_access,  // a harmless access
  after_load    // an early load, to find out whether a polling loop made it
};

volatile char selector = allow;  // the kernel reads it at each system call of the thread

struct guard {
  bool in_call = true, armed = false, installed = false, refused = false;
  access_judge judge;
  std::vector<protected_area> areas;   // sorted, disjoint
  std::vector<std::uintptr_t> opened;  // pages in `areas` that are open until the next API call
  int steps_left = 0, faults_left = most_faults;
  std::uint64_t bytes_left = most_bytes;  // that may still be protected
  stepping mode = stepping::none;
  std::array<std::uintptr_t, 4> stepped{};  // pages that are open for one instruction
  std::size_t stepped_pages = 0;
  struct load {
    device_address at = 0;
    call_stack from{};
    followed_load code;
  } load;
};

guard& only_guard() {
  static guard& only = *new guard;
  return only;
}

template <class T>
long number(T* pointer) {
  return reinterpret_cast<long>(pointer);
}

// Signal actions, masks and pages are changed by direct system calls, because handlers make such
// calls, too.
bool protect(std::uintptr_t first, std::uintptr_t end, int protection) {
  return direct_call(SYS_mprotect, static_cast<long>(first), static_cast<long>(end - first),
                     protection, 0, 0, 0) == 0;
}

kernel_action action_of(int signal) {
  kernel_action found;
  direct_call(SYS_rt_sigaction, signal, 0, number(&found), sizeof found.mask, 0, 0);
  return found;
}

void set_action(int signal, const kernel_action& action) {
  direct_call(SYS_rt_sigaction, signal, number(&action), 0, sizeof action.mask, 0, 0);
}

bool is_default(int signal) { return action_of(signal).handler == nullptr; }

// Gives the signal the effect that it has in a program without a handler.
void end_by(int signal) {
  set_action(signal, {});
  direct_call(SYS_tgkill, direct_call(SYS_getpid, 0, 0, 0, 0, 0, 0),
              direct_call(SYS_gettid, 0, 0, 0, 0, 0, 0), signal, 0, 0, 0);
}

const protected_area* area_of(const guard& g, std::uintptr_t at) {
  const auto after = std::ranges::upper_bound(g.areas, at, {}, &protected_area::first);
  if (after == g.areas.begin() || std::prev(after)->end <= at) return nullptr;
  return &*std::prev(after);
}

void lift(guard& g) {
  for (const protected_area& a : g.areas) protect(a.first, a.end, PROT_READ | PROT_WRITE);
  g.areas.clear();
  g.opened.clear();
  g.armed = false;
  selector = allow;
}

void close_page(guard& g, std::uintptr_t first) {
  if (const protected_area* const a = area_of(g, first))
    protect(first, first + page, a->protection);
}

// Opens a page until the next API call. If the page cannot be opened separately, opens everything.
void open_page(guard& g, std::uintptr_t first) {
  if (g.opened.size() < most_opened && protect(first, first + page, PROT_READ | PROT_WRITE))
    g.opened.push_back(first);
  else
    lift(g);
}

// --- single steps --------------------------------------------------------------------------------

void begin_steps(guard& g, ucontext_t& in, stepping mode) {
  g.mode = mode;
  in.uc_mcontext.gregs[REG_EFL] |= trap_flag;
}

void end_steps(guard& g, ucontext_t& in) {
  g.mode = stepping::none;
  g.stepped_pages = 0;
  in.uc_mcontext.gregs[REG_EFL] &= ~trap_flag;
}

void end_load(guard& g, ucontext_t& in, bool is_poll) {
  end_steps(g, in);
  if (!is_poll) return g.judge.was_early(g.load.at, false, g.load.from);
  g.judge.waited_by(g.load.at, false);
  lift(g);  // memory of work that is still unfinished is guarded again after the next API call
}

void on_step(int signal, siginfo_t*, void* interrupted) {
  guard& g = only_guard();
  auto& in = *static_cast<ucontext_t*>(interrupted);
  if (g.mode == stepping::none) return end_by(signal);
  const int error = errno;
  selector = allow;
  if (g.mode == stepping::over_access) {
    for (std::size_t k = 0; k < g.stepped_pages; ++k) close_page(g, g.stepped[k]);
    end_steps(g, in);
  } else {
    const auto at = static_cast<std::uintptr_t>(in.uc_mcontext.gregs[REG_RIP]);
    const load_use use = follow_load(g.load.code, at);
    if (use != load_use::not_known_yet) end_load(g, in, use == load_use::poll);
  }
  if (g.armed && !g.in_call) selector = dispatch;
  errno = error;
}

void accessed(guard& g, device_address at, bool writes, ucontext_t& in) {
  const std::uintptr_t first = at / page * page;
  if (--g.faults_left == 0) {
    g.refused = true;
    return lift(g);
  }
  if (std::ranges::find(g.opened, first) != g.opened.end()) return lift(g);  // opening it failed
  if (g.mode == stepping::after_load) end_load(g, in, false);
  switch (g.judge.touches(at, writes)) {
    case host_touch::flag:
      g.judge.waited_by(at, writes);
      return lift(g);
    case host_touch::early: {
      g.load = {
          at, {}, {.instruction = static_cast<std::uintptr_t>(in.uc_mcontext.gregs[REG_RIP])}};
      interrupted_stack(g.load.code.instruction, g.load.from);
      open_page(g, first);
      if (writes) return g.judge.was_early(at, true, g.load.from);
      return begin_steps(g, in, stepping::after_load);
    }
    case host_touch::elsewhere:
      return open_page(g, first);
    case host_touch::harmless:
      if (g.steps_left == 0 || g.stepped_pages == g.stepped.size()) return open_page(g, first);
      --g.steps_left;
      if (!protect(first, first + page, PROT_READ | PROT_WRITE)) return lift(g);
      g.stepped[g.stepped_pages++] = first;
      return begin_steps(g, in, stepping::over_access);
  }
}

// --- system calls --------------------------------------------------------------------------------

// System calls that access only the memory that their arguments name, and that a handler may make.
bool is_plain(long call) {
  switch (call) {
    case SYS_read:
    case SYS_write:
    case SYS_pread64:
    case SYS_pwrite64:
    case SYS_open:
    case SYS_openat:
    case SYS_close:
    case SYS_stat:
    case SYS_fstat:
    case SYS_newfstatat:
    case SYS_lseek:
    case SYS_ioctl:
    case SYS_brk:
    case SYS_mmap:
    case SYS_munmap:
    case SYS_madvise:
    case SYS_futex:
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_clock_gettime:
    case SYS_gettimeofday:
    case SYS_sched_yield:
    case SYS_getpid:
    case SYS_gettid:
    case SYS_getrandom:
      return true;
    default:
      return false;
  }
}

// The pointer argument that is followed by its size. -1: the arguments point to small objects only.
int sized_argument(long call) {
  switch (call) {
    case SYS_read:
    case SYS_write:
    case SYS_pread64:
    case SYS_pwrite64:
      return 1;
    case SYS_mmap:
    case SYS_munmap:
    case SYS_madvise:
    case SYS_getrandom:
      return 0;
    default:
      return -1;
  }
}

bool writes_memory(long call) { return call == SYS_read || call == SYS_pread64; }

bool touches_guarded(const guard& g, long call, const std::array<std::uintptr_t, 6>& arguments) {
  for (int k = 0; k < 6; ++k) {
    const auto index = static_cast<std::size_t>(k);
    const std::uintptr_t first = arguments[index];
    const std::uintptr_t bytes = k == sized_argument(call) ? arguments[index + 1] : page;
    for (const protected_area& a : g.areas)
      if (first < a.end && (first >= a.first || a.first - first < bytes)) return true;
  }
  return false;
}

// Whether the bytes that the call reads or writes are still in use.
bool is_early(const guard& g, long call, const std::array<std::uintptr_t, 6>& arguments) {
  return sized_argument(call) == 1 && arguments[2] != 0 && area_of(g, arguments[1]) != nullptr &&
         g.judge.touches(arguments[1], writes_memory(call)) == host_touch::early;
}

void on_system_call(int signal, siginfo_t* about, void* interrupted) {
  if (about->si_code != from_user_dispatch) return end_by(signal);
  guard& g = only_guard();
  auto& registers = static_cast<ucontext_t*>(interrupted)->uc_mcontext.gregs;
  const auto argument = [&](int which) { return static_cast<std::uintptr_t>(registers[which]); };
  const std::array<std::uintptr_t, 6> arguments = {argument(REG_RDI), argument(REG_RSI),
                                                   argument(REG_RDX), argument(REG_R10),
                                                   argument(REG_R8),  argument(REG_R9)};
  const long call = registers[REG_RAX];
  const auto do_call = [&] {
    registers[REG_RAX] =
        direct_call(call, registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
                    registers[REG_R10], registers[REG_R8], registers[REG_R9]);
  };
  if (is_plain(call) && !touches_guarded(g, call, arguments)) return do_call();
  selector = allow;
  const bool early = is_early(g, call, arguments);
  lift(g);
  if (early) {
    do_call();
    if (registers[REG_RAX] <= 0) return;  // no byte was accessed
    call_stack from{};
    interrupted_stack(static_cast<std::uintptr_t>(registers[REG_RIP]), from);
    return g.judge.was_early(arguments[1], writes_memory(call), from);
  }
  registers[REG_RIP] -= 2;  // the instruction runs again, this time without being dispatched
}

// --- whether pages can be guarded ----------------------------------------------------------------

kernel_action our_action(void (*handler)(int, siginfo_t*, void*), unsigned long flags) {
  return {handler, SA_SIGINFO | has_restorer | flags, end_of_handler, 0};
}

bool install(guard& g) {
  kernel_action of_fault = action_of(SIGSEGV);
  if (!is_default(SIGTRAP) || !is_default(SIGSYS) || of_fault.handler != g.judge.fault_handler)
    return false;
  of_fault.flags |= has_restorer;
  of_fault.restorer = end_of_handler;
  set_action(SIGSEGV, of_fault);
  set_action(SIGTRAP, our_action(on_step, 0));
  set_action(SIGSYS, our_action(on_system_call, SA_NODEFER));
  return true;
}

// If one of these signals arrives while it is blocked, the program ends. The same would happen if
// the signal arrived while one of the program's handlers that blocks it is running.
bool are_signals_ours(const guard& g) {
  const auto bit = [](int signal) { return 1ul << (signal - 1); };
  const unsigned long needed = bit(SIGSEGV) | bit(SIGTRAP) | bit(SIGSYS);
  unsigned long blocked = 0;
  direct_call(SYS_rt_sigprocmask, SIG_BLOCK, 0, number(&blocked), sizeof blocked, 0, 0);
  if ((blocked & needed) != 0) return false;
  for (int signal = 1; signal <= 64; ++signal) {
    const kernel_action a = action_of(signal);
    const bool is_handled = number(a.handler) > 1;  // SIG_DFL is 0, SIG_IGN 1
    if (signal == SIGSEGV && a.handler != g.judge.fault_handler) return false;
    if (signal == SIGTRAP && a.handler != on_step) return false;
    if (signal == SIGSYS && a.handler != on_system_call) return false;
    if (is_handled && (a.mask & needed) != 0) return false;
  }
  return true;
}

bool is_only_thread() {
  struct stat tasks {};
  return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 3;  // one thread, . and ..
}

bool can_guard(guard& g) {
  if (g.refused) return false;
  if (!g.installed) {
    const char* const blocking = std::getenv("CUDA_LAUNCH_BLOCKING");  // 1: every call waits
    g.installed = !(blocking != nullptr && std::strcmp(blocking, "1") == 0) && install(g);
    g.refused = !g.installed;
  }
  if (g.refused || !is_only_thread() || !are_signals_ours(g)) return false;
  g.refused = prctl(set_user_dispatch, dispatch_on, direct_begin, direct_end - direct_begin,
                    &selector) != 0;
  return !g.refused;
}

// The areas extended to whole pages and merged. A page in two areas gets the stricter protection.
std::vector<protected_area> pages_of(const std::vector<unfinished_area>& areas) {
  std::vector<protected_area> all;
  for (const unfinished_area& a : areas) {
    all.push_back({a.first / page * page, (a.first + a.bytes + page - 1) / page * page,
                   a.written ? PROT_NONE : PROT_READ});
  }
  std::ranges::sort(all, {}, &protected_area::first);
  std::vector<protected_area> merged;
  for (const protected_area& a : all) {
    if (merged.empty() || merged.back().end <= a.first) {
      merged.push_back(a);
      continue;
    }
    merged.back().end = std::max(merged.back().end, a.end);
    merged.back().protection = std::min(merged.back().protection, a.protection);
  }
  static_assert(PROT_NONE < PROT_READ);
  if (merged.size() > most_areas) merged.resize(most_areas);
  return merged;
}

}  // namespace

void pause_guard() {
  selector = allow;
  only_guard().in_call = true;
}

void guard_pages(const std::vector<unfinished_area>& areas, const access_judge& judge) {
  guard& g = only_guard();
  g.in_call = false;
  g.judge = judge;
  if (areas.empty() && !g.armed) return;
  const std::vector<protected_area> wanted = pages_of(areas);
  if (!g.armed && !can_guard(g)) return;
  const auto is_among = [](const protected_area& a, const std::vector<protected_area>& all) {
    return std::ranges::binary_search(all, a.first, {}, &protected_area::first) &&
           std::ranges::find(all, a) != all.end();
  };
  for (const protected_area& a : g.areas)
    if (!is_among(a, wanted)) protect(a.first, a.end, PROT_READ | PROT_WRITE);
  for (const protected_area& a : wanted) {
    if (is_among(a, g.areas)) continue;
    protect(a.first, a.end, a.protection);
    g.bytes_left -= std::min<std::uint64_t>(g.bytes_left, a.end - a.first);
  }
  g.areas = wanted;
  for (const std::uintptr_t first : g.opened) close_page(g, first);
  g.opened.clear();
  g.steps_left = most_steps;
  g.armed = !wanted.empty();
  g.refused = g.bytes_left == 0;
  if (g.refused) return lift(g);
  selector = g.armed ? dispatch : allow;
}

void lift_guard() {
  guard& g = only_guard();
  if (g.armed) lift(g);
}

bool continue_after(const siginfo_t& fault, ucontext_t& interrupted) {
  guard& g = only_guard();
  if (!g.armed || fault.si_code <= 0) return false;
  const auto at = reinterpret_cast<std::uintptr_t>(fault.si_addr);
  if (g.in_call || area_of(g, at) == nullptr) {
    const bool is_guarded = area_of(g, at) != nullptr;
    lift(g);
    return is_guarded;
  }
  const int error = errno;
  selector = allow;
  accessed(g, at, (interrupted.uc_mcontext.gregs[REG_ERR] & write_access) != 0, interrupted);
  if (g.armed) selector = dispatch;
  errno = error;
  return true;
}

}  // namespace stepwise::runtime
