// How files travel beside the text: what who borrows files and who lends them
// (gt-emit -l --files) say to each other, as the borrower sees it. Messages
// have the form of wire.h. Each request has one answer, and answers come in the
// order of the requests; at most kMostAsked requests wait for theirs.
//
// From the borrower, a client of gt-emit (gt-emit --send, --fetch) or a worker
// (gt-work --root tcp://HOST:PORT):
//
//     hello   version= files=1 user= [worker=1]: it comes; a worker reaches the
//             files of all users, at USER/PATH
//     get     path= offset= bytes= [ticket=]: a part of a file, at most
//             kMaxBody bytes of it; bytes=0 looks which file has that name now,
//             and later gets and sums of the path are of that one
//     sum     path= bytes=: the digest of the file's first bytes
//     put     path= id= whole= [anew=1]: it has a file of so many bytes to
//             store; `id` names this file among those that may be stored there
//     piece   offset= digest=: the body is the part of it that comes next; the
//             digest is that of the whole file up to its end
//     end     digest= [over=]: all has come; it takes the place of the file of
//             that name, or only if that has still this version ("none": if
//             there is none)
//     forget  path=: the file of that name is removed
//
// To the borrower:
//
//     welcome it is taken
//     refuse  the body says why not
//     data    of get: whole= version= settled= offset= digest= ticket=; the
//             body is the part. A get brings the ticket of an answer that was
//             read, and no more than kMostAsked may be unread
//     kept    of sum, put and piece: bytes= digest=. Of put, so much of the
//             same file was stored before, and that is its digest; the pieces
//             go on there (or, with anew=1, at the beginning)
//     done    of end: whole= version= settled=, what the file is now; of
//             forget: it is gone
//     report  [missing=1] [overtaken=1]: what was asked cannot be done, and the
//             body says why; there is no such file; the file is no longer of
//             the version that was to be replaced; an upload is given up, but
//             what came of it is kept
//     bye     the body says why the connection ends
//     beat    who lends lives, and works on a request
//
// A borrower may be silent between its requests, for a minute. A digest is the
// XXH3 of bytes, in 16 hexadecimal digits.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "base/take_front.h"
#include "net/caller.h"
#include "net/joiner.h"
#include "net/keys.h"

namespace gt::net {

inline constexpr size_t kMostAsked = 8;
// Bytes of a path as a field has it.
inline constexpr size_t kMostPath = 2048;

struct BorrowerIdentity {
  std::string endpoint;  // to be named to people
  std::string user;
  std::optional<Keys> keys;  // its own
  bool is_worker = false;
  int64_t look = 500;              // ms between looks at who is silent
  int64_t silence = 1500;          // ms; then who lends is lost
  int64_t connect_limit = 10'000;  // ms without a welcome
};

// One connection, over which requests are made. Knows no socket and no clock,
// as CallerState says. When it is over it stays so.
class FileTalk : public CallerState {
 public:
  // kLink: the connection is lost, and another one may do. kRefused: none will.
  enum class Over : uint8_t { kNot, kLink, kRefused };

  FileTalk(BorrowerIdentity identity, int64_t now);

  void link_up(int64_t now) override;
  void link_down() override;
  void link_refused(bool by_key, bool for_good) override;
  void link_untrusted(const std::string& why, bool for_good) override;
  void receive(Frame frame, int64_t now) override;
  void tick(int64_t now, bool all_read) override;
  int64_t next_tick() const override { return next_look_; }
  bool next(Frame& out) override {
    return is_welcome_ ? take_front(outgoing_, out) : take_front(hello_, out);
  }

  // A request; is_full() says when the next answer must be taken before.
  void ask(Frame request, int64_t now);
  bool is_full() const { return asked_ - taken_ >= kMostAsked; }
  // The next answer: data, kept, done or report.
  bool next(Letter& answer);
  // Whether requests wait for their answers.
  bool waits() const { return asked_ != answered_; }

  bool was_welcome() const { return is_welcome_; }
  Over over() const { return over_; }
  const std::string& why() const { return why_; }  // it is over
  void end(Over over, std::string why);

 private:
  void take(Letter letter);

  BorrowerIdentity me_;
  bool is_welcome_ = false;
  Over over_ = Over::kNot;
  std::string why_;
  std::string untrusted_;
  std::deque<Frame> hello_, outgoing_;
  std::deque<Letter> answers_;
  uint64_t asked_ = 0, answered_ = 0, taken_ = 0;
  int64_t began_, heard_, judged_, next_look_;
};

}  // namespace gt::net
