// Takes any bytes as a stream for three workers. Issued lines are numbered
// without a gap, each worker gets lines that it can read, in that order, and
// lines that were seen before go where they would go if they were new.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "net/wire.h"
#include "route/dispatcher.h"
#include "target.h"

namespace {

constexpr uint32_t kWorkers = 3;

using gt::fuzz::require;

class RouteRun {
 public:
  explicit RouteRun(bool caches)
      : sources_(kWorkers),
        client_(sources_, [](std::string_view) {}),
        dispatcher_({.workers = kWorkers, .caches = caches, .cache_sets = 64},
                    [this](const gt::route::Issue& issue) { take(issue); }) {}

  // Feeds all lines; when it is called again, they have been seen.
  void feed(std::string_view bytes) {
    dispatcher_.set_file(client_, "a.gt");
    for (size_t at = 0; at < bytes.size();) {
      const size_t end = std::min(bytes.find('\n', at), bytes.size());
      dispatcher_.line(client_, bytes.substr(at, end - at), ++number_);
      at = end + 1;
      if (number_ % 5 < 3)
        collect(static_cast<gt::route::Outbox::Take>(number_ % 5));
    }
  }
  void end() {
    dispatcher_.flush();
    collect(gt::route::Outbox::Take::kAll);
    for (const auto& owed : owed_) require(owed.empty());
    client_.users.fail("the end");
    std::string out;
    client_.users.emit(out, SIZE_MAX, {});
    require(client_.users.empty());
    // A line has at most a few names, on up to 4,096 ranks.
    require(dispatcher_.kept() < 100'000);
  }
  const std::string& issued() const { return issued_; }

 private:
  struct Owed {
    uint64_t seq;
    std::string text;
  };

  void take(const gt::route::Issue& issue) {
    if (issue.kind == gt::route::Issue::Kind::kComment) return;
    require(issue.seq == ++last_);
    require(!issue.workers->empty());
    require(std::is_sorted(issue.workers->begin(), issue.workers->end()));
    issued_.append(issue.text).append("\n");
    for (const uint32_t w : *issue.workers) {
      issued_ += static_cast<char>('0' + w);
      owed_[w].push_back({issue.seq, std::string(issue.text)});
    }
  }

  void collect(gt::route::Outbox::Take which) {
    for (const gt::route::Outbox::Batch& batch : dispatcher_.take(which)) {
      for (const uint32_t w : batch.workers) {
        for (const gt::route::BodyPart& part : batch.parts)
          read(part, owed_[w]);
        dispatcher_.done(w, batch.last);
      }
    }
  }
  void read(const gt::route::BodyPart& part, std::deque<Owed>& owed) {
    for (uint64_t round = 0; round < part.times; ++round) {
      gt::net::NumberedLines lines(
          part.text(), part.seq + round * part.seq_by,
          part.line + static_cast<int64_t>(round) * part.line_by);
      read(lines, owed);
    }
  }
  void read(gt::net::NumberedLines& lines, std::deque<Owed>& owed) {
    gt::net::NumberedLines::Item item;
    for (;;) {
      const auto more = lines.next(item);
      require(more.ok());
      if (!more.value()) break;
      if (!gt::net::takes_number(item.text)) continue;
      require(!owed.empty());
      require(owed[0].seq == item.seq && owed[0].text == item.text);
      owed.pop_front();
      require(item.line >= 0 && static_cast<uint64_t>(item.line) <= number_);
      if (item.text[0] != '#') require(gt::parse_line(item.text, line_).ok());
    }
  }

  std::deque<Owed> owed_[kWorkers];
  std::string issued_;
  uint64_t last_ = 0;
  uint64_t number_ = 0;
  gt::Line line_;
  gt::route::ResultSources sources_;
  gt::route::Client client_;
  gt::route::Dispatcher dispatcher_;
};

}  // namespace

GT_FUZZ_TARGET(route) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  RouteRun kept(true);
  RouteRun anew(false);
  for (RouteRun* run : {&kept, &anew}) {
    for (int i = 0; i < 3; ++i) run->feed(bytes);
    run->end();
  }
  require(kept.issued() == anew.issued());
  return 0;
}
