#include "net/record.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/message.h"
#include "base/text.h"

namespace gt::net {

uint64_t Record::number(std::string_view key, uint64_t other) const {
  const auto value = need(key);
  return value.ok() ? value.value() : other;
}

Result<uint64_t> Record::need(std::string_view key) const {
  const std::string_view* value = find(key);
  uint64_t parsed = 0;
  if (value != nullptr && read_number(*value, parsed)) return parsed;
  return Error{std::string(kind) + ": " + std::string(key) + "=" +
               (value == nullptr ? "" : excerpt(*value)) + " is not a number"};
}

Result<Record> parse_record(std::string_view line) {
  Record record;
  record.kind = line.substr(0, line.find(' '));
  const bool is_kind =
      !record.kind.empty() && std::ranges::all_of(record.kind, [](char c) {
        return c >= 'a' && c <= 'z';
      });
  if (!is_kind) {
    return Error{"'" + excerpt(record.kind) +
                 "' is not what a record begins with"};
  }
  auto parsed = parse_fields(line.substr(record.kind.size()));
  if (!parsed.ok()) {
    return Error{std::string(record.kind) + ": " + parsed.error().message};
  }
  record.fields = std::move(parsed.value().fields);
  return record;
}

RecordWriter& RecordWriter::field(std::string_view key,
                                  std::string_view value) {
  if (value.empty()) return *this;
  to_.append(" ").append(key).append("=");
  to_ += value_text(value.substr(0, kMaxText));
  return *this;
}

RecordWriter& RecordWriter::field(std::string_view key, uint64_t value) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  to_.append(" ").append(key).append("=").append(digits, end);
  return *this;
}

}  // namespace gt::net
