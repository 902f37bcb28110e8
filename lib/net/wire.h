// What gt-route and its workers say to each other. A message is one ZeroMQ
// frame: a header line, then a body of exactly the size that the header states.
//
//     lines seq=812 line=900 size=4096\n<text of instructions>
//
// Header and body are text in all messages but those that bring a part of a
// file (file_talk.h), whose body is any bytes. The bytes of tensors do not come
// between the lines, but from worker to worker (peers.h) or in files, unless a
// program writes them as text: in a literal, or by a print.
//
// Instructions are numbered twice: `seq` counts what is issued, `line` is where
// it stands in the input. Within a body both grow by one an instruction; a line
// "#+A B" before an instruction adds A to seq and B to line first (B may be
// negative: gt-route's own lines have no place in the input). So a body says
// the same text wherever it stands, and blocks can be sent as their hash.
// Other lines that begin with '#' control the worker, and take no number unless
// they are fences:
//
//     #file "NAME"                 the file that the lines behind it stand in
//     #ranks SPACE RANKS=WORKER... who plays which rank, exec/decode/hosting.h
//     #fence FROM TO,... "FILE"    exec/worker/exchanges.h; is numbered
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

namespace gt::net {

inline constexpr int kWireVersion = 6;
// Nothing longer is sent, and nothing longer is taken from a peer. What
// gt-route has to say that is longer, as a line of many values, goes in several
// messages of one verb, all but the last with more=1, and between them nothing
// but beat, gone, watch and abort: their bodies together are the body, and the
// first one's fields are the fields (lib/net/joiner.h). A worker's results are
// a stream of bytes, which may be cut anywhere; all else that it says is short.
inline constexpr size_t kMaxMessage = size_t{1} << 20;
inline constexpr size_t kMaxHeader = 4096;  // its newline included
inline constexpr size_t kMaxBody = kMaxMessage - kMaxHeader;
inline constexpr size_t kMaxFields = 32;
// What a message says to people: report, bye, refuse, abort, and done.
inline constexpr size_t kMaxWords = size_t{16} << 10;

// From a worker.
//   hello    version= table= name= rank= host= pid= data= token= threads= isa=
//            backend= epoch=: it attaches; the first message it sends
//   results  result lines, in program order of this worker; a line may go on in
//            the next message
//   report   seq= at= line= status= [space=]: a failure for people, one message
//            in the body; at= is the place of the line that failed, as
//            "model.gt:7", space= the name space of its user
//   done     seq= bytes= wait=: finished up to seq; bytes of the lines, block
//            and hot messages (frames, headers included) it has room for again,
//            in all since it attached; it waits since so many ms, and the body
//            says for what (words for people), at= at which instruction. It is
//            sent at every beat, too, as the worker's sign of life
//   ran      time= told= heard=: what ran when, see ran.h; if welcome had time=
//   state    what it has used and done, see used.h; while it is watched
//   bye      status=: all has run that came before `end`; or it leaves before
//            that, and the body says why
//   text, input, end, taken, beat: of a client of gt-emit, serve/reception.h
//   get, sum, put, piece, end, forget: of who borrows files, file_talk.h
// From one who watches, as gt-top.
//   watch    version=: asks for one state, and says that it is here; watchers.h
// From gt-route.
//   welcome  worker= workers= epoch= session= file= [time=]: attached; the body
//            lists the workers, one a line: number, name, host, data endpoint,
//            pid and, if there are keys, public key
//   refuse   the body says why
//   lines    seq= line= after= [times= seq_by= line_by=]; see LinesHeader;
//            after= is the seq that this worker was sent last (0: none), so
//            that it notices what is missing
//   block    id= and as lines; the body is kept under id
//   hot      id= and as lines: the body that was kept under id; has none itself
//   forget   id=: the body under id is kept no longer
//   beat     [time=]: gt-route lives
//   end      after=: no more lines: run all, then say bye
//   bye      the answer to a bye
//   gone     worker=: that one is lost, the body says why; the run goes on
//   watch    on=: to a worker: from now on (1) or no longer (0) it is watched
//   state    [more=]: to a watcher, the answer: how the run is, see record.h
//   abort    the body says why: leave at once; before welcome: try again later
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

// The word that a header begins with.
std::string_view name_of(Verb verb);

// A header's fields but for size=; views into the message. A value is a word
// (no blank, quote, '#' or control byte) or quoted as strings of the stream
// are.
struct Message {
  struct Field {
    std::string_view key;    // of a-z and _
    std::string_view value;  // as written
  };
  Verb verb = Verb::kBeat;
  std::vector<Field> fields;
  std::string_view body;

  const std::string_view* find(std::string_view key) const;
};

// The fields of a header behind its verb, " key=value key=value". Errors: a
// malformed field, or one that is there twice, or too many.
Result<std::vector<Message::Field>> parse_fields(std::string_view text);
// A word or a quoted string at the front of `rest`, taken off, as written; ""
// if there is none.
std::string_view take_value(std::string_view& rest);
// Text as a field's value is written: quoted unless it is a word.
std::string value_text(std::string_view text);

// Errors: no header, an unknown verb, a malformed field or one that is there
// twice, too many of them, a body that is not as long as size= says, bytes
// beyond kMaxMessage. Takes any bytes.
Result<Message> parse_message(std::string_view bytes);
// A field that must be there and be a number. Error: it is not.
Result<uint64_t> number(const Message& message, std::string_view key);
// Reads the numbers of a message one by one, and keeps the first error.
class NumberReader {
 public:
  explicit NumberReader(const Message& message) : message_(message) {}
  // The number of a field that must be there; 0 if it is not.
  uint64_t need(std::string_view key);
  // The number of a field that may be absent, and then means `other`.
  uint64_t find(std::string_view key, uint64_t other = 0) {
    return message_.find(key) == nullptr ? other : need(key);
  }
  const Status& status() const { return status_; }

 private:
  const Message& message_;
  Status status_ = ok_status();
};
// A field without its quotes; "" when it is not there.
std::string text(const Message& message, std::string_view key);
// The field status=, which must be there. Error: it is no exit status of gt's
// programs.
Result<Exit> status_of(const Message& message);
// Checks a message from a worker. Error: it is a report, bye or done whose text
// for people is longer than kMaxWords, or whose status is missing or wrong.
Status check_words(const Message& message);
// Text for people, cut to kMaxWords.
std::string_view words(std::string_view text);

// What the header of a message with lines says of them.
struct LinesHeader {
  uint64_t seq = 0;  // of the first that has a number; 0: none has
  int64_t line = 0;
  uint64_t times = 1;   // the body runs so often ...
  uint64_t seq_by = 0;  // ... and each time its numbers have grown by these
  uint64_t line_by = 0;
};
// Errors: a number is missing or malformed, or the numbers leave 64 bits; or
// after= is not `last`, the seq that came last, so that lines are missing.
Result<LinesHeader> lines_header(const Message& message, uint64_t last);
// Checks after= of a message with lines or of `end`. Error: which lines are
// missing.
Status check_after(const Message& message, uint64_t last);

// Whether a message counts against the credit of the worker that it goes to:
// lines, block and hot do.
bool uses_credit(std::string_view bytes);

// Writes a message. `size=` is written by it, last. Header and body shall keep
// to kMaxHeader and kMaxBody.
class MessageWriter {
 public:
  explicit MessageWriter(Verb verb);
  MessageWriter& field(std::string_view key, std::string_view value);
  MessageWriter& field(std::string_view key, uint64_t value);
  std::string finish(std::string_view body = {}) const;
  // The header alone, of a message whose body has so many bytes.
  std::string head(size_t body_size) const;
  // The same in as many messages as it takes, all but the last with more=1.
  std::vector<std::string> finish_all(std::string_view body);

 private:
  Verb verb_;
  std::string text_;
};

bool is_fence(std::string_view line);
// Whether a line of a body has a number of its own.
inline bool takes_number(std::string_view line) {
  return !line.starts_with('#') || is_fence(line);
}

// Walks the lines of a body with their numbers. A line that takes none has
// those of the line after it.
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
  // False at the end. Error: a line "#+" that is malformed or whose numbers
  // leave 64 bits.
  Result<bool> next(Item& item);

 private:
  std::string_view rest_;
  uint64_t seq_;
  int64_t line_;
};

// Collects lines for one worker into a body.
class BodyWriter {
 public:
  // One line, without its newline. The mark is written if the numbers are not
  // the next ones; those of a line that takes none are not looked at.
  void add(uint64_t seq, int64_t line, std::string_view text);
  bool empty() const { return body_.empty(); }
  size_t size() const { return body_.size(); }
  uint64_t first_seq() const { return first_seq_; }
  int64_t first_line() const { return first_line_; }
  uint64_t last_seq() const { return next_seq_ - 1; }  // if one had a number
  std::string_view text() const { return body_; }
  std::string take();
  void clear();  // keeps the memory
  // Forgets what stands before `at`, where a line with these numbers begins.
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
