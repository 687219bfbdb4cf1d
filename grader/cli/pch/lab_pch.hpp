// What nearly every file of cli/ includes, compiled once: half of the program's build time.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>
