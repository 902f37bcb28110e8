// A dispatcher that is fed with text, and what each worker is sent.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "net/wire.h"
#include "route/dispatcher.h"

namespace gt::route {

struct SentBody {
  uint64_t seq = 0;
  int64_t line = 0;
  std::string text;
  bool has_number = false;
  std::vector<uint32_t> workers;  // the workers that the line concerns
};

class RouteHarness {
 public:
  // Rounds are repeated only without a log.
  explicit RouteHarness(uint32_t workers, bool hot = true, bool logs = true)
      : sources_(workers),
        client_(sources_, [this](std::string_view m) { messages_ += m; }),
        dispatcher_({.workers = workers, .hot = hot},
                    logs ? [this](const Issue& issue) { note(issue); }
                         : Sequencer::Sink()),
        sent_(workers) {
    set_file("p.gt");
  }

  Dispatcher& dispatcher() { return dispatcher_; }
  Client& client() { return client_; }
  ResultSources& sources() { return sources_; }
  void set_file(std::string_view name) { dispatcher_.set_file(client_, name); }
  void feed(std::string_view program, bool collects = true) {
    for (repeat(program); !program.empty(); repeat(program)) {
      const size_t end = std::min(program.find('\n'), program.size());
      dispatcher_.line(client_, program.substr(0, end), ++number_);
      program.remove_prefix(std::min(end + 1, program.size()));
    }
    if (collects) collect();
  }
  // Rounds that gt-route did not look at.
  size_t repeated() const { return repeated_; }
  // Sends everything now.
  void collect(Outbox::Take which = Outbox::Take::kAll) {
    for (const Outbox::Batch& batch : dispatcher_.take(which)) {
      for (const BodyPart& part : batch.parts) blocks_ += part.block != nullptr;
      for (const uint32_t w : batch.workers) read(batch, sent_[w]);
    }
  }
  // How many parts were blocks.
  size_t blocks() const { return blocks_; }
  // What the worker has been sent so far, with the numbers checked.
  const std::vector<SentBody>& sent(uint32_t worker) { return sent_[worker]; }
  // Only the instructions, one a line.
  std::string text(uint32_t worker) const {
    std::string out;
    for (const SentBody& line : sent_[worker]) {
      if (line.text[0] != '#') out += line.text + "\n";
    }
    return out;
  }
  std::string all(uint32_t worker) const {
    std::string out;
    for (const SentBody& line : sent_[worker]) out += line.text + "\n";
    return out;
  }
  const std::vector<SentBody>& issued() const { return issued_; }
  // The instructions as the last column of the log has them.
  const std::string& instructions() const { return instructions_; }
  const std::string& messages() const { return messages_; }
  std::string results() {
    std::string out;
    client_.users.emit(out, SIZE_MAX, {});
    return out;
  }

 private:
  void note(const Issue& issue) {
    if (issue.kind == Issue::Kind::kInstruction) {
      instructions_.append(issue.text).append("\n");
    }
    issued_.push_back({issue.seq, static_cast<int64_t>(issue.line),
                       std::string(issue.text), true, *issue.workers});
  }
  void repeat(std::string_view& program) {
    const Round* round = dispatcher_.round();
    if (round == nullptr) return;
    uint64_t times = 0;
    // The last few of many rounds come line by line.
    for (; times < 5 && program.starts_with(round->text); ++times) {
      program.remove_prefix(round->text.size());
    }
    number_ += times * round->lines;
    repeated_ += times;
    if (times > 0) dispatcher_.repeat(client_, times);
  }
  static void read(const Outbox::Batch& batch, std::vector<SentBody>& out) {
    for (const BodyPart& part : batch.parts) {
      for (uint64_t round = 0; round < part.times; ++round) {
        read(part.text(), part.seq + round * part.seq_by,
             part.line + static_cast<int64_t>(round) * part.line_by, out);
      }
    }
  }
  static void read(std::string_view text, uint64_t seq, int64_t line,
                   std::vector<SentBody>& out) {
    net::NumberedLines lines(text, seq, line);
    net::NumberedLines::Item item;
    for (;;) {
      const auto more = lines.next(item);
      ASSERT_TRUE(more.ok()) << more.error().message;
      if (!more.value()) break;
      out.push_back({item.seq,
                     item.line,
                     std::string(item.text),
                     net::takes_number(item.text),
                     {}});
    }
  }

  std::string messages_;
  std::string instructions_;
  std::vector<SentBody> issued_;
  ResultSources sources_;
  Client client_;
  Dispatcher dispatcher_;
  std::vector<std::vector<SentBody>> sent_;
  uint64_t number_ = 0;
  size_t blocks_ = 0;
  size_t repeated_ = 0;
};

// The line without the note that marks the beginning of a block.
inline std::string without_mark(std::string text) {
  const size_t at = text.find(" #hot=");
  if (at == std::string::npos) return text;
  const size_t end = text.find_first_not_of("0123456789", at + 6);
  return text.erase(at, std::min(end, text.size()) - at);
}

}  // namespace gt::route
