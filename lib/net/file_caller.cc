#include "net/file_caller.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "base/io.h"
#include "base/printable.h"
#include "net/poller.h"

namespace gt::net {
namespace {

// How long to wait before the next connection.
constexpr auto kPause = std::chrono::milliseconds(100);

LinkOptions link_options(const FileCallerOptions& options) {
  LinkOptions link;
  link.trust = options.identity.trust;
  link.max_message = kMaxMessage;
  return link;
}

size_t piece_of(uint64_t left) {
  return static_cast<size_t>(std::min<uint64_t>(left, kMaxBody));
}

}  // namespace

struct FileCaller::Link {
  Link(Context& context, const FileCallerOptions& options)
      : talk(options.identity, now_ms()),
        caller(context, link_options(options), talk) {}
  FileTalk talk;
  Caller caller;
};

struct FileCaller::Upload {
  std::string path, id;
  int fd = -1;
  uint64_t size = 0;
  std::string over;
  uint64_t sent = 0, kept = 0;
  Digest digest;  // of the bytes sent
  FileState stored;
};

FileCaller::FileCaller(Context& context, FileCallerOptions options)
    : context_(context), options_(std::move(options)) {}

FileCaller::~FileCaller() = default;

// ---- the connection ---------------------------------------------------------

bool FileCaller::fail(FileFault fault, std::string why) {
  fault_ = fault;
  why_ = std::move(why);
  return false;
}

// Sets the fault from the talk that is over. Always returns false.
bool FileCaller::give_up_link() {
  const FileTalk& talk = link_->talk;
  const bool is_for_good = talk.over() == FileTalk::Over::kRefused;
  fail(is_for_good ? FileFault::kRefused : FileFault::kLost, talk.why());
  if (is_for_good && !talk.was_welcome()) fault_ = FileFault::kLost;
  was_here_ = (was_here_ || talk.was_welcome()) && !is_for_good;
  return false;
}

bool FileCaller::connect() {
  if (link_ != nullptr) {
    // The connection may have ended since the last call.
    link_->caller.step();
    if (link_->talk.over() == FileTalk::Over::kNot) return true;
    link_.reset();
  }
  link_ = std::make_unique<Link>(context_, options_);
  const Status s = link_->caller.connect(options_.identity.endpoint);
  if (s.ok()) return true;
  link_.reset();
  was_here_ = false;
  return fail(FileFault::kLost, s.error().message);
}

bool FileCaller::ask(Frame request) {
  link_->talk.ask(std::move(request), now_ms());
  link_->caller.flush();
  return true;
}

// Waits until holds() is true. False if the talk ended before.
template <typename Condition>
bool FileCaller::wait_until(const Condition& holds) {
  Poller poller;
  while (!holds()) {
    if (link_->talk.over() != FileTalk::Over::kNot) return give_up_link();
    poller.clear();
    link_->caller.add_to(poller);
    poller.wait(link_->caller.wait_ms());
    link_->caller.step();
  }
  return true;
}

// Waits for the next answer, which must have this verb. False with a fault if
// it has not.
bool FileCaller::answer(Verb verb, OwnedMessage& owned) {
  FileTalk& talk = link_->talk;
  if (!wait_until([&] { return talk.next(owned); })) return false;
  const Message& message = owned.message;
  if (message.verb == verb) return true;
  if (message.verb != Verb::kReport) {
    talk.end(FileTalk::Over::kRefused, "gave another answer than was asked");
    return give_up_link();
  }
  const FileFault fault =
      message.find("overtaken") != nullptr ? FileFault::kOvertaken
      : message.find("missing") != nullptr ? FileFault::kMissing
                                           : FileFault::kRefused;
  return fail(fault, printable(words(message.body)));
}

// Makes a call, and repeats it while it loses its connection but still makes
// progress.
template <typename Call>
bool FileCaller::keep_trying(const Call& call) {
  went_on_ = now_ms();
  fault_ = FileFault::kNone;
  for (;;) {
    if (connect() && call()) return true;
    link_.reset();  // drops requests that were not answered too
    const bool may_go_on = fault_ == FileFault::kLost && was_here_ &&
                           now_ms() - went_on_ < options_.patience;
    if (!may_go_on) return false;
    std::this_thread::sleep_for(kPause);
  }
}

bool FileCaller::check_path(const std::string& path) {
  if (!path.empty() && value_text(path).size() <= kMostPath) return true;
  return fail(FileFault::kRefused,
              path.empty() ? "the name is empty" : "the name is too long");
}

Status FileCaller::greet() {
  const auto once = [&] {
    return wait_until([&] { return link_->talk.was_welcome(); });
  };
  if (!keep_trying(once)) return Error{why_};
  return ok_status();
}

// ---- look and fetch ---------------------------------------------------------

bool FileCaller::look_once(const std::string& path, FileState& state) {
  MessageWriter get(Verb::kGet);
  get.field("path", path).field("offset", 0).field("bytes", 0);
  OwnedMessage owned;
  if (!ask(Frame(get.finish())) || !answer(Verb::kData, owned)) return false;
  auto read = read_state(owned.message);
  if (!read.ok()) return fail(FileFault::kRefused, read.error().message);
  state = std::move(read.value());
  was_here_ = true;
  return true;
}

Result<FileState> FileCaller::look(const std::string& path) {
  FileState state;
  const bool done =
      check_path(path) && keep_trying([&] { return look_once(path, state); });
  if (!done) return Error{why_};
  return state;
}

bool FileCaller::check_start(const std::string& path, int fd, uint64_t& have) {
  MessageWriter sum(Verb::kSum);
  sum.field("path", path).field("bytes", have);
  OwnedMessage owned;
  if (!ask(Frame(sum.finish())) || !answer(Verb::kKept, owned)) return false;
  Digest ours;
  const Status s = digest_up_to(ours, fd, have);
  if (!s.ok() || digest_of(owned.message) != ours.value()) have = 0;
  return true;
}

bool FileCaller::take_data(const FileState& what, int fd, uint64_t& have,
                           std::string& ticket) {
  OwnedMessage owned;
  if (!answer(Verb::kData, owned)) return false;
  const Message& data = owned.message;
  const auto state = read_state(data);
  if (!state.ok()) return fail(FileFault::kRefused, state.error().message);
  if (state.value().version != what.version) {
    return fail(FileFault::kChanged, "was changed while it was read");
  }
  const auto offset = number(data, "offset");
  const bool fits = offset.ok() && offset.value() == have &&
                    data.body.size() == piece_of(what.size - have);
  const Status is_good = fits ? check_body(data)
                              : Status(Error{"another part of the file came "
                                             "than was asked"});
  if (!is_good.ok()) {
    link_->talk.end(FileTalk::Over::kLink,
                    "is lost: " + is_good.error().message);
    return give_up_link();
  }
  if (Status s = write_at(fd, have, data.body); !s.ok()) {
    return fail(FileFault::kLocal, s.error().message);
  }
  have += data.body.size();
  ticket = data.text("ticket");
  went_on_ = now_ms();
  return true;
}

bool FileCaller::fetch_rest(const std::string& path, const FileState& what,
                            int fd, uint64_t& have) {
  uint64_t asked = have;
  std::deque<std::string> tickets;
  while (have < what.size) {
    while (asked < what.size && !link_->talk.is_full()) {
      MessageWriter get(Verb::kGet);
      get.field("path", path)
          .field("offset", asked)
          .field("bytes", piece_of(what.size - asked));
      std::string ticket;
      if (take_front(tickets, ticket)) get.field("ticket", ticket);
      ask(Frame(get.finish()));
      asked += piece_of(what.size - asked);
    }
    std::string ticket;
    if (!take_data(what, fd, have, ticket)) return false;
    tickets.push_back(std::move(ticket));
  }
  return true;
}

Status FileCaller::fetch(const std::string& path, const FileState& what, int fd,
                         uint64_t& have) {
  bool is_checked = have == 0;
  have = std::min(have, what.size);
  const auto once = [&] {
    FileState now;
    if (!look_once(path, now)) return false;
    if (now.version != what.version) {
      return fail(FileFault::kChanged, "was changed while it was read");
    }
    if (!is_checked && !check_start(path, fd, have)) return false;
    is_checked = true;
    return fetch_rest(path, what, fd, have);
  };
  if (!check_path(path) || !keep_trying(once)) return Error{why_};
  if (::ftruncate(fd, static_cast<off_t>(what.size)) != 0) {
    fail(FileFault::kLocal, std::strerror(errno));
    return Error{why_};
  }
  return ok_status();
}

// ---- store ------------------------------------------------------------------

// Begins an upload, after the bytes of the file that the lender has already, if
// these are the start of our file. With `anew`, starts from the first byte.
bool FileCaller::begin_upload(Upload& upload, bool anew) {
  MessageWriter put(Verb::kPut);
  put.field("path", upload.path)
      .field("id", upload.id)
      .field("whole", upload.size);
  if (anew) put.field("anew", uint64_t{1});
  OwnedMessage owned;
  if (!ask(Frame(put.finish())) || !answer(Verb::kKept, owned)) return false;
  was_here_ = true;
  const auto bytes = number(owned.message, "bytes");
  const auto digest = digest_of(owned.message);
  if (!bytes.ok() || !digest || bytes.value() > upload.size) {
    return anew ? fail(FileFault::kRefused, "it keeps what was not sent")
                : begin_upload(upload, true);
  }
  const Status s = digest_up_to(upload.digest, upload.fd, bytes.value());
  if (!s.ok()) return fail(FileFault::kLocal, s.error().message);
  if (upload.digest.value() != *digest) {
    return anew ? fail(FileFault::kRefused, "it keeps what was not sent")
                : begin_upload(upload, true);
  }
  upload.sent = upload.kept = bytes.value();
  return true;
}

bool FileCaller::send_pieces(Upload& upload) {
  while (upload.kept < upload.size) {
    while (upload.sent < upload.size && !link_->talk.is_full()) {
      const size_t bytes = piece_of(upload.size - upload.sent);
      auto piece = file_message(MessageWriter(Verb::kPiece), upload.fd,
                                upload.sent, bytes, &upload.digest);
      if (!piece.ok()) return fail(FileFault::kLocal, piece.error().message);
      ask(std::move(piece.value()));
      upload.sent += bytes;
    }
    OwnedMessage owned;
    if (!answer(Verb::kKept, owned)) return false;
    const auto bytes = number(owned.message, "bytes");
    const uint64_t next = upload.kept + piece_of(upload.size - upload.kept);
    if (!bytes.ok() || bytes.value() != next) {
      return fail(FileFault::kRefused, "it keeps what was not sent");
    }
    upload.kept = next;
    went_on_ = now_ms();
  }
  return true;
}

bool FileCaller::store_once(Upload& upload) {
  if (!begin_upload(upload, false) || !send_pieces(upload)) return false;
  MessageWriter end(Verb::kEnd);
  end.field("digest", digest_text(upload.digest.value()));
  if (!upload.over.empty()) end.field("over", upload.over);
  OwnedMessage owned;
  if (!ask(Frame(end.finish())) || !answer(Verb::kDone, owned)) return false;
  auto state = read_state(owned.message);
  if (!state.ok()) return fail(FileFault::kRefused, state.error().message);
  upload.stored = std::move(state.value());
  return true;
}

Result<FileState> FileCaller::store(const std::string& path,
                                    const std::string& id, int fd,
                                    uint64_t size, const std::string& over) {
  Upload upload;
  upload.path = path;
  upload.id = id;
  upload.fd = fd;
  upload.size = size;
  upload.over = over;
  const auto once = [&] { return store_once(upload); };
  if (!check_path(path) || !keep_trying(once)) return Error{why_};
  return std::move(upload.stored);
}

Status FileCaller::remove(const std::string& path) {
  const auto once = [&] {
    OwnedMessage owned;
    was_here_ = true;
    return ask(Frame(
               MessageWriter(Verb::kForget).field("path", path).finish())) &&
           answer(Verb::kDone, owned);
  };
  if (!check_path(path) || !keep_trying(once)) return Error{why_};
  return ok_status();
}

}  // namespace gt::net
