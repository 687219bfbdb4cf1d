// The same as device code of which there is none.
#include "exec_host_only.cpp"
