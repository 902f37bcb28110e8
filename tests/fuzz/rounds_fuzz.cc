// Takes any bytes as the round of a loop: workers read the same, are owed the
// same, and the same is said, whether gt-route looks at rounds that come again
// or not.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "net/wire.h"
#include "route/dispatcher.h"
#include "target.h"

namespace {

constexpr size_t kMostRoundBytes = 4096;  // of a round, since there are many
constexpr int kRounds = 60;  // a round has a line or two, a block 32

using gt::fuzz::require;

// The line without the mark of a block, which stands between single blanks.
std::string without_mark(std::string_view text) {
  std::string out(text);
  const auto twice = [](char a, char b) { return a == ' ' && b == ' '; };
  out.erase(std::unique(out.begin(), out.end(), twice), out.end());
  const size_t at = out.find(" #hot=");
  if (at == std::string::npos) return out;
  const size_t end = out.find_first_not_of("0123456789", at + 6);
  return out.erase(at, std::min(end, out.size()) - at);
}

class RoundRun {
 public:
  RoundRun(uint32_t workers, bool hot)
      : sources_(workers),
        client_(sources_, [this](std::string_view text) { said_ += text; }),
        dispatcher_({.workers = workers, .cache_sets = 64, .hot = hot}),
        sent_(workers) {}

  void feed(std::string_view text) {
    while (!text.empty()) {
      const gt::route::Round* round = dispatcher_.round();
      if (round != nullptr && text.starts_with(round->text)) {
        number_ += round->lines;
        text.remove_prefix(round->text.size());
        dispatcher_.repeat(client_, 1);
        continue;
      }
      const size_t end = text.find('\n');
      dispatcher_.line(client_, text.substr(0, end), ++number_);
      text.remove_prefix(end + 1);
      if (number_ % 97 < 3)
        collect(static_cast<gt::route::Outbox::Take>(number_ % 97));
    }
  }
  // Everything that shows outside.
  std::string end() {
    dispatcher_.flush();
    collect(gt::route::Outbox::Take::kAll);
    client_.users.fail("the end");
    client_.users.emit(said_, SIZE_MAX, {});
    for (const std::string& text : sent_) said_ += "\n---\n" + text;
    return said_ + std::to_string(dispatcher_.issued());
  }

 private:
  void collect(gt::route::Outbox::Take which) {
    for (const gt::route::Outbox::Batch& batch : dispatcher_.take(which)) {
      for (const gt::route::BodyPart& part : batch.parts) {
        for (uint64_t round = 0; round < part.times; ++round) {
          const std::string text = read(part, round);
          for (const uint32_t w : batch.workers) sent_[w] += text;
        }
      }
    }
  }
  static std::string read(const gt::route::BodyPart& part, uint64_t round) {
    std::string out;
    gt::net::NumberedLines lines(
        part.text(), part.seq + round * part.seq_by,
        part.line + static_cast<int64_t>(round) * part.line_by);
    gt::net::NumberedLines::Item item;
    for (;;) {
      const auto more = lines.next(item);
      require(more.ok());
      if (!more.value()) return out;
      if (gt::net::takes_number(item.text)) {
        out += std::to_string(item.seq) + " " + std::to_string(item.line) + " ";
      }
      out += without_mark(item.text) + "\n";
    }
  }

  std::string said_;
  uint64_t number_ = 0;
  gt::route::ResultSources sources_;
  gt::route::Client client_;
  gt::route::Dispatcher dispatcher_;
  std::vector<std::string> sent_;
};

}  // namespace

GT_FUZZ_TARGET(rounds) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // With several workers, lines without ranks run where the time of messages
  // leads them, and blocks delay messages.
  const bool is_placed = bytes.find('@') != std::string_view::npos;
  if (size > kMostRoundBytes || bytes.find("#hot=") != std::string_view::npos) {
    return 0;
  }
  const std::string round = std::string(bytes) + "\n";
  RoundRun hot(is_placed ? 2 : 1, true);
  RoundRun text(is_placed ? 2 : 1, false);
  for (int i = 0; i < kRounds; ++i) {
    hot.feed(round);
    text.feed(round);
  }
  require(hot.end() == text.end());
  return 0;
}
