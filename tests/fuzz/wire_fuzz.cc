// Takes any bytes as a message, which is read or refused. A message is the same
// when it is written again, and so are the numbered lines of its body.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "net/ran.h"
#include "net/wire.h"
#include "target.h"

namespace {

using gt::fuzz::require;

void check_written_again(const gt::net::Message& message) {
  gt::net::MessageWriter writer(message.verb);
  for (const auto& field : message.fields) {
    writer.field(field.key, message.text(field.key));
  }
  const std::string bytes = writer.finish(message.body);
  const auto again = gt::net::parse_message(bytes);
  require(again.ok() && again.value().verb == message.verb);
  require(again.value().body == message.body);
  require(again.value().fields.size() == message.fields.size());
  for (const auto& field : message.fields) {
    require(again.value().text(field.key) == message.text(field.key));
  }
}

struct Numbered {
  std::string text;
  uint64_t seq;
  int64_t line;
};

// Reads the numbered lines of a body; false if a mark is wrong.
bool numbered(std::string_view body, uint64_t seq, int64_t line,
              std::vector<Numbered>& out) {
  gt::net::NumberedLines lines(body, seq, line);
  gt::net::NumberedLines::Item item;
  for (;;) {
    const auto more = lines.next(item);
    if (!more.ok()) return false;
    if (!more.value()) return true;
    out.push_back({std::string(item.text), item.seq, item.line});
  }
}

void check_lines(std::string_view body) {
  std::vector<Numbered> lines;
  if (!numbered(body, 1, 1, lines)) return;
  gt::net::BodyWriter writer;
  for (const auto& line : lines) writer.add(line.seq, line.line, line.text);
  const uint64_t seq = writer.first_seq();
  const int64_t line = writer.first_line();
  std::vector<Numbered> again;
  require(numbered(writer.take(), seq, line, again));
  require(again.size() == lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    require(again[i].text == lines[i].text);
    if (!gt::net::takes_number(lines[i].text)) continue;
    require(again[i].seq == lines[i].seq && again[i].line == lines[i].line);
  }
}

void check_ran(std::string_view body) {
  const auto rows = gt::net::parse_ran(body);
  if (!rows.ok()) return;
  std::string written;
  for (const gt::net::RanRow& row : rows.value())
    gt::net::append_ran(written, row);
  const auto again = gt::net::parse_ran(written);
  require(again.ok() && again.value().size() == rows.value().size());
}

}  // namespace

GT_FUZZ_TARGET(wire) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto message = gt::net::parse_message(bytes);
  check_lines(message.ok() ? message.value().body : bytes);
  check_ran(message.ok() ? message.value().body : bytes);
  if (!message.ok()) return 0;
  (void)gt::net::number(message.value(), "seq").ok();
  check_written_again(message.value());
  return 0;
}
