// Modelled times of the course's own programs, kept in build/modelled/ once requested.
//
// idea    A time depends on the program, the emulator, this `lab`, which makes the inputs, the
//         emulated GPU, and the size. It is kept under a hash of all of these, so a time that many
//         grades need is modelled once.
// watch   In a judged call the time is a few % different, so it also depends on the mode: blur 04
//         takes 365 us judged and 385 us in practice. Without this distinction, a grade in practice
//         compared its file with a judged time.
// Tested by tests/kept_times_test.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "grader/course/lab.hpp"
#include "grader/judge/device_choice.hpp"

namespace stepwise {

// A hash of this `lab`, the emulated runtime and the emulated GPU.
std::string hash_of_emulator(const installation& where, const device_choice& emulator);

class kept_times {
 public:
  // `emulator` must be the emulator. Both arguments must outlive this object.
  kept_times(const installation& where, const device_choice& emulator)
      : where_(where), emulator_(emulator) {}

  // Time in ms of a call of `program` with inputs of this size and seed.
  std::optional<double> find(const std::filesystem::path& program, const lab_size& size,
                             std::uint64_t seed);
  // Does nothing if the folder is not writable.
  void keep(const std::filesystem::path& program, const lab_size& size, std::uint64_t seed,
            double time_ms);

 private:
  std::filesystem::path file_of(const std::filesystem::path& program, const lab_size& size,
                                std::uint64_t seed);

  const installation& where_;
  const device_choice& emulator_;
  std::string common_;  // hash without the program; empty: unknown
};

}  // namespace stepwise
