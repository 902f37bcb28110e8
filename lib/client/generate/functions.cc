#include "client/generate/functions.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include "base/text.h"
#include "ops/table.h"

namespace gt::client {

// Some statements of the language are no ops of a client, and tensor.h has some
// ops by hand since their operands are of several kinds.
bool is_function(const Op& op) {
  static const std::set<std::string_view> by_hand = {"tensor", "slice"};
  const Row& row = *op.row;
  return !row.internal && !row.needs_ranks() &&
         (row.statement == Statement::kCompute ||
          row.statement == Statement::kLoad ||
          row.statement == Statement::kGrad) &&
         by_hand.count(op.name) == 0;
}

// Returns the function's name in C++: another one if the op's name is a
// keyword.
static std::string function_name(const std::string& op) {
  static const std::set<std::string_view> words = {"and", "or", "not"};
  return words.count(op) == 0 ? op : "logical_" + op;
}

std::string options_name(const std::string& function) {
  std::string out;
  bool is_upper = true;
  for (const char c : function) {
    if (c == '_') {
      is_upper = true;
    } else {
      out += is_upper ? static_cast<char>(std::toupper(c)) : c;
      is_upper = false;
    }
  }
  return out + "Options";
}

// True if the operand may also be a number, which its index term says.
static bool takes_number(const Op& op, size_t operand) {
  size_t term = 0;
  for (size_t i = 0; i < operand; ++i) {
    term += op.operands[i].role == Role::kTensor;
  }
  return term < op.operand_terms.size() &&
         op.operand_terms[term].letters.empty();
}

static Argument operand_of(const Op& op, size_t i) {
  const Parameter& parameter = op.operands[i];
  Argument out;
  out.name = parameter.name;
  out.is_optional = parameter.optional;
  out.is_variadic = parameter.variadic;
  out.add = "call.add(" + out.name + ");";
  switch (parameter.role) {
    case Role::kTensor:
      out.is_tensor = true;
      out.type = parameter.variadic    ? "const std::vector<Tensor>&"
                 : takes_number(op, i) ? "const Input&"
                                       : "const Tensor&";
      break;
    case Role::kType:
      out.type = "const Type&";
      break;
    case Role::kDtype:
      out.type = "Dtype";
      break;
    case Role::kString:
      out.type = "const std::string&";
      out.add = "call.add_text(GT_STRING, " + out.name + ");";
      break;
    default:
      out.type = "const Input&";
  }
  return out;
}

// True for keys that say how a line's pieces are placed on ranks: gt-shard sets
// them, not a user.
static bool is_for_ranks(const Op& op, const KeyParameter& key) {
  const std::string_view name = key.row->name;
  if (name == "split" || name == "part") return true;
  return name == "shape" && !key.required && op.key_index("part") >= 0;
}

bool takes_dtype(const KeyRow& row) {
  const std::vector<std::string_view> words = words_of(row.words);
  return row.kind == KeyRow::Kind::kWord &&
         std::ranges::all_of(words, [](std::string_view word) {
           return parse_dtype(word).has_value();
         });
}

std::string dtype_name(std::string_view dtype) {
  return dtype == "bool" ? "gt::boolean" : "gt::" + std::string(dtype);
}

static std::string key_type(const KeyRow& row) {
  switch (row.kind) {
    case KeyRow::Kind::kFlag:
      return "bool";
    case KeyRow::Kind::kInteger:
      return "int64_t";
    case KeyRow::Kind::kNumber:
      return "double";
    case KeyRow::Kind::kIntegers:
      return "List";
    case KeyRow::Kind::kWord:
      return takes_dtype(row) ? "Dtype" : "std::string_view";
    default:
      return "List";  // transpose's axes
  }
}

static std::string key_value(const KeyRow& row, const std::string& fallback) {
  switch (row.kind) {
    case KeyRow::Kind::kFlag:
      return fallback == "1" ? "true" : "false";
    case KeyRow::Kind::kWord:
      if (takes_dtype(row)) return dtype_name(fallback);
      return "\"" + fallback + "\"";
    case KeyRow::Kind::kInteger:
    case KeyRow::Kind::kNumber:
      return fallback;
    default:
      return fallback.empty() ? "" : "{" + fallback + "}";
  }
}

static void add_key(Function& f, const KeyParameter& key) {
  const KeyRow& row = *key.row;
  const std::string name = row.name;
  const std::string type = key_type(row);
  if (key.required) {
    const bool is_list = type == "List";
    f.required.push_back({is_list ? "const List&" : type, name,
                          "call.key(\"" + name + "\", " + name + ");"});
    return;
  }
  const std::string sense = "  // " + std::string(row.sense) + "\n";
  const std::string write = "call.key(\"" + name + "\", ";
  const std::string fallback = key_value(row, key.fallback);
  if (type == "List") {
    f.options.push_back(sense + "  List " + name +
                        (fallback.empty() ? "{}" : fallback) + ";\n");
    const std::string differs = fallback.empty()
                                    ? "!options." + name + ".empty()"
                                    : "options." + name + " != List" + fallback;
    f.writes.push_back("if (" + differs + ") " + write + "options." + name +
                       ");");
  } else if (key.fallback.empty()) {
    f.options.push_back(sense + "  std::optional<" + type + "> " + name +
                        "{};\n");
    f.writes.push_back("if (options." + name + ") " + write + "*options." +
                       name + ");");
  } else {
    f.options.push_back(sense + "  " + type + " " + name + " = " + fallback +
                        ";\n");
    f.writes.push_back("if (options." + name + " != " + fallback + ") " +
                       write + "options." + name + ");");
  }
}

Function function_of(const Op& op) {
  Function out;
  out.op = &op;
  out.name = function_name(op.name);
  for (size_t i = 0; i < op.operands.size(); ++i) {
    out.operands.push_back(operand_of(op, i));
  }
  for (const KeyParameter& key : op.keys) {
    if (!is_for_ranks(op, key)) add_key(out, key);
  }
  return out;
}

// ---- forms of a function ----------------------------------------------------

std::vector<const Argument*> operands_of(const Form& form) {
  std::vector<const Argument*> out;
  size_t optional = form.optional;
  for (const Argument& operand : form.function->operands) {
    if (operand.is_optional && optional-- == 0) break;
    out.push_back(&operand);
  }
  // Adds the required operands behind optional ones that are left out, as lr in
  // "w g [v] lr".
  bool is_behind = false;
  for (const Argument& operand : form.function->operands) {
    const bool is_in = std::find(out.begin(), out.end(), &operand) != out.end();
    is_behind = is_behind || !is_in;
    if (is_behind && !is_in && !operand.is_optional) out.push_back(&operand);
  }
  return out;
}

// A form has an optional result only if it has the operand of that name.
std::vector<std::string> results_of(const Form& form) {
  std::vector<std::string> out;
  const auto operands = operands_of(form);
  for (const Parameter& result : form.function->op->results) {
    const bool is_given =
        std::any_of(operands.begin(), operands.end(),
                    [&](const Argument* a) { return a->name == result.name; });
    if (!result.optional || is_given) out.push_back(result.name);
  }
  return out;
}

bool has_variadic_result(const Function& f) {
  return !f.op->results.empty() && f.op->results[0].variadic;
}

static bool has_variadic_operand(const Function& f) {
  return std::any_of(f.operands.begin(), f.operands.end(),
                     [](const Argument& a) { return a.is_variadic; });
}

// The argument `parts` gives the number of results if no operand does, as for
// split.
bool counts_parts(const Function& f) {
  return has_variadic_result(f) && !has_variadic_operand(f);
}

// A result can overwrite the operand that it is named after, or else the first
// operand, if the op keeps its shape and dtype.
std::vector<int> places_of(const Form& form) {
  const auto operands = operands_of(form);
  std::vector<int> out;
  for (const std::string& result : results_of(form)) {
    int place = -1;
    for (size_t i = 0; i < operands.size(); ++i) {
      const bool is_held = operands[i]->type == "const Tensor&" ||
                           operands[i]->type == "const Input&";
      if (operands[i]->name == result && is_held) place = static_cast<int>(i);
    }
    out.push_back(place);
  }
  const Op& op = *form.function->op;
  const bool is_alike =
      out.size() == 1 && out[0] < 0 && !operands.empty() &&
      operands[0]->is_tensor && !operands[0]->is_variadic &&
      !op.operand_terms.empty() && !op.result_terms.empty() &&
      op.operand_terms[0].letters == op.result_terms[0].letters &&
      op.operand_terms[0].broadcast == op.result_terms[0].broadcast &&
      std::string_view(op.row->dtype) != "bool" &&
      std::string_view(op.row->dtype) != "i64";
  if (is_alike) out[0] = 0;
  return out;
}

static bool can_be_in_place(const Form& form) {
  const auto places = places_of(form);
  return !has_variadic_result(*form.function) && !places.empty() &&
         std::all_of(places.begin(), places.end(),
                     [](int place) { return place >= 0; });
}

std::vector<Form> forms_of(const Function& f, bool is_method) {
  std::vector<Form> out;
  const auto optional = static_cast<size_t>(
      std::count_if(f.operands.begin(), f.operands.end(),
                    [](const Argument& a) { return a.is_optional; }));
  for (size_t n = 0; n <= optional; ++n) {
    const Form form{&f, n, is_method, false};
    out.push_back(form);
    Form in_place = form;
    in_place.is_in_place = true;
    const bool is_bound_method =
        !is_method || (can_be_in_place(form) && places_of(form).size() == 1 &&
                       places_of(form)[0] == 0);
    if (can_be_in_place(form) && is_bound_method) out.push_back(in_place);
  }
  return out;
}

bool is_method(const Function& f) {
  return f.op->row->statement == Statement::kCompute && !f.operands.empty() &&
         f.operands[0].is_tensor && !f.operands[0].is_variadic &&
         !f.operands[0].is_optional;
}

}  // namespace gt::client
