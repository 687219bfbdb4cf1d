// Chooses a submission's inputs: derived from a key and its content, or random.
//
// idea    The inputs come from an HMAC-SHA256 over the lab, the file's hash and the purpose, under
//         an instructor's key. The same submission gets the same inputs on every machine, and they
//         cannot be predicted without the key, not even from the seed that a grade shows. Without
//         an instructor's key, the seed is random, and the hidden sizes are an HMAC of that seed
//         under a public key. Such a grade can be repeated from its seed, and a program that reads
//         its own file learns nothing about its inputs.
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

// A random seed from least_secret_seed (common/lab/random.hpp) to 2^53, which every JSON reader
// represents exactly.
std::uint64_t fresh_seed();

class grading_key {
 public:
  grading_key();  // the public key
  // All bytes of a file, at least 16. Throws failure(usage) if the file is missing or shorter.
  explicit grading_key(const std::filesystem::path& file);

  bool is_public() const { return is_public_; }
  // Identifies the key without revealing it.
  std::string id() const;

  // The seed that a grade shows, from the same range as fresh_seed(). It depends on the content of
  // the submission; the public key draws a random seed.
  std::uint64_t seed(const lab& l, std::string_view content) const;
  // The seed of the inputs. Under the public key, this seed equals the seed that is shown. Under
  // any other key, the seed that is shown does not reveal the inputs.
  std::uint64_t seed_of_inputs(const lab& l, std::uint64_t shown) const;
  // Sizes in addition to those in lab.toml, between the two of l.hidden; empty if l.hidden is
  // empty. Numbers are uniform in their order of magnitude, or uniform if they may be 0. The sizes
  // depend on the seed under the public key, and otherwise on the content.
  std::vector<lab_size> hidden_sizes(const lab& l, std::string_view content,
                                     std::uint64_t seed) const;
  // A size between `least` and the largest size whose time is modelled, drawn like hidden sizes.
  // nullopt if there is no modelled size.
  std::optional<lab_size> large_size(const lab& l, lab_size least, std::string_view content,
                                     std::uint64_t seed) const;
  // The size at which a counter goal is judged: lab.toml's size, or up to a quarter more. The size
  // grows in steps of 32 (1024 from 65536 on), so that ragged edges hardly change a counter, and is
  // drawn like hidden sizes.
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
