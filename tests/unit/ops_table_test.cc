// Every row is complete: it has help, names, and text that binds.
#include "ops/table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "ops/catalog.h"
#include "ops/families.h"
#include "ops/index_rule.h"
#include "ops/text.h"
#include "ops_samples.h"

namespace gt {
namespace {

TEST(Table, EveryRowHasHelp) {
  for (const Op& op : all_ops()) {
    const Row& row = *op.row;
    EXPECT_NE(*row.sense, '\0') << op.name;
    EXPECT_TRUE(std::string_view(row.sense).ends_with('.')) << op.name;
    if (row.internal) continue;
    EXPECT_NE(*row.details, '\0') << op.name;
    const Example example = example_of(row);
    EXPECT_NE(example.program, "") << op.name;
    EXPECT_NE(example.output, "") << op.name;
    EXPECT_NE(example.program.find(op.name), std::string::npos) << op.name;
  }
}

TEST(Table, FindsOpsByName) {
  for (const Op& op : all_ops()) EXPECT_EQ(find_op(op.name), &op);
  EXPECT_EQ(find_op("matmull"), nullptr);
  EXPECT_EQ(find_op(""), nullptr);
}

TEST(Table, NamesForUsersLeaveInternalOpsOut) {
  for (const std::string_view name : op_names()) {
    EXPECT_FALSE(find_op(name)->row->internal) << name;
  }
}

TEST(Table, LinearSetsNameOperands) {
  for (const Op& op : all_ops()) {
    for (const char c : std::string_view(op.row->linear)) {
      if (c == ' ') continue;
      ASSERT_LT(static_cast<size_t>(c - '0'), op.operands.size()) << op.name;
      EXPECT_EQ(op.operands[static_cast<size_t>(c - '0')].role, Role::kTensor)
          << op.name;
    }
  }
}

TEST(Table, DtypeRulesAreKnownWords) {
  const std::set<std::string_view> rules = {"promote", "float", "bool",
                                            "i64",     "sum",   "first"};
  const std::set<std::string_view> kinds = {"any", "float", "int", "number",
                                            "bool"};
  for (const Op& op : all_ops()) {
    EXPECT_TRUE(rules.contains(op.row->dtype)) << op.name;
    std::string_view accepts = op.row->accepts;
    while (!accepts.empty()) {
      const size_t end = std::min(accepts.find(','), accepts.size());
      EXPECT_TRUE(kinds.contains(accepts.substr(0, end))) << op.name;
      accepts.remove_prefix(std::min(end + 1, accepts.size()));
    }
  }
}

TEST(Table, EveryResultTermLetterIsKnown) {
  for (const Op& op : all_ops()) {
    if (op.row->types != nullptr) continue;  // the function decides
    std::string known;
    for (const Term& term : op.operand_terms) known += term.letters;
    for (const Term& term : op.result_terms) {
      for (const char letter : term.letters) {
        EXPECT_NE(known.find(letter), std::string::npos) << op.name;
      }
    }
  }
}

// Programs whose tables differ in what a line is or does must not talk to each
// other.
TEST(Table, DigestFollowsAllThatALineMeans) {
  const auto changed = [](auto change) {
    std::vector<const Row*> rows = all_rows();
    Row row = *rows[7];
    change(row);
    rows[7] = &row;
    return digest_of(rows);
  };
  const uint64_t same = changed([](Row&) {});
  EXPECT_EQ(same, table_digest());
  EXPECT_EQ(changed([](Row& row) { row.sense = "Another."; }), same);
  std::set<uint64_t> digests = {same};
  digests.insert(changed([](Row& row) { row.signature = "y = no x"; }));
  digests.insert(changed([](Row& row) { row.index = "a->a"; }));
  digests.insert(changed([](Row& row) { row.dtype = "bool"; }));
  digests.insert(changed([](Row& row) { row.accepts = "bool"; }));
  digests.insert(changed([](Row& row) { row.expansion = "y = neg x"; }));
  digests.insert(changed([](Row& row) { row.in_f32 = !row.in_f32; }));
  EXPECT_EQ(digests.size(), 7U);
}

// ---- the text of rows -------------------------------------------------------

class RowText {
 public:
  RowText(const Op& op, const std::vector<TextLine>& lines, bool gradient)
      : op_(op), lines_(lines), gradient_(gradient) {}

  void check() {
    for (const TextLine& line : lines_) {
      const Op* op = find_op(line.op);
      ASSERT_NE(op, nullptr) << op_.name << ": no op " << line.op;
      for (const auto& [key, value] : line.keys) {
        EXPECT_GE(op->key_index(key), 0)
            << op_.name << ": " << line.op << " has no key " << key;
      }
      for (const std::string& word : line.operands) {
        if (word != "keys...") check_operand(word);
      }
      for (const std::string& word : line.results) check_result(word);
    }
    if (!gradient_ && !lines_.empty()) check_results_are_set();
  }

 private:
  static std::string bare(std::string word) {
    if (word.starts_with('=')) word.erase(0, 1);
    if (word.ends_with("...")) word.resize(word.size() - 3);
    return word;
  }
  static bool names(const std::vector<Parameter>& list, std::string_view name) {
    return std::any_of(list.begin(), list.end(),
                       [&](const Parameter& p) { return p.name == name; });
  }

  void check_operand(const std::string& word) {
    const std::string name = bare(word);
    if (names(op_.operands, name) || names(op_.results, name)) return;
    if (set_.contains(name)) return;
    if (gradient_ && name.starts_with('d') &&
        names(op_.results, name.substr(1))) {
      return;
    }
    const bool literal = name.find('{') != std::string::npos ||
                         parse_number(name) || parse_dtype(name) ||
                         parse_range(name).ok();
    EXPECT_TRUE(literal) << op_.name << ": who sets " << word << "?";
  }

  void check_result(const std::string& word) {
    const std::string name = bare(word);
    set_.insert(name);
    if (!gradient_) {
      EXPECT_TRUE(!names(op_.operands, name) || word.starts_with('='))
          << op_.name << " sets its operand " << word;
      return;
    }
    EXPECT_FALSE(names(op_.operands, name) || names(op_.results, name))
        << op_.name << ": a gradient sets " << word;
  }

  void check_results_are_set() {
    for (const Parameter& p : op_.results) {
      EXPECT_TRUE(set_.contains(p.name))
          << op_.name << ": " << p.name << " is never set";
    }
  }

  const Op& op_;
  const std::vector<TextLine>& lines_;
  bool gradient_;
  std::set<std::string> set_;
};

TEST(Table, RowTextNamesOnlyWhatIsThere) {
  for (const Op& op : all_ops()) {
    RowText(op, op.gradient, true).check();
    RowText(op, op.expansion, false).check();
  }
}

// The word of the row for operand p, in one word for all operands or in a list.
std::string_view accepted(const Op& op, size_t p) {
  std::string_view list = op.row->accepts;
  for (; p > 0 && list.find(',') != list.npos; --p) {
    list.remove_prefix(list.find(',') + 1);
  }
  return list.substr(0, list.find(','));
}

// grad refuses to differentiate by operands without a gradient.
TEST(Table, EveryOperandOfFloatsHasAGradientOrSaysThatItHasNone) {
  const std::set<std::string> known = {"slice any",  // it is an integer
                                       "cross_entropy weight", "dropout p"};
  std::set<std::string> found;
  for (const Op& op : all_ops()) {
    const std::string_view dtype = op.row->dtype;
    if (op.row->leaf || op.results.empty() || dtype == "bool" ||
        dtype == "i64") {
      continue;
    }
    for (size_t p = 0; p < op.operands.size(); ++p) {
      const Role role = op.operands[p].role;
      if (role != Role::kTensor && role != Role::kAny) continue;
      const std::string_view accepts = accepted(op, p);
      if (accepts == "int" || accepts == "bool") continue;
      const bool has = std::any_of(
          op.gradient.begin(), op.gradient.end(), [&](const TextLine& line) {
            return std::find(line.results.begin(), line.results.end(),
                             "d" + op.operands[p].name) != line.results.end();
          });
      EXPECT_FALSE(has && op.is_non_differentiable(p)) << op.name;
      if (has || op.is_non_differentiable(p)) continue;
      found.insert(op.name + " " + op.operands[p].name);
    }
  }
  EXPECT_EQ(found, known);
}

// The guards of its lines leave no call without a gradient.
TEST(Table, EveryCallHasTheGradientsOfItsRow) {
  for (const Sample& sample : samples()) {
    Bound bound(sample.line, parse_types(sample.types));
    Call& call = bound.call();
    const Op& op = *call.op;
    const auto is_of_floats = [](const Type& t) { return is_float(t.dtype); };
    if (op.row->leaf ||
        std::none_of(call.results.begin(), call.results.end(), is_of_floats)) {
      continue;
    }
    const std::vector<Step> steps = gradient_steps(call);
    const auto defines = [](const Step& step, const Ref& ref) {
      return std::find(step.results.begin(), step.results.end(), ref) !=
             step.results.end();
    };
    for (uint32_t i = 0; i < call.arguments.size(); ++i) {
      const size_t p = op.parameter_of(i, call.arguments.size());
      const std::string name = op.name + " " + op.operands[p].name;
      if (!is_tensor(call.arguments[i]) || !is_of_floats(call.type(i)) ||
          op.is_non_differentiable(p) || name == "cross_entropy weight" ||
          name == "dropout p") {
        continue;
      }
      const Ref wanted{Ref::Kind::kOperandGrad, i};
      EXPECT_TRUE(
          std::any_of(steps.begin(), steps.end(),
                      [&](const Step& step) { return defines(step, wanted); }))
          << sample.line << ": " << name;
    }
  }
}

}  // namespace
}  // namespace gt
