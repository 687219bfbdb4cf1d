// The layout of `lab ptx`: two columns on wide terminals, one below the other on narrow ones.
#pragma once

#include "grader/cli/context.hpp"
#include "grader/cli/text/ptx_listing.hpp"

namespace stepwise::cli {

inline constexpr int two_columns_from = 120;  // terminal columns

struct ptx_view {
  std::string file;        // the subject's file, to which --line refers
  std::uint32_t line = 0;  // 0: all lines; else one line, with all of its instructions
};

void show_kernel(context& c, const kernel_listing& k, const ptx_view& view,
                 emulator::source_text& sources);

// Explains the marks. Printed only once, after all kernels.
void show_legend(context& c, const std::vector<kernel_listing>& kernels);

}  // namespace stepwise::cli
