#include "ops/catalog.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "ops/suggest.h"
#include "ops/table.h"

namespace gt {
namespace {

size_t count(std::string_view text, std::string_view what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string_view::npos;
       at = text.find(what, at + what.size())) {
    ++n;
  }
  return n;
}

size_t users_ops() { return op_names().size(); }

TEST(Catalog, ListsEachOpOnce) {
  const std::string table = ops_table();
  for (const Op& op : all_ops()) {
    const std::string line = "\n" + std::string(op.row->signature) + "  ";
    EXPECT_EQ(count(table, line), op.row->internal ? 0U : 1U) << op.name;
  }
}

TEST(Catalog, ShowsAllOfOneOp) {
  EXPECT_EQ(op_details(*find_op("relu")),
            "y = relu x\n"
            "  x where it is positive, else 0.\n"
            "\n"
            "example\n"
            "  x = tensor f32[3] -1 0 2\n"
            "  y = relu x\n"
            "  print y\n"
            "\n"
            "prints\n"
            "  y = tensor f32[3] 0 0 2\n"
            "\n"
            "details\n"
            "  nan stays nan. The gradient at 0 is 0. Errors: bool.\n"
            "\n"
            "kind\n"
            "  family activations, composite\n"
            "  index ...->...\n"
            "\n"
            "cut in the example\n"
            "  x.0 y.0\n"
            "\n"
            "gradient\n"
            "  dx = relu_grad dy y\n"
            "\n"
            "meaning\n"
            "  y = maximum x 0\n"
            "\n"
            "source\n"
            "  Nair and Hinton, Rectified linear units improve restricted "
            "Boltzmann machines,\n"
            "  ICML 2010; torch.relu\n");
}

TEST(Catalog, WrapsAt80Columns) {
  for (const Op& op : all_ops()) {
    const std::string details = op_details(op);
    size_t line = 0;
    for (const std::string& words : text_lines(details)) {
      ++line;
      // A signature stays on one line, and so does the gradient of a
      // collective.
      if (line > 1 && words.find(" over={over} ") == std::string::npos) {
        EXPECT_LE(words.size(), 80U) << op.name << ": " << words;
      }
    }
  }
}

TEST(Catalog, SaysInWhatAnOpIsLinear) {
  EXPECT_EQ(linear_text(*find_op("matmul")), "linear in a; in b");
  EXPECT_EQ(linear_text(*find_op("add")), "linear in a, b");
  EXPECT_EQ(linear_text(*find_op("linear")), "linear in x, b; in w, b");
  EXPECT_EQ(linear_text(*find_op("exp")), "");
}

TEST(Catalog, AnswersByWord) {
  EXPECT_EQ(describe_ops("list").value(), ops_table());
  EXPECT_EQ(describe_ops("").value(), ops_table());
  EXPECT_EQ(describe_ops("json").value(), ops_json());
  EXPECT_EQ(describe_ops("mdoc").value(), ops_mdoc());
  EXPECT_EQ(describe_ops("words").value(), ops_words());
  EXPECT_EQ(describe_ops("add").value(), op_details(*find_op("add")));
  EXPECT_EQ(describe_ops("all").value(), op_details(*find_op("all")));
  const auto wrong = describe_ops("matmull");
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().message, "no op 'matmull'; did you mean 'matmul'?");
}

// Brackets and quotes balance outside of strings; a JSON parser checks the
// rest.
TEST(Catalog, JsonIsBalanced) {
  const std::string json = ops_json();
  std::string open;
  bool quoted = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (quoted) {
      if (c == '\\') ++i;
      quoted = c != '"';
      continue;
    }
    quoted = c == '"';
    if (c == '{' || c == '[') open += c;
    if (c == '}' || c == ']') {
      ASSERT_FALSE(open.empty());
      EXPECT_EQ(open.back(), c == '}' ? '{' : '[');
      open.pop_back();
    }
  }
  EXPECT_FALSE(quoted);
  EXPECT_EQ(open, "");
  EXPECT_EQ(count(json, "{\"name\": \"matmul\", \"family\""), 1U);
  EXPECT_EQ(count(json, "\"signature\": "), all_ops().size());
}

TEST(Catalog, ManualHasAnItemForEachOp) {
  const std::string page = ops_mdoc();
  EXPECT_TRUE(page.starts_with(".Dd "));
  EXPECT_EQ(count(page, ".It Li \""), users_ops());
  EXPECT_EQ(count(page, ".Bl "), count(page, ".El\n"));
  EXPECT_EQ(count(page, ".Bd "), count(page, ".Ed\n"));
}

TEST(Catalog, WordsHaveEachOp) {
  const std::string text = "\n" + ops_words();
  for (const std::string_view name : op_names()) {
    EXPECT_EQ(count(text, "\n" + std::string(name) + "\t"), 1U) << name;
  }
  EXPECT_EQ(text.find("relu_grad"), std::string::npos);
}

TEST(Catalog, CutsAreThoseOfTheExamplesCall) {
  const auto cuts = [](const char* op) { return cut_texts(*find_op(op)); };
  using Cuts = std::vector<std::string>;
  EXPECT_EQ(cuts("matmul"), (Cuts{"a.1 b.1 summed", "a.0 y.0", "b.0 y.1"}));
  EXPECT_EQ(cuts("embedding"), (Cuts{"ids.0 y.0", "table.1 y.1",
                                     "table.0 looked up summed split="}));
  EXPECT_EQ(cuts("dropout"), Cuts{"x.0 y.0 split="});
  EXPECT_EQ(cuts("softmax"), Cuts{});
  EXPECT_EQ(cuts("print"), Cuts{});
}

// Each torch.cat, numpy.x or jax.x of a Source line leads to its op.
TEST(Catalog, NamesOfLibrariesLeadToTheirOps) {
  size_t names = 0;
  for (const Op& op : all_ops()) {
    if (op.row->internal) continue;
    for (std::string_view rest = op.row->source; !rest.empty();) {
      const std::string_view name = take_word(rest, " ,;");
      if (!name.starts_with("torch.") && !name.starts_with("numpy.") &&
          !name.starts_with("jax.")) {
        continue;
      }
      ++names;
      EXPECT_NE(suggest_op(name).find("'" + op.name + "' ("), std::string::npos)
          << name << " of " << op.name << suggest_op(name);
    }
  }
  EXPECT_GT(names, 150U);
}

TEST(Catalog, ExamplesHaveTwoParts) {
  const Example example = example_of(*find_op("neg")->row);
  EXPECT_EQ(example.program, "x = tensor f32[2] 1 -2\ny = neg x\nprint y\n");
  EXPECT_EQ(example.output, "y = tensor f32[2] -1 2\n");
}

}  // namespace
}  // namespace gt
