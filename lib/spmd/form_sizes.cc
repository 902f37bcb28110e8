// Finds what is gathered, cut and exchanged: the dimension, and where each
// member's part of it lies.
#include <algorithm>
#include <charconv>

#include "base/message.h"
#include "spmd/form_reader.h"

namespace gt {
namespace {

// The largest size of a part. A sum with one for each possible rank still fits
// in 64 bits.
constexpr int64_t kMaxSize = int64_t{1} << 40;

// Returns where parts of these sizes start, and the end of the last. Error: the
// sum of the sizes does not fit in 64 bits.
Result<std::vector<int64_t>> starts_of(const std::vector<int64_t>& sizes) {
  std::vector<int64_t> starts(1, 0);
  for (const int64_t size : sizes) {
    int64_t end = 0;
    if (__builtin_add_overflow(starts.back(), size, &end)) {
      return Error{"the parts are too long together"};
    }
    starts.push_back(end);
  }
  return starts;
}

}  // namespace

Result<size_t> FormReader::dimension(int64_t dim, size_t dims) {
  const int64_t d = normal_axis(dim, dims);
  if (d >= 0) return static_cast<size_t>(d);
  return Error{"dimension " + std::to_string(dim) + " is not one of " +
               std::to_string(dims)};
}

Result<size_t> FormReader::stacked(const char* key, size_t dims) const {
  if (dims > Shape::kMaxRank) {
    return Error{"the result would have more than " +
                 std::to_string(Shape::kMaxRank) + " dimensions"};
  }
  const std::string_view text = call_.key(key);
  return dimension(text.empty() ? 0 : call_.integer(key), dims);
}

// Cuts the dimension into slices: each member's part is one index.
Status FormReader::read_slices(const char* key) {
  const auto d = stacked(key, rank());
  if (!d.ok()) return d.error();
  if (type().shape[d.value()] != static_cast<int64_t>(n_)) {
    return Error{
        to_string(type()) + ": dimension " + std::to_string(d.value()) +
        " must have one slice for each of " + std::to_string(n_) + " ranks"};
  }
  form_.is_sliced = true;
  form_.dim = d.value();
  for (size_t i = 0; i <= n_; ++i) {
    form_.cuts.push_back(static_cast<int64_t>(i));
  }
  return ok_status();
}

Status FormReader::all_gather() {
  if (Status s = read_dtype("out", form_.out); !s.ok()) return s;
  return src_.letter == 'V' ? gather_slices(Kind::kGather)
                            : gather_chunks(Kind::kGather);
}

Status FormReader::gather_slices(Kind kind) {
  if (Status s = need_alike(); !s.ok()) return s;
  const auto d = stacked("gather_dim", rank() + 1);
  if (!d.ok()) return d.error();
  form_.is_sliced = true;
  form_.dim = d.value();
  for (size_t i = 0; i <= n_; ++i) {
    form_.cuts.push_back(static_cast<int64_t>(i));
  }
  return is(kind);
}

Status FormReader::gather_chunks(Kind kind) {
  const auto d = dimension(src_.dim, rank());
  if (!d.ok()) return d.error();
  form_.dim = d.value();
  if (Status s = check_gathered(form_.dim); !s.ok()) return s;
  std::vector<int64_t> sizes;
  for (const Type& t : group_.pieces) sizes.push_back(t.shape[form_.dim]);
  auto starts = starts_of(sizes);
  if (!starts.ok()) return starts.error();
  form_.cuts = std::move(starts.value());
  return is(kind);
}

Status FormReader::check_gathered(size_t d) const {
  const auto sizes = listed_sizes();
  if (!sizes.ok()) return sizes.error();
  for (size_t i = 0; i < n_; ++i) {
    const Shape& shape = group_.pieces[i].shape;
    if (shape.size() != rank()) return need_alike();
    Shape expected = type().shape;
    if (!group_.stated.empty()) expected = group_.stated[i];
    if (!sizes.value().empty()) {
      if (d >= expected.size()) return Error{"shape= has too few sizes"};
      expected[d] = sizes.value()[i];
    }
    if (shape == expected) continue;
    return Error{"the pieces are uneven, [" + to_string(shape) + "] where [" +
                 to_string(expected) +
                 "] is expected; say how with split= and shape=, or with "
                 "split_sizes="};
  }
  return need_alike_but(d);
}

Result<std::vector<int64_t>> FormReader::listed_sizes() const {
  std::vector<int64_t> sizes;
  std::string_view text = call_.key("split_sizes");
  if (text.empty()) return sizes;
  auto read = parse_sizes(text);
  if (!read.ok()) return read.error();
  if (read.value().size() != n_) {
    return Error{"split_sizes=" + excerpt(text) + " needs " +
                 std::to_string(n_) + " sizes, one for each rank"};
  }
  return read;
}

Result<std::vector<int64_t>> FormReader::parse_sizes(std::string_view text) {
  std::vector<int64_t> sizes;
  const std::string_view all = text;
  for (;;) {
    const size_t plus = std::min(text.find('+'), text.size());
    int64_t size = 0;
    const auto [next, error] =
        std::from_chars(text.data(), text.data() + plus, size);
    if (error != std::errc{} || next != text.data() + plus || size < 0 ||
        size > kMaxSize) {
      return Error{"split_sizes=" + excerpt(all) +
                   " are no sizes such as 2+3+1"};
    }
    sizes.push_back(size);
    if (plus == text.size()) return sizes;
    text.remove_prefix(plus + 1);
  }
}

Result<std::vector<int64_t>> FormReader::chunks(size_t d, int64_t size) const {
  auto sizes = listed_sizes();
  if (!sizes.ok()) return sizes;
  std::vector<int64_t>& list = sizes.value();
  if (list.empty()) {
    for (size_t i = 0; i < n_; ++i) {
      if (!group_.stated.empty()) {
        const Shape& stated = group_.stated[i];
        if (d >= stated.size()) return Error{"shape= has too few sizes"};
        list.push_back(stated[d]);
      } else if (size % static_cast<int64_t>(n_) != 0) {
        return Error{"size " + std::to_string(size) + " of dimension " +
                     std::to_string(d) + " is no multiple of " +
                     std::to_string(n_) +
                     " ranks; say how to cut it with split= and shape=, or "
                     "with split_sizes="};
      } else {
        list.push_back(size / static_cast<int64_t>(n_));
      }
    }
  }
  auto starts = starts_of(list);
  if (!starts.ok()) return starts;
  if (starts.value().back() == size) return starts;
  return Error{"the parts make " + std::to_string(starts.value().back()) +
               ", but dimension " + std::to_string(d) + " has size " +
               std::to_string(size)};
}

Status FormReader::scatter(Kind kind) {
  if (Status s = need_alike(); !s.ok()) return s;
  form_.kind = kind;
  if (dst_.letter == 'V') return read_slices("scatter_dim");
  const auto d = dimension(dst_.dim, rank());
  if (!d.ok()) return d.error();
  form_.dim = d.value();
  auto cuts = chunks(form_.dim, type().shape[form_.dim]);
  if (!cuts.ok()) return cuts.error();
  form_.cuts = std::move(cuts.value());
  return ok_status();
}

Status FormReader::reduce_scatter() {
  if (Status s = combined(); !s.ok()) return s;
  return scatter(Kind::kSumScatter);
}

Status FormReader::all_to_all() {
  form_.kind = Kind::kExchange;
  if (src_.letter == 'V') return exchange_slices();
  const auto from = dimension(src_.dim, rank());
  const auto to = dimension(dst_.dim, rank());
  if (!from.ok()) return from.error();
  if (!to.ok()) return to.error();
  form_.dim = to.value();
  form_.join = from.value();
  if (Status s = need_alike_but(form_.join); !s.ok()) return s;
  if (form_.dim == form_.join) return exchange_rows(form_.dim);
  auto cuts = chunks(form_.dim, type().shape[form_.dim]);
  if (!cuts.ok()) return cuts.error();
  form_.cuts = std::move(cuts.value());
  return ok_status();
}

Status FormReader::exchange_slices() {
  if (Status s = need_alike(); !s.ok()) return s;
  const auto to = stacked("concat_dim", rank());
  if (!to.ok()) return to.error();
  form_.join = to.value();
  return read_slices("split_dim");
}

Status FormReader::exchange_rows(size_t d) {
  std::string_view text = call_.key("split_sizes");
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    auto row = parse_sizes(text.substr(0, comma));
    if (!row.ok()) return row.error();
    const bool fits = row.value().size() == n_;
    auto cuts = starts_of(row.value());
    if (!cuts.ok()) return cuts.error();
    form_.row_cuts.push_back(std::move(cuts.value()));
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (!fits) form_.row_cuts.clear(), text = {};
  }
  if (form_.row_cuts.size() != n_) {
    return Error{
        "src= and dst= are one dimension: split_sizes= needs a list "
        "for each of " +
        std::to_string(n_) + " ranks, such as 1+2,0+3: what it sends to each"};
  }
  for (size_t j = 0; j < n_; ++j) {
    const int64_t all = form_.row_cuts[j].back();
    if (all == group_.pieces[j].shape[d]) continue;
    return Error{"split_sizes= sends " + std::to_string(all) + " rows of " +
                 to_string(group_.pieces[j])};
  }
  return ok_status();
}

}  // namespace gt
