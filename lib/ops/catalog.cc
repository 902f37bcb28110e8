// The op table for people: the list, one op's page, and functions for both.
#include "ops/catalog.h"

#include <algorithm>

#include "base/message.h"
#include "ops/families.h"
#include "ops/suggest.h"
#include "ops/table.h"

namespace gt {
namespace {

constexpr size_t kColumns = 80;
constexpr size_t kSignature = 34;  // wide enough for most signatures

void pad_to(std::string& out, size_t start, size_t width) {
  const size_t used = out.size() - start;
  out.append(used + 2 > width ? 2 : width - used, ' ');
}

void append_section(std::string& out, const char* title,
                    const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  out += '\n';
  out += title;
  out += '\n';
  for (const std::string& line : lines) out += "  " + line + "\n";
}

std::vector<std::string> key_lines(const Op& op) {
  std::vector<std::string> lines;
  for (const KeyParameter& key : op.keys) {
    std::string line = std::string(key.row->name) + "=" + key.fallback;
    pad_to(line, 0, 16);
    line += key.row->sense;
    if (*key.row->words != '\0') {
      line += " (" + std::string(key.row->words) + ")";
    }
    if (key.required) line += ", required";
    lines.push_back(line);
  }
  return lines;
}

std::string kind_text(const Op& op) {
  if (op.family == &kOutput) return "a word of the language";
  if (op.row->alias) return "an alias: no computation";
  return op.is_primitive() ? "a primitive" : "composite";
}

}  // namespace

std::string wrapped(std::string_view text, size_t indent) {
  std::string out;
  size_t column = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (column != 0 && column + 1 + word.size() > kColumns) {
      out += '\n';
      column = 0;
    }
    if (column == 0) {
      out.append(indent, ' ');
      column = indent;
    } else {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out + "\n";
}

std::vector<std::string> text_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const size_t first = line.find_first_not_of(' ');
    if (first != std::string_view::npos) lines.emplace_back(line.substr(first));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

Example example_of(const Row& row) {
  Example example;
  for (const std::string& line : text_lines(row.example)) {
    if (line.starts_with("=> ")) {
      example.output += line.substr(3) + "\n";
    } else {
      example.program += line + "\n";
    }
  }
  return example;
}

std::string linear_text(const Op& op) {
  std::string out;
  std::string_view sets = op.row->linear;
  while (!sets.empty()) {
    const size_t end = std::min(sets.find(' '), sets.size());
    out += out.empty() ? "linear in " : "; in ";
    for (size_t i = 0; i < end; ++i) {
      if (i > 0) out += ", ";
      out += op.operands[static_cast<size_t>(sets[i] - '0')].name;
    }
    sets.remove_prefix(std::min(end + 1, sets.size()));
  }
  return out;
}

std::string ops_table() {
  std::string out;
  for (const Family* family : kFamilies) {
    if (!out.empty()) out += '\n';
    out += "# " + std::string(family->name) + ": " + family->sense + "\n";
    for (const Row& row : family->rows) {
      if (row.internal) continue;
      const size_t start = out.size();
      out += row.signature;
      pad_to(out, start, kSignature);
      out += row.sense;
      out += '\n';
    }
  }
  return out;
}

std::string op_details(const Op& op) {
  const Row& row = *op.row;
  std::string out = std::string(row.signature) + "\n";
  out += wrapped(row.sense, 2);
  const Example example = example_of(row);
  append_section(out, "example", text_lines(example.program));
  append_section(out, "prints", text_lines(example.output));
  if (*row.details != '\0') {
    out += "\ndetails\n";
    out += wrapped(row.details, 2);
  }
  append_section(out, "keys", key_lines(op));
  std::vector<std::string> facts = {"family " + std::string(op.family->name) +
                                    ", " + kind_text(op)};
  if (*row.index != '\0') facts.push_back("index " + std::string(row.index));
  if (*row.linear != '\0') facts.push_back(linear_text(op));
  append_section(out, "kind", facts);
  append_section(out, "cut in the example", cut_texts(op));
  append_section(out, "gradient", text_lines(row.gradient));
  append_section(out, "meaning", text_lines(row.expansion));
  if (*row.source != '\0') {
    out += "\nsource\n";
    out += wrapped(row.source, 2);
  }
  return out;
}

Result<std::string> describe_ops(std::string_view what) {
  if (what.empty() || what == "list") return ops_table();
  if (what == "json") return ops_json();
  if (what == "mdoc") return ops_mdoc();
  if (what == "words") return ops_words();
  if (const Op* op = find_op(what)) return op_details(*op);
  return Error{"no op '" + excerpt(what) + "'" + suggest_op(what)};
}

}  // namespace gt
