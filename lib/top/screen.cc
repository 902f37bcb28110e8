#include "top/screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

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
  return row.kind == Row::Kind::kWorker && row[Column::kBusy].number >= 0.8
             ? Style::kGood
             : Style::kPlain;
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
    "BUSY  compute ran      COMM  exchanges with other workers ran",
    "WAIT  compute waited for other workers",
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
    std::string text;
    for (const PlacedField& one : fields) {
      if (!text.empty()) text += ' ';
      text += padded(all[i][one.field->column].shown(), one.width,
                     one.field->is_left);
    }
    out.push_back({std::move(text), style_of(all[i])});
  }
  if (all.empty() && room > 0) {
    out.push_back(
        {cut(look.filter.empty() ? "  (none)"
                                 : "  (none has '" + look.filter + "')",
             columns),
         Style::kDim});
  }
}

// ---- the whole --------------------------------------------------------------

void Screen::add_header(std::vector<ScreenLine>& out, size_t columns) const {
  const RouteNow& route = model_.now().route;
  std::string title =
      fmt::format("gt-top: gt-route {} {}  up {}  {}", route.pid, route.file,
                  clock_text(route.uptime_ms), model_.state());
  if (is_frozen_) title += "  FROZEN";
  if (silent_ms_ > 0) {
    title += "  says nothing for " + seconds_text(silent_ms_);
  }
  out.push_back({cut(title, columns), Style::kTitle});
  const double lines = static_cast<double>(route.lines);
  const double repeated = static_cast<double>(route.repeated);
  out.push_back(
      {cut(fmt::format(
               "{} of {} workers  reads {} lines/s  {} lines ({:.0f}% in "
               "rounds)  {} of results  {} owed  {} watching",
               route.here, route.workers, count_text(model_.lines_rate()),
               count_text(lines), lines > 0 ? 100 * repeated / lines : 0,
               bytes_text(static_cast<double>(route.written)),
               bytes_text(static_cast<double>(route.owed)), route.watchers),
           columns),
       Style::kPlain});
  const std::string wait = longest_wait(model_.now());
  out.push_back(
      {cut(wait.empty() ? "nobody waits" : "longest wait: " + wait, columns),
       wait.empty() ? Style::kDim : Style::kBad});
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
  add_header(out, columns);
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
