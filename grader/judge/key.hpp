// Which inputs a submission is graded with: what a key says of its content, or what chance says.
//
// idea    HMAC-SHA256 of the lab, the file's hash and what is drawn, under an instructor's key: the
//         same submission gets the same inputs on every machine, and nobody without the key knows
//         them, not even from the seed that a grade shows. Without an own key the seed is drawn by
//         chance, and the hidden sizes are HMAC of that seed under a public key: everybody can
//         repeat a grade whose seed is known, and a program that reads its own file learns nothing
//         of either.
// source  SHA-256: FIPS 180-4; HMAC: RFC 2104.
// Tested by tests/key_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grader/course/lab.hpp"

namespace stepwise {

using digest = std::array<std::uint8_t, 32>;
digest sha256(std::string_view bytes);
digest hmac_sha256(std::string_view key, std::string_view bytes);
std::string hex_of(const digest& d);

// By chance, from least_secret_seed (common/lab/random.hpp) to 2^53, which every reader of JSON
// keeps.
std::uint64_t fresh_seed();

class grading_key {
 public:
  grading_key();  // the public one
  // All bytes of a file, at least 16. failure(usage) if there is no such file, or it is shorter.
  explicit grading_key(const std::filesystem::path& file);

  bool is_public() const { return is_public_; }
  // Distinguishes keys and reveals nothing of them.
  std::string id() const;

  // The seed that a grade shows, from the same range as fresh_seed(). It depends on the content of
  // the submission; the public key draws a fresh one.
  std::uint64_t seed(const lab& l, std::string_view content) const;
  // The seed of its inputs. Under the public key it is the one that is shown. Under any other, the
  // seed that is shown reveals no input to those who lack the key.
  std::uint64_t seed_of_inputs(const lab& l, std::uint64_t shown) const;
  // Sizes beside those that lab.toml lists, between l.hidden's two; none where it has none. Numbers
  // are drawn evenly by their order of magnitude, those that may be 0 evenly. Under the public key
  // they depend on the seed, else on the content.
  std::vector<lab_size> hidden_sizes(const lab& l, std::string_view content,
                                     std::uint64_t seed) const;
  // One between `least` and the largest size whose time is modelled; none without such a size. It
  // is drawn like hidden sizes.
  std::optional<lab_size> large_size(const lab& l, lab_size least, std::string_view content,
                                     std::uint64_t seed) const;
  // The size at which a counter goal is judged: lab.toml's size, or up to a quarter more. It
  // grows in steps of 32 (1024 from 65536 on), so ragged edges hardly change a figure, and is drawn
  // like hidden sizes.
  lab_size counted_size(const lab& l, const lab_size& least, std::string_view content,
                        std::uint64_t seed) const;

 private:
  lab_size draw_size(const lab& l, std::string_view from, const std::string& what,
                     const lab_size& least, const lab_size& most) const;
  std::string sizes_come_from(std::string_view content, std::uint64_t seed) const;
  std::uint64_t draw(const lab& l, std::string_view from, const std::string& what) const;

  std::string key_;
  bool is_public_ = false;
};

}  // namespace stepwise
