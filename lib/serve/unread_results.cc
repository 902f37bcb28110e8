#include "serve/unread_results.h"

#include <algorithm>
#include <utility>

#include "net/wire.h"

namespace gt::serve {
namespace {

std::string report(Exit status, std::string_view text) {
  net::MessageWriter message(net::Verb::kReport);
  message.field("status", static_cast<uint64_t>(status));
  return message.finish(net::words(text));
}

}  // namespace

void UnreadResults::add_report(Exit status, std::string_view text) {
  if (reports_.size() < kMostReports) {
    reports_.push_back(report(status, text));
    return;
  }
  ++untold_;
  untold_status_ = worst(untold_status_, status);
}

// Sends results as far ahead as the client's reading allows.
void UnreadResults::send(const Send& send) {
  send_reports(send);
  while (on_way_.size() < kMostResults) {
    const uint64_t room = window_ - (sent_at_ - taken_at_);
    const size_t bytes =
        std::min<uint64_t>({room, net::kMaxBody, results_.size() - sent_at_});
    if (bytes == 0) return;
    send(net::MessageWriter(net::Verb::kResults)
             .finish(std::string_view(results_).substr(sent_at_, bytes)));
    sent_at_ += bytes;
    on_way_.push_back(bytes);
  }
}

void UnreadResults::send_reports(const Send& send) {
  if (untold_ > 0 && reports_.size() < kMostReports) {
    const uint64_t untold = std::exchange(untold_, 0);
    add_report(std::exchange(untold_status_, Exit::kDone),
               "gt-emit: " + std::to_string(untold) +
                   " more messages were not kept, since " +
                   std::to_string(kMostReports) + " were unread\n");
  }
  for (; reports_sent_ < reports_.size(); ++reports_sent_) {
    send(reports_[reports_sent_]);
  }
}

// A client that resumed its visit has said what it had received, and says later
// how much of that has been written: smaller numbers say nothing new.
Status UnreadResults::take(uint64_t bytes, uint64_t reports) {
  bytes = std::max(bytes, taken_);
  reports = std::max(reports, reports_taken_);
  if (bytes - taken_ > sent_at_ - taken_at_ ||
      reports - reports_taken_ > reports_sent_) {
    return Error{"it has read other results than those it was sent"};
  }
  uint64_t more = bytes - std::exchange(taken_, bytes);
  taken_at_ += more;
  while (more > 0 && !on_way_.empty()) {
    const uint64_t part = std::min(more, on_way_.front());
    more -= part;
    on_way_.front() -= part;
    if (on_way_.front() == 0) on_way_.pop_front();
  }
  for (; reports_taken_ < reports; ++reports_taken_) {
    reports_.pop_front();
    --reports_sent_;
  }
  if (taken_at_ >= results_.size() / 2) {
    results_.erase(0, taken_at_);
    sent_at_ -= std::exchange(taken_at_, 0);
  }
  return ok_status();
}

Status UnreadResults::resume(uint64_t bytes, uint64_t reports) {
  const Status taken = take(bytes, reports);
  if (!taken.ok()) return taken;
  sent_at_ = taken_at_;
  on_way_.clear();
  reports_sent_ = 0;
  return ok_status();
}

void UnreadResults::begin_visit() {
  taken_ = reports_taken_ = 0;
  sent_at_ = taken_at_;
  on_way_.clear();
  reports_sent_ = 0;
}

void UnreadResults::clear() { *this = UnreadResults(window_); }

}  // namespace gt::serve
