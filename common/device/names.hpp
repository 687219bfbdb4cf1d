// Kernel names as students wrote them.
#pragma once

#include <string>
#include <string_view>

namespace stepwise {

// "_Z6reduceILj256EEvPKiPi" is told as "reduce<256u>"; a name that is not mangled stays as it is.
std::string readable_name(std::string_view mangled);

}  // namespace stepwise
