// The only lab-specific file of a runner, compiled once per lab with
//   -DSTEPWISE_CONTRACT_HEADER="labs/reduction/reduction.hpp" -DSTEPWISE_CONTRACT_FUNCTION=reduce
#include "common/runner/contract.hpp"

#include STEPWISE_CONTRACT_HEADER

#define STEPWISE_TEXT_OF(name) #name
#define STEPWISE_TEXT(name) STEPWISE_TEXT_OF(name)

namespace stepwise::runner {

const contract lab_contract =
    contract_of<&::STEPWISE_CONTRACT_FUNCTION>::make(STEPWISE_TEXT(STEPWISE_CONTRACT_FUNCTION));

}  // namespace stepwise::runner
