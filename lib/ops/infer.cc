// Infers result types from index terms and dtype rules; and helpers of type
// functions.
#include <algorithm>
#include <array>

#include "base/message.h"
#include "ops/call.h"
#include "ops/index_rule.h"
#include "ops/part.h"
#include "ops/shape_rules.h"
#include "ops/suggest.h"

namespace gt {
namespace {

struct Promotion {
  bool any = false;
  Dtype dtype = Dtype::kBool;
  void add(Dtype d) {
    dtype = any ? promote(dtype, d) : d;
    any = true;
  }
};

bool accepts(std::string_view word, Dtype d) {
  if (word == "float") return is_float(d);
  if (word == "int") return is_integer(d);
  if (word == "number") return d != Dtype::kBool;
  if (word == "bool") return d == Dtype::kBool;
  return true;
}

// Returns word number i of a comma list; the last one repeats.
std::string_view list_item(std::string_view list, size_t i) {
  for (; i > 0; --i) {
    const size_t comma = list.find(',');
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  return list.substr(0, list.find(','));
}

Status check_dtypes(const Call& call) {
  const std::string_view list = call.op->row->accepts;
  if (list == "any") return ok_status();
  // Beside floats an integer stands for one. Alone, or where its dtype is that
  // of the result, it would give integers.
  const bool is_first = std::string_view(call.op->row->dtype) == "first";
  const bool floats =
      std::ranges::any_of(call.arguments, [](const Argument& a) {
        return a.role == Role::kTensor && !a.absent && is_float(a.type.dtype);
      });
  size_t tensor = 0;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const Argument& a = call.arguments[i];
    if (a.role != Role::kTensor) continue;
    const std::string_view word = list_item(list, tensor++);
    const bool integer =
        a.literal && word == "float" && a.type.dtype == Dtype::kI64;
    const bool stands = integer && floats && !(is_first && i == 0);
    if (a.absent || stands || accepts(word, a.type.dtype)) continue;
    const std::string wanted = word == "int"     ? "integers"
                               : word == "float" ? "floats"
                               : word == "bool"  ? "bool"
                                                 : "numbers, not bool";
    return Error{call.describe(i) + " must hold " + wanted +
                 (integer ? "; write " + std::string(a.text) + ".0"
                          : "; cast it first")};
  }
  return ok_status();
}

// Returns the index term of argument i, a tensor; null if the op has none.
const Term* term_of(const Call& call, size_t i) {
  const Op& op = *call.op;
  if (op.operand_terms.empty()) return nullptr;
  const size_t parameter = op.parameter_of(i, call.arguments.size());
  size_t tensor = 0;
  for (size_t p = 0; p < parameter; ++p) {
    if (op.operands[p].role == Role::kTensor) ++tensor;
  }
  return &op.operand_terms[tensor];
}

// Checks numbers in the place of tensors. A number may stand where the index
// term has no letters, but not as the operand of an alias, since it has no
// name.
Status check_literals(const Call& call) {
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (!call.arguments[i].literal) continue;
    const Term* term = term_of(call, i);
    if (term != nullptr && term->letters.empty() && !call.op->row->alias) {
      continue;
    }
    return Error{
        "expected a tensor's name, got number " +
        std::string(call.arguments[i].text) +
        (i > 0 ? suggest_number_key(*call.op, call.arguments[i].text) : "")};
  }
  return ok_status();
}

// The sizes that letters are bound to while terms are matched.
struct Binding {
  std::array<int64_t, 26> size;
  std::array<size_t, 26> from;  // argument that bound the letter
  Shape broadcast_dims;
  Binding() { size.fill(-1); }
};

Shape lead_of(const Call& call, size_t i) {
  const Shape& shape = call.type(i).shape;
  const size_t letters = term_of(call, i)->letters.size();
  return Shape(std::span<const int64_t>(
      shape.begin(), shape.size() - std::min(letters, shape.size())));
}

Error broadcast_error(const Call& call, size_t i) {
  size_t other = 0;
  for (size_t j = 0; j < i; ++j) {
    const Argument& a = call.arguments[j];
    if (a.role != Role::kTensor || a.absent) continue;
    other = j;
    if (!broadcast(lead_of(call, j), lead_of(call, i))) break;
  }
  return Error{call.describe(other) + " and " + call.describe(i) +
               " do not broadcast"};
}

Error rank_error(const Call& call, size_t i, const Term& term) {
  const size_t letters = term.letters.size();
  if (term.is_scalar()) {
    return Error{call.describe(i) + " must be a scalar or a number"};
  }
  return Error{call.describe(i) + " must have " +
               (term.broadcast ? "at least " : "") + std::to_string(letters) +
               " dimension" + (letters == 1 ? "" : "s")};
}

Error size_error(const Call& call, char letter, size_t i, size_t j, int64_t m,
                 int64_t n) {
  const std::vector<Term>& terms = call.op->result_terms;
  const bool kept = std::any_of(terms.begin(), terms.end(), [&](const Term& t) {
    return t.letters.find(letter) != std::string::npos;
  });
  return Error{call.describe(i) + " and " + call.describe(j) + ": " +
               (kept ? "" : "inner ") + "sizes " + std::to_string(m) + " and " +
               std::to_string(n) + " differ"};
}

Status match_term(const Call& call, size_t i, const Term& term, Binding& b) {
  const Shape& shape = call.type(i).shape;
  const size_t letters = term.letters.size();
  if (shape.size() < letters || (!term.broadcast && shape.size() > letters)) {
    return rank_error(call, i, term);
  }
  const size_t lead = shape.size() - letters;
  if (term.broadcast) {
    const auto joined = broadcast(b.broadcast_dims, lead_of(call, i));
    if (!joined) return broadcast_error(call, i);
    b.broadcast_dims = *joined;
  }
  const bool exchanged = is_exchanged(call, i);
  for (size_t k = 0; k < letters; ++k) {
    const char letter = term.letters[k];
    const int64_t size = shape[exchanged ? shape.size() - 1 - k : lead + k];
    int64_t& bound = b.size[static_cast<size_t>(letter - 'a')];
    size_t& from = b.from[static_cast<size_t>(letter - 'a')];
    if (bound < 0) {
      bound = size;
      from = i;
    } else if (bound != size) {
      return size_error(call, letter, from, i, bound, size);
    }
  }
  return ok_status();
}

Status match_terms(const Call& call, Binding& b) {
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const Argument& a = call.arguments[i];
    if (a.role != Role::kTensor || a.absent) continue;
    const Status s = match_term(call, i, *term_of(call, i), b);
    if (!s.ok()) return s;
  }
  return ok_status();
}

// Returns the type of the operand with the result's name, if there is one.
const Type* type_of_operand(const Call& call, const std::string& name) {
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const size_t p = call.op->parameter_of(i, call.arguments.size());
    if (call.op->operands[p].name == name) return &call.arguments[i].type;
  }
  return nullptr;
}

Dtype result_dtype(const Call& call) {
  const std::string_view rule = call.op->row->dtype;
  if (rule == "bool") return Dtype::kBool;
  if (rule == "i64") return Dtype::kI64;
  if (rule == "first") return call.type(0).dtype;
  const Dtype joined = promote(call.arguments);
  if (rule == "float" && !is_float(joined)) return Dtype::kF32;
  if (rule == "sum" && !is_float(joined)) return Dtype::kI64;
  return joined;
}

}  // namespace

Status infer_by_terms(Call& call) {
  Binding b;
  if (const Status s = match_terms(call, b); !s.ok()) return s;
  for (size_t r = 0; r < call.result_count; ++r) {
    const size_t p = call.op->result_parameter_of(r, call.result_count);
    if (const Type* same = type_of_operand(call, call.op->results[p].name)) {
      call.results.push_back(*same);
      continue;
    }
    const Term& term = call.op->result_terms[p];
    Type type{result_dtype(call), {}};
    if (term.broadcast) type.shape = b.broadcast_dims;
    for (const char letter : term.letters) {
      if (Status s = need_rank(type.shape.size() + 1); !s.ok()) return s;
      type.shape.push_back(b.size[static_cast<size_t>(letter - 'a')]);
    }
    call.results.push_back(type);
  }
  return ok_status();
}

Dtype promote(Dtype a, Dtype b) {
  if (a == b) return a;
  const DtypeTraits &x = traits(a), &y = traits(b);
  if (x.kind != y.kind) return x.kind > y.kind ? a : b;
  if (x.size != y.size) return x.size > y.size ? a : b;
  return x.computed;  // f16 with bf16 gives f32
}

Dtype promote(std::span<const Argument> arguments) {
  Promotion dimensioned, scalar, literal;
  for (const Argument& a : arguments) {
    if (a.role != Role::kTensor || a.absent) continue;
    if (a.literal) {
      // A literal alone has PyTorch's default dtypes.
      literal.add(is_float(a.type.dtype) ? Dtype::kF32 : a.type.dtype);
    } else {
      (a.type.shape.empty() ? scalar : dimensioned).add(a.type.dtype);
    }
  }
  Promotion out = dimensioned;
  for (const Promotion& weaker : {scalar, literal}) {
    if (!weaker.any) continue;
    if (!out.any || traits(weaker.dtype).kind > traits(out.dtype).kind) {
      out.add(weaker.dtype);
    }
  }
  return out.dtype;
}

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape out = longer;
  const size_t lead = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    const int64_t x = longer[lead + i];
    const int64_t y = shorter[i];
    if (x != y && x != 1 && y != 1) return std::nullopt;
    out[lead + i] = x == 1 ? y : x;
  }
  return out;
}

int64_t normal_axis(int64_t axis, size_t rank) {
  const auto n = static_cast<int64_t>(rank);
  if (axis < -n || axis >= n) return -1;
  return axis < 0 ? axis + n : axis;
}

Status infer(Call& call) {
  call.results.clear();
  if (const Status s = check_literals(call); !s.ok()) return s;
  if (const Status s = check_dtypes(call); !s.ok()) return s;
  const auto types = call.op->row->types;
  const Status s = types != nullptr ? types(call) : infer_by_terms(call);
  if (!s.ok()) return s;
  if (types == nullptr && std::string_view(call.op->row->dtype) == "promote") {
    if (const Status fits = need_held_numbers(call); !fits.ok()) return fits;
  }
  GT_CHECK(call.results.size() == call.result_count);
  if (call.has_key("part")) {
    if (const auto part = part_of(call); !part.ok()) return part.error();
  }
  for (const Type& type : call.results) {
    if (const Status fits = check_size(type); !fits.ok()) return fits;
  }
  return ok_status();
}

std::string_view Call::key(std::string_view name) const {
  const int index = op->key_index(name);
  return index < 0 ? std::string_view{}
                   : key_values[static_cast<size_t>(index)];
}

int64_t Call::integer(std::string_view name) const {
  const auto n = parse_number(key(name));
  return n ? n->integer : 0;
}

double Call::number(std::string_view name) const {
  const auto n = parse_number(key(name));
  return n ? n->real : 0;
}

std::vector<int64_t> Call::integers(std::string_view name) const {
  const auto list = parse_integers(unquote(key(name)), true);
  return list.ok() ? list.value() : std::vector<int64_t>{};
}

std::string Call::describe(size_t i) const {
  const Argument& a = arguments[i];
  if (a.literal) return "number " + excerpt(a.text);
  return excerpt(a.text) + " " + to_string(a.type);
}

namespace {

// Binds the letters of a result's term that are marked whole and that no
// operand bound: the elements of a window, each of which has its own sum.
void bind_whole_letters(const Term& term, const Shape& shape, Binding& b) {
  if (term.broadcast || term.letters.size() != shape.size()) return;
  for (size_t k = 0; k < shape.size(); ++k) {
    int64_t& size = b.size[static_cast<size_t>(term.letters[k] - 'a')];
    if (size < 0 && term.whole[k]) size = shape[k];
  }
}

}  // namespace

// Keys such as heads= may change the shapes, so that operands do not fit the
// row's terms. Then the terms do not tell the size of the index space, and the
// elements of the results are a lower bound. They are the size of an op that
// reads no tensor but scalars, such as randn. Where a function of the row says
// what the shapes are, an operand whose term has no letter of its own, such as
// the mask of attention, may fit its term by chance, and is left out.
double flops(const Call& call) {
  if (call.op->row->flops == 0 || call.op->operand_terms.empty()) return 0;
  // The common case is computed without looking at each dimension. It needs an
  // operand that broadcasts, which an op that creates values does not have.
  const auto has_no_letters = [](const Term& t) { return t.letters.empty(); };
  const bool is_pointwise =
      call.results.size() == 1 &&
      std::ranges::any_of(call.op->operand_terms, &Term::broadcast) &&
      std::ranges::all_of(call.op->operand_terms, has_no_letters) &&
      std::ranges::all_of(call.op->result_terms, has_no_letters);
  if (is_pointwise) {
    return static_cast<double>(call.results[0].elements()) *
           call.op->row->flops;
  }
  Binding b;
  bool fits = true;
  bool has_shapes = false;  // scalars, such as the seed of randn, have none
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const Argument& a = call.arguments[i];
    if (a.role != Role::kTensor || a.absent) continue;
    const Term& term = *term_of(call, i);
    const auto is_new = [&](char letter) {
      return b.size[static_cast<size_t>(letter - 'a')] < 0;
    };
    if (i > 0 && call.op->row->types != nullptr &&
        std::ranges::none_of(term.letters, is_new)) {
      continue;
    }
    Binding with = b;
    const bool is_term = match_term(call, i, term, with).ok();
    if (is_term) b = with;
    fits = fits && is_term;
    has_shapes = has_shapes || term.broadcast || !term.letters.empty();
  }
  for (size_t r = 0; r < call.results.size(); ++r) {
    const size_t p = call.op->result_parameter_of(r, call.results.size());
    bind_whole_letters(call.op->result_terms[p], call.results[r].shape, b);
  }
  auto n = static_cast<double>(b.broadcast_dims.elements());
  for (const int64_t size : b.size) {
    if (size >= 0) n *= static_cast<double>(size);
  }
  double least = 0;
  for (const Type& t : call.results) least += static_cast<double>(t.elements());
  return (fits && has_shapes ? n : std::max(n, least)) * call.op->row->flops;
}

double bytes_read(const Call& call, size_t argument) {
  const Type& type = call.arguments[argument].type;
  const auto all = static_cast<double>(type.bytes());
  const Row& row = *call.op->row;
  const bool only_moves = row.flops == 0 && !call.results.empty() &&
                          row.collective == Collective::kNone;
  if (!only_moves) return all;
  double written = 0;  // elements
  for (const Type& t : call.results) {
    written += static_cast<double>(t.elements());
  }
  const auto elements = static_cast<double>(type.elements());
  return elements > written ? all * (written / elements) : all;
}

double bytes(const Call& call) {
  double sum = 0;
  if (call.op->row->alias) return sum;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const Argument& a = call.arguments[i];
    if (a.role != Role::kTensor || a.absent || a.literal) continue;
    sum += bytes_read(call, i);
  }
  for (const Type& type : call.results) {
    sum += static_cast<double>(type.bytes());
  }
  return sum;
}

}  // namespace gt
