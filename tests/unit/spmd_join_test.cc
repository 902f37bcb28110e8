// The local join of spmd-types, by those vectors of its conformance list that a
// single line can say.
#include "spmd/join.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "check/rule_words.h"
#include "spmd/infer.h"

namespace gt {
namespace {

class JoinTest : public ::testing::Test {
 protected:
  JoinTest() { declare("mesh dp=2 tp=3"); }

  void declare(const std::string& text) {
    Line line;
    ASSERT_TRUE(parse_line(text, line).ok());
    ASSERT_TRUE(meshes_.take(line).ok());
  }

  const Mesh& mesh() const { return *meshes_.of(""); }

  // Declares an operand, as "a f32[4] tp:P".
  void operand(const std::string& text) {
    std::stringstream words(text);
    std::string name, type, letters;
    words >> name >> type >> letters;
    types_[name] = parse_type(type).value();
    std::stringstream list(letters);
    for (std::string word; std::getline(list, word, ',');) {
      const size_t colon = word.find(':');
      const auto axes = mesh().resolve(word.substr(0, colon));
      for (const MeshAxis* axis : axes.value()) {
        letters_[name].set(*axis, word[colon + 1]);
      }
    }
  }

  // The type "tp:R", or the kinds of what was found. Names are on ranks 0-2,
  // which differ along tp alone, unless the line says otherwise.
  std::string infer(const std::string& text) {
    Line line;
    EXPECT_TRUE(parse_line(text, line).ok()) << text;
    const auto where = line_ranks(line);
    EXPECT_TRUE(where.ok()) << text;
    std::vector<ShardedValue> values(line.operands.size());
    std::vector<const ShardedValue*> operands;
    for (size_t o = 0; o < values.size(); ++o) {
      const bool name = line.operands[o].kind == Operand::Kind::kName;
      operands.push_back(name ? &values[o] : nullptr);
      if (!name) continue;
      const std::string operand(line.operands[o].text);
      values[o].state = ShardedValue::State::kTyped;
      values[o].ranks = where.value().operands[o];
      values[o].type = restricted(letters_[operand], values[o].ranks);
      values[o].pieces.assign(values[o].ranks.size(), types_.at(operand));
    }
    const AxisNames names({&mesh()});
    const TypingMode mode{.local = true, .passes_over = true};
    const Inferred made =
        gt::infer({line, &where.value(), names, operands, nullptr, mode});
    std::string out = describe(made.results[0].type, mesh());
    for (const TypeFault& f : made.faults) {
      out += std::string("!") + check::rule_words(f.rule).kind + "@" +
             (f.axes.empty() ? "" : names.name(f.axes[0]));
    }
    return out;
  }

  // Types one line over operands a and b, on axis tp.
  std::string join(const std::string& a, const std::string& b,
                   const std::string& line) {
    operand("a f32[4] tp:" + a);
    if (!b.empty()) operand("b f32[4] tp:" + b);
    return infer(line);
  }

  Meshes meshes_;
  std::map<std::string, Type> types_;
  std::map<std::string, Placement> letters_;
};

TEST_F(JoinTest, OfLinearLines) {
  const std::string add = "y@0-2 = add a@0-2 b@0-2";
  EXPECT_EQ(join("R", "R", add), "tp:R");
  EXPECT_EQ(join("I", "I", add), "tp:I");
  EXPECT_EQ(join("R", "V", add), "tp:V");
  EXPECT_EQ(join("P", "P", add), "tp:P");
  EXPECT_EQ(join("I", "R", add), "!inv-mix@tp");
  EXPECT_EQ(join("I", "V", add), "!inv-mix@tp");
  EXPECT_EQ(join("P", "I", add), "!inv-mix@tp");
  EXPECT_EQ(join("P", "V", add), "!part-vary@tp");
  EXPECT_EQ(join("P", "R", add), "!part-affine@tp");
  EXPECT_EQ(join("P", "", "y@0-2 = add a@0-2 1"), "!part-affine@tp");
  EXPECT_EQ(join("P", "", "y@0-2 = add a@0-2 0"), "tp:P");
  EXPECT_EQ(join("P", "", "y@0-2 = neg a@0-2"), "tp:P");
  EXPECT_EQ(join("P", "", "y@0-2 = sum a@0-2"), "tp:P");
  EXPECT_EQ(join("P", "", "y@0-2 = mean a@0-2"), "tp:P");
  EXPECT_EQ(join("P", "", "y@0-2 = cast a@0-2 bf16"), "tp:P");
  EXPECT_EQ(join("P", "", "y@0-2 = cast a@0-2 i64"), "!part-nonlin@tp");
  EXPECT_EQ(join("P", "P", "y@0-2 = concat a@0-2 b@0-2"), "tp:P");
  EXPECT_EQ(join("P", "R", "y@0-2 = concat a@0-2 b@0-2"), "!part-affine@tp");
  EXPECT_EQ(join("P", "", "y@0-2 = reshape a@0-2 shape=2,2"), "tp:P");
  EXPECT_EQ(join("P", "", "y@0-2 = pad a@0-2 width=1,1"), "tp:P");
  EXPECT_EQ(join("P", "", "y@0-2 = pad a@0-2 width=1,1 value=2"),
            "!part-affine@tp");
}

TEST_F(JoinTest, OfMultilinearLines) {
  const std::string mul = "y@0-2 = mul a@0-2 b@0-2";
  EXPECT_EQ(join("R", "V", mul), "tp:V");
  EXPECT_EQ(join("P", "R", mul), "tp:P");
  EXPECT_EQ(join("P", "P", mul), "!part-multi@tp");
  EXPECT_EQ(join("P", "V", mul), "!part-vary@tp");
  EXPECT_EQ(join("P", "I", mul), "!inv-mix@tp");
  EXPECT_EQ(join("P", "", "y@0-2 = mul a@0-2 2"), "tp:P");
  EXPECT_EQ(join("P", "", "y@0-2 = div a@0-2 2"), "tp:P");
  EXPECT_EQ(join("R", "P", "y@0-2 = div a@0-2 b@0-2"), "!part-divisor@tp");
  EXPECT_EQ(join("P", "", "y@0-2 = div 2 a@0-2"), "!part-divisor@tp");
  operand("x f32[2,4] tp:P");
  operand("w f32[4,3] tp:R");
  operand("c f32[3] tp:P");
  EXPECT_EQ(infer("y@0-2 = linear x@0-2 w@0-2"), "tp:P");
  EXPECT_EQ(infer("y@0-2 = linear x@0-2 w@0-2 c@0-2"), "tp:P");
  operand("c f32[3] tp:R");
  EXPECT_EQ(infer("y@0-2 = linear x@0-2 w@0-2 c@0-2"), "!part-affine@tp");
}

TEST_F(JoinTest, OfTheRest) {
  EXPECT_EQ(join("P", "", "y@0-2 = exp a@0-2"), "!part-nonlin@tp");
  EXPECT_EQ(join("P", "P", "y@0-2 = maximum a@0-2 b@0-2"), "!part-nonlin@tp");
  EXPECT_EQ(join("V", "R", "y@0-2 = ge a@0-2 b@0-2"), "tp:V");
  EXPECT_EQ(join("?", "R", "y@0-2 = add a@0-2 b@0-2"), "");
  // Axes are tested one by one, except those along which the ranks do not
  // differ.
  operand("a f32[8] dp:P,tp:R");
  operand("b f32[8] dp:R,tp:R");
  EXPECT_EQ(infer("y@0-5 = add a@0-5 b@0-5"), "tp:R!part-affine@dp");
  EXPECT_EQ(infer("y@0-2 = add a@0-2 b@0-2"), "tp:R");
}

TEST_F(JoinTest, OfWhatHasAnExpansionIsThatOfItsLines) {
  operand("w f32[4] tp:R");
  operand("g f32[4] tp:P");
  EXPECT_EQ(infer("w@0-2 = sgd w@0-2 g@0-2 0.1"), "!part-affine@tp");
  operand("w f32[4] tp:P");
  EXPECT_EQ(infer("w@0-2 = sgd w@0-2 g@0-2 0.1"), "tp:P");
  operand("q f32[3,2] tp:R");
  operand("v f32[3,2] tp:P");
  EXPECT_EQ(infer("o@0-2 = attention q@0-2 q@0-2 v@0-2"), "tp:P");
  EXPECT_EQ(infer("o@0-2 = attention v@0-2 q@0-2 q@0-2"), "!part-nonlin@tp");
}

TEST_F(JoinTest, OfSources) {
  EXPECT_EQ(infer("y@0-5 = zeros f32[4]"), "dp:R,tp:R");
  EXPECT_EQ(infer("y@0-5 = randn f32[4,6] 7 split=tp:1"), "dp:R,tp:V");
  EXPECT_EQ(infer("y@0-5 = zeros f32[4] #type=tp:I"), "dp:R,tp:I");
  EXPECT_EQ(infer("y@0-5 = zeros f32[4] #type=P"), "dp:P,tp:P");
  EXPECT_EQ(infer("y@0-5 = load \"x\" f32[4,6] 0 split=dp:0 #type=dp:S0,tp:I"),
            "dp:V,tp:I");
  EXPECT_EQ(infer("y@0-5 = rand f32[4] 1 split=dp:0 #type=dp:R"),
            "dp:V,tp:R!assert@dp");
}

TEST_F(JoinTest, OfATableThatIsCut) {
  operand("t f32[4,3] tp:V");
  operand("i i64[5] tp:R");
  EXPECT_EQ(infer("y@0-2 = embedding t@0-2 i@0-2 split=tp:0 shape=12,3"),
            "tp:P");
  EXPECT_EQ(infer("y@0-2 = embedding t@0-2 i@0-2"), "tp:V");
}

TEST_F(JoinTest, OfCollectives) {
  const std::string reduce = "y@0-2 = all_reduce a@0-2 over=tp";
  EXPECT_EQ(join("P", "", reduce + " dst=R"), "tp:R");
  EXPECT_EQ(join("P", "", reduce + " dst=I"), "tp:I");
  EXPECT_EQ(join("V", "", reduce), "tp:R");
  EXPECT_EQ(join("V", "", reduce + " src=V dst=I"), "tp:I");
  EXPECT_EQ(join("R", "", reduce), "tp:R!src-type@tp");
  EXPECT_EQ(join("V", "", "y@0-2 = all_gather a@0-2 over=tp src=S0 dst=I"),
            "tp:I");
  operand("a f32[6] tp:P");
  EXPECT_EQ(infer("y@0-2 = reduce_scatter a@0-2 over=tp dst=S0"), "tp:V");
  EXPECT_EQ(join("I", "", "y@0-2 = convert a@0-2 over=tp src=I dst=R"), "tp:R");
  EXPECT_EQ(join("V", "", "y@0-2 = reinterpret a@0-2 over=tp src=V dst=P"),
            "tp:P");
  EXPECT_EQ(join("V", "", "y@0-2 = retype a@0-2 over=tp src=V dst=I"), "tp:I");
  EXPECT_EQ(join("V", "", "y@0-2 = broadcast a@0-2 over=tp"), "tp:R");
  // Without over= it is the ranks' own axis; a flattened axis sets all its
  // axes.
  EXPECT_EQ(join("P", "", "y@0-2 = all_reduce a@0-2"), "tp:R");
  operand("a f32[4] dp:P,tp:P");
  declare("axis world=dp*tp");
  EXPECT_EQ(infer("y@0-5 = all_reduce a@0-5 over=world"), "dp:R,tp:R");
  EXPECT_EQ(infer("y@0-5 = all_reduce a@0-5 over=dp"), "dp:R,tp:P");
}

TEST_F(JoinTest, OfCopies) {
  operand("a f32[4] tp:V");
  EXPECT_EQ(infer("y@3-5 = copy a@0-2"), "tp:V");
  EXPECT_EQ(infer("y@3-5 = copy a@1"), "tp:R");
  EXPECT_EQ(infer("y@0,3 = copy a@0-1"), "!src-type@tp");  // along another axis
}

TEST_F(JoinTest, OfClaims) {
  EXPECT_EQ(join("V", "", "y@0-2 = neg a@0-2 #type=tp:P"), "tp:P");
  EXPECT_EQ(join("R", "", "y@0-2 = neg a@0-2 #type=tp:V"), "tp:R!assert@tp");
  EXPECT_EQ(join("?", "", "y@0-2 = neg a@0-2 #type=tp:I"), "tp:I");
  EXPECT_EQ(join("P", "", "y@0-2 = exp a@0-2 #type=tp:V"),
            "tp:V!part-nonlin@tp");
  EXPECT_EQ(join("V", "", "y@0-2 = neg a@0-2 #partial=tp"), "tp:P");
  EXPECT_EQ(join("R", "", "y@0-2 = neg a@0-2 #partial=tp"),
            "tp:R!partial-repl@tp");
  EXPECT_EQ(join("I", "", "y@0-2 = neg a@0-2 #partial=tp"),
            "tp:I!partial-inv@tp");
}

TEST_F(JoinTest, OfPiecesIsVaryingWhereTheyAreToldApart) {
  Placement r;
  r.set(mesh().axes()[1], 'R');
  const std::vector<int64_t> low = {0, 1, 2}, high = {3, 4, 5}, one = {0},
                             two = {1};
  const TypedPart rows[] = {{&r, &low}, {&r, &high}};
  EXPECT_EQ(describe(join_parts(&mesh(), rows), mesh()), "dp:V,tp:R");
  const Placement none;
  const TypedPart single[] = {{&none, &one}, {&none, &two}};
  EXPECT_EQ(describe(join_parts(&mesh(), single), mesh()), "tp:V");
}

TEST(Placement, BelongsToAnAxisByItsLayout) {
  Placement type;
  type.set({3, 1}, 'V');
  type.set({2, 3}, 'R');
  EXPECT_EQ(type.axes[0].axis.stride, 3);
  EXPECT_EQ(type.on({3, 1}), 'V');
  EXPECT_EQ(type.on({6, 1}), kUntyped);
  EXPECT_EQ(restricted(type, {3, 4}).axes.size(), 1U);
}

}  // namespace
}  // namespace gt
