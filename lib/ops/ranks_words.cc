#include "ops/ranks_words.h"

#include <vector>

#include "ops/ends.h"

namespace gt {
namespace {

// True if src= and dst= are one type.
bool has_same_ends(const Call& call) {
  const auto src = parse_end(call.key("src"));
  const auto dst = parse_end(call.key("dst"));
  const size_t dims = call.pieces.empty() ? 0 : call.pieces[0].shape.size();
  return src.ok() && dst.ok() && is_same_end(src.value(), dst.value(), dims);
}

// Returns the type of the gradient of a value of this type: P for R, and R for
// P.
std::string dual_end(std::string_view end) {
  if (end == "R") return "P";
  return end == "P" ? "R" : std::string(end);
}

// Transposes "1+2,0+3" to "1+0,2+3", which is what each rank sends back.
std::string transposed_sizes(std::string_view text) {
  std::vector<std::vector<std::string>> rows(1, {""});
  for (const char c : text) {
    if (c == ',') {
      rows.push_back({""});
    } else if (c == '+') {
      rows.back().emplace_back();
    } else {
      rows.back().back() += c;
    }
  }
  std::string out;
  for (size_t to = 0; to < rows[0].size(); ++to) {
    for (size_t from = 0; from < rows.size(); ++from) {
      if (rows[from].size() != rows[0].size()) return std::string(text);
      out += from > 0 ? "+" : to > 0 ? "," : "";
      out += rows[from][to];
    }
  }
  return out;
}

// The placeholder {back}: split_sizes= of the exchange that brings rows back,
// or "" if it needs none. Between two dimensions these are the operand's sizes,
// if uneven.
std::string back_sizes(const Call& call) {
  const std::string_view src = call.key("src");
  if (has_same_ends(call)) return transposed_sizes(call.key("split_sizes"));
  if (call.pieces.empty() || src.size() < 2 || src[0] != 'S') return "";
  const auto dim = parse_number(src.substr(1));
  const size_t dims = call.pieces[0].shape.size();
  const int64_t d = dim ? normal_axis(dim->integer, dims) : -1;
  if (d < 0) return "";
  bool even = true;
  std::string sizes;
  for (const Type& piece : call.pieces) {
    const int64_t size = piece.shape[static_cast<size_t>(d)];
    even = even && size == call.pieces[0].shape[static_cast<size_t>(d)];
    sizes += (sizes.empty() ? "" : "+") + std::to_string(size);
  }
  return even ? "" : sizes;
}

}  // namespace

std::string ends_word(const Call& call, std::string_view name, size_t) {
  if (name == "members") return std::to_string(call.pieces.size());
  if (name == "from") return std::string(call.key("src").substr(0, 1));
  if (name == "to") return std::string(call.key("dst").substr(0, 1));
  if (name == "same") return has_same_ends(call) ? "1" : "0";
  return "";
}

std::string exchange_word(const Call& call, std::string_view name,
                          size_t each) {
  if (name == "back" || name == "x.back") return back_sizes(call);
  return ends_word(call, name, each);
}

std::string dual_word(const Call& call, std::string_view name, size_t each) {
  if (name == "dual_src") return dual_end(call.key("src"));
  if (name == "dual_dst") return dual_end(call.key("dst"));
  return exchange_word(call, name, each);
}

}  // namespace gt
