#include "emit/held_saves.h"

#include <algorithm>
#include <utility>

#include "ops/table.h"
#include "stream/marks.h"

namespace gt::emit {
namespace {

// As many bytes are kept back at most, which some 60,000 saves take.
constexpr size_t kMostHeld = size_t{4} << 20;

// Returns the kind of a line that begins with its op, as a save does.
Statement kind_of(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return statement_of(line.substr(0, line.find_first_of(" \t")));
}

// Calls each(line) for the lines of the text, with their LF.
template <typename Each>
void each_line(std::string_view text, const Each& each) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n') + 1);
    each(line);
    text.remove_prefix(line.size());
  }
}

bool has_save(std::string_view lines) {
  bool has = false;
  each_line(lines, [&has](std::string_view line) {
    has = has || kind_of(line) == Statement::kSave;
  });
  return has;
}

}  // namespace

std::string without_saves(std::string_view lines) {
  std::string rest;
  each_line(lines, [&rest](std::string_view line) {
    if (kind_of(line) != Statement::kSave) rest += line;
  });
  return rest;
}

void HeldSaves::begin(Origin at) {
  state_ = State::kHeld;
  begins_at_ = at;
}

std::string_view HeldSaves::add(std::string_view line, std::string_view lines,
                                uint64_t cost) {
  const Statement kind = kind_of(line);
  if (kind == Statement::kPrint || lines.starts_with(kSyncHead)) {
    return "a result was asked for before '#saves end'";
  }
  if (held_.text.size() + lines.size() > kMostHeld) {
    return "more than 4 MiB of lines came before '#saves end'";
  }
  held_.text += lines;
  held_.cost += cost;
  if (kind != Statement::kSave || has_save(lines)) return {};
  return "one of its saves was refused";
}

HeldSaves::Lines HeldSaves::give_up() {
  Lines held = std::exchange(held_, {});
  held.text = without_saves(held.text);
  state_ = State::kGivenUp;
  return held;
}

HeldSaves::Lines HeldSaves::end() {
  state_ = State::kNone;
  return std::exchange(held_, {});
}

}  // namespace gt::emit
