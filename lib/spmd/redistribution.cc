#include "spmd/redistribution.h"

#include <algorithm>

#include "base/message.h"
#include "ops/table.h"
#include "spmd/labels.h"
#include "spmd/stated.h"

namespace gt {
namespace {

// The axes that cut each dimension, outer first.
using Spec = std::vector<std::vector<std::string>>;

Spec by_dimension(const std::vector<SplitEntry>& entries, size_t dims) {
  Spec spec(dims);
  for (const SplitEntry& e : entries) {
    spec[static_cast<size_t>(e.dim)].push_back(e.axis);
  }
  return spec;
}

std::vector<SplitEntry> in_order(const Spec& spec) {
  std::vector<SplitEntry> entries;
  for (size_t d = 0; d < spec.size(); ++d) {
    for (const std::string& axis : spec[d]) {
      entries.push_back({axis, static_cast<int64_t>(d), 1});
    }
  }
  return entries;
}

Result<std::vector<Shape>> shapes_of(const Line& line, const Grid& grid,
                                     const PieceType& pieces) {
  if (line.operands.size() != 1 || !is_name(line.operands[0]) ||
      line.results.size() != 1) {
    return at_op(line, "takes one name and gives one");
  }
  std::vector<Shape> shapes;
  for (const int64_t rank : grid.ranks()) {
    shapes.push_back(pieces(0, rank)->shape);
  }
  return shapes;
}

class Steps {
 public:
  Steps(const Line& line, const Grid& grid, const LetterOn& letter, Shape whole,
        Spec src, Spec dst)
      : line_(line),
        grid_(grid),
        letter_(letter),
        whole_(whole),
        now_(std::move(src)),
        wanted_(std::move(dst)),
        from_(full_name(line.operands[0].text, line.operands[0].ranks)),
        to_(full_name(line.results[0].text, line.results[0].ranks)) {}

  Result<std::vector<std::string>> run() {
    while (move() || gather()) {
    }
    for (size_t d = 0; d < now_.size(); ++d) {
      while (now_[d].size() < wanted_[d].size()) {
        if (Status s = append(d); !s.ok()) return s.error();
      }
    }
    if (lines_.empty()) lines_.push_back(to_ + " = copy " + from_);
    return std::move(lines_);
  }

 private:
  size_t in_common(size_t d) const {
    const auto& now = now_[d];
    const auto end = std::mismatch(now.begin(), now.end(), wanted_[d].begin(),
                                   wanted_[d].end());
    return static_cast<size_t>(end.first - now.begin());
  }
  bool has_rest(size_t d) const { return now_[d].size() > in_common(d); }

  // An innermost axis straight to its place, if all before it is there.
  bool move() {
    for (size_t d = 0; d < now_.size(); ++d) {
      if (!has_rest(d)) continue;
      const std::string axis = now_[d].back();
      for (size_t e = 0; e < now_.size(); ++e) {
        const size_t at = now_[e].size();
        if (e == d || has_rest(e) || at >= wanted_[e].size() ||
            wanted_[e][at] != axis) {
          continue;
        }
        const Spec before = now_;
        now_[d].pop_back();
        now_[e].push_back(axis);
        add("all_to_all", axis, end(d), end(e), before, now_);
        return true;
      }
    }
    return false;
  }

  bool gather() {
    for (size_t d = 0; d < now_.size(); ++d) {
      if (!has_rest(d)) continue;
      const std::string axis = now_[d].back();
      const Spec before = now_;
      now_[d].pop_back();
      gathered_.push_back(axis);
      add("all_gather", axis, end(d), "R", before, before);
      return true;
    }
    return false;
  }

  Status append(size_t d) {
    const std::string axis = wanted_[d][now_[d].size()];
    const bool whole =
        std::find(gathered_.begin(), gathered_.end(), axis) != gathered_.end();
    const char is = whole ? 'R' : letter_(axis);
    if (is != 'R' && is != 'I' && is != 'P') {
      return at_op(line_, "dst_spec= names " + axis + ", on which " + from_ +
                              " is unrelated values; name it in src_spec= if "
                              "it cuts a dimension");
    }
    const Spec before = now_;
    now_[d].push_back(axis);
    add(is == 'P' ? "reduce_scatter" : "convert", axis, std::string(1, is),
        end(d), before, now_);
    return ok_status();
  }

  static std::string end(size_t d) { return "S" + std::to_string(d); }

  // `stated`: what split= speaks of where pieces are uneven.
  void add(const std::string& op, const std::string& axis,
           const std::string& src, const std::string& dst, const Spec& before,
           const Spec& stated) {
    std::string text = to_ + " = " + op + " " + (lines_.empty() ? from_ : to_) +
                       " over=" + axis + " src=" + src + " dst=" + dst;
    if (!is_even(before) || !is_even(now_)) {
      text += " split=" + to_string(in_order(stated)) +
              " shape=" + to_string(whole_);
    }
    const std::string_view* bwd = line_.key("bwd");
    if (bwd != nullptr && (op == "all_gather" || op == "convert")) {
      text += " bwd=" + std::string(*bwd);
    }
    lines_.push_back(std::move(text));
  }

  bool is_even(const Spec& spec) const {
    const auto regions = cut(in_order(spec), whole_, grid_);
    return regions.ok() &&
           std::all_of(regions.value().begin(), regions.value().end(),
                       [&](const Region& r) {
                         return r.count == regions.value()[0].count;
                       });
  }

  const Line& line_;
  const Grid& grid_;
  const LetterOn& letter_;
  const Shape whole_;
  Spec now_;
  const Spec wanted_;
  const std::string from_, to_;
  std::vector<std::string> gathered_;
  std::vector<std::string> lines_;
};

}  // namespace

bool states_specs(const Line& line) {
  return (line.key("src_spec") != nullptr || line.key("dst_spec") != nullptr) &&
         collective_of(line.op) == Collective::kRedistribute;
}

Result<std::vector<SplitEntry>> parse_spec(std::string_view text,
                                           const Mesh* mesh, size_t dims) {
  const std::string_view all = text;
  if (mesh == nullptr) {
    return Error{"spec " + excerpt(all) +
                 " names axes, and no mesh is declared"};
  }
  std::vector<SplitEntry> entries;
  std::string names;
  size_t d = 0;
  for (bool more = true; more; ++d) {
    const size_t comma = std::min(text.find(','), text.size());
    std::string_view word = text.substr(0, comma);
    more = comma < text.size();
    text.remove_prefix(std::min(comma + 1, text.size()));
    while (!word.empty() && word != "-") {
      const size_t plus = std::min(word.find('+'), word.size());
      entries.push_back(
          {std::string(word.substr(0, plus)), static_cast<int64_t>(d), 1});
      names += (names.empty() ? "" : "+") + entries.back().axis;
      word.remove_prefix(std::min(plus + 1, word.size()));
    }
  }
  if (d != dims) {
    return Error{"spec " + excerpt(all) + " has " + std::to_string(d) +
                 " entries, the tensor " + std::to_string(dims) +
                 " dimensions; write - for one that is not cut"};
  }
  if (names.empty()) return entries;
  const auto axes = mesh->resolve(names);
  if (!axes.ok()) return axes.error();
  return entries;
}

Result<Specs> specs_of(const Line& line, const Mesh* mesh, size_t dims) {
  Specs specs;
  for (const auto& [name, out] :
       {std::pair("src_spec", &specs.src), std::pair("dst_spec", &specs.dst)}) {
    const int key = key_at(line, name);
    if (key < 0) return at_op(line, "takes src_spec= and dst_spec=, both");
    const Key& found = line.keys[static_cast<size_t>(key)];
    auto entries = parse_spec(unquote(found.value), mesh, dims);
    if (!entries.ok()) {
      return at(found.column, line, entries.error().message);
    }
    *out = std::move(entries.value());
  }
  for (const Key& key : line.keys) {
    if (key.key == "src_spec" || key.key == "dst_spec" || key.key == "bwd") {
      continue;
    }
    return at(key.column, line,
              "key " + std::string(key.key) +
                  " goes with src= and dst= on one axis, not with specs");
  }
  return specs;
}

namespace {

struct Task {
  Specs specs;
  Shape whole;
};

Result<Task> task_of(const Line& line, const Grid& grid,
                     const PieceType& pieces) {
  const auto shapes = shapes_of(line, grid, pieces);
  if (!shapes.ok()) return shapes.error();
  auto specs = specs_of(line, grid.mesh(), shapes.value()[0].size());
  if (!specs.ok()) return specs.error();
  const auto whole = whole_of(specs.value().src, shapes.value(), grid);
  if (!whole.ok()) return at_op(line, whole.error().message);
  return Task{std::move(specs.value()), whole.value()};
}

}  // namespace

Result<std::vector<Type>> redistributed(const Line& line, const Grid& grid,
                                        const PieceType& pieces) {
  const auto task = task_of(line, grid, pieces);
  if (!task.ok()) return task.error();
  const auto regions = cut(task.value().specs.dst, task.value().whole, grid);
  if (!regions.ok()) return at_op(line, regions.error().message);
  std::vector<Type> types;
  for (size_t p = 0; p < grid.size(); ++p) {
    const Dtype dtype = pieces(0, grid.ranks()[p])->dtype;
    types.push_back({dtype, regions.value()[p].count});
  }
  return types;
}

Result<std::vector<std::string>> redistribution_steps(const Line& line,
                                                      const Grid& grid,
                                                      const PieceType& pieces,
                                                      const LetterOn& letter) {
  const auto task = task_of(line, grid, pieces);
  if (!task.ok()) return task.error();
  const auto& [specs, whole] = task.value();
  return Steps(line, grid, letter, whole, by_dimension(specs.src, whole.size()),
               by_dimension(specs.dst, whole.size()))
      .run();
}

}  // namespace gt
