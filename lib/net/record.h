// A record is one line of a state, which gt-route sends to watchers. It has a
// kind and fields, written like those of a message's header:
//
//     worker id=3 name=w3 host=node7 queue_ns=1200000 at="model.gt:7"
//
// A reader skips kinds and fields that it does not know.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/wire.h"

namespace gt::net {

// A parsed record.
struct Record : Fields {
  std::string_view kind;

  // Returns the field's number; `other` if it is missing or not a number.
  uint64_t number(std::string_view key, uint64_t other = 0) const;
  // Returns the field's number. Error: it is missing or not a number.
  Result<uint64_t> need(std::string_view key) const;
};

// Parses any bytes as a record. Errors: the kind is not a word of letters, or
// those of parse_fields().
Result<Record> parse_record(std::string_view line);

// Appends one record to a text. The destructor appends the newline.
class RecordWriter {
 public:
  RecordWriter(std::string& to, std::string_view kind) : to_(to) {
    to_ += kind;
  }
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;
  ~RecordWriter() { to_ += '\n'; }
  // Appends a field with the first kMaxText bytes of a text; nothing if the
  // text is empty.
  RecordWriter& field(std::string_view key, std::string_view value);
  RecordWriter& field(std::string_view key, uint64_t value);

 private:
  static constexpr size_t kMaxText = 256;

  std::string& to_;
};

}  // namespace gt::net
