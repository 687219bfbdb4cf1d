// File streams, which libc++ lacks on systems without files. In a page, opening a file fails.
#include <fstream>

template class std::basic_filebuf<char>;
template class std::basic_ifstream<char>;
template class std::basic_ofstream<char>;
