// The op table for programs: JSON, mdoc(7), and completions for shells.
#include <algorithm>

#include "file/json.h"
#include "ops/catalog.h"
#include "ops/families.h"
#include "ops/table.h"

namespace gt {
namespace {

// Puts commas between the members or elements, whose text must be JSON already.
class JsonList {
 public:
  JsonList(char open, char close) : out_(1, open), close_(close) {}
  void add(const std::string& json) {
    if (out_.size() > 1) out_ += ", ";
    out_ += json;
  }
  void add(const char* key, const std::string& json) {
    add(json_quote(key) + ": " + json);
  }
  void add_text(const char* key, std::string_view text) {
    add(key, json_quote(text));
  }
  void add_flag(const char* key, bool value) {
    if (value) add(key, "true");
  }
  std::string text() const { return out_ + close_; }

 private:
  std::string out_;
  char close_;
};

JsonList object() { return {'{', '}'}; }
JsonList array() { return {'[', ']'}; }

const char* role_text(Role role) {
  switch (role) {
    case Role::kTensor:
      return "tensor";
    case Role::kType:
      return "type";
    case Role::kDtype:
      return "dtype";
    case Role::kString:
      return "string";
    case Role::kRange:
      return "range";
    case Role::kNumber:
      return "number";
    case Role::kAny:
      return "any";
  }
  return "";
}

const char* kind_word(KeyRow::Kind kind) {
  using Kind = KeyRow::Kind;
  switch (kind) {
    case Kind::kFlag:
      return "flag";
    case Kind::kInteger:
      return "integer";
    case Kind::kNumber:
      return "number";
    case Kind::kIntegers:
      return "integers";
    case Kind::kWord:
      return "word";
    case Kind::kPart:
      return "part";
    case Kind::kText:
      return "text";
  }
  return "";
}

std::string parameters_json(const std::vector<Parameter>& parameters) {
  JsonList list = array();
  for (const Parameter& p : parameters) {
    JsonList one = object();
    one.add_text("name", p.name);
    one.add_text("kind", role_text(p.role));
    one.add_flag("optional", p.optional);
    one.add_flag("variadic", p.variadic);
    list.add(one.text());
  }
  return list.text();
}

std::string keys_json(const Op& op) {
  JsonList list = array();
  for (const KeyParameter& key : op.keys) {
    JsonList one = object();
    one.add_text("name", key.row->name);
    if (!key.fallback.empty()) one.add_text("default", key.fallback);
    one.add_flag("required", key.required);
    list.add(one.text());
  }
  return list.text();
}

std::string lines_json(const char* text) {
  JsonList list = array();
  for (const std::string& line : text_lines(text)) list.add(json_quote(line));
  return list.text();
}

std::string op_json(const Op& op) {
  const Row& row = *op.row;
  JsonList json = object();
  json.add_text("name", op.name);
  json.add_text("family", op.family->name);
  json.add_text("signature", row.signature);
  json.add("results", parameters_json(op.results));
  json.add("operands", parameters_json(op.operands));
  json.add("keys", keys_json(op));
  json.add_text("index", row.index);
  json.add_text("linear", row.linear);
  json.add_text("dtype", row.dtype);
  json.add_text("accepts", row.accepts);
  json.add("gradient", lines_json(row.gradient));
  json.add("expansion", lines_json(row.expansion));
  json.add_flag("primitive",
                op.is_primitive() && !row.alias && op.family != &kOutput);
  json.add_flag("alias", row.alias);
  json.add_flag("internal", row.internal);
  json.add_text("sense", row.sense);
  json.add_text("details", row.details);
  json.add_text("source", row.source);
  json.add_text("places", row.places);
  const Example example = example_of(row);
  json.add_text("example", example.program);
  json.add_text("prints", example.output);
  return json.text();
}

// Escapes a text so that roff prints it as it is.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  // No other text in the table begins a line with a request.
  if (out.starts_with('.') || out.starts_with('\'')) out = "\\&" + out;
  return out;
}

void append_literal(std::string& out, const std::string& lines) {
  for (const std::string& line : text_lines(lines)) out += roff(line) + "\n";
}

// Begins each sentence on a line of its own, as mdoc requires.
void append_sentences(std::string& out, std::string_view text) {
  while (!text.empty()) {
    size_t end = text.find(". ");
    end = end == std::string_view::npos ? text.size() : end + 1;
    append_literal(out, wrapped(text.substr(0, end), 0));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// Appends "Cut: a.0 y.0; b.1 y.1; a.1 b.0 summed."
void append_cuts(std::string& out, const Op& op) {
  std::string text;
  for (const std::string& cut : cut_texts(op)) {
    text += (text.empty() ? "Cut: " : "; ") + cut;
  }
  if (!text.empty()) append_literal(out, wrapped(text + ".", 0));
  text = linear_text(op);
  if (text.empty()) return;
  text[0] = 'L';
  append_literal(out, wrapped(text + ".", 0));
}

void append_op_mdoc(std::string& out, const Op& op) {
  const Row& row = *op.row;
  out += ".It Li \"" + roff(row.signature) + "\"\n";
  append_sentences(out, row.sense);
  append_sentences(out, row.details);
  append_cuts(out, op);
  if (*row.source != '\0') {
    out += "Source:\n";
    append_literal(out, wrapped(row.source, 0));
  }
  const Example example = example_of(row);
  if (example.program.empty()) return;
  out += ".Bd -literal\n";
  append_literal(out, example.program);
  append_literal(out, example.output);
  out += ".Ed\n";
}

constexpr char kMdocHead[] = R"(.Dd November 20, 2026
.Dt GT-OPS 7
.Os gt
.Sh NAME
.Nm gt-ops
.Nd the operations of gt programs
.Sh DESCRIPTION
This page is made from the op table, as
.Ql gt-emit --ops=mdoc
prints it.
.Ql gt-emit --ops=NAME
shows one op, with its gradient and its meaning in other ops.
.Pp
A signature names results, op, operands and keys.
Brackets hold what may be left out;
.Ql a...
stands for any number;
.Ql key=1
is a key with its default and
.Ql key=
one that must be given.
The words type, dtype, path, message, number and any stand for operands of that
kind; all others are names of tensors, and a number may stand for one that may
be a scalar.
.Pp
Dtypes are promoted by category, bool below integers below floats: first among
tensors with dimensions, then scalars, then numbers; f16 with bf16 gives f32.
f16 and bf16 are computed in f32, and each result is rounded once.
A number beside a tensor of floats is rounded to its dtype, or where that is f16
or bf16 to f32.
One beside a tensor of integers must be a value of its dtype, or a float, which
makes the result f32.
The value of a scalar of integers wraps to the dtype.
Comparisons are by value, whatever the dtypes; but a number, or a scalar of
floats, is rounded to the dtype of floats beside it, unless it is beyond what
that holds.
.Ss On ranks
After
.Ql Cut:
stand the dimensions that ranks may cut in the call of the op's example, from
which
.Xr gt-shard 1
and
.Xr gt-check 1
conclude all that they know of it:
.Li a.1
is dimension 1 of operand
.Li a ,
and
.Li x.2*8
one that is cut in multiples of 8.
Those between two semicolons are cut alike, and all that is not named is whole.
Where a dimension is
.Ql summed ,
each rank has a summand of the result; where it is
.Ql max
or
.Ql min ,
that of its part; where it is
.Ql looked up ,
an index into it is that of the whole, and counts as zero in other ranks' parts;
and where
.Ql split=
follows, what is computed depends on which part a rank has, so that a line that
cuts it must say so.
.Ql Linear
names operands that may be summands themselves, each set together: the result is
a summand then, too.
.Sh OPS
)";

constexpr char kMdocTail[] = R"(.Sh SEE ALSO
.Xr gt-check 1 ,
.Xr gt-emit 1 ,
.Xr gt-shard 1 ,
.Xr gt-work 1 ,
.Xr gt-stream 5 ,
.Xr gt 7
)";

}  // namespace

std::string ops_json() {
  JsonList families = array();
  for (const Family* family : kFamilies) {
    JsonList one = object();
    one.add_text("name", family->name);
    one.add_text("sense", family->sense);
    families.add(one.text());
  }
  JsonList keys = array();
  for (const KeyRow& row : all_keys()) {
    JsonList one = object();
    one.add_text("name", row.name);
    one.add_text("kind", kind_word(row.kind));
    one.add_text("words", row.words);
    one.add_text("sense", row.sense);
    keys.add(one.text());
  }
  std::string ops = "[";
  for (const Op& op : all_ops()) {
    ops += op.id == 0 ? "\n  " : ",\n  ";
    ops += op_json(op);
  }
  return "{\"digest\": \"" + std::to_string(table_digest()) +
         "\",\n \"families\": " + families.text() +
         ",\n \"keys\": " + keys.text() + ",\n \"ops\": " + ops + "]}\n";
}

std::string ops_mdoc() {
  std::string out = kMdocHead;
  for (const Family* family : kFamilies) {
    std::string name = family->name;
    name[0] = static_cast<char>(name[0] - 'a' + 'A');
    out += ".Ss " + roff(name) + "\n";
    append_sentences(out, family->sense);
    out += ".Bl -tag -width Ds\n";
    for (const Op& op : all_ops()) {
      if (op.family == family && !op.row->internal) append_op_mdoc(out, op);
    }
    out += ".El\n";
  }
  out += ".Sh KEYS\n.Bl -tag -width \"approximate=\" -compact\n";
  for (const KeyRow& row : all_keys()) {
    out += ".It Li " + std::string(row.name) + "=\n" + roff(row.sense) + "\n";
  }
  return out + ".El\n" + kMdocTail;
}

std::string ops_words() {
  std::string out =
      "list\tall ops\njson\tall ops as JSON\nmdoc\tthe manual page\n"
      "words\tthese words\n";
  for (const Op& op : all_ops()) {
    if (op.row->internal) continue;
    out += op.name + "\t" + op.row->sense + "\n";
  }
  return out;
}

}  // namespace gt
