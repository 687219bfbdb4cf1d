// Maps a character to the lower-case Latin letter that it looks like.
#include "grader/batch/look_alike.hpp"

#include <algorithm>
#include <iterator>

namespace stepwise::batch {
namespace {

struct look {
  char32_t first, last;
  char letter;
};

// Latin letters with accents, in Unicode's blocks Latin-1 and Latin Extended-A.
constexpr look accented[] = {
    {0xc0, 0xc6, 'a'},   {0xc7, 0xc7, 'c'},   {0xc8, 0xcb, 'e'},   {0xcc, 0xcf, 'l'},
    {0xd0, 0xd0, 'd'},   {0xd1, 0xd1, 'n'},   {0xd2, 0xd6, 'o'},   {0xd8, 0xd8, 'o'},
    {0xd9, 0xdc, 'u'},   {0xdd, 0xdd, 'y'},   {0xe0, 0xe6, 'a'},   {0xe7, 0xe7, 'c'},
    {0xe8, 0xeb, 'e'},   {0xec, 0xef, 'l'},   {0xf1, 0xf1, 'n'},   {0xf2, 0xf6, 'o'},
    {0xf8, 0xf8, 'o'},   {0xf9, 0xfc, 'u'},   {0xfd, 0xfd, 'y'},   {0xff, 0xff, 'y'},
    {0x100, 0x105, 'a'}, {0x106, 0x10d, 'c'}, {0x10e, 0x111, 'd'}, {0x112, 0x11b, 'e'},
    {0x11c, 0x123, 'g'}, {0x124, 0x127, 'h'}, {0x128, 0x133, 'l'}, {0x134, 0x135, 'j'},
    {0x136, 0x138, 'k'}, {0x139, 0x142, 'l'}, {0x143, 0x14b, 'n'}, {0x14c, 0x153, 'o'},
    {0x154, 0x159, 'r'}, {0x15a, 0x161, 's'}, {0x162, 0x167, 't'}, {0x168, 0x173, 'u'},
    {0x174, 0x175, 'w'}, {0x176, 0x178, 'y'}, {0x179, 0x17e, 'z'}, {0x17f, 0x17f, 's'}};

// Letters of other scripts, and the Latin letters that they look like, in the same order.
constexpr std::u32string_view foreign =
    U"\u0430\u0432\u0435\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445\u0455\u0456\u0458"
    U"\u04bb\u0501\u051b\u051d\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423"
    U"\u0425\u0405\u0406\u0408\u03b1\u03b5\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u0391"
    U"\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u0131";
constexpr std::string_view latin =
    "abekmhopctyxslj"
    "hdqwabekmhopcty"
    "xsljaelkvoptuxa"
    "bezhlkmnoptyxl";
static_assert(foreign.size() == latin.size());

// 0 for an invisible character.
char32_t letter_of(char32_t c) {
  if (is_unseen(c) || (c >= 0x300 && c <= 0x36f)) return 0;
  if (c >= 0xff01 && c <= 0xff5e) c -= 0xff01 - U'!';
  if (c >= U'A' && c <= U'Z') c += U'a' - U'A';
  if (c == U'0') return U'o';
  if (c == U'1' || c == U'i' || c == U'|') return U'l';
  if (const auto at = foreign.find(c); at != std::u32string_view::npos)
    return static_cast<char32_t>(latin[at]);
  const auto* const found =
      std::find_if(std::begin(accented), std::end(accented),
                   [&](const look& l) { return c >= l.first && c <= l.last; });
  return found == std::end(accented) ? c : static_cast<char32_t>(found->letter);
}

}  // namespace

std::string look_of(std::string_view id) {
  std::string look;
  while (!id.empty()) {
    const char32_t c = letter_of(take_character(id));
    for (char32_t rest = c; rest != 0; rest >>= 8) look += static_cast<char>(rest & 0xff);
    if (c > 0x7f) look += '/';
  }
  return look;
}

char32_t take_character(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t length = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  char32_t c = length == 1 ? first : first & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < std::min(length, text.size()); ++i)
    c = (c << 6) | (static_cast<unsigned char>(text[i]) & 0x3fu);
  text.remove_prefix(std::min(length, text.size()));
  return c;
}

bool is_unseen(char32_t c) {
  return c <= U' ' || c == 0xa0 || c == 0xad || c == 0x1680 || c == 0x180e ||
         (c >= 0x2000 && c <= 0x200f) || (c >= 0x2028 && c <= 0x202f) ||
         (c >= 0x205f && c <= 0x206f) || c == 0x3000 || c == 0x3164 ||
         (c >= 0xfe00 && c <= 0xfe0f) || c == 0xfeff;
}

}  // namespace stepwise::batch
