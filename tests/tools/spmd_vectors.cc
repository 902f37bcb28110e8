// spmd_vectors FILE checks gt's types against conformance vectors of sharded
// types (gt-check(1), VECTORS). It prints what fails and "N passed, N failed, N
// skipped", and exits 1 if something failed.
//
// The vectors have a shorthand of their own. It is read as gt spells the same
// thing, and vectors that gt cannot say are skipped and counted.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

#include "check/checker.h"
#include "check/rule_words.h"
#include "ops/table.h"
#include "ops/text.h"
#include "spmd/claim.h"
#include "spmd/group_form.h"

namespace gt {
namespace {

using Words = std::vector<std::string>;

Words split_text(const std::string& text, const std::string& mark) {
  Words out;
  for (size_t at = 0;;) {
    const size_t end = std::min(text.find(mark, at), text.size());
    out.push_back(text.substr(at, end - at));
    if (end == text.size()) return out;
    at = end + mark.size();
  }
}

Words words_of(const std::string& text) {
  std::istringstream in(text);
  Words words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::string joined(const Words& words, const std::string& mark) {
  std::string out;
  for (const std::string& word : words) {
    out += (&word == words.data() ? "" : mark) + word;
  }
  return out;
}

std::string commas(std::string sizes) {  // "2x3" -> "2,3", "." -> ""
  if (sizes == ".") return "";
  for (char& c : sizes) c = c == 'x' ? ',' : c;
  return sizes;
}

struct Skip {
  std::string why;
};

struct Outcome {
  std::string kind;  // that of the first finding
  std::string text;  // all of the finding
  std::set<std::string> fixes;
  Placement type;
};

class Vector {
 public:
  explicit Vector(const Words& fields)
      : mode_(fields[1]), options_(read_options()), checker_(options_) {
    declare_meshes(fields[2]);
    if (mode_ == "dual") {
      declared_ = false;
    }
    for (const std::string& operand : split_text(fields[3], " ; ")) {
      if (operand != "-" && !declare(operand)) return;
    }
    for (const std::string& line : split_text(fields[4], " ; ")) {
      if (mode_ == "dual") {
        outcome_.text = counterparts(words_of(line));
      } else if (!run(words_of(line))) {
        return;
      }
    }
  }

  const Outcome& outcome() const { return outcome_; }
  AxisNames names() const { return checker_.names_of(""); }
  bool is_dual() const { return mode_ == "dual"; }
  bool is_local() const { return options_.local; }

 private:
  TypingMode read_options() const {
    TypingMode options;
    options.local = mode_.starts_with("local") || mode_.starts_with("perm");
    options.permissive = mode_.starts_with("perm");
    const size_t at = mode_.find("+local=");
    if (at != std::string::npos) {
      options.local_axes = split_text(mode_.substr(at + 7), ",");
    }
    return options;
  }

  // The first mesh is the current one, so it is declared last.
  void declare_meshes(const std::string& text) {
    const Words meshes = split_text(text, " / ");
    for (size_t m = meshes.size(); m > 0; --m) {
      const Words words = words_of(meshes[m - 1]);
      checker_.take("mesh " + joined(split_text(words[0], ","), " "));
      for (size_t i = 1; i < words.size(); ++i) {
        checker_.take("axis " + words[i]);
      }
    }
    const int64_t n = names().mesh()->size();
    for (int64_t r = 0; r < n; ++r) ranks_.push_back(r);
    at_ = n == 1 ? "@0" : "@0-" + std::to_string(n - 1);
  }

  std::vector<Axis> within() const { return names().mesh_axes(); }

  bool claim_on(ShardedValue& value, const std::string& type,
                const std::string& spec) {
    const std::vector<Axis> axes = within();
    const AxisNames all = names();
    const size_t dims = value.pieces[0].shape.size();
    const ClaimIn in{type,
                     spec,
                     all,
                     axes,
                     dims,
                     false,
                     options_.local,
                     [this, &all](const Axis& axis) {
                       const auto& local = options_.local_axes;
                       return options_.local ||
                              std::find(local.begin(), local.end(),
                                        all.name(axis)) != local.end();
                     },
                     false};
    TypeFaults faults;
    if (auto made = claimed(in, value.type, faults)) {
      value.type = std::move(*made);
      return true;
    }
    outcome_.kind = check::rule_words(faults.begin()->rule).kind;
    outcome_.text = outcome_.kind;
    return false;
  }

  // Declares a value: "a 8x16:bf16 tp:P spec=dp+tp,- grad", "s scalar tp:V 0".
  bool declare(const std::string& text) {
    const Words words = words_of(text);
    ShardedValue value;
    value.ranks = ranks_;
    value.state = ShardedValue::State::kTyped;
    Type type;
    std::string types, spec;
    if (words[1] == "scalar") {
      type.dtype = Dtype::kI64;
      types = words[2];
      if (words.size() > 3) numbers_[words[0]] = words[3];
    } else {
      const Words shape = split_text(words[1], ":");
      type = parse_type((shape.size() > 1 ? shape[1] : "f32") + "[" +
                        commas(shape[0]) + "]")
                 .value();
      types = words[2];
      for (size_t i = 3; i < words.size(); ++i) {
        if (words[i].starts_with("spec=")) spec = words[i].substr(5);
        value.carries_gradient |= words[i] == "grad";
      }
    }
    if (types == "?" || types == "-") types.clear();
    value.pieces.assign(ranks_.size(), type);
    known_.insert(words[0]);
    if ((!types.empty() || !spec.empty()) && !claim_on(value, types, spec)) {
      return false;
    }
    checker_.declare(words[0], value);
    return true;
  }

  const Shape& shape_of(const std::string& name) {
    const ShardedValue* value = checker_.value_of(name);
    if (value == nullptr || value->pieces.empty()) throw Skip{"no " + name};
    return value->pieces[0].shape;
  }

  bool run(Words words) {
    std::string result = "out";
    if (words.size() > 1 && words[1] == "=") {
      result = words[0];
      words.erase(words.begin(), words.begin() + 2);
    }
    std::string op = words[0];
    if (op == "assert") return run_claim(words);
    if (op == "loss") {
      return take(
          "lossgrad" + at_ + " = grad " + words[1] + at_ + " " + words[1] + at_,
          words[1]);
    }
    const bool in_place = op.back() == '_';
    if (in_place) words[0].pop_back();
    for (const std::string& line : translated(words, result)) {
      if (!take(line, result)) return false;
    }
    known_.insert(result);
    return !in_place || mutate(words[1], result);
  }

  // Gives a value that is changed in place its new type.
  bool mutate(const std::string& target, const std::string& result) {
    const ShardedValue* before = checker_.value_of(target);
    const ShardedValue* after = checker_.value_of(result);
    if (before == nullptr || after == nullptr) throw Skip{"no target"};
    for (const Axis& axis : within()) {
      const char was = before->type.on(axis);
      const char is = after->type.on(axis);
      const bool varies =
          is == 'V' && (was == 'R' || was == 'I') && !before->carries_gradient;
      if (is == was || varies) continue;
      outcome_.kind = "inplace";
      return false;
    }
    checker_.declare(target, *after);
    return true;
  }

  bool run_claim(const Words& words) {
    const ShardedValue* known = checker_.value_of(words[1]);
    if (known == nullptr) throw Skip{"no " + words[1]};
    ShardedValue value = *known;
    std::string type, spec;
    for (const std::string& word : words) {
      if (word.starts_with("type=")) type = word.substr(5);
      if (word.starts_with("spec=")) spec = word.substr(5);
    }
    if (!claim_on(value, type, spec)) return false;
    checker_.declare(words[1], value);
    outcome_.type = value.type;
    return true;
  }

  bool take(const std::string& text, const std::string& result) {
    const check::Checker::Checked& checked = checker_.take(text);
    if (checked.is_unreadable) throw Skip{text + ": " + checked.error.message};
    if (checked.problems.empty()) {
      const ShardedValue* value = checker_.value_of(result);
      if (value != nullptr) outcome_.type = value->type;
      return true;
    }
    const check::Problem& problem = checked.problems[0];
    if (problem.kind == "opaque") throw Skip{text + ": " + problem.message};
    outcome_.kind = problem.kind;
    outcome_.text = problem.message;
    for (const check::Problem& p : checked.problems) {
      for (const std::string& fix : p.fixes) {
        const Words w = words_of(fix);  // y1 = OP y over= src=I dst=R
        if (w.back().starts_with("bwd=")) outcome_.fixes.insert(w.back());
        if (w.size() < 7 || !w[5].starts_with("src=")) continue;
        outcome_.fixes.insert(w[2] + " " + w[5].substr(4) + ">" +
                              w[6].substr(4));
      }
    }
    return false;
  }

  // ---- the shorthand as gt's lines ------------------------------------------

  std::string operand(const std::string& word) const {
    return known_.count(word) > 0 ? word + at_ : word;
  }

  static std::string key_of(const Words& words, const std::string& key,
                            const std::string& otherwise) {
    for (const std::string& word : words) {
      if (word.starts_with(key + "=")) return word.substr(key.size() + 1);
    }
    return otherwise;
  }

  std::string line(const std::string& result, const Words& words) {
    const Op* op = find_op(words[0]);
    if (op == nullptr) throw Skip{"no op " + words[0]};
    std::string results = result + at_;
    for (size_t r = 1; r < op->results.size(); ++r) {
      if (op->results[r].optional || op->results[r].variadic) continue;
      results += " more" + std::to_string(r) + at_;
    }
    std::string text = results + " = " + words[0], notes;
    std::string keys;
    for (size_t i = 1; i < words.size(); ++i) {
      const size_t equals = words[i].find('=');
      if (words[i].starts_with("partial=")) {
        notes += " #" + words[i];
      } else if (equals != std::string::npos) {
        keys += " " + words[i];
      } else {
        text += " " + operand(words[i]);
      }
    }
    return text + keys + notes;
  }

  std::vector<std::string> translated(Words words, const std::string& result) {
    static const std::map<std::string, std::string> kSame = {
        {"bmm", "matmul"},      {"mm", "matmul"}, {"clone", "copy"},
        {"rdiv", "div"},        {"rsub", "sub"},  {"cat", "concat"},
        {"radd", "add"},        {"rmul", "mul"},  {"view", "reshape"},
        {"contiguous", "copy"}, {"to", "cast"},   {"amax", "max"},
        {"amin", "min"}};
    if (const auto it = kSame.find(words[0]); it != kSame.end()) {
      words[0] = it->second;
    }
    const std::string op = words[0];
    if (op == "reshape" || op == "expand") {
      if (words.size() > 2 && words[2].find('=') == std::string::npos) {
        words[2] = "shape=" + commas(words[2]);
      }
    } else if (op == "transpose" || op == "permute") {
      return {line(result, transposed(words))};
    } else if (op == "zeros" || op == "ones" || op == "full" || op == "randn" ||
               op == "rand" || op == "arange" || op == "eye") {
      words[1] = "f32[" + commas(words[1]) + "]";
    } else if (op == "new_zeros" || op == "new_full") {
      return {line(result, {"zeros", "f32[" + commas(words[2]) + "]"})};
    } else if (op == "zeros_like") {
      return {line(result, {"mul", words[1], "0"})};
    } else if (op == "addmm" || op == "addmv" || op == "baddbmm") {
      const std::string product =
          line("product", {"matmul", words[2], words[3]});
      known_.insert("product");
      return {product, line(result, {"add", words[1], "product"})};
    } else if (op == "mv") {
      const Words lines = {line("column", {"unsqueeze", words[2], "axis=1"})};
      known_.insert({"column", "product"});
      return {lines[0], line("product", {"matmul", words[1], "column"}),
              line(result, {"squeeze", "product", "axis=-1"})};
    } else if (op == "where") {
      const std::string test = line("test", {"ne", words[1], "0"});
      known_.insert("test");
      words[1] = "test";
      return {test, line(result, words)};
    } else if (op == "dot") {
      const std::string product = line("product", {"mul", words[1], words[2]});
      known_.insert("product");
      return {product, line(result, {"sum", "product"})};
    } else if (op == "flatten") {
      int64_t n = 1;
      for (const int64_t d : shape_of(words[1])) n *= d;
      words = {"reshape", words[1], "shape=" + std::to_string(n)};
    } else if (op == "slice") {
      return {line(result, sliced(words))};
    } else if ((op == "squeeze" || op == "unsqueeze") && words.size() > 2 &&
               words[2].find('=') == std::string::npos) {
      words[2] = "axis=" + words[2];
    } else if (op == "chunk" || op == "split" || op == "unbind") {
      return {parts(words, result)};
    } else if (op == "dropout" && words.size() < 4) {
      words.push_back("0");
    } else if (op == "shard") {
      words = {"convert", words[1], "over=" + key_of(words, "over", ""),
               "src=" + letter(words), "dst=" + key_of(words, "dst", "S0")};
    } else if (op == "unshard") {
      words[0] = "all_gather";
    } else if (op == "invariant_to_replicate") {
      words = {"convert", words[1], "over=" + key_of(words, "over", ""),
               "src=I", "dst=R"};
    } else if (op == "index_select" && words.size() > 2 &&
               key_of(words, "axis", "0") == "0") {
      words = {"embedding", words[1], words[2]};
    }
    return {line(result, words)};
  }

  std::string letter(const Words& words) {
    const ShardedValue* value = checker_.value_of(words[1]);
    const auto axis = names().find(key_of(words, "over", ""));
    if (value == nullptr || !axis.ok() || axis.value().empty()) return "R";
    return std::string(1, value->type.on(axis.value()[0]));
  }

  Words transposed(const Words& words) {
    const size_t rank = shape_of(words[1]).size();
    Words axes;
    for (size_t d = 0; d < rank; ++d) axes.push_back(std::to_string(d));
    Words given(words.begin() + 2, words.end());
    if (given.size() == 1 && given[0].starts_with("axes=")) return words;
    if (words[0] == "permute") {
      axes = given.size() == 1 ? split_text(given[0], ",") : given;
    } else if (given.size() == 2) {
      const auto at = [rank](const std::string& text) {
        const int64_t a = std::stoll(text);
        return static_cast<size_t>(a < 0 ? a + static_cast<int64_t>(rank) : a);
      };
      if (at(given[0]) >= rank || at(given[1]) >= rank) throw Skip{"axes"};
      std::swap(axes[at(given[0])], axes[at(given[1])]);
    }
    return {"transpose", words[1], "axes=" + joined(axes, ",")};
  }

  // Turns "slice a START LENGTH axis=0" into gt's slice.
  Words sliced(const Words& words) {
    if (words.size() < 4) return words;
    const std::string& length = words[3];
    const auto it = numbers_.find(length);
    return {"slice", words[1], words[2], "axis=" + key_of(words, "axis", "0"),
            "size=" + (it == numbers_.end() ? length : it->second)};
  }

  // Turns "chunk a 2 axis=0" into gt's split.
  std::string parts(const Words& words, const std::string& result) {
    const std::string axis = key_of(words, "axis", "0");
    const Shape& shape = shape_of(words[1]);
    const int64_t d = normal_axis(std::stoll(axis), shape.size());
    if (d < 0) throw Skip{"axis"};
    int64_t n = words[0] == "unbind" || words.size() < 3 ||
                        words[2].find('=') != std::string::npos
                    ? shape[static_cast<size_t>(d)]
                    : std::stoll(words[2]);
    std::string names = result + at_;
    for (int64_t i = 1; i < n; ++i) names += " more" + std::to_string(i) + at_;
    return names + " = split " + operand(words[1]) + " axis=" + axis;
  }

  // ---- gradient counterparts ------------------------------------------------

  std::string counterparts(Words words) {
    if (words[0] == "redistribute") words = routed(words);
    Line parsed;
    Call call;
    const std::string text = line("out", words);
    if (!parse_line(text, parsed).ok()) throw Skip{text};
    const std::vector<const Type*> none(parsed.operands.size(), nullptr);
    if (!bind_form(parsed, none, call).ok()) throw Skip{text};
    call.pieces.assign(ranks_.size(), checker_.value_of(words[1])->pieces[0]);
    call.result_count = 1;
    Words out;
    for (const Step& step : gradient_steps(call)) {
      std::string src, dst;
      for (const auto& [key, value] : step.keys) {
        if (key == "src") src = value;
        if (key == "dst") dst = value;
      }
      for (const KeyParameter& key : step.op->keys) {
        if (std::string_view(key.row->name) == "src" && src.empty()) {
          src = key.fallback;
        }
        if (std::string_view(key.row->name) == "dst" && dst.empty()) {
          dst = key.fallback;
        }
      }
      out.push_back(step.op->name + " " + src + ">" + dst);
    }
    return joined(out, ", ");
  }

  // Finds the named op that a redistribute stands for.
  static Words routed(Words words) {
    const char src = key_of(words, "src", "?")[0];
    const char dst = key_of(words, "dst", "?")[0];
    const auto is = [](char c, std::string_view set) {
      return set.find(c) != set.npos;
    };
    words[0] = is(src, "VS") && is(dst, "RI") ? "all_gather"
               : src == 'P' && is(dst, "RI")  ? "all_reduce"
               : src == 'P' && is(dst, "VS")  ? "reduce_scatter"
               : src == 'S' && dst == 'S'     ? "all_to_all"
                                              : "convert";
    if (words[0] == "convert") words.push_back("expert=1");
    return words;
  }

  std::string mode_;
  bool declared_ = true;
  TypingMode options_;
  check::Checker checker_;
  std::vector<int64_t> ranks_;
  std::string at_;
  std::set<std::string> known_;
  std::map<std::string, std::string> numbers_;
  Outcome outcome_;
};

// Compares with "tp:S0,dp:R spec=...", "! kind fix: a, b", or counterparts;
// gives "" if they are met.
std::string compare(const Vector& vector, const std::string& wanted) {
  const Outcome& is = vector.outcome();
  const std::string got = is.kind.empty()
                              ? vector.names().describe(is.type)
                              : "! " + is.kind + " (" + is.text + ")";
  if (vector.is_dual()) return is.text == wanted ? "" : is.text;
  if (wanted.starts_with("! ")) {
    const size_t fix = std::min(wanted.find(" fix: "), wanted.size());
    if (is.kind != wanted.substr(2, fix - 2)) return got;
    if (fix == wanted.size()) return "";
    for (const std::string& one : split_text(wanted.substr(fix + 6), ", ")) {
      if (is.fixes.count(one) == 0) return got + ", no fix " + one;
    }
    return "";
  }
  if (!is.kind.empty()) return got;
  const Words words = words_of(wanted);
  const AxisNames names = vector.names();
  size_t axes = 0;
  for (const std::string& item : split_text(words[0], ",")) {
    const size_t colon = item.find(':');
    const auto found = names.find(item.substr(0, colon));
    const auto end = parse_end(item.substr(colon + 1));
    if (!found.ok() || !end.ok()) return "unreadable: " + item;
    for (const Axis& axis : found.value()) {
      if (axis.size == 1) continue;
      ++axes;
      const bool sharded = end.value().letter == 'S';
      if (is.type.on(axis) != (sharded ? 'V' : end.value().letter)) return got;
      if (sharded && !vector.is_local() &&
          is.type.dim_of(axis) != end.value().dim) {
        return got;
      }
    }
  }
  if (axes != is.type.axes.size()) return got;
  if (words.size() < 2 || vector.is_local()) return "";
  return "spec=" + names.spec_text(is.type, true) == words[1] ? "" : got;
}

int run(const char* path) {
  std::ifstream file(path);
  if (!file) {
    std::fprintf(stderr, "spmd-vectors: cannot read %s\n", path);
    return 2;
  }
  size_t passed = 0, failed = 0, skipped = 0;
  for (std::string text; std::getline(file, text);) {
    if (text.ends_with('\r')) text.pop_back();
    const Words fields = split_text(text, "\t");
    if (text.empty() || text[0] == '#' || fields[0] == "id") continue;
    if (fields.size() < 6) {
      std::printf("%s: not six columns\n", fields[0].c_str());
      ++failed;
      continue;
    }
    try {
      const std::string got = compare(Vector(fields), fields[5]);
      passed += got.empty();
      failed += !got.empty();
      if (!got.empty()) {
        std::printf("%s: wanted %s, got %s\n", fields[0].c_str(),
                    fields[5].c_str(), got.c_str());
      }
    } catch (const Skip& skip) {
      ++skipped;
      std::printf("%s: skipped: %s\n", fields[0].c_str(), skip.why.c_str());
    } catch (const std::exception& e) {
      ++skipped;
      std::printf("%s: skipped: unreadable (%s)\n", fields[0].c_str(),
                  e.what());
    }
  }
  std::printf("%zu passed, %zu failed, %zu skipped\n", passed, failed, skipped);
  return failed > 0 ? 1 : 0;
}

}  // namespace
}  // namespace gt

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: spmd-vectors FILE\n");
    return 2;
  }
  return gt::run(argv[1]);
}
