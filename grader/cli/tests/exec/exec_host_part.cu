// A part without kernels. The rest of its program has kernels.
int host_part() { return 0; }
