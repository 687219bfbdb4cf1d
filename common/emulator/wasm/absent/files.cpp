// What libc++ has compiled where there are files. A page has none: opening one fails.
#include <fstream>

template class std::basic_filebuf<char>;
template class std::basic_ifstream<char>;
template class std::basic_ofstream<char>;
