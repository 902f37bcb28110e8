#include "top/table.h"

#include <fmt/format.h>

#include <cmath>

#include "base/printable.h"
#include "base/text.h"
#include "base/units.h"

namespace gt::top {
namespace {

constexpr std::array<std::string_view, kColumns> kKeys = {
    "id",           "name",     "state", "busy",        "comm",
    "wait",         "rate",     "count", "seconds",     "mean",
    "memory",       "peak",     "queue", "queue_bytes", "queue_seconds",
    "in_rate",      "out_rate", "in",    "out",         "text_bytes",
    "result_bytes", "unread",   "share", "quota",       "wait_seconds",
    "wait_for",     "top_op",   "host",  "at",          "line",
    "cpu",          "resident"};

constexpr std::array<std::string_view, 5> kKinds = {"route", "worker", "op",
                                                    "worker-op", "client"};

}  // namespace

std::string Cell::plain() const {
  switch (kind) {
    case Kind::kNone:
      return "-";
    case Kind::kText:
      return text.empty() ? "-" : printable(text);
    case Kind::kShare:
      return fmt::format("{:.4f}", number);
    case Kind::kCount:
      return decimal(number, 2);
    case Kind::kBytes:
      return fmt::format("{:.0f}", number);
    case Kind::kSeconds:
      return fmt::format("{:.6f}", number);
  }
  return "-";
}

std::string Cell::shown() const {
  switch (kind) {
    case Kind::kShare:
      return fmt::format("{:.{}f}%", 100 * number, number < 0.0995 ? 1 : 0);
    case Kind::kCount:
      return count_text(number);
    case Kind::kBytes:
      return bytes_text(std::round(number));
    case Kind::kSeconds:
      return time_text(1e9 * number);
    default:
      return plain();
  }
}

Row& Row::text(Column column, std::string_view value) {
  cells[static_cast<size_t>(column)] = {Cell::Kind::kText, 0,
                                        std::string(value)};
  return *this;
}

Row& Row::set(Column column, Cell::Kind as, double value) {
  cells[static_cast<size_t>(column)] = {as, value, ""};
  return *this;
}

std::string_view key_of(Column column) {
  return kKeys[static_cast<size_t>(column)];
}

std::string_view word_of(Row::Kind kind) {
  return kKinds[static_cast<size_t>(kind)];
}

bool is_before(const Cell& a, const Cell& b) {
  const bool is_text = a.kind == Cell::Kind::kText;
  if (is_text != (b.kind == Cell::Kind::kText)) return is_text;
  if (!is_text) return a.number > b.number;
  // For example, "c9" comes before "c10".
  const size_t digit = a.text.find_first_of("0123456789");
  uint64_t left = 0;
  uint64_t right = 0;
  if (digit != std::string::npos &&
      a.text.substr(0, digit) == b.text.substr(0, digit) &&
      read_number(std::string_view(a.text).substr(digit), left) &&
      read_number(std::string_view(b.text).substr(digit), right)) {
    return left < right;
  }
  return a.text < b.text;
}

}  // namespace gt::top
