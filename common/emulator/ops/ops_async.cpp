// Asynchronous copies and the barriers in shared memory that wait for them.
//
// idea    cp.async completes at once, in program order, so its commits and waits have nothing left
//         to do. A bulk copy may take place later (scheduler::do_copy). A barrier's whole state is
//         its 64-bit word in shared memory, which belongs to one host thread. All addresses are
//         generic; lowering converts addresses of shared memory.
// source  PTX ISA 9.0, "Asynchronous copy", "mbarrier". Tested by tests/opcodes/cp_async*.ptx and
//         mbarrier*.ptx.
#include "common/emulator/ops/ops_async.hpp"

#include <cstring>

#include "common/emulator/machine/async.hpp"
#include "common/emulator/ops/locate.hpp"
#include "common/emulator/ops/reduction.hpp"
#include "common/emulator/run/scheduler.hpp"

namespace stepwise::emulator {

bool complain(context& x, const op* i, int lane, const std::string& what,
              const std::string& advice) {
  x.owner->stop(i, error::launch_failure, what, lane, advice);
  return false;
}

namespace {

// --- barriers ----------------------------------------------------------------------------------

// A barrier's word; ../machine/async.hpp has its layout.
struct memory_barrier {
  static constexpr s64 most = most_mbarrier_count;
  // The width of the byte field, from its lowest bit up to the parity.
  static constexpr int byte_bits = mbarrier_parity_at - mbarrier_bytes_at;

  s64 expected, pending, bytes;
  u64 parity;

  static bool is_one(u64 word) { return word >> mbarrier_mark_at == mbarrier_mark; }
  static u64 parity_of(u64 word) { return (word >> mbarrier_parity_at) & 1; }
  static s64 pending_of(u64 word) { return static_cast<s64>((word >> mbarrier_pending_at) & most); }

  explicit memory_barrier(s64 count) : expected(count), pending(count), bytes(0), parity(0) {}
  explicit memory_barrier(u64 word)
      : expected(static_cast<s64>(word & most)),
        pending(pending_of(word)),
        bytes(static_cast<s64>(word << (64 - mbarrier_parity_at)) >> (64 - byte_bits)),
        parity(parity_of(word)) {}

  // Starts the next phase if no arrivals or bytes are missing.
  void advance_if_complete() {
    if (pending != 0 || bytes != 0) return;
    parity ^= 1;
    pending = expected;
  }
  u64 word() const {
    return static_cast<u64>(expected) | static_cast<u64>(pending) << mbarrier_pending_at |
           (static_cast<u64>(bytes) & ((u64{1} << byte_bits) - 1)) << mbarrier_bytes_at |
           parity << mbarrier_parity_at | mbarrier_mark << mbarrier_mark_at;
  }
};

// Only mbarrier.init makes a plain store. Every operation that is not ordered with it races with
// it.
u64* barrier_at(context& x, const op* i, int lane, u64 at, access_kind kind) {
  return reinterpret_cast<u64*>(reach(
      x, i, lane, at, {8, 8, memory_space::shared, kind, "the mbarrier object: ", order_of(kind)}));
}

// The barrier at an address, which must have been initialised; null if the launch was stopped.
u64* live_barrier(context& x, const op* i, int lane, u64 at) {
  u64* word = barrier_at(x, i, lane, at, access_kind::atomic);
  if (word != nullptr && !memory_barrier::is_one(*word)) {
    complain(x, i, lane,
             "no mbarrier was initialised at shared address " + std::to_string(at - shared_window) +
                 " (or it was invalidated or overwritten)");
    return nullptr;
  }
  return word;
}

bool add_bytes(context& x, const op* i, int lane, u64* word, s64 bytes) {
  memory_barrier b(*word);
  b.bytes += bytes;
  if (b.bytes > memory_barrier::most || b.bytes < -memory_barrier::most)
    return complain(x, i, lane,
                    "the transaction count of an mbarrier would be " + std::to_string(b.bytes) +
                        ", outside -1048575 to 1048575");
  b.advance_if_complete();
  *word = b.word();
  return true;
}

bool refuse_arrival(context& x, const op* i, int lane, const memory_barrier& b, s64 count) {
  std::string what = "arrives ";
  if (count != 1) what += std::to_string(count) + " times ";
  what += "at an mbarrier whose phase ";
  what += b.pending == 0 ? "needs no further arrivals"
                         : "lacks " + std::to_string(b.pending) + " of " +
                               std::to_string(b.expected) + " arrivals";
  if (b.bytes > 0) what += "; it waits for " + std::to_string(b.bytes) + " announced bytes";
  if (b.bytes < 0)
    what += "; it waits for the announcement of " + std::to_string(-b.bytes) +
            " bytes that were copied";
  return complain(
      x, i, lane, what,
      "In each phase, exactly as many arrivals are allowed as mbarrier.init specifies, here " +
          std::to_string(b.expected) +
          (b.bytes == 0 ? "."
                        : ". A phase with copies also waits for their bytes: usually one thread "
                          "arrives, announces the bytes of all copies, and issues them."));
}

bool arrive(context& x, const op* i, int lane, u64* word, s64 count, s64 flags) {
  memory_barrier b(*word);
  b.pending -= count;
  if ((flags & drops) != 0) b.expected -= count;
  if ((flags & completes_nothing) != 0 && b.pending == 0 && b.bytes == 0)
    return complain(x, i, lane, "mbarrier.arrive.noComplete completes the barrier's phase");
  b.advance_if_complete();
  *word = b.word();
  return true;
}

using mbarrier_use = observer::mbarrier_use;

void notify_use(context& x, const op* i, int lane, u64 at, const u64* word, mbarrier_use use,
                s64 bytes = 0, u64 filled_sectors = 0) {
  if (x.watch != nullptr)
    x.watch->used_mbarrier({x.owner->warp_index(), x.active, i},
                           {use, lane, at - shared_window, word, bytes, filled_sectors});
}

// a: address, b: count.
const op* initialise(context& x, const op* i) {
  return each_lane(x, i, [&](int l) {
    u64* word = barrier_at(x, i, l, x.vreg<u64>(i->a)[l], access_kind::store);
    if (word == nullptr) return false;
    const u32 count = x.vreg<u32>(i->b)[l];
    if (count < 1 || count > memory_barrier::most)
      return complain(
          x, i, l,
          "mbarrier.init with a count of " + std::to_string(count) + ", expected 1 to 1048575");
    notify_use(x, i, l, x.vreg<u64>(i->a)[l], word, mbarrier_use::begins);
    *word = memory_barrier(static_cast<s64>(count)).word();
    return true;
  });
}

const op* invalidate(context& x, const op* i) {
  return each_lane(x, i, [&](int l) {
    u64* word = live_barrier(x, i, l, x.vreg<u64>(i->a)[l]);
    if (word != nullptr) *word = 0;
    return word != nullptr;
  });
}

// a: address.
const op* check_barrier(context& x, const op* i) {
  return each_lane(x, i, [&](int l) {
    const u64 at = x.vreg<u64>(i->a)[l];
    const u64* const word = live_barrier(x, i, l, at);
    if (word == nullptr) return false;
    notify_use(x, i, l, at, word, mbarrier_use::arrives);
    return true;
  });
}

// a: address, b: bytes, immediate: flags.
const op* change_bytes(context& x, const op* i) {
  return each_lane(x, i, [&](int l) {
    u64* word = live_barrier(x, i, l, x.vreg<u64>(i->a)[l]);
    if (word == nullptr) return false;
    const s64 bytes = x.vreg<u32>(i->b)[l];
    const bool completes = (i->immediate & subtracts) != 0;
    notify_use(x, i, l, x.vreg<u64>(i->a)[l], word,
               completes ? mbarrier_use::receives : mbarrier_use::expects, bytes);
    return add_bytes(x, i, l, word, completes ? -bytes : bytes);
  });
}

// d: state before, 0 for none; a: address; b: count; c: bytes to expect first, 0 for none.
const op* arrive_all(context& x, const op* i) {
  return each_lane(x, i, [&](int l) {
    u64* word = live_barrier(x, i, l, x.vreg<u64>(i->a)[l]);
    if (word == nullptr) return false;
    const s64 bytes = i->c != 0 ? s64{x.vreg<u32>(i->c)[l]} : 0;
    notify_use(x, i, l, x.vreg<u64>(i->a)[l], word, mbarrier_use::arrives, bytes);
    const u64 before = *word;
    const s64 count = x.vreg<u32>(i->b)[l];
    if (const memory_barrier b(before); count < 1 || count > b.pending)
      return refuse_arrival(x, i, l, b, count);
    if (i->c != 0 && !add_bytes(x, i, l, word, bytes)) return false;
    if (!arrive(x, i, l, word, count, i->immediate)) return false;
    if (i->d != 0) x.vreg<u64>(i->d)[l] = before;
    return true;
  });
}

// d: predicate; a: address; b: state or, with is_parity, parity. A failed wait ends the split's
// time slice at the next branch.
const op* test_wait(context& x, const op* i) {
  const bool by_parity = (i->immediate & is_parity) != 0;
  u32 done = 0;
  for (u32 m = x.active; m != 0; m &= m - 1) {
    const int l = __builtin_ctz(m);
    const u64 at = x.vreg<u64>(i->a)[l];
    const u64* word = live_barrier(x, i, l, at);
    if (word == nullptr) return nullptr;
    const u64 awaited =
        by_parity ? x.vreg<u32>(i->b)[l] & 1 : memory_barrier::parity_of(x.vreg<u64>(i->b)[l]);
    const bool is_complete = memory_barrier::parity_of(*word) != awaited;
    notify_use(x, i, l, at, word, is_complete ? mbarrier_use::passes : mbarrier_use::polls);
    if (is_complete) done |= 1u << l;
  }
  u32& d = x.predicate(i->d);
  d = (d & ~x.active) | done;
  if (done != x.active) {
    ++x.polls;
    x.budget = 0;
  }
  return i + 1;
}

// d: the number of pending arrivals in state a.
const op* pending_count(context& x, const op* i) {
  return each_lane(x, i, [&](int l) {
    x.vreg<u32>(i->d)[l] = static_cast<u32>(memory_barrier::pending_of(x.vreg<u64>(i->a)[l]));
    return true;
  });
}

// --- copies ------------------------------------------------------------------------------------

// d: predicate to ignore the source, 0 for none; a: destination; b: source; c: bytes to read, 0 for
// all; immediate: bytes to write. Bytes that are not read are written as zeros.
const op* copy_async(context& x, const op* i) {
  const auto size = static_cast<unsigned>(i->immediate);
  access_window source;  // the allocation of the previous lane's source
  return each_lane(x, i, [&](int l) {
    std::byte* to = reach(x, i, l, x.vreg<u64>(i->a)[l],
                          {size, size, memory_space::shared, access_kind::store,
                           "the destination of cp.async: ", memory_order::weak, true});
    if (to == nullptr) return false;
    u32 given = i->c != 0 ? x.vreg<u32>(i->c)[l] : size;
    if (given > size)
      return complain(x, i, l,
                      "cp.async of " + std::to_string(size) + " bytes with a source of " +
                          std::to_string(given));
    if (i->d != 0 && lane_in(x.predicate(i->d), l)) given = 0;
    if (given != 0) {
      const std::byte* from =
          reach(x, i, l, x.vreg<u64>(i->b)[l],
                {given, size, memory_space::global, access_kind::load, "the source of cp.async: "},
                &source);
      if (from == nullptr) return false;
      std::memcpy(to, from, given);
    }
    std::memset(to + given, 0, size - given);
    x.counts.global_load_bytes += given;
    x.counts.shared_store_bytes += size;
    return true;
  });
}

bool check_bulk_size(context& x, const op* i, int l, u64 size) {
  return size % 16 == 0 ||
         complain(x, i, l,
                  "a bulk copy of " + std::to_string(size) + " bytes, expected a multiple of 16");
}

// The operands of a bulk copy: generic addresses, the number of bytes, and the mbarrier that counts
// the bytes (0: none).
struct bulk_operands {
  u64 to, from, size, barrier;
};
bulk_operands operands_of(context& x, const op* i, int l) {
  return {x.vreg<u64>(i->a)[l], x.vreg<u64>(i->b)[l], x.vreg<u32>(i->c)[l],
          i->d != 0 ? x.vreg<u64>(i->d)[l] : 0};
}

// Finds both ends of a bulk copy, which reduces if `kind` is atomic; false if the launch was
// stopped.
bool bulk_ends(context& x, const op* i, int l, const bulk_operands& o, access_kind kind,
               std::byte*& to, std::byte*& from) {
  if (!check_bulk_size(x, i, l, o.size)) return false;
  const bool reads_shared = (i->immediate & from_shared) != 0;
  const bool writes_shared = (i->immediate & to_shared) != 0;
  if (reads_shared && writes_shared && !x.owner->is_in_cluster()) {  // as on an H200
    x.owner->stop(
        i, error::illegal_instruction,
        "a bulk copy from shared to shared memory, in a launch without clusters of blocks", l);
    return false;
  }
  to = reach(x, i, l, o.to,
             {o.size, 16, writes_shared ? memory_space::shared : memory_space::global, kind,
              "the destination of a bulk copy: ", order_of(kind)});
  if (to == nullptr) return false;
  from = reach(x, i, l, o.from,
               {o.size, 16, reads_shared ? memory_space::shared : memory_space::global,
                access_kind::load, "the source of a bulk copy: "});
  (reads_shared ? x.counts.shared_load_bytes : x.counts.global_load_bytes) += o.size;
  (writes_shared ? x.counts.shared_store_bytes : x.counts.global_store_bytes) += o.size;
  return from != nullptr;
}

// Copies, or reduces if `kind` is atomic, with move(to, from, bytes), and counts the bytes.
template <class Move>
const op* move_bulk(context& x, const op* i, access_kind kind, Move move) {
  return each_lane(x, i, [&](int l) {
    const bulk_operands o = operands_of(x, i, l);
    return x.owner->do_copy(i, l, o.barrier == 0, [=](context& at) {
      std::byte *to = nullptr, *from = nullptr;
      if (!bulk_ends(at, i, l, o, kind, to, from)) return false;
      move(to, from, o.size);
      return o.barrier == 0 || complete_bytes(at, i, l, o.barrier, o.size);
    });
  });
}

// d: mbarrier, 0 for none; a: destination, b: source, c: bytes.
const op* copy_bulk(context& x, const op* i) {
  return move_bulk(x, i, access_kind::store, [](std::byte* to, const std::byte* from, u64 bytes) {
    std::memmove(to, from, bytes);
  });
}

template <class T, class Next>
const op* reduce_bulk(context& x, const op* i) {
  return move_bulk(x, i, access_kind::atomic, [](std::byte* to, const std::byte* from, u64 bytes) {
    reduce_elements<T, Next>(to, from, bytes);
  });
}

// A copy from global memory to several blocks of the cluster. immediate: the vreg that holds the
// mask of their ranks.
const op* multicast_bulk(context& x, const op* i) {
  return each_lane(x, i, [&](int l) {
    const bulk_operands o = operands_of(x, i, l);
    const u32 mask = x.vreg<u16>(static_cast<u32>(i->immediate))[l];
    if (!check_bulk_size(x, i, l, o.size) || !check_multicast(x, i, l, mask)) return false;
    return x.owner->do_copy(i, l, false, [=](context& at) {
      const std::byte* const from = reach(
          at, i, l, o.from,
          {o.size, 16, memory_space::global, access_kind::load, "the source of a bulk copy: "});
      if (from == nullptr) return false;
      at.counts.global_load_bytes += o.size;
      for (u32 m = mask; m != 0; m &= m - 1) {
        const u32 rank = static_cast<u32>(__builtin_ctz(m));
        std::byte* const to = reach(at, i, l, address_in_block(at, o.to, rank),
                                    {o.size, 16, memory_space::shared, access_kind::store,
                                     "the destination of a bulk copy: "});
        if (to == nullptr) return false;
        std::memcpy(to, from, o.size);
        at.counts.shared_store_bytes += o.size;
        if (!complete_bytes(at, i, l, address_in_block(at, o.barrier, rank), o.size)) return false;
      }
      return true;
    });
  });
}

const op* wait_for_copies(context& x, const op* i) { return x.owner->wait_for_copies(i); }

void reduction_ops(op_table& t) {
  using enum value_class;
  for_reductions([&]<class T, class Next>(reduction operation, const char* type, Next) {
    const op_name name = op_name("cp.reduce.async.bulk.") +
                         reduction_names[static_cast<unsigned>(operation)] + "." + type;
    add_op(t, name, &reduce_bulk<T, Next>, b64, b64, b64, b32);
  });
}

// --- addresses ---------------------------------------------------------------------------------

// d: the generic address of a, plus immediate. Addresses of shared memory wrap at 32 bits.
template <class A, bool Shared>
const op* generic_address(context& x, const op* i) {
  const A* a = x.vreg<A>(i->a);
  u64* d = x.vreg<u64>(i->d);
  for (int l = 0; l < lanes; ++l) {
    const u64 at = a[l] + static_cast<u64>(i->immediate);
    d[l] = !Shared ? at : shared_window + (sizeof(A) == 4 ? at & 0xffffffffu : at);
  }
  return i + 1;
}

// The offset in the cluster's shared memory that corresponds to `offset` in block `rank`. A block's
// own memory has no rank. A rank that no cluster has gives an offset at which every access faults.
u64 offset_in_block(const context& x, u64 offset, u32 rank) {
  constexpr u32 no_rank = 254;
  offset &= peer_bytes - 1;
  if (rank == x.owner->cluster_rank()) return offset;
  return (rank < no_rank ? rank + 1 : no_rank + 1) * peer_bytes + offset;
}

// d: the address in block b of the cluster that corresponds to a. immediate: the start of shared
// memory, which is 0 or the start of the generic window.
template <class A>
const op* map_address(context& x, const op* i) {
  const A* a = x.vreg<A>(i->a);
  const u32* rank = x.vreg<u32>(i->b);
  A* d = x.vreg<A>(i->d);
  const A window = static_cast<A>(i->immediate);
  for (int l = 0; l < lanes; ++l)
    if (lane_in(x.active, l))
      d[l] = window + static_cast<A>(offset_in_block(x, a[l] - window, rank[l]));
  return i + 1;
}

// d: the rank of the block to whose shared memory a belongs; immediate: as above.
template <class A>
const op* rank_of_address(context& x, const op* i) {
  const A* a = x.vreg<A>(i->a);
  u32* d = x.vreg<u32>(i->d);
  for (int l = 0; l < lanes; ++l) {
    if (!lane_in(x.active, l)) continue;
    const u64 at = a[l] - static_cast<A>(i->immediate);
    d[l] = at < peer_bytes ? x.owner->cluster_rank() : static_cast<u32>(at / peer_bytes - 1);
  }
  return i + 1;
}

}  // namespace

bool complete_bytes(context& x, const op* i, int lane, u64 barrier, u64 bytes, u64 filled_sectors) {
  u64* word = live_barrier(x, i, lane, barrier);
  if (word != nullptr)
    notify_use(x, i, lane, barrier, word, mbarrier_use::receives, static_cast<s64>(bytes),
               filled_sectors);
  return word != nullptr && add_bytes(x, i, lane, word, -static_cast<s64>(bytes));
}

bool check_multicast(context& x, const op* i, int lane, u32 mask) {
  if (mask == 1 || x.owner->is_in_cluster()) return true;
  x.owner->stop(i, error::illegal_instruction,
                "a multicast to other blocks, in a launch without clusters of blocks", lane);
  return false;
}

u64 address_in_block(const context& x, u64 address, u32 rank) {
  return shared_window + offset_in_block(x, address - shared_window, rank);
}

void async_ops(op_table& t) {
  using enum value_class;
  add_op(t, "mbarrier.init", &initialise, none, b64, b32, none);
  add_op(t, "mbarrier.inval", &invalidate, none, b64, none, none);
  add_op(t, "<mbarrier check>", &check_barrier, none, b64, none, none);
  add_op(t, "<mbarrier bytes>", &change_bytes, none, b64, b32, none);
  add_op(t, "<mbarrier arrive>", &arrive_all, b64, b64, b32, b32);
  add_op(t, "<mbarrier wait>", &test_wait, predicate, b64, none, none);
  add_op(t, "mbarrier.pending_count", &pending_count, b32, b64, none, none);
  add_op(t, "<cp.async>", &copy_async, predicate, b64, b64, b32);
  add_op(t, "<cp.async.bulk>", &copy_bulk, b64, b64, b64, b32);
  add_op(t, "<cp.async.bulk wait>", &wait_for_copies, none, none, none, none);
  add_op(t, "<cp.async.bulk multicast>", &multicast_bulk, b64, b64, b64, b32);
  reduction_ops(t);
  add_op(t, "<generic.a64>", &generic_address<u64, false>, b64, b64, none, none);
  add_op(t, "<generic shared.a32>", &generic_address<u32, true>, b64, b32, none, none);
  add_op(t, "<generic shared.a64>", &generic_address<u64, true>, b64, b64, none, none);
  add_op(t, "<mapa.b32>", &map_address<u32>, b32, b32, b32, none);
  add_op(t, "<mapa.b64>", &map_address<u64>, b64, b64, b32, none);
  add_op(t, "<getctarank.b32>", &rank_of_address<u32>, b32, b32, none, none);
  add_op(t, "<getctarank.b64>", &rank_of_address<u64>, b32, b64, none, none);
}

}  // namespace stepwise::emulator
