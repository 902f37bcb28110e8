// The protocol by which files travel beside the text: what a borrower of files
// and their lender (gt-emit -l --files) say to each other, as the borrower sees
// it. Messages have the form of wire.h. Each request has one answer, and
// answers come in the order of the requests; at most kMostAsked requests wait
// for an answer.
//
// From the borrower, a client of gt-emit (gt-emit --send, --fetch) or a worker
// (gt-work --root tcp://HOST:PORT):
//
//     hello   version= files=1 user= [worker=1]: the borrower comes; a worker
//             can reach the files of all users, at USER/PATH
//     get     path= offset= bytes= [ticket=]: asks for a part of a file, at
//             most kMaxBody bytes; bytes=0 looks up which file has that name
//             now, and later gets and sums of the path are about that file
//     sum     path= bytes=: asks for the digest of the file's first bytes
//     put     path= id= whole= [anew=1]: the borrower has a file of whole=
//             bytes to store; id= identifies it among those that may be stored
//             there
//     piece   offset= digest=: the body is the file's next part; the digest is
//             that of the whole file up to the part's end
//     end     digest= [over=]: the file is complete, and replaces the file of
//             that name; with over= only if that still has this version
//             ("none": if there is no file)
//     forget  path=: asks to remove the file
//
// To the borrower:
//
//     welcome the hello is accepted
//     refuse  the hello is refused; the body says why
//     data    answers get: whole= version= settled= offset= digest= ticket=;
//             the body is the part. A get returns the ticket of an answer that
//             was read; at most kMostAsked answers may be unread
//     kept    answers sum, put and piece: bytes= digest=. After put, this much
//             of the same file was stored before, with this digest; the pieces
//             continue there (or, with anew=1, start at the beginning)
//     done    answers end: whole= version= settled=, the file's state now; or
//             forget: the file is removed
//     report  [missing=1] [overtaken=1]: the request cannot be done, and the
//             body says why; missing=1: there is no such file; overtaken=1: the
//             file no longer has the version to be replaced. The upload ends,
//             but what has arrived of it is kept
//     bye     the connection ends; the body says why
//     beat    the lender is alive, and works on a request
//
// A borrower may be silent for a minute between its requests. A digest is the
// XXH3 of bytes, in 16 hexadecimal digits.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "base/take_front.h"
#include "net/caller.h"
#include "net/joiner.h"
#include "net/keys.h"
#include "net/refusal.h"
#include "net/timing.h"

namespace gt::net {

inline constexpr size_t kMostAsked = 8;
// The most bytes of a path, as written in a field.
inline constexpr size_t kMostPath = 2048;

// Who borrows, from which endpoint, and with which time limits.
struct BorrowerIdentity {
  std::string endpoint;  // shown to people
  std::string user;
  Trust trust;
  bool is_worker = false;
  Timing timing;  // the borrower looks for silence at every beat
  int64_t connect_limit = 10'000;  // ms to wait for the welcome
};

// One connection over which requests are made. It uses no socket and no clock
// (CallerState). Once over, it stays over.
class FileTalk : public CallerState {
 public:
  // kLink: the connection is lost, and another may succeed. kRefused: none
  // will.
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

  // Sends a request. While is_full(), an answer must be taken first.
  void ask(Frame request, int64_t now);
  bool is_full() const { return asked_ - taken_ >= kMostAsked; }
  // Takes the next answer: data, kept, done or report.
  bool next(OwnedMessage& answer);
  // True if requests wait for their answers.
  bool waits() const { return asked_ != answered_; }

  bool was_welcome() const { return is_welcome_; }
  Over over() const { return over_; }
  const std::string& why() const { return why_; }  // why it is over
  void end(Over over, std::string why);

 private:
  void take(OwnedMessage owned);

  BorrowerIdentity me_;
  const Callee callee_;
  bool is_welcome_ = false;
  Over over_ = Over::kNot;
  std::string why_;
  std::string untrusted_;
  std::deque<Frame> hello_, outgoing_;
  std::deque<OwnedMessage> answers_;
  uint64_t asked_ = 0, answered_ = 0, taken_ = 0;
  int64_t began_, heard_, judged_, next_look_;
};

}  // namespace gt::net
