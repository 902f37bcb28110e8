#include "net/ran.h"

#include <algorithm>
#include <array>

#include "base/message.h"
#include "base/text.h"

namespace gt::net {
namespace {

constexpr std::array<std::string_view, 3> kKinds = {"compute", "comm",
                                                    "transfer"};

bool take_number(std::string_view& rest, auto& value) {
  return read_number(take_word(rest, " "), value);
}

bool parse_row(std::string_view line, RanRow& row) {
  const auto kind = std::ranges::find(kKinds, take_word(line, " "));
  if (kind == kKinds.end()) return false;
  row.kind = static_cast<RanRow::Kind>(kind - kKinds.begin());
  if (!take_number(line, row.first)) return false;
  if (row.kind != RanRow::Kind::kTransfer) {
    return take_number(line, row.last) && take_number(line, row.begin) &&
           take_number(line, row.end) && line.empty();
  }
  row.last = row.first;
  if (!take_number(line, row.from) || !take_number(line, row.bytes) ||
      !take_number(line, row.begin) || !take_number(line, row.end)) {
    return false;
  }
  row.name = take_word(line, " ");
  return line.empty();
}

}  // namespace

void append_ran(std::string& body, const RanRow& row) {
  const auto put = [&body](uint64_t number) {
    body.append(" ").append(std::to_string(number));
  };
  body += kKinds[static_cast<size_t>(row.kind)];
  put(row.first);
  if (row.kind == RanRow::Kind::kTransfer) {
    put(row.from);
    put(row.bytes);
  } else {
    put(row.last);
  }
  put(row.begin);
  put(row.end);
  if (!row.name.empty()) body.append(" ").append(row.name);
  body += '\n';
}

Result<std::vector<RanRow>> parse_ran(std::string_view body) {
  std::vector<RanRow> rows;
  while (!body.empty()) {
    const std::string_view line = body.substr(0, body.find('\n'));
    if (!parse_row(line, rows.emplace_back())) {
      return Error{"ran: '" + excerpt(line) + "' is not what ran"};
    }
    body.remove_prefix(std::min(line.size() + 1, body.size()));
  }
  return rows;
}

// If the bounds cross, a clock has drifted or was set; then only the last
// message counts.
void ClockOffset::take(uint64_t sent, uint64_t received,
                       const ToldTime& heard) {
  const auto most = static_cast<int64_t>(received - sent);
  const auto least = static_cast<int64_t>(heard.told - heard.heard);
  least_ = std::max(least_, least);
  most_ = std::min(most_, most);
  if (least_ <= most_) return;
  least_ = std::min(least, most);
  most_ = most;
}

int64_t ClockOffset::value() const {
  if (least_ <= 0 && most_ >= 0) return 0;
  return least_ / 2 + most_ / 2;
}

}  // namespace gt::net
