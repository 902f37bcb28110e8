#include "stream/line.h"

#include <algorithm>

#include "base/message.h"
#include "base/odd_blank.h"
#include "base/printable.h"
#include "base/text.h"
#include "stream/char_class.h"
#include "stream/number_hint.h"
#include "stream/ranks.h"

namespace gt {
namespace {

constexpr std::string_view kBlanks = "; write blanks around '='";

size_t ident_length(std::string_view text) {
  if (text.empty() || !has_class(text[0], kIdentFirst)) return 0;
  size_t n = 1;
  while (n < text.size() && has_class(text[n], kIdentRest)) ++n;
  return n;
}

constexpr size_t kLongLine = size_t{1} << 20;

// Splits one line. Each step leaves at_ at the next field.
class Parser {
 public:
  Parser(std::string_view text, Line& line) : text_(text), line_(line) {}

  Status parse() {
    line_.kind = Line::Kind::kBlank;
    line_.results.clear();
    line_.operands.clear();
    if (text_.size() > kLongLine) reserve_operands();
    line_.keys.clear();
    line_.notes.clear();
    line_.op = line_.remark = {};
    skip_blanks();
    if (at_ == text_.size()) return ok_status();
    if (text_[at_] == '#') {
      line_.kind = Line::Kind::kComment;
      line_.remark = text_.substr(at_);
      return ok_status();
    }
    line_.kind = Line::Kind::kInstruction;
    if (!parse_head() || !parse_fields()) return error_;
    return ok_status();
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }

  bool fail(size_t at, std::string message) {
    error_ = Error{std::move(message), at + 1};
    return false;
  }

  // Returns the field at at_, up to the next blank; quotes may hold blanks.
  std::string_view field() const {
    size_t end = at_;
    bool quoted = false;
    while (end < text_.size() && (quoted || !is_blank(text_[end]))) {
      if (text_[end] == '"') quoted = !quoted;
      if (quoted && text_[end] == '\\') ++end;
      ++end;
    }
    return text_.substr(at_, std::min(end, text_.size()) - at_);
  }

  // Parses the results and "=", if there are any, then the op.
  bool parse_head() {
    const size_t equals = find_equals();
    if (equals != std::string_view::npos) {
      while (at_ < equals) {
        const std::string_view word = field();
        Name name;
        if (!parse_name(word, at_, name)) return false;
        line_.results.push_back(name);
        at_ += word.size();
        skip_blanks();
      }
      if (line_.results.empty()) {
        return fail(at_, "'=' without a name before it");
      }
      ++at_;
      skip_blanks();
    }
    const std::string_view word = field();
    line_.op = word;
    line_.op_column = static_cast<uint32_t>(at_ + 1);
    if (word.empty()) return fail(at_, "an op is missing after '='");
    if (ident_length(word) != word.size()) {
      if (!check_blanks(word, at_)) return false;
      const size_t sign = word.find('=');
      const bool assign = sign != std::string_view::npos;
      // The intent is clear, so the name is bound to a failure and does not
      // keep its old value.
      if (assign && line_.results.empty() && is_name(word.substr(0, sign))) {
        line_.results.push_back(
            {word.substr(0, sign), {}, static_cast<uint32_t>(at_ + 1)});
      }
      return fail(at_, "'" + excerpt(word) + "' is not an op" +
                           std::string(assign ? kBlanks : hint_of(word)));
    }
    at_ += word.size();
    return true;
  }

  // Returns the position of the first field that is "=", unless a field before
  // it cannot be a result.
  size_t find_equals() const {
    for (size_t i = at_; i < text_.size(); ++i) {
      const char c = text_[i];
      if (c == '=' && i > at_ && is_blank(text_[i - 1]) &&
          (i + 1 == text_.size() || is_blank(text_[i + 1]))) {
        return i;
      }
      if (c == '=' && i == at_) return i;
      if (c == '"' || c == '#' || c == '=') break;
    }
    return std::string_view::npos;
  }

  bool parse_fields() {
    for (;;) {
      const size_t before = at_;
      skip_blanks();
      if (at_ == text_.size()) return true;
      if (at_ == before) return fail(at_, "a blank is missing here");
      if (text_[at_] == '#') {
        if (!parse_note_or_remark()) return false;
      } else if (!line_.notes.empty()) {
        return fail(at_, "operands and keys stand before the notes");
      } else if (!parse_operand_or_key()) {
        return false;
      }
    }
  }

  bool parse_note_or_remark() {
    if (at_ + 1 == text_.size() || is_blank(text_[at_ + 1])) {
      line_.remark = text_.substr(at_);
      at_ = text_.size();
      return true;
    }
    const std::string_view word = field();
    const std::string_view body = word.substr(1);
    const size_t n = ident_length(body);
    if (n == 0 || (n < body.size() && body[n] != '=')) {
      return fail(at_, "'" + excerpt(word) +
                           "' is not a note; a note is #key or #key=value, a "
                           "remark has a blank after '#'");
    }
    Note note{body.substr(0, n), n < body.size() ? body.substr(n + 1) : ""};
    if (n < body.size() && !check_value(note.value, at_ + n + 2)) return false;
    line_.notes.push_back(note);
    at_ += word.size();
    return true;
  }

  bool parse_operand_or_key() {
    const char c = text_[at_];
    if (c == '"') return parse_string();
    // Names are by far the most common field.
    const size_t n = ident_length(text_.substr(at_));
    const size_t after = at_ + n;
    const bool ends = after == text_.size() || is_blank(text_[after]);
    if (n > 0 && ends) {
      const std::string_view word = text_.substr(at_, n);
      if (is_reserved(word)) return parse_plain(word);
      return push(Operand::Kind::kName, word);
    }
    if (n > 0 && text_[after] == '=') return parse_key(n);
    // A literal has very many numbers, so each is looked at once.
    if (const size_t length = number_length_here(); length > 0) {
      return push(Operand::Kind::kNumber, text_.substr(at_, length));
    }
    return parse_plain(field());
  }

  // Returns the length of the field if it is a number that does not begin with
  // a letter; else 0.
  size_t number_length_here() const {
    if (!has_class(text_[at_], kNumberFirst)) return 0;
    const size_t length = number_length(text_.substr(at_));
    const size_t after = at_ + length;
    return after == text_.size() || is_blank(text_[after]) ? length : 0;
  }

  bool parse_key(size_t n) {
    const std::string_view word = field();
    Key key{word.substr(0, n), word.substr(n + 1),
            static_cast<uint32_t>(at_ + 1)};
    if (!check_value(key.value, at_ + n + 1)) return false;
    for (const Key& other : line_.keys) {
      if (other.key == key.key) {
        return fail(at_, "key '" + std::string(key.key) + "' stands twice");
      }
    }
    line_.keys.push_back(key);
    at_ += word.size();
    return true;
  }

  // A value is one quoted string or a word without quotes and '#'.
  bool check_value(std::string_view value, size_t at) {
    if (value.empty()) return fail(at, "a value is missing after '='");
    if (value[0] == '"') return check_string(value, at);
    const size_t bad = value.find_first_of("\"#");
    if (bad != std::string_view::npos) {
      return fail(at + bad, "a value with quotes or '#' in it must be quoted");
    }
    return check_printable(value, at);
  }

  bool check_printable(std::string_view text, size_t at) {
    for (size_t i = 0; i < text.size(); ++i) {
      if (!is_control(text[i])) continue;
      return fail(at + i,
                  "control byte " + std::to_string(text[i]) + " in the line");
    }
    return true;
  }

  // Blanks of other kinds look like a blank, or like nothing.
  bool check_blanks(std::string_view text, size_t at) {
    const auto odd = find_odd_blank(text, "the language");
    if (odd) return fail(at + odd->at, odd->what);
    return true;
  }

  bool check_string(std::string_view word, size_t at) {
    size_t i = 1;
    for (; i < word.size() && word[i] != '"'; ++i) {
      if (word[i] == '#') {
        return fail(at + i, "write '#' inside a string as \\x23");
      }
      if (word[i] != '\\') continue;
      const size_t length = escape_length(word.substr(i));
      if (length == 0) {
        return fail(at + i,
                    "unknown escape in a string; there are \\n \\t "
                    "\\\" \\\\ and \\xNN");
      }
      i += length - 1;
    }
    if (i >= word.size()) return fail(at, "the string has no closing quote");
    if (i + 1 < word.size()) {
      return fail(at + i + 1, "a blank is missing after the string");
    }
    return check_printable(word, at);
  }

  bool parse_string() {
    const std::string_view word = field();
    if (!check_string(word, at_)) return false;
    return push(Operand::Kind::kString, word);
  }

  bool parse_plain(std::string_view word) {
    if (!check_printable(word, at_)) return false;
    const Operand::Kind kind = kind_of_word(word);
    if (kind != Operand::Kind::kName) return push(kind, word);
    Name name;
    if (!parse_name(word, at_, name)) return false;
    return push(Operand::Kind::kName, name.text, name.ranks, word.size());
  }

  // A literal has many numbers. Reserves room for all at once; only the part
  // that is used takes memory.
  void reserve_operands() {
    line_.operands.reserve(std::min(kMaxOperands, text_.size() / 2));
  }

  bool push(Operand::Kind kind, std::string_view text,
            std::string_view ranks = {}, size_t length = 0) {
    if (!line_.keys.empty()) {
      return fail(at_, "operand '" + excerpt(text) +
                           "' after a key; operands come first");
    }
    if (line_.operands.size() == kMaxOperands) {
      return fail(at_, "more than " + std::to_string(kMaxOperands) +
                           " operands; save large data as .npy and load it");
    }
    line_.operands.push_back(
        {kind, static_cast<uint32_t>(at_ + 1), text, ranks});
    at_ += length == 0 ? text.size() : length;
    return true;
  }

  // Returns a hint at what was meant by a word that no field of a line can be.
  static std::string_view hint_of(std::string_view word) {
    if (word[0] == '=') return kBlanks;
    if (word.starts_with("gt-") && word.ends_with(':')) {
      return "; this is a message of a stage before, which 2>&1 has put into "
             "the stream: leave that out";
    }
    if (word[0] == '\'' || has_odd_quote(word)) {
      return "; a string stands in plain double quotes, as in \"x.npy\"";
    }
    if (word.starts_with("\xe2\x88\x92") || word.starts_with("\xe2\x80\x93")) {
      return "; a minus is the plain character '-'";
    }
    if (const auto hint = hint_of_digits(word); !hint.empty()) return hint;
    if (word == ":=") return "; what is assigned stands behind '='";
    if (word.back() == ';') {
      return "; an instruction ends with its line, without ';', and the next "
             "has a line of its own";
    }
    if (const auto hint = number_hint(word); !hint.empty()) return hint;
    if (word.find_first_not_of("+-*/@%<>&|!^~=") == word.npos) {
      return "; an op is a word before its operands, as in y = add a b";
    }
    if (parse_number(word) || parse_type(word).ok()) {
      return "; numbers are written as in x = tensor f32[2] 1 2";
    }
    if (const auto hint = hint_of_list(word); !hint.empty()) return hint;
    if (word[0] == '-') return "; the op for -x is neg";
    const size_t name = ident_length(word);
    if (name > 0 && word.substr(name).starts_with(':')) {
      return "; a key is written with '=', as in axis=0";
    }
    if (word.find('/') != word.npos) {
      return "; a path stands in double quotes";
    }
    return "";
  }

  // Quotes that word processors make of plain ones.
  static bool has_odd_quote(std::string_view word) {
    for (const std::string_view quote :
         {"\xe2\x80\x98", "\xe2\x80\x99", "\xe2\x80\x9c", "\xe2\x80\x9d",
          "\xe2\x80\x9e", "\xc2\xab", "\xc2\xbb"}) {
      if (word.find(quote) != word.npos) return true;
    }
    return false;
  }

  // Returns the hint for 1_000 and 0x10.
  static std::string_view hint_of_digits(std::string_view word) {
    if (word[0] < '0' || word[0] > '9') return "";
    if (word.find_first_not_of("0123456789_.") == word.npos &&
        word.find('_') != word.npos) {
      return "; the digits of a number stand without '_'";
    }
    if (word.starts_with("0x") || word.starts_with("0X")) {
      return "; numbers are decimal";
    }
    return "";
  }

  // Returns the hint for [2,3], 2,3, [a,b], x[0] and sum(x), which other
  // languages have.
  static std::string_view hint_of_list(std::string_view word) {
    const bool is_list = word[0] == '[' || word[0] == '(';
    const size_t open = word.find('[');
    if (!is_list && open != word.npos && word.find(']') == word.npos) {
      return parse_dtype(word.substr(0, open))
                 ? "; a type ends with ']' and has no blanks, as in f32[2,3]"
                 : "; a part of a tensor is taken by slice, as in y = slice x "
                   "0 2:5";
    }
    if (!is_list && word.ends_with(']')) {
      return "; a part of a tensor is taken by slice, as in y = slice x 0 2:5";
    }
    if (!is_list && word.find('(') != word.npos) {
      return "; an op and its operands are words, as in y = sum x axis=0";
    }
    if (!is_list && word.find(',') == word.npos) return "";
    if (word.find_first_of("[]()") == word.npos &&
        (word.ends_with(',') || ident_length(word) > 0)) {
      return "; operands stand one after another, with blanks between them and "
             "no commas, as in y = add a b";
    }
    if (!is_list && word.find_first_not_of("0123456789-,") == word.npos &&
        word.find(',') == word.rfind(',')) {
      return "; a list stands in a key, as in shape=2,3, and a number has a "
             "point, as in 2.5";
    }
    if (word.find_first_not_of("0123456789-.,[]()") == word.npos) {
      return "; a list stands in a key, as in shape=2,3, and sizes in a type, "
             "as in f32[2,3]";
    }
    if (!is_list) return "";
    return "; operands stand one after another, without brackets or commas, "
           "as in y = concat a b";
  }

  bool parse_name(std::string_view word, size_t at, Name& name) {
    const size_t n = ident_length(word);
    name.text = word.substr(0, n);
    name.column = static_cast<uint32_t>(at + 1);
    if (!check_printable(word, at)) return false;
    if (n < word.size() && !check_blanks(word, at)) return false;
    if (n == 0 || (n < word.size() && word[n] != '@')) {
      return fail(at + (n < word.size() ? n : 0),
                  "'" + excerpt(word) +
                      "' is not a name, number, range, type or string" +
                      std::string(hint_of(word)));
    }
    if (is_reserved(name.text)) {
      return fail(at, "'" + std::string(name.text) +
                          "' is a word of the language and cannot be a name");
    }
    if (n == word.size()) return true;
    name.ranks = word.substr(n + 1);
    const auto ranks = parse_ranks(name.ranks);
    if (!ranks.ok()) return fail(at + n + 1, ranks.error().message);
    return true;
  }

  std::string_view text_;
  Line& line_;
  size_t at_ = 0;
  Error error_;
};

}  // namespace

Status parse_line(std::string_view text, Line& line) {
  return Parser(text, line).parse();
}

Operand::Kind kind_of_word(std::string_view word) {
  if (word.starts_with('"')) return Operand::Kind::kString;
  if (is_number(word)) return Operand::Kind::kNumber;
  if (parse_dtype(word)) return Operand::Kind::kDtype;
  if (word.ends_with(']')) {
    const size_t n = ident_length(word);
    if (n > 0 && word[n] == '[') return Operand::Kind::kType;
  }
  const bool has_colon = word.find(':') != word.npos;
  if (has_colon && parse_range(word).ok()) return Operand::Kind::kRange;
  return is_glob(word) ? Operand::Kind::kGlob : Operand::Kind::kName;
}

const std::string_view* Line::note(std::string_view key) const {
  for (const Note& n : notes) {
    if (n.key == key) return &n.value;
  }
  return nullptr;
}

const std::string_view* Line::key(std::string_view name) const {
  for (const Key& k : keys) {
    if (k.key == name) return &k.value;
  }
  return nullptr;
}

bool is_reserved(std::string_view identifier) {
  // Every name passes here, t0 and t1 among them: most are ruled out by their
  // length and first letter.
  if (identifier.size() < 2 || identifier.size() > 5) return false;
  switch (identifier[0]) {
    case 't':
      return identifier == "true";
    case 'n':
      return identifier == "nan";
    case 'b':
    case 'f':
    case 'i':
    case 'u':
      return identifier == "false" || identifier == "inf" ||
             parse_dtype(identifier).has_value();
    default:
      return false;
  }
}

bool is_name(std::string_view text) {
  return !text.empty() && ident_length(text) == text.size() &&
         !is_reserved(text);
}

bool is_glob(std::string_view text) {
  bool star = false;
  for (const char c : text) {
    star = star || c == '*';
    if (c != '*' && !has_class(c, kIdentRest)) return false;
  }
  return star;
}

}  // namespace gt
