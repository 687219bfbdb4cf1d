// Operations on values in memory (api_value.cpp), in streams and graph nodes.
#pragma once

#include <span>

#include "common/driver/driver.hpp"
#include "common/runtime/graphs/graph.hpp"

namespace stepwise::driver {

using value_operations = std::span<const CUstreamBatchMemOpParams>;
constexpr unsigned most_in_batch = 255;

// invalid_value for an unknown operation, or a value that is not in memory known to CUDA.
status check_values(runtime::state& s, value_operations all);

// The work of a node for checked operations, and the operations of work; none for other work.
runtime::driver_work value_work(value_operations all);
value_operations operations_of(const runtime::driver_work& work);

}  // namespace stepwise::driver
