// Loads and stores of every state space, element width and vector length.
//
// idea    A contiguous or uniform access of a full warp, as in most tuned kernels, is one vector
//         copy. Other accesses go lane by lane. Ops are named "ld.global.u32.b64.a64": memory type,
//         register width, address width. Lowering builds the name from the instruction.
// watch   Global memory is shared with other host threads that run other blocks. Lane accesses are
//         relaxed atomics; the vector copies are plain moves of aligned words, which x86 performs
//         word by word as one access each.
//         Tested by tests/opcodes/ and tests/memory_test.cpp.
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>

#include "common/emulator/ops/locate.hpp"

namespace stepwise::emulator::STEPWISE_SIMD {
namespace {

template <class T>
[[gnu::always_inline]] inline T load_word(const std::byte* at) {
  return __atomic_load_n(reinterpret_cast<const T*>(at), __ATOMIC_RELAXED);
}
template <class T>
[[gnu::always_inline]] inline void store_word(std::byte* at, T value) {
  __atomic_store_n(reinterpret_cast<T*>(at), value, __ATOMIC_RELAXED);
}

enum class pattern { scattered, uniform, contiguous };

// The address pattern of `Count` lanes: uniform, or contiguous with a stride of `bytes`.
#if defined(__AVX512F__)
// Explicit vectors, because their comparison with zero is one instruction. The compiler would
// reduce them to a word in eight dependent steps.
using u32_vector = u32 __attribute__((vector_size(64)));
using u64_vector = u64 __attribute__((vector_size(64)));
template <int Count, class A>
[[gnu::always_inline]] inline pattern pattern_of(const A* address, unsigned bytes) {
  constexpr int width = 64 / sizeof(A);
  static_assert(Count % width == 0);
  using words = std::conditional_t<sizeof(A) == 8, u64_vector, u32_vector>;
  words order;
  for (int l = 0; l < width; ++l) order[l] = static_cast<A>(static_cast<unsigned>(l) * bytes);
  words apart{}, unequal{};
  for (int l = 0; l < Count; l += width) {
    words difference;
    std::memcpy(&difference, address + l, sizeof difference);
    difference -= address[0];
    unequal |= difference;
    apart |= difference ^ (order + static_cast<A>(static_cast<unsigned>(l) * bytes));
  }
  const auto zero = [](words w) {
    const auto bits = reinterpret_cast<__m512i>(w);
    return _mm512_test_epi64_mask(bits, bits) == 0;
  };
  return zero(apart) ? pattern::contiguous : zero(unequal) ? pattern::uniform : pattern::scattered;
}
#else
template <int Count, class A>
[[gnu::always_inline]] inline pattern pattern_of(const A* address, unsigned bytes) {
  const A step = address[1] - address[0];
  if (step != 0 && step != bytes) return pattern::scattered;
  A apart = 0, unequal = 0;
  for (int l = 0; l < Count; ++l) {
    const A difference = address[l] - address[0];
    unequal |= difference;
    apart |= difference ^ static_cast<A>(static_cast<unsigned>(l) * bytes);
  }
  return apart == 0 ? pattern::contiguous : unequal == 0 ? pattern::uniform : pattern::scattered;
}
#endif

// The host address of the `bytes` bytes at the first lane's address if they are aligned and lie
// entirely in the window known for this operation; else null.
template <memory_space Space, class A>
[[gnu::always_inline]] inline std::byte* whole(context& x, const op* i, A first, unsigned element,
                                               unsigned bytes) {
  if constexpr (Space == memory_space::global) {
    const u64 at = first + static_cast<u64>(i->immediate);
    const access_window& window = x.windows[i->slot];
    if (window.bytes < bytes || at - window.base > window.bytes - bytes || at % element != 0)
      return nullptr;
    return reinterpret_cast<std::byte*>(at + static_cast<u64>(x.host_of_device));
  } else {
    const u64 at = static_cast<A>(first + static_cast<A>(i->immediate));
    if (x.shared_bytes < bytes || at > x.shared_bytes - bytes || at % element != 0) return nullptr;
    return x.shared + at;
  }
}

[[gnu::always_inline]] inline u64 active_lanes(const context& x) {
  return x.active == all_lanes ? u64{lanes} : static_cast<u64>(__builtin_popcount(x.active));
}

// Spaces whose accesses are first tried as a whole. A generic access is tried as a global one,
// because only global memory has windows.
template <memory_space Space>
constexpr bool may_be_regular = Space == memory_space::global || Space == memory_space::shared ||
                                Space == memory_space::generic;
template <memory_space Space>
constexpr memory_space known_space = Space == memory_space::generic ? memory_space::global : Space;

template <memory_space Space>
[[gnu::always_inline]] inline void count_load(context& x, unsigned bytes) {
  const u64 total = active_lanes(x) * bytes;
  if constexpr (Space == memory_space::global || Space == memory_space::generic)
    x.counts.global_load_bytes += total;
  if constexpr (Space == memory_space::shared) x.counts.shared_load_bytes += total;
}
template <memory_space Space>
[[gnu::always_inline]] inline void count_store(context& x, unsigned bytes) {
  const u64 total = active_lanes(x) * bytes;
  if constexpr (Space == memory_space::global || Space == memory_space::generic)
    x.counts.global_store_bytes += total;
  if constexpr (Space == memory_space::shared) x.counts.shared_store_bytes += total;
}

// Loops step through memory, and the processor predicts their steps only within a page. A load that
// has made the same step twice prefetches the bytes that it will load a few steps later. `first` is
// the device address, `from` the host address.
[[gnu::always_inline]] inline void foresee(context& x, const op* i, u64 first,
                                           const std::byte* from) {
  constexpr u64 near = 2047, steps = 6;
  load_stride& s = x.strides[i->slot];
  const u64 step = first - s.at;
  if (step + near > 2 * near && step == s.step) [[unlikely]] {
    const u64 later = reinterpret_cast<u64>(from) + steps * step;
    __builtin_prefetch(reinterpret_cast<const void*>(later));
    __builtin_prefetch(reinterpret_cast<const void*>(later + 64));
  }
  s = {first, step};
}

// Shared memory belongs to one host thread, so a gather of plain words may be vectorised.
template <class T, class R>
[[gnu::always_inline]] inline bool gather_shared(context& x, const op* i, const u32* address) {
  const u32 limit =
      x.shared_bytes >= sizeof(T) ? static_cast<u32>(x.shared_bytes - sizeof(T) + 1) : 0;
  const u32 offset = static_cast<u32>(i->immediate);
  u32 bad = 0;
  for (int l = 0; l < lanes; ++l) {
    const u32 at = address[l] + offset;
    bad |= static_cast<u32>(at >= limit) | (at & (sizeof(T) - 1));
  }
  if (bad != 0) return false;
  R* d = x.vreg<R>(i->d);
  const T* words = reinterpret_cast<const T*>(x.shared);
  STEPWISE_LANES_APART
  for (int l = 0; l < lanes; ++l) d[l] = static_cast<R>(words[(address[l] + offset) / sizeof(T)]);
  return true;
}

// Loads `Count` adjacent lanes if their addresses are contiguous or uniform and inside the window
// known for this operation. `first`: they are the warp's first lanes.
template <memory_space Space, class T, class R, int Count, class A>
[[gnu::always_inline]] inline bool load_regular(context& x, const op* i, const A* address, R* d,
                                                bool first = true) {
  const pattern p = pattern_of<Count>(address, sizeof(T));
  if (p == pattern::scattered) return false;
  const unsigned bytes = p == pattern::contiguous ? Count * sizeof(T) : sizeof(T);
  const std::byte* from = whole<Space>(x, i, address[0], sizeof(T), bytes);
  if (from == nullptr) return false;
  if (p == pattern::contiguous) {
    if (Space == memory_space::global && first) foresee(x, i, address[0], from);
    T words[Count];
    std::memcpy(words, from, sizeof words);
    STEPWISE_LANES_APART
    for (int l = 0; l < Count; ++l) d[l] = static_cast<R>(words[l]);
  } else {
    const R value = static_cast<R>(load_word<T>(from));
    for (int l = 0; l < Count; ++l) d[l] = value;
  }
  return true;
}

// Accesses that are neither contiguous nor uniform for a full warp or its halves. A separate
// function, so that the usual case saves no registers for it.
template <memory_space Space, class T, class R, class A>
[[gnu::noinline]] const op* load_rest(context& x, const op* i) {
  R* d = x.vreg<R>(i->d);
  const A* address = x.vreg<A>(i->a);
  if constexpr (Space == memory_space::global || Space == memory_space::shared) {
    if (x.active == all_lanes) {
      if constexpr (Space == memory_space::shared && sizeof(T) >= 4 && sizeof(A) == 4) {
        if (gather_shared<T, R>(x, i, address)) return i + 1;
      }
      if constexpr (Space == memory_space::global) {
        if (!check_global<sizeof(T)>(x, i, address, access_kind::load)) return nullptr;
        const u64 zero = static_cast<u64>(x.host_of_device) + static_cast<u64>(i->immediate);
#pragma GCC unroll 8
        for (int l = 0; l < lanes; ++l)
          d[l] = static_cast<R>(
              load_word<T>(reinterpret_cast<const std::byte*>(zero + u64{address[l]})));
        return i + 1;
      }
    }
  }
  std::byte* host[lanes];
  if (!locate<Space, A, sizeof(T)>(x, i, access_kind::load, host)) return nullptr;
  for (u32 m = x.active; m != 0; m &= m - 1) {
    const int l = __builtin_ctz(m);
    d[l] = static_cast<R>(load_word<T>(host[l]));
  }
  return i + 1;
}

template <memory_space Space, class T, class R, class A>
const op* load(context& x, const op* i) {
  count_load<Space>(x, sizeof(T));
  if constexpr (may_be_regular<Space>) {
    constexpr memory_space space = known_space<Space>;
    R* d = x.vreg<R>(i->d);
    const A* address = x.vreg<A>(i->a);
    if (x.active == all_lanes) {
      if (load_regular<space, T, R, lanes>(x, i, address, d)) return i + 1;
      // In blocks 16 threads wide, each half of the warp is a row. The first half's result may
      // overwrite the address register, so the second half's addresses are kept.
      if constexpr (sizeof(T) >= 4) {
        constexpr int half = lanes / 2;
        A second[half];
        std::memcpy(second, address + half, sizeof second);
        R first[half];
        if (load_regular<space, T, R, half>(x, i, address, first) &&
            load_regular<space, T, R, half>(x, i, second, d + half, false)) {
          std::memcpy(d, first, sizeof first);
          return i + 1;
        }
      }
    }
  }
  return load_rest<Space, T, R, A>(x, i);
}

template <memory_space Space, class T, class R, int Count, class A>
[[gnu::always_inline]] inline bool store_regular(context& x, const op* i, const A* address,
                                                 const R* b) {
  if (pattern_of<Count>(address, sizeof(T)) != pattern::contiguous) return false;
  std::byte* to = whole<Space>(x, i, address[0], sizeof(T), Count * sizeof(T));
  if (to == nullptr) return false;
  T words[Count];
  for (int l = 0; l < Count; ++l) words[l] = static_cast<T>(b[l]);
  std::memcpy(to, words, sizeof words);
  return true;
}

// Calls store(l) for the active lanes. If several lanes write one word, the same lane wins as on an
// H100: lanes are taken in groups of 128 bytes, and within a group the lowest lane stores last.
template <unsigned Bytes, class Store>
[[gnu::always_inline]] inline void in_store_order(u32 active, Store store) {
  constexpr int together = std::min(128 / static_cast<int>(Bytes), lanes);
  for (int first = 0; first < lanes; first += together) {
    constexpr u32 all = together == lanes ? all_lanes : (1u << together) - 1;
    u32 m = active & all << first;
    if (m == all << first) {
#pragma GCC unroll 8
      for (int l = together - 1; l >= 0; --l) store(first + l);
      continue;
    }
    while (m != 0) {
      const int l = 31 - __builtin_clz(m);
      store(l);
      m ^= lane_bit[l];
    }
  }
}

template <memory_space Space, class T, class R, class A>
[[gnu::noinline]] const op* store_rest(context& x, const op* i) {
  const R* b = x.vreg<R>(i->b);
  std::byte* host[lanes];
  if (!locate<Space, A, sizeof(T)>(x, i, access_kind::store, host)) return nullptr;
  in_store_order<sizeof(T)>(x.active, [&](int l) { store_word<T>(host[l], static_cast<T>(b[l])); });
  return i + 1;
}

template <memory_space Space, class T, class R, class A>
const op* store(context& x, const op* i) {
  count_store<Space>(x, sizeof(T));
  if constexpr (may_be_regular<Space>) {
    if (x.active == all_lanes &&
        store_regular<known_space<Space>, T, R, lanes>(x, i, x.vreg<A>(i->a), x.vreg<R>(i->b)))
      return i + 1;
  }
  return store_rest<Space, T, R, A>(x, i);
}

// A lane's vector is read and written whole, as by hardware. CUB keeps a value and its valid flag
// in 16 bytes. x86 processors with AVX move 16 aligned bytes in one access.
using bits16 [[gnu::vector_size(16)]] = u64;
struct word16 {
  bits16 bits;
};
template <unsigned Bytes>
using word_of = std::conditional_t<
    Bytes == 2, u16,
    std::conditional_t<Bytes == 4, u32, std::conditional_t<Bytes == 8, u64, word16>>>;

template <class Word>
[[gnu::always_inline]] inline Word load_at_once(const std::byte* at) {
  if constexpr (sizeof(Word) == 16)
    return {*reinterpret_cast<const bits16*>(at)};
  else
    return load_word<Word>(at);
}
template <class Word>
[[gnu::always_inline]] inline void store_at_once(std::byte* at, Word value) {
  if constexpr (sizeof(Word) == 16)
    *reinterpret_cast<bits16*>(at) = value.bits;
  else
    store_word<Word>(at, value);
}

template <class R, int N>
[[gnu::always_inline]] inline void vregs_of(context& x, const op* elements, R** vregs) {
  const u32 offsets[4] = {elements->d, elements->a, elements->b, elements->c};
  for (int k = 0; k < N; ++k) vregs[k] = x.vreg<R>(offsets[k]);
}

// The host address of the vectors of a full warp if they are contiguous and inside the window known
// for this operation; else null.
template <memory_space Space, class A>
[[gnu::always_inline]] inline std::byte* contiguous_vectors(context& x, const op* i,
                                                            unsigned vector_bytes) {
  if constexpr (may_be_regular<Space>) {
    const A* address = x.vreg<A>(i->a);
    if (x.active == all_lanes && pattern_of<lanes>(address, vector_bytes) == pattern::contiguous)
      return whole<known_space<Space>>(x, i, address[0], vector_bytes, lanes * vector_bytes);
  }
  return nullptr;
}

// Vectors of two or four elements. The op after this one never runs; its d, a, b, c are the vregs
// of the elements.
template <memory_space Space, class T, class R, class A, int N>
[[gnu::noinline]] const op* load_vector_rest(context& x, const op* i) {
  std::byte* host[lanes];
  if (!locate<Space, A, N * sizeof(T)>(x, i, access_kind::load, host)) return nullptr;
  R* vregs[N];
  vregs_of<R, N>(x, i + 1, vregs);
  for (u32 m = x.active; m != 0; m &= m - 1) {
    const int l = __builtin_ctz(m);
    const auto words =
        std::bit_cast<std::array<T, N>>(load_at_once<word_of<N * sizeof(T)>>(host[l]));
    for (int k = 0; k < N; ++k) vregs[k][l] = static_cast<R>(words[k]);
  }
  return i + 2;
}

template <memory_space Space, class T, class R, class A, int N>
const op* load_vector(context& x, const op* i) {
  using word = word_of<N * sizeof(T)>;
  count_load<Space>(x, sizeof(word));
  const std::byte* from = contiguous_vectors<Space, A>(x, i, sizeof(word));
  if (from == nullptr) return load_vector_rest<Space, T, R, A, N>(x, i);
  if constexpr (Space == memory_space::global) foresee(x, i, x.vreg<A>(i->a)[0], from);
  word vectors[lanes];
  for (int l = 0; l < lanes; ++l) vectors[l] = load_at_once<word>(from + l * sizeof(word));
  const T* const words = reinterpret_cast<const T*>(vectors);
  R* vregs[N];
  vregs_of<R, N>(x, i + 1, vregs);
  for (int k = 0; k < N; ++k) {
    R* const d = vregs[k];
    STEPWISE_LANES_APART
    for (int l = 0; l < lanes; ++l) d[l] = static_cast<R>(words[l * N + k]);
  }
  return i + 2;
}

template <memory_space Space, class T, class R, class A, int N>
[[gnu::noinline]] const op* store_vector_rest(context& x, const op* i) {
  std::byte* host[lanes];
  if (!locate<Space, A, N * sizeof(T)>(x, i, access_kind::store, host)) return nullptr;
  R* vregs[N];
  vregs_of<R, N>(x, i + 1, vregs);
  in_store_order<N * sizeof(T)>(x.active, [&](int l) {
    std::array<T, N> words;
    for (int k = 0; k < N; ++k) words[k] = static_cast<T>(vregs[k][l]);
    store_at_once(host[l], std::bit_cast<word_of<N * sizeof(T)>>(words));
  });
  return i + 2;
}

template <memory_space Space, class T, class R, class A, int N>
const op* store_vector(context& x, const op* i) {
  using word = word_of<N * sizeof(T)>;
  count_store<Space>(x, sizeof(word));
  std::byte* to = contiguous_vectors<Space, A>(x, i, sizeof(word));
  if (to == nullptr) return store_vector_rest<Space, T, R, A, N>(x, i);
  word vectors[lanes];
  T* const words = reinterpret_cast<T*>(vectors);
  R* vregs[N];
  vregs_of<R, N>(x, i + 1, vregs);
  for (int l = 0; l < lanes; ++l)
    for (int k = 0; k < N; ++k) words[l * N + k] = static_cast<T>(vregs[k][l]);
  for (int l = 0; l < lanes; ++l) store_at_once(to + l * sizeof(word), vectors[l]);
  return i + 2;
}

constexpr value_class register_class(std::size_t bytes) {
  return bytes == 2 ? value_class::b16 : bytes == 4 ? value_class::b32 : value_class::b64;
}

// The ops for one element type T and registers of type R (of T's signedness, at least as wide).
// They are in a table, because code that adds each op would be a third of the code compiled here.
struct element {
  op_name (*type)();  // of T
  op_name (*bits)();  // of R
  value_class r;
  handler load[3], store[3];  // of one, two and four elements; null where there is no such op
};

template <memory_space Space, class A, class T, class R>
constexpr element element_of() {
  element e{&type_name<T>,
            &bits_name<R>,
            register_class(sizeof(R)),
            {&load<Space, T, R, A>, &load_vector<Space, T, R, A, 2>},
            {}};
  if constexpr (sizeof(T) <= 4) e.load[2] = &load_vector<Space, T, R, A, 4>;
  if constexpr (!std::is_signed_v<T> && Space != memory_space::parameter) {
    e.store[0] = &store<Space, T, R, A>;
    e.store[1] = &store_vector<Space, T, R, A, 2>;
    if constexpr (sizeof(T) <= 4) e.store[2] = &store_vector<Space, T, R, A, 4>;
  }
  return e;
}

template <memory_space Space, class A>
constexpr element elements[] = {
    element_of<Space, A, u8, u16>(),  element_of<Space, A, u8, u32>(),
    element_of<Space, A, u8, u64>(),  element_of<Space, A, s8, s16>(),
    element_of<Space, A, s8, s32>(),  element_of<Space, A, s8, s64>(),
    element_of<Space, A, u16, u16>(), element_of<Space, A, u16, u32>(),
    element_of<Space, A, u16, u64>(), element_of<Space, A, s16, s32>(),
    element_of<Space, A, s16, s64>(), element_of<Space, A, u32, u32>(),
    element_of<Space, A, u32, u64>(), element_of<Space, A, s32, s64>(),
    element_of<Space, A, u64, u64>(),
};

// `address`: size of the address register in bytes.
void space_ops(op_table& t, const char* space, std::size_t address, std::span<const element> all) {
  constexpr const char* vectors[] = {".", ".v2.", ".v4."};
  const value_class a = register_class(address), none = value_class::none;
  const op_name end = address == 4 ? ".a32" : ".a64";
  for (const element& e : all) {
    const op_name name = op_name(space) + "." + e.type() + ".b" + e.bits() + end;
    for (int n = 0; n < 3; ++n)
      if (e.load[n] != nullptr)
        add_op(t, op_name("ld") + vectors[n] + name, e.load[n], e.r, a, none, none);
    for (int n = 0; n < 3; ++n)
      if (e.store[n] != nullptr)
        add_op(t, op_name("st") + vectors[n] + name, e.store[n], none, a, e.r, none);
  }
}

}  // namespace

void memory_ops(op_table& t) {
  using enum memory_space;
  space_ops(t, "global", sizeof(u64), elements<global, u64>);
  space_ops(t, "shared", sizeof(u32), elements<shared, u32>);
  space_ops(t, "shared", sizeof(u64), elements<shared, u64>);
  space_ops(t, "local", sizeof(u32), elements<local, u32>);
  space_ops(t, "local", sizeof(u64), elements<local, u64>);
  space_ops(t, "param", sizeof(u32), elements<parameter, u32>);
  space_ops(t, "param", sizeof(u64), elements<parameter, u64>);
  space_ops(t, "generic", sizeof(u64), elements<generic, u64>);
}

}  // namespace stepwise::emulator::STEPWISE_SIMD
