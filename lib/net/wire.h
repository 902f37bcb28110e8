// The protocol between gt-route and its workers. A message is one ZeroMQ frame:
// a header line, then a body of exactly the size that the header states.
//
//     lines seq=812 line=900 size=4096\n<text of instructions>
//
// Header and body are text, except in messages with a part of a file
// (file_talk.h), whose body is any bytes. The bytes of tensors do not travel
// between the lines: they go from worker to worker (peers.h) or in files,
// unless a program writes them as text, in a literal or by a print.
//
// An instruction has two numbers: `seq` counts the instructions issued, and
// `line` is its place in the input. Within a body both grow by one with each
// instruction; a line "#+A B" before an instruction first adds A to seq and B
// to line. (B may be negative, since gt-route's own lines have no place in the
// input.) So a body has the same text wherever it occurs, and blocks can be
// sent as their hash. Other lines that begin with '#' control the worker
// (control_lines.h), and take no number unless they are fences.
//
// Source of the pattern: the ZeroMQ Guide, chapter 4 (Paranoid Pirate).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/exit.h"
#include "base/result.h"
#include "net/control_lines.h"

namespace gt::net {

inline constexpr int kWireVersion = 6;
// No message longer than this is sent, or accepted from a peer. If gt-route has
// to send something longer, such as a line with many values, it goes in several
// messages of one verb, all but the last with more=1, and between them come
// only beat, gone, watch and abort messages. Their bodies together are the
// body, and the fields of the first are the fields (lib/net/joiner.h). The
// results of a worker are a stream of bytes, which may be cut anywhere;
// everything else that a worker sends is short.
inline constexpr size_t kMaxMessage = size_t{1} << 20;
inline constexpr size_t kMaxHeader = 4096;  // with its newline
inline constexpr size_t kMaxBody = kMaxMessage - kMaxHeader;
inline constexpr size_t kMaxFields = 32;
// The most bytes of text for people, in report, bye, refuse, abort and done.
inline constexpr size_t kMaxWords = size_t{16} << 10;

// The verbs of messages, with their fields.
//
// Sent by a worker:
//   hello    version= table= name= rank= host= pid= data= token= threads= isa=
//            backend= epoch=: the worker attaches; its first message
//   results  result lines, in this worker's program order; a line may continue
//            in the next message
//   report   seq= at= line= status= [space=]: the body is a message for people
//            about a failure; at= is the place of the failed line, such as
//            "model.gt:7", space= the name space of its user
//   done     seq= bytes= wait= [at=]: all instructions up to seq= are done;
//            bytes= is the credit given back since the worker attached, in
//            bytes of lines, block and hot messages (frames with headers); it
//            has waited for wait= ms, at instruction at=, and the body says for
//            what (text for people). It is also sent at every beat, as the
//            worker's sign of life
//   ran      time= told= heard=: what ran when (ran.h); if welcome had time=
//   state    what the worker has used and done (used.h); while it is watched
//   bye      status=: the worker leaves: everything before `end` has run, or
//            the body says why it leaves early
//   text, input, end, taken, beat: sent by a client of gt-emit
//            (serve/client_connections.h)
//   get, sum, put, piece, end, forget: sent by a borrower of files
//            (file_talk.h)
// Sent by a watcher, such as gt-top:
//   watch    version=: asks for one state, and shows that it is still there
//            (watchers.h)
// Sent by gt-route:
//   welcome  worker= workers= epoch= session= file= [time=]: the worker is
//            attached; the body lists the workers, one a line: number, name,
//            host, data endpoint, pid and, if there are keys, public key
//   refuse   a hello is refused; the body says why
//   lines    seq= line= after= [times= seq_by= line_by=] (LinesHeader); after=
//            is the last seq that this worker was sent before (0: none), so
//            that it notices missing messages
//   block    id= and the fields of lines; the worker keeps the body under id=
//   hot      id= and the fields of lines; stands for the body kept under id=,
//            and has none itself
//   forget   id=: the body under id= is no longer needed
//   beat     [time=]: gt-route is alive
//   end      after=: there are no more lines: run all, then say bye
//   bye      the answer to a bye
//   gone     worker=: this worker is lost, and the body says why; the run goes
//            on
//   watch    on=: to a worker: it is watched from now on (1) or no longer (0)
//   state    [more=]: to a watcher, the answer: the state of the run (record.h)
//   abort    leave at once, and the body says why; before welcome: try again
//            later
enum class Verb : uint8_t {
  kHello,
  kResults,
  kReport,
  kDone,
  kRan,
  kBye,
  kWelcome,
  kRefuse,
  kLines,
  kBlock,
  kHot,
  kForget,
  kBeat,
  kEnd,
  kGone,
  kAbort,
  kInput,
  kText,
  kRoom,
  kTaken,
  kWatch,
  kState,
  kGet,
  kData,
  kSum,
  kPut,
  kPiece,
  kKept
};

// Returns the word that begins the header.
std::string_view name_of(Verb verb);

// The fields of a message or of a record (record.h). A value is a word (without
// blank, quote, '#' or control byte) or is quoted like a string of the stream.
// All members are views into the bytes that were parsed.
struct Fields {
  struct Field {
    std::string_view key;    // of a-z and _
    std::string_view value;  // as written
  };
  std::vector<Field> fields;

  // Returns the field's value as written; null if it is missing.
  const std::string_view* find(std::string_view key) const;
  // Returns the field's value without quotes; "" if it is missing.
  std::string text(std::string_view key) const;
};

// A parsed message: the header's fields except size=, and the body, which is a
// view, too.
struct Message : Fields {
  Verb verb = Verb::kBeat;
  std::string_view body;
};

// Parses the fields of a header behind its verb, " key=value key=value".
// Errors: a malformed field, one that is there twice, or too many fields.
Result<Fields> parse_fields(std::string_view text);
// Takes a word or a quoted string, as written, off the front of `rest`; "" if
// there is none.
std::string_view take_value(std::string_view& rest);
// Returns the text as a field's value is written: quoted unless it is a word.
std::string value_text(std::string_view text);

// Parses a message from any bytes. Errors: no header, an unknown verb, the
// errors of parse_fields(), a body whose length is not size=, more than
// kMaxMessage bytes.
Result<Message> parse_message(std::string_view bytes);
// Returns the number of a field. Error: the field is missing or not a number.
Result<uint64_t> number(const Message& message, std::string_view key);
// Reads numbers from a message one by one, and keeps the first error.
class NumberReader {
 public:
  explicit NumberReader(const Message& message) : message_(message) {}
  // Returns the number of a field that must be there; 0 on an error.
  uint64_t need(std::string_view key);
  // Returns the number of a field that may be missing; `other` if it is.
  uint64_t find(std::string_view key, uint64_t other = 0) {
    return message_.find(key) == nullptr ? other : need(key);
  }
  const Status& status() const { return status_; }

 private:
  const Message& message_;
  Status status_ = ok_status();
};
// Returns the field status=. Error: it is missing, or not an exit status of
// gt's programs.
Result<Exit> status_of(const Message& message);
// Checks a message from a worker. Errors: it is a report, bye or done whose
// text for people is longer than kMaxWords, or a report or bye whose status is
// missing or wrong.
Status check_words(const Message& message);
// Cuts a text for people to kMaxWords bytes.
std::string_view words(std::string_view text);

// What the header of a message says about its lines.
struct LinesHeader {
  uint64_t seq = 0;  // seq of the first numbered line; 0: there is none
  int64_t line = 0;
  uint64_t times = 1;   // how often the body runs
  uint64_t seq_by = 0;  // what each further time adds to seq
  uint64_t line_by = 0;
};
// Reads the header of a message with lines. Errors: a number is missing or
// malformed, or the numbers leave 64 bits; after= is not `last`, the seq that
// came last, so that lines are missing.
Result<LinesHeader> lines_header(const Message& message, uint64_t last);
// Checks after= of a message with lines, or of `end`. Error: lines are missing,
// and which.
Status check_after(const Message& message, uint64_t last);

// True if a message uses credit of the worker that it goes to: lines, block and
// hot do.
bool uses_credit(std::string_view bytes);

// Writes a message, with `size=` as its last field. Header and body must not be
// longer than kMaxHeader and kMaxBody.
class MessageWriter {
 public:
  explicit MessageWriter(Verb verb);
  MessageWriter& field(std::string_view key, std::string_view value);
  MessageWriter& field(std::string_view key, uint64_t value);
  std::string finish(std::string_view body = {}) const;
  // Returns only the header of a message whose body has so many bytes.
  std::string head(size_t body_size) const;
  // Returns the message cut into as many messages as it takes, all but the last
  // with more=1.
  std::vector<std::string> finish_all(std::string_view body);

 private:
  Verb verb_;
  std::string text_;
};

// True if a line of a body takes a number.
inline bool takes_number(std::string_view line) {
  return !line.starts_with('#') || is_fence_line(line);
}

// Iterates over the lines of a body with their numbers. A line that takes none
// gets the numbers of the next line that does.
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
  // Returns the next line; false at the end. Error: a line "#+" that is
  // malformed, or whose numbers leave 64 bits.
  Result<bool> next(Item& item);

 private:
  std::string_view rest_;
  uint64_t seq_;
  int64_t line_;
};

// Collects lines for one worker into a body.
class BodyWriter {
 public:
  // Adds a line, without its newline. Writes a mark "#+A B" before it if its
  // numbers are not the next ones. The numbers of a line that takes none are
  // ignored.
  void add(uint64_t seq, int64_t line, std::string_view text);
  bool empty() const { return body_.empty(); }
  size_t size() const { return body_.size(); }
  uint64_t first_seq() const { return first_seq_; }
  int64_t first_line() const { return first_line_; }
  uint64_t last_seq() const { return next_seq_ - 1; }  // if a line had a number
  std::string_view text() const { return body_; }
  std::string take();
  void clear();  // keeps the memory
  // Removes everything before offset `at`, where a line with these numbers
  // begins.
  void drop_front(size_t at, uint64_t seq, int64_t line);

 private:
  std::string body_;
  uint64_t first_seq_ = 0;
  int64_t first_line_ = 0;
  uint64_t next_seq_ = 0;
  int64_t next_line_ = 0;
  bool has_number_ = false;
};

}  // namespace gt::net
