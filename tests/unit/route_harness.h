// A dispatcher fed with text, and what each worker is sent.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "net/wire.h"
#include "route/dispatcher.h"

namespace gt {

struct SentBody {
  uint64_t seq = 0;
  int64_t line = 0;
  std::string text;
  bool has_number = false;
  std::vector<uint32_t> workers;  // of what was issued: those concerned
};

class RouteHarness {
 public:
  explicit RouteHarness(uint32_t workers)
      : workers_(workers),
        dispatcher_(
            {workers, false, true},
            [this](std::string_view m) { messages_ += m; },
            [this](const Issue& issue) {
              if (issue.kind == Issue::Kind::kInstruction) {
                instructions_.append(issue.text).append("\n");
              }
              issued_.push_back({issue.seq, static_cast<int64_t>(issue.line),
                                 std::string(issue.text), true,
                                 *issue.workers});
            }),
        sent_(workers) {
    dispatcher_.set_file("p.gt");
  }

  Dispatcher& dispatcher() { return dispatcher_; }
  void feed(std::string_view program) {
    while (!program.empty()) {
      const size_t end = std::min(program.find('\n'), program.size());
      dispatcher_.line(program.substr(0, end), ++number_);
      program.remove_prefix(std::min(end + 1, program.size()));
    }
    collect();
  }
  // What the worker was sent until now, numbers checked.
  const std::vector<SentBody>& sent(uint32_t worker) { return sent_[worker]; }
  // Instructions alone, one a line.
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
  // As the log's last column has them.
  const std::string& instructions() const { return instructions_; }
  const std::string& messages() const { return messages_; }
  std::string results() {
    std::string out;
    dispatcher_.results().emit(out, SIZE_MAX);
    return out;
  }

 private:
  void collect() {
    for (uint32_t w = 0; w < workers_; ++w) {
      if (dispatcher_.outbox().empty(w)) continue;
      const Outbox::Batch batch = dispatcher_.take(w);
      NumberedLines lines(batch.body, batch.seq, batch.line);
      NumberedLines::Item item;
      for (;;) {
        const auto more = lines.next(item);
        ASSERT_TRUE(more.ok()) << more.error().message;
        if (!more.value()) break;
        sent_[w].push_back({item.seq,
                            item.line,
                            std::string(item.text),
                            takes_number(item.text),
                            {}});
      }
    }
  }

  uint32_t workers_;
  std::string messages_;
  std::string instructions_;
  std::vector<SentBody> issued_;
  Dispatcher dispatcher_;
  std::vector<std::vector<SentBody>> sent_;
  uint64_t number_ = 0;
};

}  // namespace gt
