// all_gather, reduce_scatter and all_to_all: pieces put together, taken apart,
// or both.
#include <algorithm>
#include <charconv>

#include "base/message.h"
#include "spmd/group_writer.h"

namespace gt {
namespace {

// Of a part; as many as ranks still have a sum.
constexpr int64_t kMaxSize = int64_t{1} << 40;
// Ranks of an exchange: each sends a part to each.
constexpr size_t kMaxExchange = 512;

}  // namespace

std::string GroupWriter::along(size_t dims, size_t dim,
                               const std::string& what) {
  std::string out;
  for (size_t d = 0; d < dims; ++d) out += d == dim ? " " + what : " :";
  return out;
}

Result<size_t> GroupWriter::dimension(int64_t dim, size_t dims) {
  const int64_t d = normal_axis(dim, dims);
  if (d >= 0) return static_cast<size_t>(d);
  return Error{"dimension " + std::to_string(dim) + " is not one of " +
               std::to_string(dims)};
}

Status GroupWriter::all_gather() {
  if (!is_one_of(src_.letter, "VS") || !is_one_of(dst_.letter, "RI")) {
    return no_such_ends("V or S to R or I");
  }
  std::string all;
  for (size_t i = 0; i < n_; ++i) all += " " + piece(i);
  std::string value = fresh();
  if (src_.letter == 'V') {
    if (Status s = need_alike(); !s.ok()) return s;
    const auto d = stacked("gather_dim", rank() + 1);
    if (!d.ok()) return d.error();
    line(value + " = stack" + all + " axis=" + std::to_string(d.value()));
  } else {
    const auto d = dimension(src_.dim, rank());
    if (!d.ok()) return d.error();
    if (Status s = check_gathered(d.value()); !s.ok()) return s;
    line(value + " = concat" + all + " axis=" + std::to_string(d.value()));
  }
  give_all(cast_out(value));
  return ok_status();
}

Status GroupWriter::check_gathered(size_t d) const {
  const auto sizes = listed_sizes();
  if (!sizes.ok()) return sizes.error();
  for (size_t i = 0; i < n_; ++i) {
    const Shape& shape = group_.pieces[i].shape;
    if (shape.size() != rank()) return need_alike();
    Shape expected = type().shape;
    if (!group_.stated.empty()) expected = group_.stated[i];
    if (!sizes.value().empty()) expected[d] = sizes.value()[i];
    if (shape == expected) continue;
    return Error{"the pieces are uneven, [" + to_string(shape) + "] where [" +
                 to_string(expected) +
                 "] is expected; say how with split= and shape=, or with "
                 "split_sizes="};
  }
  return ok_status();
}

Result<std::vector<int64_t>> GroupWriter::listed_sizes() const {
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

Result<std::vector<int64_t>> GroupWriter::parse_sizes(std::string_view text) {
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

Result<std::vector<int64_t>> GroupWriter::chunks(size_t d, int64_t size) const {
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
  int64_t sum = 0;
  for (const int64_t part : list) sum += part;
  if (sum == size) return sizes;
  return Error{"the parts make " + std::to_string(sum) + ", but dimension " +
               std::to_string(d) + " has size " + std::to_string(size)};
}

Status GroupWriter::scatter(const std::function<std::string(size_t)>& value) {
  if (dst_.letter == 'V') {
    const auto d = stacked("scatter_dim", rank());
    if (!d.ok()) return d.error();
    if (type().shape[d.value()] != static_cast<int64_t>(n_)) {
      return Error{to_string(type()) + ": dimension " +
                   std::to_string(d.value()) +
                   " must have one slice for "
                   "each of " +
                   std::to_string(n_) + " ranks"};
    }
    for (size_t i = 0; i < n_; ++i) {
      line(result(i) + " = slice " + value(i) +
           along(rank(), d.value(), std::to_string(i)));
    }
    return ok_status();
  }
  const auto d = dimension(dst_.dim, rank());
  if (!d.ok()) return d.error();
  const auto sizes = chunks(d.value(), type().shape[d.value()]);
  if (!sizes.ok()) return sizes.error();
  int64_t start = 0;
  for (size_t i = 0; i < n_; ++i) {
    const int64_t end = start + sizes.value()[i];
    line(result(i) + " = slice " + value(i) +
         along(rank(), d.value(), range(start, end)));
    start = end;
  }
  return ok_status();
}

Status GroupWriter::reduce_scatter() {
  if (!is_one_of(src_.letter, "PV") || !is_one_of(dst_.letter, "VS")) {
    return no_such_ends("P or V to V or S");
  }
  const auto sum = combine(call_.key("op"));
  if (!sum.ok()) return sum.error();
  return scatter([&](size_t) { return sum.value(); });
}

Status GroupWriter::all_to_all() {
  // Each member sends a part to each: as many lines as pairs.
  if (n_ > kMaxExchange) {
    return Error{"a group of " + std::to_string(n_) +
                 " ranks; an exchange takes at most " +
                 std::to_string(kMaxExchange)};
  }
  if (src_.letter == 'V' && dst_.letter == 'V') return exchange_slices();
  if (src_.letter != 'S' || dst_.letter != 'S') {
    return no_such_ends("V to V or S to S");
  }
  const auto from = dimension(src_.dim, rank());
  const auto to = dimension(dst_.dim, rank());
  if (!from.ok()) return from.error();
  if (!to.ok()) return to.error();
  if (from.value() == to.value()) return exchange_rows(from.value());
  const auto sizes = chunks(to.value(), type().shape[to.value()]);
  if (!sizes.ok()) return sizes.error();
  int64_t start = 0;
  for (size_t i = 0; i < n_; ++i) {
    const int64_t end = start + sizes.value()[i];
    std::string parts;
    for (size_t j = 0; j < n_; ++j) {
      const std::string part = fresh();
      line(part + " = slice " + piece(j) +
           along(rank(), to.value(), range(start, end)));
      parts += " " + part;
    }
    line(result(i) + " = concat" + parts +
         " axis=" + std::to_string(from.value()));
    start = end;
  }
  return ok_status();
}

Status GroupWriter::exchange_slices() {
  if (Status s = need_alike(); !s.ok()) return s;
  const auto from = stacked("split_dim", rank());
  const auto to = stacked("concat_dim", rank());
  if (!from.ok()) return from.error();
  if (!to.ok()) return to.error();
  if (type().shape[from.value()] != static_cast<int64_t>(n_)) {
    return Error{
        to_string(type()) + ": dimension " + std::to_string(from.value()) +
        " must have one slice for each of " + std::to_string(n_) + " ranks"};
  }
  for (size_t i = 0; i < n_; ++i) {
    std::string parts;
    for (size_t j = 0; j < n_; ++j) {
      const std::string part = fresh();
      line(part + " = slice " + piece(j) +
           along(rank(), from.value(), std::to_string(i)));
      parts += " " + part;
    }
    line(result(i) + " = stack" + parts +
         " axis=" + std::to_string(to.value()));
  }
  return ok_status();
}

Status GroupWriter::exchange_rows(size_t d) {
  std::vector<std::vector<int64_t>> sends;
  std::string_view text = call_.key("split_sizes");
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    auto row = parse_sizes(text.substr(0, comma));
    if (!row.ok()) return row.error();
    sends.push_back(row.value());
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (row.value().size() != n_) sends.clear(), text = {};
  }
  if (sends.size() != n_) {
    return Error{
        "src= and dst= are one dimension: split_sizes= needs a list "
        "for each of " +
        std::to_string(n_) + " ranks, such as 1+2,0+3: what it sends to each"};
  }
  for (size_t i = 0; i < n_; ++i) {
    std::string parts;
    for (size_t j = 0; j < n_; ++j) {
      int64_t start = 0;
      int64_t all = 0;
      for (size_t k = 0; k < n_; ++k) {
        if (k < i) start += sends[j][k];
        all += sends[j][k];
      }
      if (all != group_.pieces[j].shape[d]) {
        return Error{"split_sizes= sends " + std::to_string(all) + " rows of " +
                     to_string(group_.pieces[j])};
      }
      const std::string part = fresh();
      line(part + " = slice " + piece(j) +
           along(rank(), d, range(start, start + sends[j][i])));
      parts += " " + part;
    }
    line(result(i) + " = concat" + parts + " axis=" + std::to_string(d));
  }
  return ok_status();
}

}  // namespace gt
