#include "log/series.h"

#include <algorithm>

#include "base/text.h"
#include "stream/number.h"
#include "stream/type.h"

namespace gt {
namespace {

constexpr size_t kMaxOthers = 8;

void join(Bin& to, const Bin& from) {
  to.low = std::min(to.low, from.low);
  to.high = std::max(to.high, from.high);
  to.sum += from.sum;
  if (to.count == 0) to.step = from.step;
  to.count += from.count;
  to.breaks = to.breaks || from.breaks;
}

}  // namespace

Bin& Series::bin_of(uint64_t step) {
  while ((step - 1) / width_ >= kMaxBins) {
    for (size_t i = 0; 2 * i < bins_.size(); ++i) {
      bins_[i] = bins_[2 * i];
      if (2 * i + 1 < bins_.size()) join(bins_[i], bins_[2 * i + 1]);
      is_joined_ = is_joined_ || bins_[i].count > 1;
    }
    bins_.resize((bins_.size() + 1) / 2);
    width_ *= 2;
  }
  const size_t bin = (step - 1) / width_;
  if (bin >= bins_.size()) bins_.resize(bin + 1);
  steps_ = step;
  ++prints_;
  return bins_[bin];
}

void Series::add(uint64_t step, double value) {
  if (std::isnan(value)) return mark(step, Mark::Kind::kNan);
  if (std::isinf(value)) {
    return mark(step, value > 0 ? Mark::Kind::kInf : Mark::Kind::kMinusInf);
  }
  const Bin one{value, value, value, 1, step, false};
  Bin& bin = bin_of(step);
  join(bin, one);
  is_joined_ = is_joined_ || bin.count > 1;
  join(all_, one);
  last_ = value;
  if (value > 0) least_positive_ = std::min(least_positive_, value);
}

void Series::mark(uint64_t step, Mark::Kind kind) {
  bin_of(step).breaks = true;
  if (marks_.size() < kMaxMarks) {
    marks_.push_back({step, kind});
  } else {
    ++unmarked_;
  }
}

double Series::middle(const Bin& bin) const {
  if (bin.count == 1) return static_cast<double>(bin.step);
  const uint64_t first = (bin.step - 1) / width_ * width_ + 1;
  const uint64_t last = std::min(first + width_ - 1, steps_);
  return (static_cast<double>(first) + static_cast<double>(last)) / 2;
}

SeriesSet::SeriesSet(std::string_view names) {
  for (size_t at = 0; at <= names.size();) {
    const size_t end = std::min(names.find(',', at), names.size());
    if (end > at) all_.emplace_back(std::string(names.substr(at, end - at)));
    at = end + 1;
  }
  told_.resize(all_.size());
}

void SeriesSet::take(Input& input) {
  std::string_view text = input.text();
  const std::string_view name = take_word(text);
  if (take_word(text) != "=") return;
  const std::string_view op = take_word(text);
  if (op != "tensor" && op != "fail") return;
  const auto it =
      std::find_if(all_.begin(), all_.end(),
                   [name](const Series& s) { return s.name() == name; });
  if (it == all_.end()) {
    if (others_.size() < kMaxOthers &&
        std::find(others_.begin(), others_.end(), name) == others_.end()) {
      others_.emplace_back(name);
    }
    return;
  }
  const uint64_t step = std::max(it->prints() + 1, steps_);
  if (op == "fail") {
    steps_ = step;
    return it->add_failure(step);
  }
  const auto type = parse_type(take_word(text));
  const auto number = parse_number(take_word(text));
  if (type.ok() && type.value().elements() == 1 && number.has_value()) {
    steps_ = step;
    return it->add(step, number->real);
  }
  const auto index = static_cast<size_t>(it - all_.begin());
  if (told_[index]) return;
  told_[index] = true;
  input.complain(
      std::string(name) + " is not one number; print a sum, a mean or a slice",
      Exit::kRejected);
}

}  // namespace gt
