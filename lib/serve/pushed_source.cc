#include "serve/pushed_source.h"

#include <algorithm>

namespace gt::serve {
namespace {

constexpr size_t kHead = 80;  // bytes kept of a line that is too long

}  // namespace

void PushedSource::push(std::string_view bytes) {
  if (skips_ && !bytes.empty()) {
    const size_t skipped = std::min(bytes.find('\n'), bytes.size() - 1) + 1;
    taken_ += skipped;
    skips_ = bytes[skipped - 1] != '\n';
    bytes.remove_prefix(skipped);
    if (skips_) return;
  }
  if (bytes.empty()) return;
  if (at_ > text_.size() / 2) compact();
  text_ += bytes;
  if (is_first_ && text_.size() >= kByteOrderMark.size()) {
    if (text_.starts_with(kByteOrderMark)) take(kByteOrderMark.size());
    is_first_ = false;
  }
}

size_t PushedSource::cut() {
  has_ended_ = true;
  const size_t lf = text_.rfind('\n');
  const size_t whole = lf == std::string::npos ? at_ : std::max(lf + 1, at_);
  const size_t dropped = text_.size() - whole;
  text_.resize(whole);
  looked_ = std::min(looked_, whole);
  return dropped;
}

void PushedSource::compact() {
  text_.erase(0, at_);
  looked_ -= std::min(looked_, at_);
  at_ = 0;
}

void PushedSource::take(size_t bytes) {
  at_ += bytes;
  taken_ += bytes;
  allowed_ -= std::min(allowed_, bytes);
}

void PushedSource::count(size_t lines) {
  line_ += lines;
  if (period_ != 0) line_ = (line_ - 1) % period_ + 1;
}

bool PushedSource::has_line() {
  looked_ = std::max(looked_, at_);
  looked_ = std::min(text_.find('\n', looked_), text_.size());
  if (looked_ < text_.size()) return true;
  return text_.size() > at_ && (has_ended_ || text_.size() - at_ > kMostLine);
}

Reader::Item PushedSource::next(std::string_view& line) {
  if (allowed_ == 0 || !has_line()) return Reader::Item::kEnd;
  const bool is_whole = looked_ < text_.size();
  line = std::string_view(text_).substr(at_, looked_ - at_);
  if (may_take_ && !may_take_(line)) return Reader::Item::kEnd;
  count(1);
  take(line.size() + (is_whole ? 1 : 0));
  if (line.size() > kMostLine) {
    head_ = line.substr(0, kHead);
    line = head_;
    if (!is_whole && !has_ended_) {
      skips_ = true;
      text_.clear();
      at_ = looked_ = 0;
    }
    return Reader::Item::kTooLong;
  }
  while (line.ends_with('\r')) line.remove_suffix(1);
  return is_whole ? Reader::Item::kLine : Reader::Item::kPart;
}

std::string_view PushedSource::buffered() const {
  return allowed_ == 0 ? std::string_view()
                       : std::string_view(text_).substr(at_);
}

void PushedSource::consume(size_t bytes, size_t lines) {
  take(bytes);
  count(lines);
}

}  // namespace gt::serve
