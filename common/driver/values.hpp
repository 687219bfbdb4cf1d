// Operations on values in memory (api_value.cpp), for streams and for nodes of graphs.
#pragma once

#include <span>

#include "common/driver/driver.hpp"
#include "common/runtime/graphs/graph.hpp"

namespace stepwise::driver {

using value_operations = std::span<const CUstreamBatchMemOpParams>;
constexpr unsigned most_in_batch = 255;

// invalid_value for an operation that there is not, or a value in no memory that CUDA knows.
status check_values(runtime::state& s, value_operations all);

// The work of a node that does checked operations, and the operations of such work; none of other.
runtime::driver_work value_work(value_operations all);
value_operations operations_of(const runtime::driver_work& work);

}  // namespace stepwise::driver
