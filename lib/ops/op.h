// The vocabulary of the op table. The file of a family of ops writes Rows; the
// table (table.h) compiles each into an Op; every other use of an op (checks,
// shapes, gradients, help, kernels' fallbacks) reads the Op and nothing else.
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

// What a line with the op asks the programs to do. kCompute only makes values
// from values; the others do more than that.
enum class Statement : uint8_t {
  kCompute,
  kPrint,
  kSave,
  kLoad,
  kFree,
  kFail,     // its results are failures, which spread to what reads them
  kGrad,     // gt-emit writes gradient lines in its place
  kMesh,     // declares the mesh that the lines after it mean
  kAxis,     // names several of the mesh's axes as one
  kEndmesh,  // ends the mesh that was declared last
};

// True if such a line makes a result for the user.
constexpr bool is_output(Statement s) {
  return s == Statement::kPrint || s == Statement::kSave;
}
// True if such a line says which mesh the lines after it mean.
constexpr bool is_declaration(Statement s) {
  return s == Statement::kMesh || s == Statement::kAxis ||
         s == Statement::kEndmesh;
}

// Which collective or conversion between ranks the op is, if any.
enum class Collective : uint8_t {
  kNone,
  kCopy,  // crosses ranks only where operand and result are on different ones
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

// How the sum of f(x1), f(x2), ... relates to f(x1 + x2 + ...): it is equal
// (linear), equal but for a constant term (affine), or unrelated. It decides
// whether partial sums can be operands.
enum class Linearity : uint8_t { kLinear, kAffine, kNone };

// What result 0 is to operand 0. gt-shard needs it to keep the placement of
// weights and of data.
enum class Lineage : uint8_t {
  kNew,   // a value of its own
  kSame,  // the same in another name, dtype or state: an updated weight
  kPart   // some of its elements: a batch of data, a part of a weight
};

// How a reduction makes one number from many.
enum class Reduction : uint8_t { kNone, kSum, kMean, kMax, kMin, kOther };

// One op as its family's file states it. All texts are in the language of the
// stream. A new op that has an expansion needs nothing but its row; a primitive
// also needs a kernel in each backend.
struct Row {
  // "w m v = adamw w g m v t lr beta1=0.9": results, op, operands, keys.
  //   [x]     optional operand, result or key      a...   any number (>= 1)
  //   key=    required key        key=1  key with a default
  // The words type, dtype, path, message, range..., number..., any... stand
  // for that kind of operand; every other word is a tensor. A tensor whose
  // index term is empty or "..." alone may also be a number. A key that no op
  // has yet also needs its KeyRow in keys.cc.
  const char* signature;
  // The index rule, "...mk,...kn->...mn": a term for each tensor, operands then
  // results, with a letter for each dimension. "..." stands for the leading
  // dimensions, which broadcast; "!" marks the letter before it: that dimension
  // must be whole on each rank. A variadic has one term. Empty for ops without
  // tensors.
  const char* index = "";
  // The sets of operands in which the op is jointly linear, as digits: "01"
  // (add), or "0 1" (linear in each of two: matmul).
  const char* linear = "";
  // The rule for the dtype of the results. A result that has the name of an
  // operand has that operand's type, whatever this says. The rules are: promote
  // (the promotion of all tensors and numbers, call.h), float (the same, but
  // f32 for integers and bool), sum (the same, but i64 for integers and bool),
  // first (that of operand 0), bool, i64. A function `types` ignores it.
  const char* dtype = "promote";
  // What each tensor operand accepts: any, float, int, number, bool; one word
  // for all or a comma list.
  const char* accepts = "any";
  // The gradient as lines of this language, which compute da from dy, for
  // operand a and result y. A line may begin with guards, "[ta=1 x.rank=2 b !v
  // each]"; see text.h.
  const char* gradient = "";
  // The operands whose gradient is zero though they may hold floats, "x lo hi":
  // they are only compared, or are meant to have no gradient. grad refuses an
  // operand of floats that neither stands here nor has a gradient line.
  const char* non_differentiable = "";
  // The results are leaves: they have no gradient with respect to any operand.
  bool leaf = false;
  // The op written in other ops. An op without an expansion is a primitive, for
  // which every backend must have a kernel.
  const char* expansion = "";
  // For operands in f16 or bf16 the expansion is computed in f32 and the
  // results are rounded once, so that no step of it loses digits or range.
  bool in_f32 = false;
  // Computes the results' types, where the index terms do not determine them
  // (reductions, layout, creation). It appends to call.results; its errors name
  // the sizes.
  Status (*types)(Call& call) = nullptr;
  // Computes the index rule (index_rule.h), where the index terms do not
  // determine it (reductions, layout).
  std::vector<Label> (*labels)(const Call& call) = nullptr;
  // Returns the text of a placeholder {name} that only this family knows
  // (text.h); "" for an unknown one. `each` is the index of the element of a
  // variadic, in an [each] line.
  std::string (*placeholder)(const Call& call, std::string_view name,
                             size_t each) = nullptr;
  // Arithmetic operations for each point of the index space, whose size is the
  // product of the sizes of all letters and of the broadcast dimensions; 0 if
  // the op only moves data.
  double flops = 1;

  // Help: one sentence; then shapes, dtypes and errors; then where it comes
  // from. A clause of `source` that has only names of PyTorch, as "torch.cat,
  // torch.concatenate", says that a call of these means the same: in Python
  // they are names of the op.
  const char* sense = "";
  const char* details = "";
  const char* source = "";
  // The keys whose values stand behind the operands, without the key, in a call
  // in Python, in their order: "axis keepdims". They are those that PyTorch
  // takes so. The numbers of a key with * may stand there one by one.
  const char* places = "";
  // A program, and after "=>" what it prints. It is run as a test.
  const char* example = "";
  // The result has the bytes of the first operand, under another type or name,
  // so that no backend needs a kernel.
  bool alias = false;
  // Users may not write the op: it only serves in the gradient or expansion of
  // some op.
  bool internal = false;
  // What result 0 is to operand 0.
  Lineage lineage = Lineage::kNew;
  // How a reduction makes one number from those of a dimension; kNone for
  // reductions that give indices or measure spread.
  Reduction reduction = Reduction::kNone;
  // Result 0 repeats operand 0 along dimensions, and nothing is computed.
  bool repeats = false;
  // The op is a reshape: dimensions of the result are products and factors of
  // those of operand 0.
  bool regroups = false;
  // No gradient passes through the op.
  bool stops_gradient = false;
  // Of a matrix product, a convolution, or an op that consists of such: the
  // operands whose products it sums, as digits, "01". Mixed precision reads
  // these in f16 or bf16.
  const char* factors = "";
  // The index of the operand that is a layer's weight; -1: none.
  int weight_operand = -1;
  // The index of the operand that the others are divided by; -1: none.
  int divisor_operand = -1;
  // Returns the linearity of a call with its keys and dtypes; set where
  // `linear` holds only for some of them.
  Linearity (*linearity)(const Call& call) = nullptr;
  // The index of the operand that the keys part=, split= and shape= are about;
  // -1: they are about result 0.
  int part_operand = -1;
  Statement statement = Statement::kCompute;
  Collective collective = Collective::kNone;
  // True if only lines with ranks may use the op.
  bool needs_ranks() const {
    return collective != Collective::kNone && collective != Collective::kCopy;
  }
  // When a line whose types fit can still fail as it runs, for the creation and
  // point-wise ops that gt-shard may hold back: "always" (a file may be
  // missing), "int" (if the result holds integers: a division by zero), or ""
  // for never.
  const char* fails = "";
  // All elements of the result are 0, so that it can be typed as partial sums
  // as well as copies.
  bool zero = false;
  // The op takes any key, as mesh and axis do, whose keys are the names of
  // axes.
  bool free_keys = false;
};

// Rows that belong together; each Family has a file of its own.
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

// What one key means, which is the same in every op that takes it. All of them
// are listed in keys.cc. A new key needs a KeyRow there, and its name in the
// signatures of the ops that take it.
struct KeyRow {
  enum class Kind : uint8_t {
    kFlag,      // 0 or 1, which true and false also say
    kInteger,   // "-1"
    kNumber,    // an integer or a float
    kIntegers,  // "2,-1"
    kWord,      // one of `words`
    kPart,      // START/WHOLE, see part.h
    kText       // anything; the op checks it
  };
  const char* name;
  Kind kind;
  const char* words;  // the words of kWord, "mean sum none"
  const char* sense;  // for the help
};

// A key as an op's signature has it.
struct KeyParameter {
  const KeyRow* row = nullptr;
  std::string fallback;  // the default; "" if there is none
  bool required = false;
};

// The index term of one tensor: "...kn!" is {true, "kn", {false, true}}.
struct Term {
  bool broadcast = false;
  std::string letters;
  std::vector<bool> whole;
  bool is_scalar() const { return !broadcast && letters.empty(); }
};

// A value that a line of a row's gradient or expansion refers to.
struct Ref {
  enum class Kind : uint8_t {
    kOperand,
    kResult,
    kOperandGrad,  // "dx" of operand x
    kResultGrad,   // "dy" of result y
    kTemp          // made by another line of the text
  };
  Kind kind;
  uint32_t index;  // in the call's arguments or results; or of the temporary
  friend bool operator==(const Ref&, const Ref&) = default;
};

// One line of a gradient or expansion as the row states it. Made concrete for a
// call, it becomes a Step (text.h).
struct TextLine {
  std::vector<std::string> guards;
  std::vector<std::string> results;
  std::string op;
  std::vector<std::string> operands;
  std::vector<std::pair<std::string, std::string>> keys;
};

// A row, compiled: its texts are parsed. There is one Op for each name of an
// op, made by the table (table.h) and never changed.
struct Op {
  const Row* row = nullptr;
  const Family* family = nullptr;
  uint32_t id = 0;  // from 0, in the order of the table
  std::string name;
  std::vector<Parameter> results;
  std::vector<Parameter> operands;
  std::vector<KeyParameter> keys;
  std::vector<Term> operand_terms;  // of tensor operands, in order
  std::vector<Term> result_terms;
  std::vector<TextLine> gradient;
  std::vector<TextLine> expansion;

  bool is_primitive() const { return expansion.empty(); }
  // True if the op sums products of its operands; reads_factor() if operand p,
  // by its index in `operands`, is one whose products it sums (Row::factors).
  bool is_product() const { return *row->factors != '\0'; }
  bool reads_factor(size_t p) const {
    return p < 10 &&
           std::string_view(row->factors).find(static_cast<char>('0' + p)) !=
               std::string_view::npos;
  }
  // Returns how many operands a line must have: those that are not optional.
  size_t least_operands() const;
  bool is_variadic() const;  // it has a variadic operand
  // True if that operand is listed in Row::non_differentiable.
  bool is_non_differentiable(size_t operand) const;
  // Returns the index of the key in `keys`, or -1.
  int key_index(std::string_view key) const;
  // Returns the index in `operands` of the parameter that argument i of `count`
  // stands for: several arguments may stand for a variadic one.
  size_t parameter_of(size_t i, size_t count) const;
  // Does the same for results.
  size_t result_parameter_of(size_t i, size_t count) const;
  // Returns the first of `count` arguments that stands for the parameter, or
  // none: the inverse of parameter_of().
  std::optional<size_t> first_of(size_t parameter, size_t count) const;
  // Does the same for results.
  std::optional<size_t> first_result_of(size_t parameter, size_t count) const;
  // True if that operand is a seed. gt-emit adds one that was left out, and
  // copies of a seed on several ranks count as one number.
  bool is_seed(size_t parameter) const {
    return parameter < operands.size() && operands[parameter].name == "seed";
  }
};

// Returns the sets of Row::linear, each with a digit for each operand.
std::vector<std::string_view> linear_sets(const Op& op);

}  // namespace gt
