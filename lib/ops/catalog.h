// The op table as documentation: for people (gt-emit --ops), for programs
// (JSON), for the manual and for shells. All of it is derived from the rows, so
// that every op with a row is documented.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ops/op.h"

namespace gt {

// Returns the text that gt-emit --ops=WHAT prints. WHAT is "list" (or ""),
// "json", "mdoc", "words" or the name of an op. Error: there is no such op.
Result<std::string> describe_ops(std::string_view what);

// Returns a line for each op, by family: its signature and its sense.
std::string ops_table();
// Returns everything that the op's row says, in lines of at most 80 columns.
std::string op_details(const Op& op);
// Returns one object: {"digest": ..., "families": [...], "keys": [...], "ops":
// [...]}.
std::string ops_json();
// Returns the manual page gt-ops(7), as mdoc source.
std::string ops_mdoc();
// Returns the values of gt-emit --ops=, one a line with its sense after a tab,
// for completion by shells.
std::string ops_words();

// A row's example: a program, and what it prints. All lines end in LF; both are
// empty if there is no example.
struct Example {
  std::string program;
  std::string output;
};
Example example_of(const Row& row);

// Returns the lines of a row's gradient or expansion, without indentation.
std::vector<std::string> text_lines(std::string_view text);

// Returns the text in lines of at most 80 columns, each after `indent` blanks.
std::string wrapped(std::string_view text, size_t indent);

// Returns along which dimensions ranks may cut the tensors of the example's
// call, a line for each label of its index rule (index_rule.h): "a.1 b.0
// summed" says that a's dimension 1 and b's dimension 0 are cut together, and
// the result is then a partial sum. Empty if nothing may be cut, or the op
// needs ranks.
std::vector<std::string> cut_texts(const Op& op);

// Returns Row::linear in words, "linear in a, b; in c", or "".
std::string linear_text(const Op& op);

}  // namespace gt
