#include "top/screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "base/printable.h"
#include "base/text.h"
#include "base/units.h"
#include "top/table_form.h"

namespace gt::top {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

bool matches(const Row& row, const std::string& filter) {
  return filter.empty() || std::ranges::any_of(row.cells, [&](const Cell& c) {
           return c.kind == Cell::Kind::kText &&
                  lower(c.text).find(filter) != std::string::npos;
         });
}

Style style_of(const Row& row) {
  const std::string& state = row[Column::kState].text;
  if (state == "lost" || state == "silent" || state == "absent") {
    return Style::kBad;
  }
  if (state == "left" || state == "gone") return Style::kDim;
  return Style::kPlain;
}

Style style_of_state(std::string_view state) {
  return state == "waits"                        ? Style::kWarn
         : state == "here" || state == "running" ? Style::kGood
                                                 : Style::kPlain;
}

// Characters that fill the first 1/8 to 8/8 of a cell, from the left or from
// below.
constexpr const char* kAcross[] = {"\u258f", "\u258e", "\u258d", "\u258c",
                                   "\u258b", "\u258a", "\u2589", "\u2588"};
constexpr const char* kUp[] = {"\u2581", "\u2582", "\u2583", "\u2584",
                               "\u2585", "\u2586", "\u2587", "\u2588"};
constexpr const char* kShade = "\u2592";
constexpr size_t kPercent = 5;  // columns of "12.5%", and of a bar's text

std::string times(const char* text, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += text;
  return out;
}

// Returns a bar of a share from 0 to 1; it may be shorter than the width.
std::string bar(double share, size_t width) {
  const auto eighths = static_cast<size_t>(std::lround(
      std::clamp(share, 0.0, 1.0) * 8 * static_cast<double>(width)));
  std::string out = times(kAcross[7], eighths / 8);
  if (eighths % 8 > 0) out += kAcross[eighths % 8 - 1];
  return out;
}

// Returns the last values as columns whose height is from 0 to `top`, with
// blanks in front if there are fewer than that.
std::string columns_of_values(const std::deque<double>& values, double top,
                              size_t width) {
  const size_t count = std::min(values.size(), width);
  std::string out(width - count, ' ');
  for (size_t i = values.size() - count; i < values.size(); ++i) {
    const double share = top > 0 ? std::clamp(values[i] / top, 0.0, 1.0) : 0;
    out += kUp[static_cast<size_t>(std::lround(share * 7))];
  }
  return out;
}

std::string clock_text(uint64_t ms) {
  const uint64_t s = ms / 1000;
  if (s < 3600) return fmt::format("{}:{:02}", s / 60, s % 60);
  return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

constexpr std::string_view kHelp[] = {
    "q            quit",
    "tab          the next table: workers, ops, clients",
    "s < >        sort by the next column, or by the one before it; * marks it",
    "r            reverse the order; ^ marks the column then",
    "/            show only rows that have a text; enter ends it, escape drops "
    "it",
    "f            freeze what is shown, or go on",
    "up down      move in the table; page up, page down, home",
    "h ?          this page; any key leaves it",
    "",
    "BUSY  compute ran, and shaded, waited for other workers (WAIT)",
    "COMM  exchanges with other workers ran",
    "CPU   of the process, 100% a core; RES  its memory",
    "Shares and rates are smoothed over five seconds; gt-top(1) tells more."};

}  // namespace

// ---- keys -------------------------------------------------------------------

bool Screen::take(Key key, std::string_view character) {
  if (std::exchange(shows_help_, false)) {
    return key != Key::kCharacter || character != "q";
  }
  if (is_typing_) {
    take_filter(key, character);
    return true;
  }
  const size_t rows = rows_of(focus_).size();
  size_t& first = look().first;
  const size_t last = rows == 0 ? 0 : rows - 1;
  constexpr size_t kPage = 10;
  switch (key) {
    case Key::kCharacter:
      return take_character(character);
    case Key::kTab:
      focus_ = (focus_ + 1) % kTables;
      break;
    case Key::kUp:
      first -= first > 0 ? 1 : 0;
      break;
    case Key::kDown:
      first = std::min(first + 1, last);
      break;
    case Key::kPageUp:
      first -= std::min(first, kPage);
      break;
    case Key::kPageDown:
      first = std::min(first + kPage, last);
      break;
    case Key::kHome:
      first = 0;
      break;
    case Key::kLeft:
      move_sort(false);
      break;
    case Key::kRight:
      move_sort(true);
      break;
    case Key::kEscape:
      look().filter.clear();
      break;
    case Key::kEnter:
    case Key::kErase:
      break;
  }
  return true;
}

bool Screen::take_character(std::string_view character) {
  if (character == "q") return false;
  if (character == "s" || character == ">") move_sort(true);
  if (character == "<") move_sort(false);
  if (character == "r") look().is_reversed = !look().is_reversed;
  if (character == "h" || character == "?") shows_help_ = true;
  if (character == "/") {
    is_typing_ = true;
    look().filter.clear();
  }
  if (character == "f") {
    is_frozen_ = !is_frozen_;
    if (!is_frozen_ && latest_.has_any()) model_ = latest_;
  }
  return true;
}

void Screen::take_filter(Key key, std::string_view character) {
  std::string& filter = look().filter;
  look().first = 0;
  if (key == Key::kCharacter) {
    filter += lower(character);
  } else if (key == Key::kErase) {
    while (!filter.empty()) {
      const bool begins =
          (static_cast<unsigned char>(filter.back()) & 0xC0) != 0x80;
      filter.pop_back();
      if (begins) break;
    }
  } else if (key == Key::kEnter || key == Key::kEscape) {
    if (key == Key::kEscape) filter.clear();
    is_typing_ = false;
  }
}

void Screen::move_sort(bool forward) {
  const size_t count = table_forms()[focus_].fields.size();
  look().sort = (look().sort + (forward ? 1 : count - 1)) % count;
}

void Screen::show(const Model& model) {
  latest_ = model;
  if (!is_frozen_ || !model_.has_any()) model_ = model;
}

// ---- tables -----------------------------------------------------------------

std::vector<Row> Screen::rows_of(size_t table) const {
  const TableForm& form = table_forms()[table];
  const Look& look = looks_[table];
  std::vector<Row> rows = model_.rows(form.kind);
  std::erase_if(rows,
                [&](const Row& row) { return !matches(row, look.filter); });
  const Column by = form.fields[look.sort].column;
  std::ranges::stable_sort(rows, [by](const Row& a, const Row& b) {
    return is_before(a[by], b[by]);
  });
  if (look.is_reversed) std::ranges::reverse(rows);
  return rows;
}

void Screen::add_table(std::vector<ScreenLine>& out, size_t table, size_t rows,
                       size_t columns) const {
  const TableForm& form = table_forms()[table];
  const Look& look = looks_[table];
  const std::vector<PlacedField> fields = fit(form, columns);
  std::string head;
  for (const PlacedField& one : fields) {
    std::string title = one.field->title;
    if (one.field == &form.fields[look.sort]) {
      title.insert(0, look.is_reversed ? "^" : "*");
    }
    if (!head.empty()) head += ' ';
    head += padded(title, one.width, one.field->is_left);
  }
  out.push_back({head, table == focus_ ? Style::kFocus : Style::kHead});
  const std::vector<Row> all = rows_of(table);
  const size_t room = rows - 1;
  const size_t most = all.size() > room ? all.size() - room : 0;
  const size_t first = std::min(look.first, most);
  for (size_t i = first; i < all.size() && i < first + room; ++i) {
    ScreenLine line{"", style_of(all[i])};
    for (const PlacedField& one : fields) {
      if (!line.text.empty()) line.text += ' ';
      add_cell(line, all[i], one);
    }
    if (line.style != Style::kPlain) line.spans.clear();
    out.push_back(std::move(line));
  }
  if (all.empty() && room > 0) {
    out.push_back(
        {cut(look.filter.empty() ? "  (none)"
                                 : "  (none has '" + look.filter + "')",
             columns),
         Style::kDim});
  }
}

void Screen::add_cell(ScreenLine& line, const Row& row,
                      const PlacedField& field) const {
  const Cell& cell = row[field.field->column];
  const auto add = [&line](const std::string& text, Style style) {
    if (!text.empty() && style != Style::kPlain) {
      line.spans.push_back({line.text.size(), text.size(), style});
    }
    line.text += text;
  };
  switch (field.field->look) {
    case Field::Look::kText:
      return add(padded(cell.shown(), field.width, field.field->is_left),
                 field.field->column == Column::kState
                     ? style_of_state(cell.text)
                     : Style::kPlain);
    case Field::Look::kBar: {
      const size_t width = field.width - kPercent - 1;
      const std::string busy = bar(cell.number, width);
      const size_t left = width - columns_of(busy);
      const double wait = std::clamp(row[Column::kWait].number, 0.0, 1.0);
      const size_t waits = std::min(
          left,
          static_cast<size_t>(std::lround(wait * static_cast<double>(width))));
      add(busy, Style::kGood);
      add(times(kShade, waits), Style::kWarn);
      return add(std::string(left - waits + 1, ' ') +
                     padded(cell.shown(), kPercent, false),
                 Style::kPlain);
    }
    case Field::Look::kHistory: {
      const History* history = model_.busy_history(row[Column::kId].text);
      return add(history == nullptr
                     ? padded("-", field.width, true)
                     : columns_of_values(history->values(), 1, field.width),
                 Style::kGood);
    }
  }
}

// ---- the whole --------------------------------------------------------------

// What was read and how busy the workers were, over time.
void Screen::add_history(std::vector<ScreenLine>& out, size_t columns) const {
  constexpr std::string_view kLines = "lines/s ";
  constexpr std::string_view kBusy = "  busy ";
  constexpr size_t kNumber = 9;  // " 1.25 k"
  const size_t taken = kLines.size() + kBusy.size() + 2 * kNumber;
  if (columns < taken + 16) return;
  const size_t width = (columns - taken) / 2;
  const auto& lines = model_.lines_history().values();
  const auto& busy = model_.busy_history().values();
  const double top = lines.empty() ? 0 : *std::ranges::max_element(lines);
  ScreenLine line;
  const auto add = [&](std::string_view title, const std::string& picture,
                       const std::string& now) {
    line.text += title;
    line.spans.push_back({line.text.size(), picture.size(), Style::kGood});
    line.text += picture + padded(" " + now, kNumber, true);
  };
  add(kLines, columns_of_values(lines, top, width),
      count_text(model_.lines_rate()));
  Cell share{Cell::Kind::kShare, busy.empty() ? 0 : busy.back(), ""};
  add(kBusy, columns_of_values(busy, 1, width), share.shown());
  out.push_back(std::move(line));
}

void Screen::add_header(std::vector<ScreenLine>& out, size_t rows,
                        size_t columns) const {
  const RouteNow& route = model_.now().route;
  std::string title =
      fmt::format("gt-top: gt-route {} {}  up {}  {}", route.pid, route.file,
                  clock_text(route.uptime_ms), model_.state());
  if (is_frozen_) title += "  FROZEN";
  if (silent_ms_ > 0) {
    title += "  says nothing for " + seconds_text(silent_ms_);
  }
  out.push_back({cut(title, columns), Style::kTitle});
  // Where there is room, these two are told whole.
  const size_t most = rows < 12 ? 1 : 4;
  const double lines = static_cast<double>(route.lines);
  const double repeated = static_cast<double>(route.repeated);
  std::vector<std::string> told = {
      fmt::format("{} of {} workers", route.here, route.workers),
      fmt::format("reads {} lines/s", count_text(model_.lines_rate())),
      fmt::format("{} lines ({:.0f}% in rounds)", count_text(lines),
                  lines > 0 ? 100 * repeated / lines : 0),
      fmt::format("{} of results",
                  bytes_text(static_cast<double>(route.written))),
      fmt::format("{} owed", bytes_text(static_cast<double>(route.owed))),
      fmt::format("{} watching", route.watchers)};
  if (route.resident > 0) {
    told.push_back(fmt::format("{:.0f}% CPU", 100 * model_.cpu()));
    told.push_back(bytes_text(static_cast<double>(route.resident)));
  }
  for (std::string& line : wrap(told, "  ", columns, most)) {
    out.push_back({std::move(line), Style::kPlain});
  }
  const std::string wait = longest_wait(model_.now());
  if (wait.empty()) {
    out.push_back({cut("nobody waits", columns), Style::kDim});
  } else {
    const std::string text = "longest wait: " + wait;
    std::vector<std::string> words;
    for (const std::string_view word : words_of(text)) {
      words.emplace_back(word);
    }
    for (std::string& line : wrap(words, " ", columns, most)) {
      out.push_back({std::move(line), Style::kBad});
    }
  }
  if (rows >= 16) add_history(out, columns);
}

std::string Screen::footer() const {
  const Look& look = looks_[focus_];
  if (is_typing_) return "/" + look.filter + "_";
  std::string out =
      "q quit  s sort  r reverse  / filter  f freeze  tab table  "
      "? help";
  if (!look.filter.empty()) out.insert(0, "[" + look.filter + "]  ");
  return out;
}

std::vector<ScreenLine> Screen::help(size_t rows) const {
  std::vector<ScreenLine> out = {{"gt-top: keys", Style::kTitle}};
  for (const std::string_view line : kHelp) {
    if (out.size() < rows) out.push_back({std::string(line), Style::kPlain});
  }
  return out;
}

std::vector<ScreenLine> Screen::draw(size_t rows, size_t columns) const {
  std::vector<ScreenLine> out;
  if (rows == 0 || columns == 0) return out;
  if (shows_help_) {
    out = help(rows);
    for (ScreenLine& line : out) line.text = cut(line.text, columns);
    return out;
  }
  if (!model_.has_any()) return {{cut("gt-top: waits for gt-route", columns)}};
  add_header(out, rows, columns);
  const size_t own = out.size() + 1;  // including the footer
  size_t left = rows > own ? rows - own : 0;
  std::array<size_t, kTables> need{};
  std::array<size_t, kTables> give{};
  size_t others = 0;  // the least that the tables without focus need
  for (size_t t = 0; t < kTables; ++t) {
    const size_t count = rows_of(t).size();
    const bool is_shown = t == focus_ || count > 0 || t == 0;
    need[t] = is_shown ? 1 + std::max<size_t>(1, count) : 0;
    if (t != focus_) others += std::min<size_t>(need[t], 4);
  }
  give[focus_] =
      std::min({need[focus_], left,
                std::max(left > others ? left - others : 0, left / 2)});
  left -= give[focus_];
  for (size_t t = 0, after = kTables - 1; t < kTables; ++t) {
    if (t == focus_) continue;
    give[t] = std::min(need[t], after > 1 ? (left + 1) / 2 : left);
    if (give[t] < 2) give[t] = 0;
    left -= give[t];
    --after;
  }
  for (size_t t = 0; t < kTables; ++t) {
    const size_t more = std::min(left, need[t] - give[t]);
    if (give[t] == 0) continue;
    give[t] += more;
    left -= more;
  }
  for (size_t t = 0; t < kTables; ++t) {
    if (give[t] >= 2) add_table(out, t, give[t], columns);
  }
  if (out.size() > rows) out.resize(rows);
  while (out.size() + 1 < rows) out.push_back({});
  if (out.size() < rows) out.push_back({cut(footer(), columns), Style::kHead});
  return out;
}

}  // namespace gt::top
