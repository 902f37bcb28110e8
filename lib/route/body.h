// A body: lines for some workers, collected until they are sent. It is a list
// of parts, each of which will be one message, and the text of lines that are
// no part yet. A part is text, or a block that runs a number of times
// (block_table.h).
//
// Where a known block of lines begins (block_finder.h), the body gets a border.
// The text behind the border may turn out to be the block: then it becomes a
// part that is the block, or one more round of the part before. Until that is
// known it is held back.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/wire.h"
#include "route/block_table.h"

namespace gt::route {

// What one message says: lines, or a block that runs `times` over, where each
// round has greater numbers than the one before (net::LinesHeader).
struct BodyPart {
  std::string own_text;                    // if it is no block
  std::shared_ptr<const SentBlock> block;  // null: it is own_text
  // Of the first line that has a number, in the first round. A seq of 0: no
  // line has one.
  uint64_t seq = 0;
  int64_t line = 0;
  uint64_t last = 0;    // seq of the last line, in the last round
  uint64_t times = 1;   // rounds
  uint64_t seq_by = 0;  // by so much the seqs grow from round to round
  int64_t line_by = 0;  // and the places in the input

  std::string_view text() const {
    return block == nullptr ? std::string_view(own_text) : block->text;
  }
  // Bytes of the text that it stands for, that is, of all rounds.
  size_t bytes() const { return text().size() * times; }
};

class Body {
 public:
  // Bytes of text: what is shorter stays text, since a block is a message of
  // its own.
  static constexpr size_t kLeastBlock = 512;

  // Bytes of text that a part has at most, unless it is one line that is
  // longer. Text that was held back for a block may come on top.
  static constexpr size_t kMostPart = size_t{1} << 20;

  // Adds a line, without its newline, that has these numbers.
  void add(uint64_t seq, int64_t line, std::string_view text) {
    if (border_ == Border::kNone && !writer_.empty() &&
        writer_.size() + text.size() > kMostPart) {
      end_part();
    }
    writer_.add(seq, line, text);
    if (border_ == Border::kNew) note_first(seq, line, text);
  }
  // The lines that are added from now on may turn out to be a block: sets the
  // border.
  void begin_block();
  // The lines behind the border are a block, which the table then has. Removes
  // the border. False: they stay text, since they are too few bytes, or begin
  // with a line that has no number.
  bool end_block(BlockTable& table);
  // The round that the last end_block() added, as a part of its own. To be
  // called right after it.
  BodyPart last_round() const;
  // Adds rounds of a block behind all that was added. There must be no text
  // that is no part yet.
  void add_rounds(BodyPart rounds);
  // The lines behind the border are no block after all.
  void drop_block() { border_ = Border::kNone; }

  bool empty() const { return writer_.empty() && parts_.empty(); }
  // Bytes of text that is no part yet.
  size_t size() const { return writer_.size(); }
  // Bytes of the text that all of it stands for.
  size_t bytes() const { return writer_.size() + parts_bytes_; }
  // Takes out all as parts; if not `all`, then without the text behind the
  // border, which stays.
  std::vector<BodyPart> take(bool all);

 private:
  enum class Border : uint8_t {
    kNone,
    kNew,   // no line was added behind it
    kOpen,  // first_ tells of the first line behind it
  };

  void note_first(uint64_t seq, int64_t line, std::string_view text);
  void add_text();
  void end_part();

  net::BodyWriter writer_;
  std::vector<BodyPart> parts_;
  size_t parts_bytes_ = 0;  // bytes() of all parts
  Border border_ = Border::kNone;
  size_t border_at_ = 0;  // where the border is in the writer's text
  // The last seq in the text before the border; 0: no line there has one.
  uint64_t border_last_ = 0;
  struct {
    size_t at = 0;  // of the line in the writer's text, behind its "#+" mark
    uint64_t seq = 0;
    int64_t line = 0;
  } first_;
};

}  // namespace gt::route
