#include "stream/replay.h"

#include <algorithm>

#include "base/hash.h"

namespace gt {

Replay::Replay(Rewriter& rewriter)
    : rewriter_(rewriter), window_(kWindow), last_(kWindow) {}

void Replay::reset() {
  phase_ = Phase::kSearch;
  period_ = matched_ = 0;
  if (index_ == fresh_at_) return;  // no line was noted since the last reset()
  fresh_at_ = index_;
  std::fill(last_.begin(), last_.end(), Seen{});
}

void Replay::note(std::string_view line, std::string_view out) {
  const uint64_t hash = hash_bytes(line);
  switch (phase_) {
    case Phase::kReady:
      phase_ = Phase::kFollow;
      followed_ = 0;
      [[fallthrough]];
    case Phase::kFollow:
      follow(line);
      break;
    case Phase::kRecord:
      record(hash, line, out);
      break;
    case Phase::kSearch:
      break;
  }
  search(hash);
}

// Finds the shortest period of which a whole round has been seen twice.
void Replay::search(uint64_t hash) {
  Seen& seen = last_[hash % kWindow];
  const auto tag = static_cast<uint32_t>(hash >> 32);
  const bool again =
      period_ > 0 && window_[(index_ - period_) % kWindow] == hash;
  if (again) {
    ++matched_;
  } else if (const uint32_t distance =
                 static_cast<uint32_t>(index_) - seen.index;
             seen.tag == tag && distance > 0 && distance < kWindow) {
    period_ = distance;
    matched_ = 1;
  } else {
    period_ = matched_ = 0;
  }
  window_[index_ % kWindow] = hash;
  seen = {tag, static_cast<uint32_t>(index_)};
  ++index_;
  credit_ = std::min(credit_ + kCreditOfLine, kFirstCredit);
  if (phase_ == Phase::kSearch && may_start()) start_recording();
}

bool Replay::may_start() const {
  return period_ > 0 && matched_ >= period_ && index_ >= next_attempt_ &&
         !rewriter_.has_looked_ahead() && rewriter_.state_size() < kMaxState &&
         rewriter_.state_size() <= credit_;
}

void Replay::take_state(std::string& text, std::vector<size_t>& lines) {
  credit_ -= std::min(credit_, rewriter_.state_size());
  lines.clear();
  rewriter_.state(
      text, [&lines](const Origin& place) { lines.push_back(place.line()); });
}

void Replay::start_recording() {
  phase_ = Phase::kRecord;
  take_state(state_, lines_);
  history_ = rewriter_.history();
  messages_ = rewriter_.messages();
  rewriter_.begin_round();
  in_.clear();
  out_.clear();
  recorded_ = 0;
}

void Replay::record(uint64_t hash, std::string_view line,
                    std::string_view out) {
  const bool same =
      period_ > 0 && window_[(index_ - period_) % kWindow] == hash;
  if (!same || in_.size() + out_.size() > kMaxBlock ||
      rewriter_.messages() != messages_) {
    phase_ = Phase::kSearch;
    return;
  }
  in_ += line;
  in_ += '\n';
  out_ += out;
  if (++recorded_ % period_ != 0) return;
  if (is_back()) {
    patience_ = 1;
    rewriter_.end_round();
    phase_ = Phase::kReady;
    return;
  }
  // Internal names of the filter may alternate from round to round.
  if (recorded_ < kMaxRounds * period_) return;
  patience_ = std::min<size_t>(patience_ * 2, size_t{1} << 20);
  next_attempt_ = index_ + period_ * patience_;
  phase_ = Phase::kSearch;
}

// True if the rewriter is in the state in which the recording began; then sets
// shift_.
bool Replay::is_back() {
  if (rewriter_.history() != history_ || rewriter_.has_looked_ahead()) {
    return false;
  }
  std::string state;
  std::vector<size_t> lines;
  take_state(state, lines);
  if (state != state_ || lines.size() != lines_.size()) return false;
  shift_.clear();
  for (size_t i = 0; i < lines.size(); ++i) {
    shift_.push_back(lines[i] - lines_[i]);
  }
  return true;
}

// Handles a line that comes by itself, not as part of a buffered whole round. A
// round that came line by line, whole and equal, has brought the same state
// back.
void Replay::follow(std::string_view line) {
  const std::string_view rest = std::string_view(in_).substr(followed_);
  if (rest.size() <= line.size() || !rest.starts_with(line) ||
      rest[line.size()] != '\n' || rewriter_.messages() != messages_) {
    phase_ = Phase::kSearch;
    return;
  }
  followed_ += line.size() + 1;
  if (followed_ == in_.size()) phase_ = Phase::kReady;
}

size_t Replay::run(Source& source, const Write& write) {
  size_t rounds = 0;
  for (bool goes_on = true; goes_on;) {
    const std::string_view input = source.buffered();
    if (input.starts_with(in_)) {
      source.consume(in_.size(), recorded_);
      goes_on = write(out_);
      ++rounds;
    } else if (input.size() >= in_.size() ||
               !std::string_view(in_).starts_with(input) ||
               !source.fill_if_ready()) {
      break;
    }
  }
  if (rounds == 0) return 0;
  std::string text;
  size_t next = 0;
  rewriter_.state(
      text, [&](Origin& place) { place.add_lines(rounds * shift_[next++]); });
  return rounds;
}

}  // namespace gt
