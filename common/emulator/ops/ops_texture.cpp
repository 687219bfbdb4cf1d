// Textures and surfaces: tex, tld4, txq, suld, sust, suq.
//
// idea    There is one op, which works lane by lane. It reads the object's record and then each
//         texel, with the same checks as any other access. op::immediate encodes the instruction
//         (texture.hpp). The two ops after it never run; their d, a, b, c are the vregs of
//         coordinates and values.
// watch   Texels are reported to the checks but not to the counters, because on hardware such
//         requests are not global loads.
#include "common/emulator/ops/ops_texture.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "common/emulator/machine/access.hpp"
#include "common/emulator/machine/memory.hpp"
#include "common/emulator/machine/texture.hpp"
#include "common/emulator/ops/ops.hpp"
#include "common/emulator/run/scheduler.hpp"

namespace stepwise::emulator {
namespace {

// Coordinates of a texel; negative for the border.
struct texel_place {
  s64 x = 0, y = 0, z = 0;
};

class texture_lane {
 public:
  texture_lane(context& x, const op* i) : x_(x), i_(i), form_(unpack_texture(i->immediate)) {
    const op& c = i[1];
    const op& v = i[2];
    const u32 at[] = {c.d, c.a, c.b, c.c}, to[] = {v.d, v.a, v.b, v.c};
    std::copy(std::begin(at), std::end(at), coordinates_);
    std::copy(std::begin(to), std::end(to), values_);
  }

  // False if the launch was stopped.
  bool run(int lane) {
    lane_ = lane;
    const u64 handle = x_.vreg<u64>(i_->a)[lane];
    if ((handle != handle_ || t_.kind == 0) && !open(handle)) return false;
    switch (form_.operation) {
      case texture_operation::sample:
        return sample();
      case texture_operation::gather:
        return gather();
      case texture_operation::query:
        return query();
      default:
        return surface();
    }
  }

 private:
  bool fail(error code, const std::string& what) {
    x_.owner->stop(i_, code, what, lane_);
    return false;
  }
  u32& value(unsigned n) { return x_.vreg<u32>(values_[n])[lane_]; }
  s32 whole(unsigned n) const { return x_.vreg<s32>(coordinates_[n])[lane_]; }
  float real(unsigned n) const { return x_.vreg<f32>(coordinates_[n])[lane_]; }

  // Reads the object's record.
  bool open(u64 handle) {
    const bool surface = form_.has(texture_form::of_surface);
    const char* const what = surface ? "the surface object: " : "the texture object: ";
    t_ = {};
    handle_ = handle;
    if (!textures_in_use || (x_.watch == nullptr && !x_.memory->find(handle)))
      return fail(error::illegal_address, std::string(what) + "destroyed, or never created");
    const std::byte* const from =
        reach(x_, i_, lane_, handle, {sizeof t_, 8, memory_space::global, access_kind::load, what});
    if (from == nullptr) return false;
    texture_record found;
    std::memcpy(&found, from, sizeof found);
    if (found.kind != (surface ? texture_record::surface : texture_record::texture) ||
        !found.is_sound()) {
      return fail(error::illegal_address,
                  std::string(what) + "the handle belongs to something else");
    }
    t_ = found;
    return true;
  }

  // The host address of a texel; null if the launch was stopped.
  std::byte* reach_texel(u64 at, unsigned bytes, access_kind kind) {
    if (x_.watch == nullptr && at - window_.base < window_.bytes &&
        bytes <= window_.bytes - (at - window_.base))
      return x_.memory->host(at);
    // Surface accesses are checked for alignment by their x coordinate.
    const unsigned alignment = form_.has(texture_form::of_surface) ? 1 : t_.channel_bits / 8u;
    std::byte* const found =
        reach(x_, i_, lane_, at,
              {bytes, alignment, memory_space::global, kind,
               form_.has(texture_form::of_surface) ? "a surface: " : "a texture: "});
    if (found != nullptr)
      if (const auto w = x_.memory->allocation_at(at)) window_ = *w;
    return found;
  }

  bool texel(const texel_place& p, u32 (&channels)[4]) {
    if (p.x < 0 || p.y < 0 || p.z < 0) {
      for (unsigned n = 0; n < 4; ++n) channels[n] = border_channel(t_, n);
      return true;
    }
    const u64 at = t_.first + static_cast<u64>(p.z) * t_.layer_bytes +
                   static_cast<u64>(p.y) * t_.row_bytes + static_cast<u64>(p.x) * t_.texel_bytes();
    const std::byte* const from = reach_texel(at, t_.texel_bytes(), access_kind::load);
    if (from == nullptr) return false;
    for (unsigned n = 0; n < t_.channels; ++n) channels[n] = channel_of(t_, from, n);
    return true;
  }

  // The coordinates in the filtered dimensions, and the layer or face.
  struct position {
    float at[3] = {};
    unsigned dimensions = 1;
    s64 layer = 0;
    bool in_layer = false;
  };
  position place() const {
    position p;
    unsigned n = 0;
    p.dimensions = form_.dimensions;
    if (form_.has(texture_form::layered)) {
      // The layer index is an unsigned 32-bit integer.
      const u32 layers = form_.has(texture_form::cube) ? t_.depth / 6 : t_.depth;
      p.layer = std::min<u32>(static_cast<u32>(whole(n++)), std::max(layers, 1u) - 1);
      p.in_layer = true;
    }
    for (unsigned d = 0; d < p.dimensions; ++d) p.at[d] = real(n + d);
    if (!form_.has(texture_form::cube)) return p;
    const cube_place c = cube_face(p.at[0], p.at[1], p.at[2]);
    p.layer = 6 * p.layer + c.face;
    p.at[0] = c.s;
    p.at[1] = c.t;
    p.dimensions = 2;
    p.in_layer = true;
    return p;
  }
  u32 size(unsigned dimension) const {
    return dimension == 0 ? t_.width : dimension == 1 ? t_.height : t_.depth;
  }

  bool sample() {
    u32 channels[4] = {};
    if (form_.has(texture_form::integer_coordinates)) {
      s64 at[3] = {};
      unsigned n = 0;
      if (form_.has(texture_form::layered))
        at[2] = std::min<u32>(static_cast<u32>(whole(n++)), t_.depth - 1);
      for (unsigned d = 0; d < form_.dimensions; ++d) at[d] = texel_at(size(d), whole(n + d));
      const bool inside = at[0] >= 0 && at[1] >= 0 && at[2] >= 0;
      if (inside && !texel({at[0], at[1], at[2]}, channels)) return false;
    } else if (!filtered(place(), channels)) {
      return false;
    }
    for (unsigned n = 0; n < 4; ++n) value(n) = as_read(t_, channels[n]);
    return true;
  }

  bool filtered(const position& p, u32 (&channels)[4]) {
    const bool linear = t_.linear_filter != 0 && reads_floats(t_);
    // A 1D texture is filtered as a 2D texture with one row, read at y = 0. With border addressing,
    // half of the weight is on the border.
    const bool one_row = linear && p.dimensions == 1 && t_.layout != texel_layout::linear;
    const unsigned dimensions = one_row ? 2 : p.dimensions;
    const auto along = [&](unsigned d) -> texel_pair {
      if (d < p.dimensions) return texels_at(t_, d, size(d), p.at[d], linear);
      if (d < dimensions) return texels_at(t_, d, 1, 0, linear);
      if (d == 2 && p.in_layer) return {p.layer, p.layer, 0};
      return {};
    };
    const texel_pair pair[3] = {along(0), along(1), along(2)};
    if (!linear) return texel({pair[0].first, pair[1].first, pair[2].first}, channels);
    const corner_weights weights = weights_of(pair, dimensions);
    corner_parts parts[4] = {};  // by channel
    for (unsigned corner = 0; corner < weights.size(); ++corner) {
      if (weights[corner] == 0) continue;
      s64 at[3];
      for (unsigned d = 0; d < 3; ++d)
        at[d] = ((corner >> d) & 1) != 0 ? pair[d].second : pair[d].first;
      u32 one[4] = {};
      if (!texel({at[0], at[1], at[2]}, one)) return false;
      for (unsigned n = 0; n < t_.channels; ++n) parts[n][corner] = filtered_part(t_, one[n]);
    }
    for (unsigned n = 0; n < t_.channels; ++n) {
      const double sum = weighted_sum(parts[n], weights);
      channels[n] = std::bit_cast<u32>(std::isnan(sum) ? std::bit_cast<float>(0x7fff'ffffu)
                                                       : filtered_value(t_, sum));
    }
    return true;
  }

  // One channel of the four texels that a linear filter would use, counterclockwise from (0, 1).
  bool gather() {
    const position p = place();
    const texel_pair x = texels_at(t_, 0, t_.width, p.at[0], true);
    const texel_pair y = texels_at(t_, 1, t_.height, p.at[1], true);
    const texel_place corners[] = {{x.first, y.second, p.layer},
                                   {x.second, y.second, p.layer},
                                   {x.second, y.first, p.layer},
                                   {x.first, y.first, p.layer}};
    u32 found[4];
    for (unsigned n = 0; n < 4; ++n) {
      u32 channels[4] = {};
      if (!texel(corners[n], channels)) return false;
      found[n] = as_read(t_, channels[form_.component]);
    }
    for (unsigned n = 0; n < 4; ++n) value(n) = found[n];
    return true;
  }

  bool query() {
    const u32 depth = t_.depth == 1 && t_.layered == 0 ? 0 : t_.depth;
    const u32 answers[] = {t_.width, t_.height, depth, t_.cube != 0 ? t_.depth / 6 : t_.depth};
    value(0) = answers[form_.detail];
    return true;
  }

  // Surface coordinates are in texels, except x, which is in bytes.
  bool surface() {
    const bool loads = form_.operation == texture_operation::load;
    const auto bounds = static_cast<surface_bounds>(form_.detail);
    const unsigned bytes = form_.elements * form_.element_bytes;
    unsigned n = 0;
    s64 at[3] = {};
    if (form_.has(texture_form::layered)) at[2] = whole(n++);
    for (unsigned d = 0; d < form_.dimensions; ++d) at[d] = whole(n + d);
    const s64 most[] = {s64{t_.width} * t_.texel_bytes() - bytes, s64{t_.height} - 1,
                        s64{t_.depth} - 1};
    const unsigned aligned_to = std::min(bytes, t_.texel_bytes());
    if ((static_cast<u64>(at[0]) & (aligned_to - 1)) != 0)
      return fail(error::misaligned_address,
                  "x = " + std::to_string(at[0]) +
                      " bytes is not a multiple of the surface access's " +
                      std::to_string(aligned_to));
    bool inside = true;
    for (unsigned d = 0; d < 3; ++d) inside &= at[d] >= 0 && at[d] <= most[d];
    if (!inside && bounds == surface_bounds::trap) return outside(at, bytes);
    if (!inside && bounds == surface_bounds::zero) {
      for (unsigned k = 0; loads && k < form_.elements; ++k) put(k, 0);
      return true;
    }
    for (unsigned d = 0; d < 3; ++d) at[d] = std::clamp<s64>(at[d], 0, std::max<s64>(most[d], 0));
    const u64 address = t_.first + static_cast<u64>(at[2]) * t_.layer_bytes +
                        static_cast<u64>(at[1]) * t_.row_bytes + static_cast<u64>(at[0]);
    std::byte* const host =
        reach_texel(address, bytes, loads ? access_kind::load : access_kind::store);
    if (host == nullptr) return false;
    for (unsigned k = 0; k < form_.elements; ++k) {
      std::byte* const element = host + k * form_.element_bytes;
      u64 word = 0;
      if (loads) {
        std::memcpy(&word, element, form_.element_bytes);
        put(k, word);
      } else {
        std::memcpy(&word, x_.registers + values_[k] + lane_ * form_.register_bytes,
                    form_.register_bytes);
        std::memcpy(element, &word, form_.element_bytes);
      }
    }
    return true;
  }

  void put(unsigned n, u64 word) {
    std::memcpy(x_.registers + values_[n] + lane_ * form_.register_bytes, &word,
                form_.register_bytes);
  }

  bool outside(const s64 (&at)[3], unsigned bytes) {
    const bool has_ops = form_.dimensions >= 2, has_layers = form_.dimensions == 3;
    std::string where = "x = " + std::to_string(at[0]) + " bytes", size = row_words();
    if (has_ops) {
      where += ", y = " + std::to_string(at[1]);
      size += ", " + std::to_string(t_.height) + " rows";
    }
    if (has_layers || form_.has(texture_form::layered)) {
      where += (has_layers ? ", z = " : ", layer ") + std::to_string(at[2]);
      size += ", " + std::to_string(t_.depth) + (has_layers ? " slices" : " layers");
    }
    return fail(error::illegal_address,
                std::to_string(bytes) + "-byte surface " +
                    (form_.operation == texture_operation::load ? "read" : "write") +
                    " out of bounds: " + where + " of " + size + " (x counts bytes, not elements)");
  }
  std::string row_words() const {
    return std::to_string(u64{t_.width} * t_.texel_bytes()) + " bytes a row";
  }

  context& x_;
  const op* i_;
  texture_form form_;
  u32 coordinates_[4], values_[4];
  int lane_ = 0;
  u64 handle_ = 0;
  texture_record t_;      // kind is 0 until a record was read
  access_window window_;  // the allocation of the last texel read
};

const op* texture(context& x, const op* i) {
  texture_lane lane(x, i);
  for (u32 m = x.active; m != 0; m &= m - 1)
    if (!lane.run(__builtin_ctz(m))) return nullptr;
  return i + 3;
}

}  // namespace

void texture_ops(op_table& t) {
  using enum value_class;
  add_op(t, "<texture>", &texture, none, b64, none, none);
}

}  // namespace stepwise::emulator
