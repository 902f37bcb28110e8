#include "log/series.h"

#include <algorithm>

#include "base/text.h"
#include "stream/number.h"
#include "stream/type.h"

namespace gt::log {
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

std::vector<double> Series::values(double smooth) const {
  std::vector<double> out;
  double sum = 0;
  double weights = 0;
  for (const Bin& bin : bins_) {
    if (bin.empty()) {
      out.push_back(NAN);
      continue;
    }
    // The numbers of a bin count as so many times their mean.
    const double kept = std::pow(smooth, static_cast<double>(bin.count));
    sum = kept * sum + (1 - kept) * bin.mean();
    weights = kept * weights + (1 - kept);
    out.push_back(sum / weights);
  }
  return out;
}

SeriesSet::SeriesSet(std::string_view names,
                     const std::vector<std::string>& files) {
  for (size_t at = 0; at <= names.size();) {
    const size_t end = std::min(names.find(',', at), names.size());
    if (end > at) names_.emplace_back(names.substr(at, end - at));
    at = end + 1;
  }
  const size_t count = std::max<size_t>(files.size(), 1);
  for (size_t file = 0; file < count; ++file) {
    for (size_t i = 0; i < names_.size(); ++i) {
      std::string label = names_[i];
      if (count > 1) {
        label = names_.size() > 1 ? label + " " + files[file] : files[file];
      }
      all_.emplace_back(std::move(label), i);
    }
  }
  steps_.resize(count, {0, std::vector<bool>(names_.size(), true)});
  told_.resize(all_.size());
}

void SeriesSet::note_other(std::string_view name) {
  if (others_.size() >= kMaxOthers) return;
  if (std::find(others_.begin(), others_.end(), name) != others_.end()) return;
  others_.emplace_back(name);
}

uint64_t SeriesSet::step_of(size_t file, size_t name) {
  Steps& steps = steps_[file];
  if (steps.has[name]) {
    ++steps.now;
    std::fill(steps.has.begin(), steps.has.end(), false);
  }
  steps.has[name] = true;
  return steps.now;
}

void SeriesSet::take(Input& input) {
  std::string_view text = input.text();
  const std::string_view name = take_word(text);
  if (take_word(text) != "=") return;
  const std::string_view op = take_word(text);
  if (op != "tensor" && op != "fail") return;
  const auto it = std::find(names_.begin(), names_.end(), name);
  if (it == names_.end()) return note_other(name);
  const auto number_of_name = static_cast<size_t>(it - names_.begin());
  const size_t index = input.file() * names_.size() + number_of_name;
  Series& series = all_[index];
  if (op == "fail") {
    return series.add_failure(step_of(input.file(), number_of_name));
  }
  const auto type = parse_type(take_word(text));
  const auto number = parse_number(take_word(text));
  if (type.ok() && type.value().elements() == 1 && number.has_value()) {
    return series.add(step_of(input.file(), number_of_name), number->real);
  }
  if (told_[index]) return;
  told_[index] = true;
  input.complain(
      std::string(name) + " is not one number; print a sum, a mean or a slice",
      Exit::kRejected);
}

}  // namespace gt::log
