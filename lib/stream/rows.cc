#include "stream/rows.h"

#include "base/text.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace gt {
namespace {

constexpr double kMostFlops = 1e19;  // fits in 64 bits
constexpr double kMostRead = 1e30;   // the most that can be a real count

// The columns of one line, taken from the left.
class Columns {
 public:
  explicit Columns(std::string_view line) : rest_(line) {}

  std::string_view next() {
    const size_t tab = rest_.find('\t');
    if (tab == std::string_view::npos) {
      ok_ = false;
      return {};
    }
    const std::string_view column = rest_.substr(0, tab);
    rest_.remove_prefix(tab + 1);
    return column;
  }
  template <typename T>
  T number() {
    const std::string_view column = next();
    T value{};
    ok_ = read_number(column, value) && ok_;
    return value;
  }
  std::string_view rest() const { return rest_; }
  bool ok() const { return ok_; }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace

bool parse_row(std::string_view line, LogRow& row) {
  Columns columns(line);
  row.time = columns.next();
  row.seq = columns.next();
  row.event = columns.next();
  row.peer = columns.next();
  row.client = columns.next();
  row.bytes = columns.next();
  row.text = columns.rest();
  return columns.ok();
}

bool parse_row(std::string_view line, TraceRow& row) {
  Columns columns(line);
  row.start = columns.number<uint64_t>();
  row.end = columns.number<uint64_t>();
  row.queue = columns.next();
  const size_t worker = row.queue.find('/') + 1;  // with the slash; or 0
  row.worker = row.queue.substr(0, worker == 0 ? 0 : worker - 1);
  row.queue.remove_prefix(worker);
  row.rank = columns.next();
  row.at = columns.next();
  row.op = columns.next();
  row.bytes = columns.number<uint64_t>();
  row.flops = columns.number<double>();
  row.signal = columns.next();
  row.text = columns.rest();
  const bool counted = row.flops >= 0 && row.flops <= kMostRead;  // not nan
  return columns.ok() && counted && row.start <= row.end;
}

char* put_digits(char* to, uint64_t value) {
  // Writes two digits at a time, since this is most of the cost of a row.
  static constexpr auto kPairs = [] {
    std::array<char, 200> pairs{};
    for (size_t i = 0; i < 100; ++i) {
      pairs[2 * i] = static_cast<char>('0' + i / 10);
      pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
    }
    return pairs;
  }();
  char digits[kMaxDigits];
  char* at = digits + sizeof digits;
  while (value >= 10) {
    at -= 2;
    std::memcpy(at, &kPairs[2 * (value % 100)], 2);
    value /= 100;
  }
  if (value > 0 || at == digits + sizeof digits) {
    *--at = static_cast<char>('0' + value);
  }
  const auto size = static_cast<size_t>(digits + sizeof digits - at);
  std::memcpy(to, at, size);
  return to + size;
}

void append_head(std::string& out, const TraceRow& row) {
  for (const std::string_view column : {row.queue, row.rank}) {
    out += column;
    out += '\t';
  }
}

void append_tail(std::string& out, const TraceRow& row) {
  char digits[kMaxDigits];
  out += '\t';
  out += row.op;
  out += '\t';
  out.append(digits, put_digits(digits, row.bytes));
  out += '\t';
  out.append(digits, put_digits(digits, static_cast<uint64_t>(std::clamp(
                                            row.flops, 0.0, kMostFlops))));
  out += '\t';
  out += row.signal;
  out += '\t';
  out += row.text;
  out += '\n';
}

}  // namespace gt
