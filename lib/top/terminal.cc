#include "top/terminal.h"

#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS 1
#include <langinfo.h>
#include <ncurses.h>

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

namespace gt::top {
namespace {

enum Pair : short { kGoodPair = 1, kWarnPair, kBadPair, kTitlePair };

attr_t attribute_of(Style style, bool has_color) {
  const auto pair = [has_color](short number) {
    return has_color ? static_cast<attr_t>(COLOR_PAIR(number)) : attr_t{0};
  };
  switch (style) {
    case Style::kPlain:
      return A_NORMAL;
    case Style::kTitle:
      return A_BOLD | pair(kTitlePair);
    case Style::kHead:
      return A_UNDERLINE;
    case Style::kFocus:
      return A_REVERSE;
    case Style::kGood:
      return pair(kGoodPair);
    case Style::kWarn:
      return pair(kWarnPair);
    case Style::kBad:
      return A_BOLD | pair(kBadPair);
    case Style::kDim:
      return A_DIM;
  }
  return A_NORMAL;
}

std::optional<Key> key_of(int code) {
  switch (code) {
    case KEY_UP:
      return Key::kUp;
    case KEY_DOWN:
      return Key::kDown;
    case KEY_LEFT:
      return Key::kLeft;
    case KEY_RIGHT:
      return Key::kRight;
    case KEY_PPAGE:
      return Key::kPageUp;
    case KEY_NPAGE:
      return Key::kPageDown;
    case KEY_HOME:
      return Key::kHome;
    case KEY_ENTER:
      return Key::kEnter;
    case KEY_BACKSPACE:
    case KEY_DC:
      return Key::kErase;
    default:
      return std::nullopt;
  }
}

std::optional<Key> control_of(wint_t character) {
  switch (character) {
    case L'\t':
      return Key::kTab;
    case L'\n':
    case L'\r':
      return Key::kEnter;
    case 0x1b:
      return Key::kEscape;
    case 0x7f:
    case L'\b':
      return Key::kErase;
    default:
      return std::nullopt;
  }
}

std::string utf8_of(wint_t c) {
  const auto code = static_cast<uint32_t>(c);
  std::string out;
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
  return out;
}

// Returns the ASCII character that looks most like a block, which bars and
// histories are drawn with; "?" for any other character.
char ascii_of(std::string_view character) {
  constexpr std::string_view kBlocks = "\xe2\x96";        // U+2580 to U+25BF
  constexpr std::string_view kLooks = "_.-=+*#|||||   ";  // of U+2581 on
  if (!character.starts_with(kBlocks) || character.size() != 3) return '?';
  const auto last = static_cast<unsigned char>(character[2]);
  if (last == 0x92) return ':';
  return last > 0x80 && last - 0x81U < kLooks.size() ? kLooks[last - 0x81U]
                                                     : '?';
}

// Replaces each non-ASCII character if the terminal's character set is not
// UTF-8.
std::string in_charset(const std::string& text) {
  static const bool is_utf8 = std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
  if (is_utf8) return text;
  std::string out;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    while (end < text.size() &&
           (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
      ++end;
    }
    const bool is_ascii = static_cast<unsigned char>(text[i]) < 0x80;
    out += is_ascii ? text[i]
                    : ascii_of(std::string_view(text).substr(i, end - i));
    i = end;
  }
  return out;
}

}  // namespace

// The locale is used for the encoding of characters alone; digits stay as they
// are.
Terminal::Terminal(bool has_color) : has_color_(has_color) {
  std::setlocale(LC_CTYPE, "");
  // Such a terminal cannot move its cursor, which ncurses does not report.
  const char* type = std::getenv("TERM");
  if (type != nullptr && std::strcmp(type, "dumb") == 0) return;
  screen_ = newterm(nullptr, stdout, stdin);
  if (screen_ == nullptr) return;
  set_term(static_cast<SCREEN*>(screen_));
  cbreak();
  noecho();
  nonl();
  set_escdelay(25);
  keypad(stdscr, TRUE);
  nodelay(stdscr, TRUE);
  curs_set(0);
  has_color_ = has_color_ && has_colors();
  if (!has_color_) return;
  start_color();
  use_default_colors();
  init_pair(kGoodPair, COLOR_GREEN, -1);
  init_pair(kWarnPair, COLOR_YELLOW, -1);
  init_pair(kBadPair, COLOR_RED, -1);
  init_pair(kTitlePair, COLOR_CYAN, -1);
}

Terminal::~Terminal() {
  if (screen_ == nullptr) return;
  endwin();
  delscreen(static_cast<SCREEN*>(screen_));
}

size_t Terminal::rows() const { return static_cast<size_t>(getmaxy(stdscr)); }
size_t Terminal::columns() const {
  return static_cast<size_t>(getmaxx(stdscr));
}

bool Terminal::take_keys(Screen& screen) {
  wint_t character = 0;
  for (;;) {
    const int got = get_wch(&character);
    if (got == ERR) return true;
    std::optional<Key> key;
    bool goes_on = true;
    if (got == KEY_CODE_YES) {
      key = key_of(static_cast<int>(character));
      if (key) goes_on = screen.take(*key);
    } else if ((key = control_of(character))) {
      goes_on = screen.take(*key);
    } else if (character >= 0x20) {
      goes_on = screen.take(Key::kCharacter, utf8_of(character));
    }
    if (!goes_on) return false;
  }
}

void Terminal::draw(const std::vector<ScreenLine>& lines) {
  erase();
  const auto add = [this](const std::string& part, Style as) {
    const std::string text = in_charset(part);
    const attr_t style = attribute_of(as, has_color_);
    attr_set(style, 0, nullptr);
    wattrset(stdscr, static_cast<int>(style));
    addnstr(text.c_str(), static_cast<int>(text.size()));
  };
  for (size_t i = 0; i < lines.size(); ++i) {
    const ScreenLine& line = lines[i];
    move(static_cast<int>(i), 0);
    size_t done = 0;
    for (const ScreenLine::Span& span : line.spans) {
      add(line.text.substr(done, span.begin - done), line.style);
      add(line.text.substr(span.begin, span.size), span.style);
      done = span.begin + span.size;
    }
    add(line.text.substr(done), line.style);
  }
  wattrset(stdscr, A_NORMAL);
  refresh();
}

}  // namespace gt::top
