// What gt-route and its workers say to each other. A message is one ZeroMQ
// frame: a header line in text, then a body of exactly the size it states.
//
//     lines seq=812 line=900 size=4096\n<text of instructions>
//
// Instructions are numbered twice: `seq` counts what is issued, `line` is where
// it stands in the input. Within a body both grow by one an instruction; a line
// "#+A B" before an instruction adds A to seq and B to line first (B may be
// negative: gt-route's own lines have no place in the input). So a body says
// the same text wherever it stands, and blocks can be sent as their hash.
//
// Source of the pattern: the ZeroMQ Guide, chapter 4 (Paranoid Pirate).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gt {

inline constexpr int kWireVersion = 1;
// Nothing longer is sent, and nothing longer is taken from a peer; a longer
// line or result goes in several messages, all but the last with more=1.
inline constexpr size_t kMaxMessage = size_t{1} << 20;

// From a worker.
//   hello    version= table= name= rank= host= pid= data= token= threads= isa=
//            backend= epoch=: it attaches; the first message it sends
//   results  result lines, in program order of this worker
//   report   seq= line= status=: a failure for people, one message in the body
//   done     seq= bytes= wait=: finished up to seq; bytes of lines taken in all;
//            the body says what it waits for, if anything (words for people)
//   bye      status=: drained after `end`; or why it leaves (body)
// From gt-route.
//   welcome  worker= workers= epoch= session= file= : attached; the body lists
//            the workers, one a line: number, name, host, data endpoint, pid
//   refuse   the body says why
//   lines    seq= line=
//   block    id= seq= line=: as lines, and the body is kept under id
//   hot      id= seq= line=: the body that was kept under id
//   forget   id=
//   beat     nothing: gt-route lives
//   end      no more lines: run all, then say bye
//   abort    the body says why: leave at once
enum class Verb : uint8_t {
  kHello,
  kResults,
  kReport,
  kDone,
  kBye,
  kWelcome,
  kRefuse,
  kLines,
  kBlock,
  kHot,
  kForget,
  kBeat,
  kEnd,
  kAbort
};

// A header's fields; views into the message. Values have no blanks: what may
// hold some is quoted as strings of the stream are.
struct Message {
  struct Field {
    std::string_view key;
    std::string_view value;
  };
  Verb verb = Verb::kBeat;
  std::vector<Field> fields;
  std::string_view body;

  const std::string_view* find(std::string_view key) const;
};

// Errors: no header, an unknown verb, a malformed field, a body that is not as
// long as size= says. Believes nothing.
Result<Message> parse_message(std::string_view bytes);
// A number that must be there; error: it is not, or is none.
Result<uint64_t> number(const Message& message, std::string_view key);

// Writes a message. `size=` is written by it, last.
class MessageWriter {
 public:
  explicit MessageWriter(Verb verb);
  MessageWriter& field(std::string_view key, std::string_view value);
  MessageWriter& field(std::string_view key, uint64_t value);
  std::string finish(std::string_view body = {}) &&;

 private:
  std::string text_;
};

// Walks the instructions of a body with their numbers.
class NumberedLines {
 public:
  NumberedLines(std::string_view body, uint64_t seq, int64_t line)
      : rest_(body), seq_(seq), line_(line) {}
  struct Item {
    std::string_view text;  // without its newline
    uint64_t seq = 0;
    int64_t line = 0;
    bool is_whole = true;  // false: the body ended before its newline
  };
  // False at the end. Error: a mark that is none.
  Result<bool> next(Item& item);

 private:
  std::string_view rest_;
  uint64_t seq_;
  int64_t line_;
};

// Collects instructions for one worker into a body.
class BodyWriter {
 public:
  // The mark is written if the numbers are not the next ones.
  void add(uint64_t seq, int64_t line, std::string_view text);
  bool empty() const { return body_.empty(); }
  size_t size() const { return body_.size(); }
  uint64_t first_seq() const { return first_seq_; }
  int64_t first_line() const { return first_line_; }
  uint64_t last_seq() const { return next_seq_ - 1; }
  std::string take();

 private:
  std::string body_;
  uint64_t first_seq_ = 0;
  int64_t first_line_ = 0;
  uint64_t next_seq_ = 0;
  int64_t next_line_ = 0;
};

}  // namespace gt
