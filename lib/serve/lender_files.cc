#include "serve/lender_files.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "base/io.h"
#include "base/random_token.h"
#include "base/text.h"
#include "file/replacement.h"
#include "file/stored.h"
#include "net/file_message.h"
#include "net/file_talk.h"

namespace gt::serve {
namespace {

using net::Message;
using net::MessageWriter;
using net::NumberReader;
using net::Verb;
using Answer = LenderFiles::Answer;

Answer answer_with(const std::string& message) {
  Answer answer;
  answer.frame = net::Frame(message);
  return answer;
}

// Says that the request cannot be done; an upload ends with it.
Answer report(const std::string& why, const char* flag = nullptr) {
  Answer answer = answer_with(report_text(why, flag));
  answer.ends_upload = true;
  return answer;
}

Answer disconnect(const std::string& why) {
  Answer answer;
  answer.status = Error{why};
  return answer;
}

// The answer to a request about an upload that was given to another borrower.
Answer overtaken() { return report("another one stores this file now"); }

}  // namespace

LenderFiles::LenderFiles(LenderOptions options, std::string user)
    : options_(std::move(options)),
      user_(std::move(user)),
      secret_(random_token()) {}

Result<const UserDirectory*> LenderFiles::directory_of(
    const std::string& user) {
  auto at = directories_.find(user);
  if (at == directories_.end()) {
    auto made = UserDirectory::make(options_.files, user);
    if (!made.ok()) return made.error();
    at = directories_.emplace(user, std::move(made.value())).first;
  }
  return &at->second;
}

Result<LentPath> LenderFiles::path_of(const std::string& path) const {
  const size_t slash = is_worker() ? path.find('/') : 0;
  if (!stays_below(path) || path.empty() || path.size() > net::kMostPath ||
      slash == std::string::npos || path.find('\0') != std::string::npos) {
    return Error{
        "the path is to be relative, and to stay below the directory of its "
        "user"};
  }
  if (!is_worker()) return LentPath{user_, path};
  return LentPath{path.substr(0, slash), path.substr(slash + 1)};
}

Result<LenderFiles::Place> LenderFiles::place_of(const std::string& path) {
  const auto lent = path_of(path);
  if (!lent.ok()) return lent.error();
  const auto directory = directory_of(lent.value().user);
  if (!directory.ok()) return directory.error();
  return Place{directory.value(), lent.value().below};
}

// ---- requests ---------------------------------------------------------------

Answer LenderFiles::greet() {
  if (!is_worker()) {
    const auto directory = directory_of(user_);
    if (!directory.ok()) return disconnect(directory.error().message);
  }
  return answer_with(MessageWriter(Verb::kWelcome).finish());
}

Answer LenderFiles::answer(const Message& request,
                           const std::shared_ptr<Upload>& upload,
                           uint64_t promised) {
  switch (request.verb) {
    case Verb::kGet:
      return get(request);
    case Verb::kSum:
      return sum(request);
    case Verb::kPut:
      return put(request, upload.get(), promised);
    case Verb::kPiece:
      return piece(request, upload.get());
    case Verb::kEnd:
      return end(request, upload.get());
    case Verb::kForget:
      return forget(request);
    default:
      return disconnect("who borrows files says no " +
                        std::string(name_of(request.verb)));
  }
}

// ---- reading ----------------------------------------------------------------

// A borrower that has not read the data cannot know its ticket, so the tickets
// bound how much is sent ahead of its reading.
Status LenderFiles::take_ticket(const Message& request) {
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

// Opens the file. If that fails, file_ is null, and the answer says why.
Answer LenderFiles::open(const std::string& path) {
  file_.reset();
  const auto place = place_of(path);
  if (!place.ok()) return report(place.error().message);
  bool is_missing = false;
  auto fd = place.value().directory->open(place.value().path, is_missing);
  if (!fd.ok()) {
    return report(fd.error().message, is_missing ? "missing" : nullptr);
  }
  path_ = path;
  file_ = std::make_shared<const Fd>(std::move(fd.value()));
  return {};
}

Answer LenderFiles::get(const Message& request) {
  NumberReader numbers(request);
  const uint64_t offset = numbers.need("offset");
  const uint64_t bytes = numbers.need("bytes");
  if (!numbers.status().ok()) {
    return disconnect(numbers.status().error().message);
  }
  if (bytes > net::kMaxBody) return disconnect("it asked for too much at once");
  const std::string path = request.text("path");
  const bool is_open = bytes > 0 && path == path_ && file_ != nullptr;
  if (!is_open) {
    Answer opened = open(path);
    if (file_ == nullptr) return opened;
  }
  const auto state = net::state_of_file(file_->get());
  if (!state.ok() || offset > state.value().size) {
    return report(state.ok() ? "it does not have so many bytes any more"
                             : state.error().message);
  }
  MessageWriter data(Verb::kData);
  net::add_state(data, state.value());
  const uint64_t left = state.value().size - offset;
  const auto part = static_cast<size_t>(std::min(bytes, left));
  if (part > 0) {
    if (Status s = take_ticket(request); !s.ok()) {
      return disconnect(s.error().message);
    }
    tickets_.push_back(
        digest_text(hash_bytes(secret_ + std::to_string(++last_ticket_))));
    data.field("ticket", tickets_.back());
  }
  auto frame = net::file_message(std::move(data), file_->get(), offset, part);
  if (!frame.ok()) return report(frame.error().message);
  Answer answer;
  answer.frame = std::move(frame.value());
  return answer;
}

Answer LenderFiles::sum(const Message& request) {
  const auto bytes = net::number(request, "bytes");
  if (!bytes.ok()) return disconnect(bytes.error().message);
  if (file_ == nullptr || request.text("path") != path_) {
    return report("no file of that name was looked at");
  }
  Digest digest;
  const Status s = digest_up_to(digest, file_->get(), bytes.value(), &stop_);
  return s.ok() ? answer_with(kept_text(digest))
                : answer_with(report_text(s.error().message));
}

// ---- storing ----------------------------------------------------------------

Answer LenderFiles::put(const Message& request, Upload* upload,
                        uint64_t promised) {
  const auto place = place_of(request.text("path"));
  if (!place.ok()) return report(place.error().message);
  if (upload == nullptr) return report("a file cannot have this name");
  upload->directory = place.value().directory;
  const std::string kept = upload->begin(request.find("anew") != nullptr,
                                         options_.quota, promised, stop_);
  return kept.empty() ? disconnect("another one stores this file just now")
                      : answer_with(kept);
}

Answer LenderFiles::piece(const Message& request, Upload* upload) {
  if (upload == nullptr) return overtaken();
  const auto offset = net::number(request, "offset");
  if (!offset.ok()) return disconnect(offset.error().message);
  Digest& digest = upload->digest;
  const uint64_t at = digest.bytes();
  if (offset.value() != at || request.body.size() > upload->size - at) {
    return disconnect("it sent a piece that does not come next");
  }
  digest.add(request.body);
  if (net::digest_of(request) != digest.value()) {
    return disconnect("bytes of a file were changed on their way");
  }
  if (Status s = write_at(upload->part->fd(), at, request.body); !s.ok()) {
    // A part that cannot be continued would only keep the disk full.
    upload->part->remove();
    return report(s.error().message);
  }
  upload->stored = digest.bytes();
  return answer_with(
      MessageWriter(Verb::kKept).field("bytes", digest.bytes()).finish());
}

Answer LenderFiles::end(const Message& request, Upload* upload) {
  if (upload == nullptr) return overtaken();
  return answer_with(
      upload->end(request.text("digest"), request.text("over"), stop_));
}

Answer LenderFiles::forget(const Message& request) {
  const auto place = place_of(request.text("path"));
  bool is_missing = false;
  const Status done = place.ok() ? place.value().directory->remove(
                                       place.value().path, is_missing)
                                 : place.error();
  return answer_with(done.ok() ? MessageWriter(Verb::kDone).finish()
                               : report_text(done.error().message,
                                             is_missing ? "missing" : nullptr));
}

}  // namespace gt::serve
