// The op table as text: for people, programs, the manual and shells. All of it
// is derived, so an op that has its row is documented.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ops/op.h"

namespace gt {

// What gt-emit --ops=WHAT prints. WHAT is "list" (or ""), "json", "mdoc",
// "words" or the name of an op. Error: no such op.
Result<std::string> describe_ops(std::string_view what);

// A line per op, families after each other: signature and sense.
std::string ops_table();
// All that the row says, in paragraphs of at most 80 columns.
std::string op_details(const Op& op);
// One object: {"digest": ..., "families": [...], "keys": [...], "ops": [...]}.
std::string ops_json();
// gt-ops(7).
std::string ops_mdoc();
// What may stand behind gt-emit --ops=, a line each, with its sense behind a
// tab: for the completions of shells.
std::string ops_words();

// A row's example in its two parts: the program, and what it prints. Each line
// ends in LF; both are empty when there is no example.
struct Example {
  std::string program;
  std::string output;
};
Example example_of(const Row& row);

// A row's gradient or expansion as lines without indentation.
std::vector<std::string> text_lines(std::string_view text);

// Words in lines of at most 80 columns, each behind `indent` blanks.
std::string wrapped(std::string_view text, size_t indent);

// What ranks may cut in the call of the example, a line for each index:
// "a.1 b.0 summed". Empty: nothing, or it is no matter of one rank.
std::vector<std::string> cut_texts(const Op& op);

// "linear in a, b; in c": what Row::linear says of the operands, or "".
std::string linear_text(const Op& op);

}  // namespace gt
