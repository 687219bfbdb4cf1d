// In a web page, a program cannot choose the size of memory pages.
#pragma once
#define PR_SET_THP_DISABLE 41
template <class... A>
int prctl(int, A...) {
  return 0;
}
