// A part of a program without kernels beside one with some.
int host_part() { return 0; }
