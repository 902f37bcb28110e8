#include "ops/suggest.h"

#include <strings.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/message.h"
#include "base/text.h"
#include "ops/part.h"
#include "ops/table.h"
#include "stream/dtype.h"
#include "stream/number_hint.h"
#include "stream/ranks.h"

namespace gt {
namespace {

constexpr std::string_view kLibraries[] = {"torch.", "numpy.", "jax."};

// True if the words are equal except for case and for the _ that PyTorch
// appends to names of functions that work in place, as in clip_grad_norm_.
bool is_same_word(std::string_view a, std::string_view b) {
  if (a.ends_with('_')) a.remove_suffix(1);
  if (b.ends_with('_')) b.remove_suffix(1);
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

std::string_view last_part(std::string_view name) {
  return name.substr(name.rfind('.') + 1);
}

// Returns the part of a Row::source, between its semicolons, in which a library
// calls something `word`; "" if there is none.
std::string_view clause_with(std::string_view source, std::string_view word) {
  while (!source.empty()) {
    const size_t end = std::min(source.find("; "), source.size());
    const std::string_view clause = source.substr(0, end);
    source.remove_prefix(std::min(end + 2, source.size()));
    for (std::string_view rest = clause; !rest.empty();) {
      const std::string_view name = take_word(rest, " ,");
      const bool is_library =
          std::any_of(std::begin(kLibraries), std::end(kLibraries),
                      [&](std::string_view l) { return name.starts_with(l); });
      if (is_library && is_same_word(last_part(name), word)) return clause;
    }
  }
  return "";
}

// Returns "; did you mean 'concat' (torch.cat)?", with the ops whose sources
// say that a library calls them `word`. With `other`, only ops other than that
// which take `given` operands.
std::string suggest_by_source(std::string_view word, const Op* other = nullptr,
                              size_t given = 0) {
  std::string found;
  for (const Op& op : all_ops()) {
    if (op.row->internal || &op == other) continue;
    if (other != nullptr && op.operands.size() != given) continue;
    const std::string_view clause = clause_with(op.row->source, word);
    if (clause.empty()) continue;
    found += (found.empty() ? "; did you mean '" : " or '") + op.name + "' (" +
             std::string(clause) + ")";
  }
  return found.empty() ? "" : found + "?";
}

// Returns the names that PyTorch or NumPy has for a key, from its sense: the
// "dim, dims" of "dimensions; PyTorch's dim, dims".
std::string_view names_elsewhere(const KeyRow& key) {
  const std::string_view sense = key.sense;
  for (const std::string_view library : {"PyTorch's ", "NumPy's "}) {
    const size_t at = sense.find(library);
    if (at == sense.npos) continue;
    const std::string_view names = sense.substr(at + library.size());
    return names.substr(0, names.find(';'));
  }
  return "";
}

bool is_called(const KeyRow& key, std::string_view word) {
  for (std::string_view names = names_elsewhere(key); !names.empty();) {
    if (take_word(names, " ,") == word) return true;
  }
  return false;
}

// Returns the first part of a key's sense, "dimensions, negative from the end".
std::string short_sense(const KeyRow& key) {
  const std::string_view sense = key.sense;
  return std::string(sense.substr(0, sense.find(';')));
}

// True if a key holds what other libraries take as numbers among the operands:
// dimensions, sizes, counts.
bool takes_numbers(const KeyRow& key) {
  using Kind = KeyRow::Kind;
  if (key.kind == Kind::kFlag) return false;
  return key.kind == Kind::kInteger || key.kind == Kind::kIntegers ||
         !names_elsewhere(key).empty();
}

// Returns the keys that numbers may be meant for: those that the op requires,
// or else all.
std::vector<const KeyRow*> keys_for_numbers(const Op& op) {
  std::vector<const KeyRow*> required, all;
  for (const KeyParameter& key : op.keys) {
    // A shape= that goes with split= is for lines with ranks.
    const bool of_pieces =
        key.row->name == std::string_view("shape") && !states_sizes(op);
    if (of_pieces || !takes_numbers(*key.row)) continue;
    all.push_back(key.row);
    if (key.required) required.push_back(key.row);
  }
  return required.empty() ? all : required;
}

// Returns the numbers of a line, joined by commas, if the line would have as
// many operands without them as its op takes; else "".
std::string numbers_beyond(const Line& line, const Op& op) {
  std::string numbers;
  size_t rest = line.operands.size();
  for (const Operand& operand : line.operands) {
    if (operand.kind != Operand::Kind::kNumber) continue;
    if (!numbers.empty()) numbers += ',';
    numbers += operand.text;
    --rest;
  }
  return rest == op.operands.size() ? numbers : "";
}

bool lacks_type(const Line& line, const Op& op) {
  if (op.operands.empty() || op.operands[0].role != Role::kType) return false;
  return std::none_of(
      line.operands.begin(), line.operands.end(),
      [](const Operand& o) { return o.kind == Operand::Kind::kType; });
}

// Returns "; lr is an operand, ..." if a key has the name of an operand.
std::string suggest_operand(const Op& op, std::string_view key) {
  const bool is_operand =
      std::any_of(op.operands.begin(), op.operands.end(),
                  [&](const Parameter& p) { return p.name == key; });
  if (!is_operand || op.key_index(key) >= 0) return "";
  return "; " + std::string(key) + " is an operand, not a key: its value " +
         "alone stands in its place";
}

bool names_op(const Operand& operand) {
  return operand.kind == Operand::Kind::kName && operand.ranks.empty() &&
         find_op(operand.text) != nullptr;
}

// True for the * of x * 2, which is parsed as a glob.
bool is_star(const Operand& operand) { return operand.text == "*"; }

// Returns why operand i cannot be a tensor's name, and what it might be; "" if
// it can.
std::string misread_name(const Line& line, size_t i) {
  const Op* op = find_op(line.op);
  if (op == nullptr) return "";
  const size_t count = std::max(op->operands.size(), line.operands.size());
  const size_t p = op->parameter_of(i, count);
  // Names are looked up before their number is checked, so a line may have more
  // operands than its op.
  if (p >= op->operands.size()) return "";
  const Parameter& parameter = op->operands[p];
  const std::string_view word = line.operands[i].text;
  if (parameter.role == Role::kString) {
    return "; a " + parameter.name + " stands in double quotes: \"" +
           excerpt(word) + "\"";
  }
  if (parameter.role != Role::kDtype) return "";
  if (const auto dtype = dtype_elsewhere(word)) {
    return "; did you mean '" + std::string(to_string(*dtype)) + "'?";
  }
  return "; dtypes are f32 f64 f16 bf16 i64 i32 u8 bool";
}

// Returns the ranks on which each name has pieces, ascending, from the names
// that hold something; a name without ranks has none.
std::map<std::string_view, std::vector<int64_t>> ranks_by_name(
    const std::vector<std::string_view>& known) {
  std::map<std::string_view, std::vector<int64_t>> all;
  for (const std::string_view full : known) {
    const std::string_view name = without_ranks(full);
    std::vector<int64_t>& ranks = all[name];
    if (name.size() == full.size()) continue;
    const auto some = parse_ranks(full.substr(name.size() + 1));
    if (!some.ok()) continue;
    ranks.insert(ranks.end(), some.value().begin(), some.value().end());
  }
  for (auto& [name, ranks] : all) {
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  }
  return all;
}

// Returns "; did you mean 'x1@0-1'?" for a name that is spelt alike, with the
// ranks on which that has pieces.
std::string suggest_name(
    std::string_view name,
    const std::map<std::string_view, std::vector<int64_t>>& known) {
  std::vector<std::string_view> names;
  for (const auto& [other, ranks] : known) names.push_back(other);
  const auto it = known.find(nearest(name, names));
  if (it == known.end()) return "";
  const std::string ranks = it->second.empty() ? "" : to_string(it->second);
  return "; did you mean '" + full_name(it->first, ranks) + "'?";
}

}  // namespace

std::string suggest_op(std::string_view word) {
  const std::string_view part = last_part(word);
  if (part.size() < word.size() && (part == "shape" || part == "size" ||
                                    part == "dtype" || part == "ndim")) {
    return "; shapes and dtypes are no values: they follow from the text, and "
           "print shows them";
  }
  const std::string guess = suggest_by_source(part);
  if (!guess.empty()) return guess;
  return did_you_mean(find_op(part) != nullptr ? part : word, op_names());
}

Error unknown_op(const Line& line) {
  std::string message = "unknown op '" + excerpt(line.op) + "'";
  const auto& operands = line.operands;
  const auto op = std::find_if(operands.begin(), operands.end(), names_op);
  if (line.results.empty() && op != operands.end()) {
    message += "; '=' is missing before '" + std::string(op->text) + "'";
  } else if (std::any_of(operands.begin(), operands.end(), is_star)) {
    message += "; an op is a word before its operands, as in y = mul a b";
  } else if (std::string guess = suggest_op(line.op); !guess.empty()) {
    message += guess;
  } else if (operands.empty() && !line.results.empty()) {
    message += "; a second name for a value is made by copy: " +
               std::string(line.results[0].text) + " = copy " +
               excerpt(line.op);
  } else {
    message += "; gt-emit --ops lists them";
  }
  return Error{std::move(message), line.op_column};
}

std::string suggest_form(const Line& line, const Op& op) {
  size_t given = line.operands.size();
  const bool fits = given <= op.operands.size() || op.is_variadic();
  if (fits && given >= op.least_operands()) return "";
  std::string hint = suggest_number_key(op, numbers_beyond(line, op));
  if (!hint.empty()) return hint;
  for (const Key& key : line.keys) {
    const std::string one = suggest_operand(op, key.key);
    if (one.empty()) continue;
    if (hint.empty()) hint = one;
    ++given;
  }
  if (given == op.operands.size()) return hint;
  if (lacks_type(line, op)) return "; the type is missing, such as f32[2,3]";
  return hint + suggest_by_source(op.name, &op, given);
}

std::string suggest_number_key(const Op& op, std::string_view numbers) {
  const std::vector<const KeyRow*> keys = keys_for_numbers(op);
  if (numbers.empty() || keys.empty()) return "";
  std::string hint = "; numbers stand in a key: ";
  if (keys.size() == 1 && keys[0]->kind != KeyRow::Kind::kText) {
    return hint + keys[0]->name + "=" + std::string(numbers);
  }
  for (const KeyRow* key : keys) {
    if (key != keys.front()) hint += " or ";
    hint += std::string(key->name) + "= (" + short_sense(*key) + ")";
  }
  return hint;
}

std::string suggest_key(const Op& op, std::string_view word) {
  std::vector<std::string_view> known;
  for (const KeyParameter& key : op.keys) {
    known.push_back(key.row->name);
    if (!is_called(*key.row, word)) continue;
    return "; did you mean '" + std::string(key.row->name) + "' (" +
           short_sense(*key.row) + ")?";
  }
  std::string guess = suggest_operand(op, word);
  if (guess.empty()) guess = did_you_mean(word, known);
  return guess.empty() ? "; usage: " + std::string(op.row->signature) : guess;
}

Error unknown_name(const Line& line, size_t i,
                   const std::vector<int64_t>& ranks,
                   const std::vector<std::string_view>& known) {
  const Operand& operand = line.operands[i];
  const std::string name(operand.text);
  const auto all = ranks_by_name(known);
  const auto it = all.find(operand.text);
  const bool lives = it != all.end();  // holds something, on any ranks
  const bool is_bare = lives && it->second.empty();
  const auto error = [&](const std::string& what) {
    return Error{std::string(line.op) + ": " + what, operand.column};
  };
  if (!lives || (is_bare && ranks.empty())) {
    const std::string full = full_name(name, operand.ranks);
    std::string hint(number_hint(name));
    if (hint.empty()) hint = misread_name(line, i);
    if (hint.empty()) hint = suggest_name(name, all);
    return error("unknown name '" + full + "'" + hint);
  }
  const std::string where =
      is_bare ? "; there is '" + name + "', without ranks"
              : "; it lives on " + full_name(name, to_string(it->second));
  if (ranks.empty()) return error("'" + name + "' is on ranks alone" + where);
  std::vector<int64_t> missing;
  for (const int64_t rank : ranks) {
    if (!std::binary_search(it->second.begin(), it->second.end(), rank)) {
      missing.push_back(rank);
    }
  }
  if (missing.empty()) missing = ranks;  // `known` was incomplete
  return error("'" + name + "' has no piece on rank" +
               (missing.size() == 1 ? " " : "s ") + to_string(missing) + where);
}

}  // namespace gt
