// Random lines of every op that crosses ranks, and where the ranks live.
#pragma once

#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "spmd/exchange_plan.h"

namespace gt {

// A line over ranks 0 to n-1, and the types of its pieces.
struct Case {
  size_t ranks = 1;
  std::string mesh;  // "" or "mesh tp=3"
  std::string line;  // "all_reduce x@0-2 over=tp"
  std::vector<Type> pieces;
};

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  int64_t below(int64_t n) { return static_cast<int64_t>(random_() % n); }
  std::mt19937& random() { return random_; }

  Shape shape(size_t dims) {
    Shape s;
    for (size_t d = 0; d < dims; ++d) s.push_back(below(5));
    return s;
  }
  Dtype dtype() {
    constexpr Dtype kAll[] = {Dtype::kF32,  Dtype::kF64, Dtype::kF16,
                              Dtype::kBf16, Dtype::kI64, Dtype::kI32,
                              Dtype::kU8,   Dtype::kBool};
    return kAll[below(8)];
  }
  Dtype float_dtype() {
    constexpr Dtype kAll[] = {Dtype::kF32, Dtype::kBf16, Dtype::kF16};
    return kAll[below(3)];
  }

  // Ranks of a mesh with one or two axes; a group is along tp.
  Case grid() {
    Case c;
    members_ = 1 + below(9);
    outer_ = below(3) == 0 ? 2 : 1;
    c.ranks = static_cast<size_t>(members_ * outer_);
    c.mesh = outer_ == 1 ? "mesh tp=" + std::to_string(members_)
                         : "mesh dp=2 tp=" + std::to_string(members_);
    return c;
  }
  std::string set(const Case& c) const {
    return c.ranks == 1 ? "0" : "0-" + std::to_string(c.ranks - 1);
  }
  void alike(Case& c, const Type& type) { c.pieces.assign(c.ranks, type); }
  std::string begin(const Case& c, const std::string& op) const {
    return "y@" + set(c) + " = " + op + " x@" + set(c) + " over=tp";
  }

  std::string sum_keys(bool& is_float_only) {
    constexpr const char* kHow[] = {"sum", "mean", "max", "min", "prod"};
    const std::string how = kHow[below(5)];
    std::string keys = " op=" + how;
    is_float_only = how == "mean";
    if (below(3) == 0) keys += " acc=f32", is_float_only = true;
    if (below(3) == 0) keys += " out=bf16", is_float_only = true;
    return keys;
  }

  Case reduction(const std::string& op) {
    Case c = grid();
    bool floats = false;
    const std::string keys = sum_keys(floats);
    Type type{floats ? float_dtype() : dtype(),
              shape(static_cast<size_t>(below(4)))};
    if (type.dtype == Dtype::kBool && keys.find("prod") != std::string::npos) {
      type.dtype = Dtype::kI64;
    }
    alike(c, type);
    c.line = begin(c, op) + keys;
    if (op == "reduce") c.line += " root=" + std::to_string(below(members_));
    return c;
  }

  Case scatter(const std::string& op) {
    Case c = grid();
    const size_t dims = 1 + static_cast<size_t>(below(3));
    Type type{float_dtype(), shape(dims)};
    const auto d = static_cast<size_t>(below(static_cast<int64_t>(dims)));
    const std::string text = std::to_string(d);
    bool floats = false;
    const std::string sum = op == "reduce_scatter" ? sum_keys(floats) : "";
    const std::string src = op == "convert" ? " src=R" : " src=P";
    switch (below(3)) {
      case 0:  // slices
        type.shape[d] = members_;
        c.line = begin(c, op) + src + " dst=V scatter_dim=" + text;
        break;
      case 1:  // uneven, cut as split= does
        c.line = begin(c, op) + src + " dst=S" + text + " split=tp:" + text +
                 " shape=" + to_string(type.shape);
        break;
      default:
        type.shape[d] = 0;
        c.line = begin(c, op) + src + " dst=S" + text +
                 " split_sizes=" + sizes(type.shape[d]);
    }
    c.line += sum;
    alike(c, type);
    return c;
  }

  Case gather(const std::string& op) {
    Case c = grid();
    const size_t dims = 1 + static_cast<size_t>(below(3));
    Type type{dtype(), shape(dims)};
    const auto d = static_cast<size_t>(below(static_cast<int64_t>(dims)));
    const std::string dst = op == "convert" ? " dst=P expert=1"
                            : below(2) == 0 ? " dst=R"
                                            : " dst=I";
    alike(c, type);
    if (below(2) == 0) {
      c.line = begin(c, op) + " src=V" + dst + " gather_dim=" +
               std::to_string(below(static_cast<int64_t>(dims) + 1));
      return c;
    }
    int64_t all = 0;
    const std::string list = sizes(all);
    std::vector<int64_t> each = last_sizes_;
    for (size_t r = 0; r < c.ranks; ++r) {
      c.pieces[r].shape[d] = each[r % static_cast<size_t>(members_)];
    }
    c.line = begin(c, op) + " src=S" + std::to_string(d) + dst +
             " split_sizes=" + list;
    return c;
  }

  Case exchange(const std::string& op) {
    Case c = grid();
    const size_t dims = 2 + static_cast<size_t>(below(2));
    Type type{dtype(), shape(dims)};
    const int64_t from = below(static_cast<int64_t>(dims));
    const int64_t to = below(static_cast<int64_t>(dims));
    alike(c, type);
    if (op == "all_to_all" && below(3) == 0) {
      type.shape[static_cast<size_t>(from)] = members_;
      alike(c, type);
      c.line = begin(c, op) + " src=V dst=V split_dim=" + std::to_string(from) +
               " concat_dim=" + std::to_string(to);
      return c;
    }
    c.line = begin(c, op) + " src=S" + std::to_string(from) + " dst=S" +
             std::to_string(to);
    if (from != to) {
      int64_t all = 0;
      const std::string list = sizes(all);
      for (Type& piece : c.pieces) {
        piece.shape[static_cast<size_t>(to)] = all;
        piece.shape[static_cast<size_t>(from)] = below(4);
      }
      c.line += " split_sizes=" + list;
      return c;
    }
    if (op == "redistribute") return c;
    std::string rows;
    for (int64_t i = 0; i < members_; ++i) {
      int64_t all = 0;
      rows += (i == 0 ? "" : ",") + sizes(all);
      for (int64_t o = 0; o < outer_; ++o) {
        c.pieces[static_cast<size_t>(o * members_ + i)]
            .shape[static_cast<size_t>(from)] = all;
      }
    }
    c.line += " split_sizes=" + rows;
    return c;
  }

  Case simple(const std::string& line) {
    Case c = grid();
    alike(c, {float_dtype(), shape(static_cast<size_t>(below(4)))});
    const size_t blank = line.find(' ');
    c.line = begin(c, line.substr(0, blank)) +
             (blank == std::string::npos ? "" : line.substr(blank));
    if (line == "broadcast")
      c.line += " root=" + std::to_string(below(members_));
    return c;
  }

  Case copy() {
    Case c;
    const int64_t from = below(2) == 0 ? 1 : 1 + below(6);
    const int64_t to = from == 1 ? 1 + below(6) : from;
    c.ranks = static_cast<size_t>(from);
    for (int64_t i = 0; i < from; ++i) {
      c.pieces.push_back({dtype(), shape(static_cast<size_t>(below(4)))});
    }
    c.line = "y@" + std::to_string(from) + "-" + std::to_string(from + to - 1) +
             " = copy x@0-" + std::to_string(from - 1);
    return c;
  }

  Case any() {
    constexpr const char* kSimple[] = {"broadcast",
                                       "convert src=I dst=R",
                                       "convert src=R dst=P",
                                       "convert src=I dst=P expert=1",
                                       "reinterpret src=V dst=P",
                                       "retype src=V dst=R",
                                       "redistribute src=P dst=R",
                                       "redistribute src=P dst=P",
                                       "redistribute src=R dst=P"};
    switch (below(11)) {
      case 0:
      case 1:
        return reduction("all_reduce");
      case 2:
        return reduction("reduce");
      case 3:
        return scatter("reduce_scatter");
      case 4:
        return scatter("convert");
      case 5:
        return gather("all_gather");
      case 6:
        return gather("convert");
      case 7:
        return exchange("all_to_all");
      case 8:
        return exchange("redistribute");
      case 9:
        return copy();
      default:
        return simple(kSimple[below(std::size(kSimple))]);
    }
  }

  // Each rank alone, ranks in blocks, ranks dealt out, or all ranks in one
  // place.
  HomeOf homes() {
    const auto workers = static_cast<int64_t>(1 + below(4));
    switch (below(4)) {
      case 0:
        return {};
      case 1:
        return [workers](int64_t rank) {
          return static_cast<uint32_t>(rank / workers);
        };
      case 2:
        return [workers](int64_t rank) {
          return static_cast<uint32_t>(rank % workers);
        };
      default:
        return [](int64_t) { return 7U; };
    }
  }

 private:
  // A size for each member; `all` becomes their sum.
  std::string sizes(int64_t& all) {
    std::string out;
    last_sizes_.clear();
    for (int64_t i = 0; i < members_; ++i) {
      last_sizes_.push_back(below(4));
      all += last_sizes_.back();
      out += (i == 0 ? "" : "+") + std::to_string(last_sizes_.back());
    }
    return out;
  }

  std::mt19937 random_;
  int64_t members_ = 1;
  int64_t outer_ = 1;
  std::vector<int64_t> last_sizes_;
};

}  // namespace gt
