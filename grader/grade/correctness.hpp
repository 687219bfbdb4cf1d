// Checks a program: the small sizes with all checks, the other sizes by their results.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

#include "grader/judge/outcomes.hpp"
#include "grader/measure/figures.hpp"

namespace stepwise {

// The emulator for the checks if a GPU judges the rest. nullopt if the emulator is not built.
std::optional<device_choice> checking_device(const device_choice& device,
                                             const installation& where);

// Runs small sizes on the emulator with all checks, then the remaining sizes, or all sizes on a
// GPU. If a goal of the lab is about the checks, right results count despite findings. `checked`
// becomes false if the emulator could not run the program. If the device is a GPU, `before_gpu` is
// called before its first use.
check_report grade_correctness(const lab& l, const problem& p, const std::filesystem::path& program,
                               const installation& where, const device_choice& device,
                               std::uint64_t seed, const activity& now, bool& checked,
                               const std::function<void()>& before_gpu);

}  // namespace stepwise
