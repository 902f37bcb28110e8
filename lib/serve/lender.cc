#include "serve/lender.h"

#include <string_view>
#include <utility>

#include "file/partial.h"
#include "file/replacement.h"
#include "net/wire.h"

namespace gt::serve {
namespace {

using net::Message;
using net::Verb;

// True if the text has the form of an upload's id or of a file's version.
bool is_id(std::string_view id) {
  constexpr size_t kMostId = 32;
  return !id.empty() && id.size() <= kMostId &&
         id.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz") ==
             std::string_view::npos;
}

}  // namespace

Lender::Lender(const LenderOptions& options, std::string user, Others others,
               DiskThreads& threads)
    : files_(std::make_shared<LenderFiles>(options, std::move(user))),
      others_(std::move(others)),
      threads_(threads) {}

template <typename Call>
Status Lender::later(Call call) {
  auto answer = threads_.run<LenderFiles::Answer>(std::move(call));
  if (!answer.ok()) return answer.error();
  answer_ = std::move(answer.value());
  return ok_status();
}

Status Lender::greet() {
  return later([files = files_] { return files->greet(); });
}

Status Lender::take(net::OwnedMessage owned) {
  if (!is_busy()) return answer(std::move(owned));
  if (waiting_.size() >= net::kMostAsked) {
    return Error{"it asked for more at once than it may"};
  }
  waiting_.push_back(std::move(owned));
  return ok_status();
}

Status Lender::work() {
  if (!is_busy() || !answer_->is_done()) return ok_status();
  LenderFiles::Answer answered = answer_->take();
  answer_.reset();
  const bool is_dead = upload_ != nullptr && upload_->part == nullptr;
  if (std::exchange(yields_, false) || answered.ends_upload || is_dead) {
    upload_.reset();
  }
  if (!answered.status.ok()) return answered.status;
  was_welcome_ = true;
  outgoing_.push_back(std::move(answered.frame));
  if (waiting_.empty()) return ok_status();
  net::OwnedMessage owned = std::move(waiting_.front());
  waiting_.pop_front();
  return answer(std::move(owned));
}

Status Lender::answer(net::OwnedMessage owned) {
  uint64_t promised = 0;
  if (owned.message.verb == Verb::kPut) {
    if (Status s = begin_upload(owned.message, promised); !s.ok()) return s;
  }
  return later(
      [files = files_, owned = std::move(owned), upload = upload_, promised] {
        return files->answer(owned.message, upload, promised);
      });
}

// Makes the upload that a request asks for; there is none if no file can have
// the path, which the answer says.
Status Lender::begin_upload(const Message& request, uint64_t& promised) {
  upload_.reset();
  const auto size = net::number(request, "whole");
  if (!size.ok()) return size.error();
  const auto path = files_->path_of(request.text("path"));
  if (!path.ok()) return ok_status();
  auto upload = std::make_shared<Upload>();
  upload->root = files_->root_of(path.value().user);
  upload->path = path.value().below;
  upload->id = request.text("id");
  upload->size = size.value();
  const std::string name = upload->path.substr(upload->path.rfind('/') + 1);
  if (name.empty() || Partial::is_name(name) || Replacement::is_name(name)) {
    return ok_status();
  }
  if (!is_id(upload->id)) return Error{"the id of its upload is none"};
  others_.claim(upload->root, upload->path + " " + upload->id);
  promised = others_.promised(upload->root);
  upload_ = std::move(upload);
  return ok_status();
}

uint64_t Lender::promised(const std::string& root) const {
  if (upload_ == nullptr || upload_->root != root) return 0;
  return upload_->size - upload_->stored.load();
}

void Lender::yield_upload(const std::string& root, const std::string& name) {
  if (upload_ == nullptr || upload_->root != root ||
      upload_->path + " " + upload_->id != name) {
    return;
  }
  if (is_busy()) {
    yields_ = true;
  } else {
    upload_.reset();
  }
}

}  // namespace gt::serve
