// The ops of the table as functions of C++: what gt/ops.h and its tests are
// made from.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ops/op.h"

namespace gt::client {

// What a function's parameter is in C++.
struct Argument {
  std::string type;
  std::string name;
  std::string add;  // the statement that adds it to the call
  bool is_tensor = false;
  bool is_variadic = false;
  bool is_optional = false;
};

// One op as functions: the same for all of its forms.
struct Function {
  const Op* op = nullptr;
  std::string name;
  std::vector<Argument> operands;
  std::vector<Argument> required;    // keys without a default
  std::vector<std::string> options;  // members, "bool causal = false;"
  std::vector<std::string> writes;   // statements that write them
};

// A form with the first `optional` of its optional operands.
struct Form {
  const Function* function = nullptr;
  size_t optional = 0;
  bool is_method = false;  // its first operand is *this
  bool is_in_place = false;
};

// Whether a client calls the op by a function that is made from its row. Not so
// of statements, of ops between ranks, and of those that tensor.h writes by
// hand, since their operands are of several kinds.
bool is_function(const Op& op);
Function function_of(const Op& op);
// Whether the words of a key are dtypes; and such a word in C++, "gt::f32".
bool takes_dtype(const KeyRow& row);
std::string dtype_name(std::string_view dtype);
// "SoftmaxOptions" of "softmax".
std::string options_name(const std::string& function);
// Whether it is a method of its first operand, too.
bool is_method(const Function& f);
// As many results as an argument `parts` says, since no operand does: split.
bool counts_parts(const Function& f);
bool has_variadic_result(const Function& f);

std::vector<Form> forms_of(const Function& f, bool is_method);
std::vector<const Argument*> operands_of(const Form& form);
// The results of a form: an optional one only with the operand of its name.
std::vector<std::string> results_of(const Form& form);
// For each result the operand whose place it can take, or -1.
std::vector<int> places_of(const Form& form);

}  // namespace gt::client
