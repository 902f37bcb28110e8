// The op table's vocabulary. A family file writes Rows; the table compiles
// each into an Op; every other use of an op (checks, shapes, gradients, help,
// kernels' fallbacks) reads the Op and nothing else.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "stream/type.h"

namespace gt {

class Call;
struct Label;

// What a line of the op asks of the programs, where that is more than to make
// values from values.
enum class Statement : uint8_t {
  kCompute,
  kPrint,
  kSave,
  kLoad,
  kFree,
  kFail,     // its results are a failure
  kGrad,     // gt-emit writes gradient lines in its place
  kMesh,     // declares the mesh that the lines after it mean
  kAxis,     // names several of the mesh's axes as one
  kEndmesh,  // ends the mesh that was declared last
};

// A line of that kind makes a result for the user.
constexpr bool is_output(Statement s) {
  return s == Statement::kPrint || s == Statement::kSave;
}
// It says which mesh the lines after it mean.
constexpr bool is_declaration(Statement s) {
  return s == Statement::kMesh || s == Statement::kAxis ||
         s == Statement::kEndmesh;
}

// How the op moves pieces between the ranks of a group.
enum class Collective : uint8_t {
  kNone,
  kCopy,  // between ranks only where the operand's ranks are not the result's
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kBroadcast,
  kReduce,
  kConvert,
  kReinterpret,
  kRedistribute,
  kRemesh,
  kRetype,
};

// What the sum of summands' results is to the result of the sum: the same, the
// same but for a constant, or unrelated.
enum class Linearity : uint8_t { kLinear, kAffine, kNone };

// What a result is to the first operand.
enum class Lineage : uint8_t {
  kNew,
  kSame,  // another name, dtype or state of it: a weight stays one
  kPart   // some of its elements: a batch of data, a part of a weight
};

enum class Reduction : uint8_t { kNone, kSum, kMean, kMax, kMin, kOther };

// One op as its family states it. All text is in the stream's own language.
struct Row {
  // "w m v = adamw w g m v t lr beta1=0.9": results, op, operands, keys.
  //   [x]     optional operand, result or key      a...   any number (>= 1)
  //   key=    required key        key=1  key with a default
  // The words type, dtype, path, message, range..., number..., any... stand
  // for that kind of operand; every other word is a tensor. A tensor whose
  // index term is empty or "..." alone may also be a number.
  const char* signature;
  // "...mk,...kn->...mn": a letter per dimension, operands then results;
  // "..." are broadcast dimensions, "!" marks a letter that must be whole. A
  // variadic has one term. Empty for ops without tensors.
  const char* index = "";
  // Sets of operands in which the op is jointly linear: "01" or "0 1".
  const char* linear = "";
  // Dtype of the results: promote, float (integers give f32), bool, i64,
  // sum (integers and bool give i64), first (that of operand 0), or that of the
  // operand with the result's name, which always comes before these.
  const char* dtype = "promote";
  // What each tensor operand accepts: any, float, int, number, bool; one word
  // for all or a comma list.
  const char* accepts = "any";
  // Gradient lines: for operand a and result y, da from dy. A line may begin
  // with guards, "[ta=1 x.rank=2 b !v each]"; see text.h.
  const char* gradient = "";
  // Operands whose gradient is zero though they may hold floats, as of what is
  // only compared, or is meant to have none: "x lo hi". An operand of floats
  // that has no gradient line and does not stand here has a gradient that
  // nobody wrote down, and grad refuses it.
  const char* non_differentiable = "";
  // The results are leaves: they have no gradient by any operand.
  bool leaf = false;
  // The op written in other ops; "" makes it a primitive, which every backend
  // must have.
  const char* expansion = "";
  // Where operands are f16 or bf16 the expansion computes in f32, and its
  // results are rounded once: no step of it loses digits or range.
  bool in_f32 = false;
  // Result types, where the index term alone does not say (reductions, layout,
  // creation). Sets call.results; errors name sizes.
  Status (*types)(Call& call) = nullptr;
  // How dimensions belong together, where the index terms alone do not say
  // (reductions, layout): index_rule.h.
  std::vector<Label> (*labels)(const Call& call) = nullptr;
  // Text of a placeholder {name} that only this family knows; "" if unknown.
  std::string (*placeholder)(const Call& call, std::string_view name,
                             size_t each) = nullptr;
  // Operations per element of the index space; 0 moves data only.
  double flops = 1;

  // Help: one sentence; then shapes, dtypes, errors; where it comes from.
  const char* sense = "";
  const char* details = "";
  const char* source = "";
  // A program, and after "=>" what it prints. Run as a test.
  const char* example = "";
  // The result is the first operand's bytes under another type or name; no
  // backend needs a kernel.
  bool alias = false;
  // Not for users: rows that exist as some gradient's one line.
  bool internal = false;
  // What result 0 is of operand 0.
  Lineage lineage = Lineage::kNew;
  // How the numbers of a dimension become one; kNone of indices and spreads.
  Reduction reduction = Reduction::kNone;
  // Result 0 repeats operand 0 along dimensions; nothing is computed.
  bool repeats = false;
  // Dimensions of the result are products and factors of operand 0's.
  bool regroups = false;
  // No gradient goes through.
  bool stops_gradient = false;
  // The operand that is a layer's weight; -1: none.
  int weight_operand = -1;
  // The operand that the others are divided by; -1: none.
  int divisor_operand = -1;
  // Where `linear` holds for some keys and dtypes alone: what it is for these.
  Linearity (*linearity)(const Call& call) = nullptr;
  // The operand that keys part=, split= and shape= speak of; -1: result 0.
  int part_operand = -1;
  Statement statement = Statement::kCompute;
  Collective collective = Collective::kNone;
  // Only lines with ranks may use it: there is nothing to move within one.
  bool needs_ranks() const {
    return collective != Collective::kNone && collective != Collective::kCopy;
  }
  // Of what is made of numbers and files alone, or point by point: it may fail
  // when it is run, though its types fit: "always", or where it gives "int".
  const char* fails = "";
  // All elements are 0, so that it is its own sum over any ranks as well.
  bool zero = false;
  // Any key is taken: mesh and axis, whose keys are the user's own names.
  bool free_keys = false;
};

// Rows that belong together: one file, one Family.
struct Family {
  const char* name;   // "point-wise"
  const char* sense;  // for gt-ops(7)
  std::span<const Row> rows;
};

enum class Role : uint8_t {
  kTensor,
  kType,
  kDtype,
  kString,
  kRange,
  kNumber,
  kAny
};

struct Parameter {
  std::string name;
  Role role = Role::kTensor;
  bool optional = false;
  bool variadic = false;
};

// A key means the same in every op that takes it.
struct KeyRow {
  enum class Kind : uint8_t {
    kFlag,
    kInteger,
    kNumber,
    kIntegers,
    kWord,
    kPart,  // START/WHOLE, see part.h
    kText
  };
  const char* name;
  Kind kind;
  const char* words;  // of kWord: "mean sum none"
  const char* sense;
};

struct KeyParameter {
  const KeyRow* row = nullptr;
  std::string fallback;  // "" when there is none
  bool required = false;
};

// An index term: "...kn!" is {true, "kn", {false, true}}.
struct Term {
  bool broadcast = false;
  std::string letters;
  std::vector<bool> whole;
  bool is_scalar() const { return !broadcast && letters.empty(); }
};

// A name in a row's text.
struct Ref {
  enum class Kind : uint8_t {
    kOperand,
    kResult,
    kOperandGrad,
    kResultGrad,
    kTemp
  };
  Kind kind;
  uint32_t index;
  friend bool operator==(const Ref&, const Ref&) = default;
};

// One line of a gradient or expansion as the row states it.
struct TextLine {
  std::vector<std::string> guards;
  std::vector<std::string> results;
  std::string op;
  std::vector<std::string> operands;
  std::vector<std::pair<std::string, std::string>> keys;
};

struct Op {
  const Row* row = nullptr;
  const Family* family = nullptr;
  uint32_t id = 0;  // dense, in table order
  std::string name;
  std::vector<Parameter> results;
  std::vector<Parameter> operands;
  std::vector<KeyParameter> keys;
  std::vector<Term> operand_terms;  // of tensor operands, in order
  std::vector<Term> result_terms;
  std::vector<TextLine> gradient;
  std::vector<TextLine> expansion;

  bool is_primitive() const { return expansion.empty(); }
  size_t least_operands() const;
  bool is_variadic() const;  // in its operands
  // Whether the parameter stands in Row::non_differentiable.
  bool is_non_differentiable(size_t operand) const;
  // Index of the key in `keys`, or -1.
  int key_index(std::string_view key) const;
  // Which parameter argument i of `count` stands for (variadics repeat).
  size_t parameter_of(size_t i, size_t count) const;
  // The same of results.
  size_t result_parameter_of(size_t i, size_t count) const;
  // Whether that parameter counts random draws: gt-emit writes one that was
  // left out, and numbers drawn alike are as good as one number.
  bool is_seed(size_t parameter) const {
    return parameter < operands.size() && operands[parameter].name == "seed";
  }
};

// The sets of Row::linear, a digit for each operand.
std::vector<std::string_view> linear_sets(const Op& op);

}  // namespace gt
