#include "route/body.h"

#include <utility>

namespace gt {

void Body::begin_block() {
  border_ = Border::kNew;
  border_at_ = writer_.size();
  border_last_ = writer_.first_seq() == 0 ? 0 : writer_.last_seq();
}

void Body::note_first(uint64_t seq, int64_t line, std::string_view text) {
  // A block begins with an instruction.
  border_ = takes_number(text) ? Border::kOpen : Border::kNone;
  first_ = {writer_.size() - text.size() - 1, seq, line};
}

void Body::end_block(BlockTable& table) {
  if (std::exchange(border_, Border::kNone) != Border::kOpen) return;
  const std::string_view text = writer_.text().substr(first_.at);
  if (text.size() < kLeastBlock) return;
  const uint64_t last = writer_.last_seq();
  if (border_at_ > 0 || !add_round(text)) {
    std::shared_ptr<const SentBlock> block = table.obtain(text);
    if (border_at_ > 0) add_text();
    parts_bytes_ += block->text.size();
    parts_.push_back(
        {{}, std::move(block), first_.seq, first_.line, last, 1, 0, 0});
  }
  writer_.clear();
}

// Whether it is the next round of the part before.
bool Body::add_round(std::string_view text) {
  if (parts_.empty()) return false;
  BodyPart& part = parts_.back();
  if (part.block == nullptr || part.block->text != text) return false;
  const uint64_t seq_by = (first_.seq - part.seq) / part.times;
  const int64_t line_by =
      (first_.line - part.line) / static_cast<int64_t>(part.times);
  const bool is_next =
      part.seq + seq_by * part.times == first_.seq &&
      part.line + line_by * static_cast<int64_t>(part.times) == first_.line &&
      (part.times == 1 ? line_by >= 0
                       : seq_by == part.seq_by && line_by == part.line_by);
  if (!is_next) return false;
  part.seq_by = seq_by;
  part.line_by = line_by;
  ++part.times;
  part.last = writer_.last_seq();
  parts_bytes_ += text.size();
  return true;
}

// What stands before the border.
void Body::add_text() {
  BodyPart part;
  part.own_text = writer_.text().substr(0, border_at_);
  if (border_last_ != 0) {
    part.seq = writer_.first_seq();
    part.line = writer_.first_line();
    part.last = border_last_;
  }
  parts_bytes_ += part.own_text.size();
  parts_.push_back(std::move(part));
}

std::vector<BodyPart> Body::take(bool all) {
  if (all || border_ != Border::kOpen) begin_block();
  if (border_at_ > 0) add_text();
  if (border_ == Border::kOpen) {
    writer_.drop_front(first_.at, first_.seq, first_.line);
    border_at_ = border_last_ = first_.at = 0;
  } else {
    writer_.clear();
    border_ = Border::kNone;
  }
  parts_bytes_ = 0;
  return std::exchange(parts_, {});
}

}  // namespace gt
