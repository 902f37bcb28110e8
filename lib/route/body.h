// A body: lines for some workers, collected until they are sent. It is a list
// of parts, each of which will be one message, and the text of lines that
// belong to no part yet. A part is text, or a block that runs a number of times
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

// The content of one message: lines, or a block that runs `times` times, where
// the numbers grow from round to round (net::LinesHeader).
struct BodyPart {
  std::string own_text;                    // the text, if it is not a block
  std::shared_ptr<const SentBlock> block;  // null: the part is own_text
  // The seq of the first line that has one, and its place in the input, both in
  // the first round. 0: no line has a seq.
  uint64_t seq = 0;
  int64_t line = 0;
  uint64_t last = 0;    // the seq of the last line in the last round
  uint64_t times = 1;   // rounds
  uint64_t seq_by = 0;  // the growth of the seqs from round to round
  int64_t line_by = 0;  // the growth of the places in the input

  std::string_view text() const {
    return block == nullptr ? std::string_view(own_text) : block->text;
  }
  // Returns the bytes of the text that the part stands for: of all rounds.
  size_t bytes() const { return text().size() * times; }
};

class Body {
 public:
  // The fewest bytes of text that become a block. Shorter text stays text,
  // since a block is a message of its own.
  static constexpr size_t kLeastBlock = 512;

  // The most bytes of text in a part, unless it is one longer line. Text that
  // was held back for a block may come on top.
  static constexpr size_t kMostPart = size_t{1} << 20;

  // Adds a line, without its newline, with these numbers.
  void add(uint64_t seq, int64_t line, std::string_view text) {
    if (border_ == Border::kNone && !writer_.empty() &&
        writer_.size() + text.size() > kMostPart) {
      end_part();
    }
    writer_.add(seq, line, text);
    if (border_ == Border::kNew) note_first(seq, line, text);
  }
  // Sets the border: the lines that are added from now on may turn out to be a
  // block.
  void begin_block();
  // Says that the lines behind the border are a block, which is added to the
  // table, and removes the border. Returns false if they stay text, since they
  // are too few bytes, or begin with a line that has no number.
  bool end_block(BlockTable& table);
  // Returns the round that the last end_block() added, as a part of its own. To
  // be called right after end_block().
  BodyPart last_round() const;
  // Adds rounds of a block behind everything that was added before. All text
  // must belong to a part.
  void add_rounds(BodyPart rounds);
  // The lines behind the border are not a block after all.
  void drop_block() { border_ = Border::kNone; }

  bool empty() const { return writer_.empty() && parts_.empty(); }
  // Returns the bytes of text that belong to no part yet.
  size_t size() const { return writer_.size(); }
  // Returns the bytes of the text that the whole body stands for.
  size_t bytes() const { return writer_.size() + parts_bytes_; }
  // Takes everything out, as parts. If not `all`, the text behind the border
  // stays.
  std::vector<BodyPart> take(bool all);

 private:
  enum class Border : uint8_t {
    kNone,
    kNew,   // no line was added behind it
    kOpen,  // first_ describes the first line behind it
  };

  void note_first(uint64_t seq, int64_t line, std::string_view text);
  void add_text();
  void end_part();

  net::BodyWriter writer_;
  std::vector<BodyPart> parts_;
  size_t parts_bytes_ = 0;  // bytes() of all parts
  Border border_ = Border::kNone;
  size_t border_at_ = 0;  // the border's position in the writer's text
  // The last seq in the text before the border; 0: no line there has one.
  uint64_t border_last_ = 0;
  struct {
    // The line's position in the writer's text, behind its "#+" mark.
    size_t at = 0;
    uint64_t seq = 0;
    int64_t line = 0;
  } first_;
};

}  // namespace gt::route
