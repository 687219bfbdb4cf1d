// toml++, compiled once from its package's headers.
#define TOML_IMPLEMENTATION
#include <toml++/toml.h>
