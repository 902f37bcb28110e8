#include "serve/lender.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <mutex>
#include <system_error>
#include <utility>

#include "base/hash.h"
#include "base/io.h"
#include "base/random_token.h"
#include "base/text.h"
#include "file/replacement.h"
#include "file/stored.h"
#include "net/endpoint.h"
#include "net/file_message.h"

namespace gt::serve {
namespace {

using net::Message;
using net::MessageWriter;
using net::NumberReader;
using net::Verb;

// True if the text has the form of an upload's id or of a file's version.
bool is_id(std::string_view id) {
  constexpr size_t kMostId = 32;
  return !id.empty() && id.size() <= kMostId &&
         id.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz") ==
             std::string_view::npos;
}

}  // namespace

Lender::Lender(const LenderOptions& options, std::string user, Others others)
    : options_(options),
      user_(std::move(user)),
      others_(std::move(others)),
      secret_(random_token()),
      stop_(std::make_shared<std::atomic<bool>>(false)) {}

Lender::~Lender() { stop(); }

Lender::Place Lender::directory_of(const std::string& user) {
  Place place;
  auto at = directories_.find(user);
  if (at == directories_.end()) {
    auto made = UserDirectory::make(options_.files, user);
    if (!made.ok()) {
      place.status = made.error();
      return place;
    }
    at = directories_.emplace(user, std::move(made.value())).first;
  }
  place.directory = &at->second;
  return place;
}

// In a worker's path, the first part is the user.
Lender::Place Lender::place_of(const std::string& path) {
  Place place;
  const size_t slash = is_worker() ? path.find('/') : 0;
  if (!stays_below(path) || path.empty() || path.size() > net::kMostPath ||
      slash == std::string::npos || path.find('\0') != std::string::npos) {
    place.status = Error{
        "the path is to be relative, and to stay below the directory of its "
        "user"};
    return place;
  }
  place = directory_of(is_worker() ? path.substr(0, slash) : user_);
  place.path = is_worker() ? path.substr(slash + 1) : path;
  return place;
}

void Lender::report(const std::string& why, const char* flag) {
  upload_.reset();
  say(report_text(why, flag));
}

// ---- requests ---------------------------------------------------------------

Status Lender::take(net::OwnedMessage owned) {
  if (!is_busy()) return answer(owned.message);
  if (waiting_.size() >= net::kMostAsked) {
    return Error{"it asked for more at once than it may"};
  }
  waiting_.push_back(std::move(owned));
  return ok_status();
}

Status Lender::work() {
  if (!is_busy() ||
      answer_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    return ok_status();
  }
  std::string message = answer_.get();
  if (upload_ != nullptr && upload_->part == nullptr) upload_.reset();
  if (message.empty()) return Error{"another one stores this file just now"};
  say(message);
  while (!is_busy() && !waiting_.empty()) {
    const net::OwnedMessage owned = std::move(waiting_.front());
    waiting_.pop_front();
    if (Status s = answer(owned.message); !s.ok()) return s;
  }
  return ok_status();
}

Status Lender::answer(const Message& request) {
  switch (request.verb) {
    case Verb::kGet:
      return get(request);
    case Verb::kSum:
      return sum(request);
    case Verb::kPut:
      return put(request);
    case Verb::kPiece:
      return piece(request);
    case Verb::kEnd:
      return end(request);
    case Verb::kForget:
      return forget(request);
    default:
      return Error{"who borrows files says no " +
                   std::string(name_of(request.verb))};
  }
}

void Lender::later(std::function<std::string()> call) {
  try {
    answer_ = std::async(std::launch::async, std::move(call));
  } catch (const std::system_error& error) {
    report(std::string("it has no thread for that: ") + error.what());
  }
}

// ---- reading ----------------------------------------------------------------

// A borrower that has not read the data cannot know its ticket, so the tickets
// bound how much is sent ahead of its reading.
Status Lender::take_ticket(const Message& request) {
  const std::string ticket = request.text("ticket");
  if (!ticket.empty()) {
    if (tickets_.empty() || ticket != tickets_.front()) {
      return Error{"it brought a ticket that it was not given"};
    }
    tickets_.pop_front();
  }
  if (tickets_.size() < net::kMostAsked) return ok_status();
  return Error{"it asked for more than it reads"};
}

// Opens the file. Returns false if that failed, after reporting why.
bool Lender::open(const std::string& path) {
  file_.reset();
  const Place place = place_of(path);
  if (!place.status.ok()) {
    report(place.status.error().message);
    return false;
  }
  bool is_missing = false;
  auto fd = place.directory->open(place.path, is_missing);
  if (!fd.ok()) {
    report(fd.error().message, is_missing ? "missing" : nullptr);
    return false;
  }
  path_ = path;
  file_ = std::make_shared<const Fd>(std::move(fd.value()));
  return true;
}

Status Lender::get(const Message& request) {
  NumberReader numbers(request);
  const uint64_t offset = numbers.need("offset");
  const uint64_t bytes = numbers.need("bytes");
  if (!numbers.status().ok()) return numbers.status();
  if (bytes > net::kMaxBody) return Error{"it asked for too much at once"};
  const std::string path = request.text("path");
  const bool is_open = bytes > 0 && path == path_ && file_ != nullptr;
  if (!is_open && !open(path)) return ok_status();
  const auto state = net::state_of_file(file_->get());
  if (!state.ok() || offset > state.value().size) {
    report(state.ok() ? "it does not have so many bytes any more"
                      : state.error().message);
    return ok_status();
  }
  MessageWriter data(Verb::kData);
  net::add_state(data, state.value());
  const uint64_t left = state.value().size - offset;
  const auto part = static_cast<size_t>(std::min(bytes, left));
  if (part > 0) {
    if (Status s = take_ticket(request); !s.ok()) return s;
    tickets_.push_back(
        digest_text(hash_bytes(secret_ + std::to_string(++last_ticket_))));
    data.field("ticket", tickets_.back());
  }
  auto frame = net::file_message(std::move(data), file_->get(), offset, part);
  if (frame.ok()) {
    outgoing_.push_back(std::move(frame.value()));
  } else {
    report(frame.error().message);
  }
  return ok_status();
}

Status Lender::sum(const Message& request) {
  const auto bytes = net::number(request, "bytes");
  if (!bytes.ok()) return bytes.error();
  if (file_ == nullptr || request.text("path") != path_) {
    report("no file of that name was looked at");
    return ok_status();
  }
  later([file = file_, upto = bytes.value(), stop = stop_] {
    Digest digest;
    const Status s = digest_up_to(digest, file->get(), upto, stop.get());
    return s.ok() ? kept_text(digest) : report_text(s.error().message);
  });
  return ok_status();
}

// ---- storing ----------------------------------------------------------------

Status Lender::put(const Message& request) {
  const auto size = net::number(request, "whole");
  if (!size.ok()) return size.error();
  upload_.reset();
  const Place place = place_of(request.text("path"));
  const size_t slash = place.path.rfind('/');
  const std::string name =
      slash == std::string::npos ? place.path : place.path.substr(slash + 1);
  if (!place.status.ok()) {
    report(place.status.error().message);
    return ok_status();
  }
  if (name.empty() || Partial::is_name(name) || Replacement::is_name(name)) {
    report("a file cannot have this name");
    return ok_status();
  }
  auto upload = std::make_shared<Upload>();
  upload->directory = place.directory;
  upload->path = place.path;
  upload->id = request.text("id");
  upload->size = size.value();
  if (!is_id(upload->id)) return Error{"the id of its upload is none"};
  others_.claim(place.directory->root(), place.path + " " + upload->id);
  const uint64_t promised = others_.promised(place.directory->root());
  upload_ = upload;
  later([upload, promised, anew = request.find("anew") != nullptr,
         quota = options_.quota,
         stop = stop_] { return upload->begin(anew, quota, promised, *stop); });
  return ok_status();
}

Status Lender::piece(const Message& request) {
  if (upload_ == nullptr) {
    report("another one stores this file now");
    return ok_status();
  }
  const auto offset = net::number(request, "offset");
  if (!offset.ok()) return offset.error();
  Digest& digest = upload_->digest;
  const uint64_t at = digest.bytes();
  if (offset.value() != at || request.body.size() > upload_->size - at) {
    return Error{"it sent a piece that does not come next"};
  }
  digest.add(request.body);
  if (net::digest_of(request) != digest.value()) {
    upload_.reset();
    return Error{"bytes of a file were changed on their way"};
  }
  if (Status s = write_at(upload_->part->fd(), at, request.body); !s.ok()) {
    // A part that cannot be continued would only keep the disk full.
    upload_->part->remove();
    upload_.reset();
    report(s.error().message);
    return ok_status();
  }
  say(MessageWriter(Verb::kKept).field("bytes", digest.bytes()).finish());
  return ok_status();
}

Status Lender::end(const Message& request) {
  if (upload_ == nullptr) {
    report("another one stores this file now");
    return ok_status();
  }
  later([upload = upload_, digest = request.text("digest"),
         over = request.text("over"),
         stop = stop_] { return upload->end(digest, over, *stop); });
  return ok_status();
}

Status Lender::forget(const Message& request) {
  const Place place = place_of(request.text("path"));
  bool is_missing = false;
  const Status done = place.status.ok()
                          ? place.directory->remove(place.path, is_missing)
                          : place.status;
  if (done.ok()) {
    say(MessageWriter(Verb::kDone).finish());
  } else {
    say(report_text(done.error().message, is_missing ? "missing" : nullptr));
  }
  return ok_status();
}

// Reads only members that a thread does not touch.
uint64_t Lender::promised(const std::string& root) const {
  if (upload_ == nullptr || upload_->directory->root() != root) return 0;
  if (is_busy()) return upload_->size;
  return upload_->size - upload_->digest.bytes();
}

void Lender::yield_upload(const std::string& root, const std::string& name) {
  const bool is_it = upload_ != nullptr && !is_busy() &&
                     upload_->directory->root() == root &&
                     upload_->path + " " + upload_->id == name;
  if (is_it) upload_.reset();
}

}  // namespace gt::serve
