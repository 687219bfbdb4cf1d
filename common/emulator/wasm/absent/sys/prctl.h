// A page has no pages of memory whose size could be chosen.
#pragma once
#define PR_SET_THP_DISABLE 41
template <class... A>
int prctl(int, A...) {
  return 0;
}
