#include "route/body.h"

#include <utility>

#include "base/message.h"

namespace gt::route {
namespace {

// Adds the rounds to the part before them, and returns true, if they are more
// rounds of its block, with numbers that grow as its own do.
bool extend(BodyPart& part, const BodyPart& rounds) {
  if (part.block != rounds.block) return false;
  const auto times = static_cast<int64_t>(part.times);
  const uint64_t seq_by = (rounds.seq - part.seq) / part.times;
  const int64_t line_by = (rounds.line - part.line) / times;
  const auto has_these = [&](const BodyPart& p) {
    return p.times == 1 || (p.seq_by == seq_by && p.line_by == line_by);
  };
  if (part.seq + seq_by * part.times != rounds.seq ||
      part.line + line_by * times != rounds.line || line_by < 0 ||
      !has_these(part) || !has_these(rounds)) {
    return false;
  }
  part.seq_by = seq_by;
  part.line_by = line_by;
  part.times += rounds.times;
  part.last = rounds.last;
  return true;
}

}  // namespace

void Body::begin_block() {
  border_ = Border::kNew;
  border_at_ = writer_.size();
  border_last_ = writer_.first_seq() == 0 ? 0 : writer_.last_seq();
}

void Body::note_first(uint64_t seq, int64_t line, std::string_view text) {
  // A block must begin with an instruction.
  border_ = net::takes_number(text) ? Border::kOpen : Border::kNone;
  first_ = {writer_.size() - text.size() - 1, seq, line};
}

bool Body::end_block(BlockTable& table) {
  if (std::exchange(border_, Border::kNone) != Border::kOpen) return false;
  const std::string_view text = writer_.text().substr(first_.at);
  if (text.size() < kLeastBlock) return false;
  BodyPart round;
  round.seq = first_.seq;
  round.line = first_.line;
  round.last = writer_.last_seq();
  const SentBlock* before =
      border_at_ > 0 || parts_.empty() ? nullptr : parts_.back().block.get();
  const bool is_next =
      before != nullptr && before->is_kept && before->text == text;
  round.block = is_next ? parts_.back().block : table.obtain(text);
  if (border_at_ > 0) add_text();
  writer_.clear();
  add_rounds(std::move(round));
  return true;
}

BodyPart Body::last_round() const {
  BodyPart round = parts_.back();
  const uint64_t before = std::exchange(round.times, 1) - 1;
  round.seq += before * std::exchange(round.seq_by, 0);
  round.line += static_cast<int64_t>(before) * std::exchange(round.line_by, 0);
  return round;
}

void Body::add_rounds(BodyPart rounds) {
  GT_CHECK(writer_.empty());
  parts_bytes_ += rounds.bytes();
  if (parts_.empty() || !extend(parts_.back(), rounds)) {
    parts_.push_back(std::move(rounds));
  }
}

// Makes a part of the text before the border. The text stays in the writer.
void Body::add_text() {
  // Short text is copied, so that the writer keeps its memory for what follows.
  constexpr size_t kLong = size_t{1} << 20;
  BodyPart part;
  if (border_last_ != 0) {
    part.seq = writer_.first_seq();
    part.line = writer_.first_line();
    part.last = border_last_;
  }
  const bool is_all = border_at_ == writer_.size();
  part.own_text = is_all && border_at_ > kLong
                      ? writer_.take()
                      : std::string(writer_.text().substr(0, border_at_));
  parts_bytes_ += part.own_text.size();
  parts_.push_back(std::move(part));
}

// Makes a part of all text.
void Body::end_part() {
  begin_block();
  add_text();
  writer_.clear();
  drop_block();
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

}  // namespace gt::route
