#include "ops/row_parser.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "ops/table.h"

namespace gt {
namespace {

[[noreturn]] void bad_row(const Row& row, const std::string& why) {
  const std::string text = std::string(row.signature) + ": " + why;
  check_failed("the op table", 0, text.c_str());
}

std::vector<std::string> copied(const std::vector<std::string_view>& words) {
  return {words.begin(), words.end()};
}

bool strip_brackets(std::string& word) {
  if (word.size() < 2 || word.front() != '[' || word.back() != ']') {
    return false;
  }
  word = word.substr(1, word.size() - 2);
  return true;
}

Role role_of(std::string_view word) {
  if (word == "type") return Role::kType;
  if (word == "dtype") return Role::kDtype;
  if (word == "path" || word == "message") return Role::kString;
  if (word == "range") return Role::kRange;
  if (word == "number") return Role::kNumber;
  if (word == "any") return Role::kAny;
  return Role::kTensor;
}

Parameter parse_parameter(std::string word) {
  Parameter p;
  p.optional = strip_brackets(word);
  if (word.ends_with("...")) {
    p.variadic = true;
    word.resize(word.size() - 3);
  }
  p.name = word;
  p.role = role_of(word);
  return p;
}

void parse_key(const Row& row, std::string word, Op& op) {
  KeyParameter key;
  const bool optional = strip_brackets(word);
  const size_t equals = word.find('=');
  key.row = find_key(word.substr(0, equals));
  if (key.row == nullptr) bad_row(row, "no such key in keys.cc: " + word);
  key.fallback = word.substr(equals + 1);
  key.required = !optional && key.fallback.empty();
  op.keys.push_back(key);
}

void parse_signature(const Row& row, Op& op) {
  std::vector<std::string> words = copied(words_of(row.signature));
  const auto equals = std::find(words.begin(), words.end(), "=");
  size_t at = 0;
  if (equals != words.end()) {
    for (; words[at] != "="; ++at) {
      op.results.push_back(parse_parameter(words[at]));
    }
    ++at;
  }
  if (at == words.size()) bad_row(row, "no op");
  op.name = words[at++];
  for (; at < words.size(); ++at) {
    if (words[at].find('=') != std::string::npos) {
      parse_key(row, words[at], op);
    } else {
      op.operands.push_back(parse_parameter(words[at]));
    }
  }
}

Term parse_term(const Row& row, std::string_view text) {
  Term term;
  if (text.starts_with("...")) {
    term.broadcast = true;
    text.remove_prefix(3);
  }
  for (const char c : text) {
    if (c == '!' && !term.letters.empty()) {
      term.whole.back() = true;
    } else if (std::islower(static_cast<unsigned char>(c)) != 0) {
      term.letters += c;
      term.whole.push_back(false);
    } else {
      bad_row(row, "bad index term");
    }
  }
  return term;
}

std::vector<Term> parse_terms(const Row& row, std::string_view text) {
  std::vector<Term> terms;
  size_t at = 0;
  while (true) {
    const size_t comma = std::min(text.find(',', at), text.size());
    terms.push_back(parse_term(row, text.substr(at, comma - at)));
    if (comma == text.size()) return terms;
    at = comma + 1;
  }
}

void parse_index(const Row& row, Op& op) {
  const std::string_view text = row.index;
  const size_t arrow = text.find("->");
  if (arrow == std::string_view::npos) {
    if (!text.empty()) bad_row(row, "index without ->");
    return;
  }
  op.operand_terms = parse_terms(row, text.substr(0, arrow));
  op.result_terms = parse_terms(row, text.substr(arrow + 2));
  const auto tensors = static_cast<size_t>(std::count_if(
      op.operands.begin(), op.operands.end(),
      [](const Parameter& p) { return p.role == Role::kTensor; }));
  if (tensors > 0 && op.operand_terms.size() != tensors) {
    bad_row(row, "index and signature differ in tensor operands");
  }
  if (!op.results.empty() && op.result_terms.size() != op.results.size()) {
    bad_row(row, "index and signature differ in results");
  }
}

TextLine parse_text_line(const Row& row, std::string text) {
  TextLine line;
  if (text.front() == '[') {
    const size_t close = text.find(']');
    if (close == std::string::npos) bad_row(row, "guard without ]");
    line.guards = copied(words_of(std::string_view(text).substr(1, close - 1)));
    text = text.substr(close + 1);
  }
  std::vector<std::string> words = copied(words_of(text));
  size_t at = 0;
  while (at < words.size() && words[at] != "=") {
    line.results.push_back(words[at++]);
  }
  if (at + 1 >= words.size()) bad_row(row, "bad text line: " + text);
  line.op = words[++at];
  for (++at; at < words.size(); ++at) {
    const std::string& word = words[at];
    const size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {  // "=w" is a result
      line.operands.push_back(word);
    } else {
      line.keys.emplace_back(word.substr(0, equals), word.substr(equals + 1));
    }
  }
  return line;
}

std::vector<TextLine> parse_text(const Row& row, std::string_view text) {
  std::vector<TextLine> lines;
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    const size_t first = line.find_first_not_of(' ');
    if (first != std::string_view::npos) {
      lines.push_back(parse_text_line(row, std::string(line.substr(first))));
    }
    at = end + 1;
  }
  return lines;
}

}  // namespace

std::string_view name_in(const Row& row) {
  std::string_view rest = row.signature;
  if (const size_t equals = rest.find(" = ");
      equals != std::string_view::npos) {
    rest.remove_prefix(equals + 3);
  }
  return rest.substr(0, rest.find(' '));
}

Op parse_row(const Row& row) {
  Op op;
  op.row = &row;
  parse_signature(row, op);
  parse_index(row, op);
  op.gradient = parse_text(row, row.gradient);
  op.expansion = parse_text(row, row.expansion);
  return op;
}

}  // namespace gt
