// Lines for some workers until they are sent: text, and rounds of blocks that
// came before.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/wire.h"
#include "route/block_table.h"

namespace gt::route {

// What one message says.
struct BodyPart {
  std::string own_text;                    // of a part that is no block
  std::shared_ptr<const SentBlock> block;  // runs `times` over; see LinesHeader
  uint64_t seq = 0;                        // 0: nothing in it has a number
  int64_t line = 0;
  uint64_t last = 0;  // seq of the last line of the last round
  uint64_t times = 1;
  uint64_t seq_by = 0;
  int64_t line_by = 0;

  std::string_view text() const {
    return block == nullptr ? std::string_view(own_text) : block->text;
  }
  // Of the text that it stands for.
  size_t bytes() const { return text().size() * times; }
};

class Body {
 public:
  // What is shorter is not worth a message of its own.
  static constexpr size_t kLeastBlock = 512;

  // A part has so many bytes, or is one line that is longer; besides it may
  // have what was held back for a block.
  static constexpr size_t kMostPart = size_t{1} << 20;

  void add(uint64_t seq, int64_t line, std::string_view text) {
    if (border_ == Border::kNone && !writer_.empty() &&
        writer_.size() + text.size() > kMostPart) {
      end_part();
    }
    writer_.add(seq, line, text);
    if (border_ == Border::kNew) note_first(seq, line, text);
  }
  // What is added from now on may turn out to be a block ...
  void begin_block();
  // ... and is one: its text goes if it is the next round of the block before.
  // False: it is too short for one.
  bool end_block(BlockTable& table);
  // What end_block() made, as a round by itself.
  BodyPart last_round() const;
  // Rounds of a block, after all that was added.
  void add_rounds(BodyPart rounds);
  void drop_block() { border_ = Border::kNone; }

  bool empty() const { return writer_.empty() && parts_.empty(); }
  size_t size() const { return writer_.size(); }  // of what is no block yet
  // Of the text that all of it stands for.
  size_t bytes() const { return writer_.size() + parts_bytes_; }
  // What waits; unless all is taken, without what may turn out to be a block.
  std::vector<BodyPart> take(bool all);

 private:
  enum class Border : uint8_t {
    kNone,
    kNew,   // no line came since
    kOpen,  // first_ tells of the first line since
  };

  void note_first(uint64_t seq, int64_t line, std::string_view text);
  void add_text();
  void end_part();

  net::BodyWriter writer_;
  std::vector<BodyPart> parts_;
  size_t parts_bytes_ = 0;
  Border border_ = Border::kNone;
  size_t border_at_ = 0;      // in the writer's text
  uint64_t border_last_ = 0;  // seq before it; 0: there is none in the text
  struct {
    size_t at = 0;  // in the writer's text, behind its mark
    uint64_t seq = 0;
    int64_t line = 0;
  } first_;
};

}  // namespace gt::route
