// A record: one line of a state, which gt-route tells those who watch it. It is
// a kind and fields, which are written as those of a message's header are:
//
//     worker id=3 name=w3 host=node7 queue_ns=1200000 at="model.gt:7"
//
// A reader passes over kinds and fields that it does not know.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/wire.h"

namespace gt::net {

// Views into the line that it was read from.
struct Record {
  std::string_view kind;
  std::vector<Message::Field> fields;

  // The field's value as written; null if it is not there.
  const std::string_view* find(std::string_view key) const;
  // Without its quotes; "" if it is not there.
  std::string text(std::string_view key) const;
  // Its number, `other` if it is not there or none.
  uint64_t number(std::string_view key, uint64_t other = 0) const;
  // Error: it is not there, or no number.
  Result<uint64_t> need(std::string_view key) const;
};

// Errors: no kind of letters, or what parse_fields() says. Takes any bytes.
Result<Record> parse_record(std::string_view line);

// Appends one record to a text; its newline when it goes.
class RecordWriter {
 public:
  RecordWriter(std::string& to, std::string_view kind) : to_(to) {
    to_ += kind;
  }
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;
  ~RecordWriter() { to_ += '\n'; }
  // Any text, of which the first kMaxText bytes are kept; none if it is empty.
  RecordWriter& field(std::string_view key, std::string_view value);
  RecordWriter& field(std::string_view key, uint64_t value);

 private:
  static constexpr size_t kMaxText = 256;

  std::string& to_;
};

}  // namespace gt::net
