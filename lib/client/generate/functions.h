// Describes the ops of the table as C++ functions. The generators of gt/ops.h
// and of its tests use it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ops/op.h"

namespace gt::client {

// A parameter of a function in C++.
struct Argument {
  std::string type;
  std::string name;
  std::string add;  // the statement that adds it to the call
  bool is_tensor = false;
  bool is_variadic = false;
  bool is_optional = false;
};

// One op as a C++ function. It is the same for all of the function's forms.
struct Function {
  const Op* op = nullptr;
  std::string name;
  std::vector<Argument> operands;
  // Parameters for the keys without a default.
  std::vector<Argument> required;
  // Members of the options struct, "bool causal = false;".
  std::vector<std::string> options;
  // Statements that add the options to the call.
  std::vector<std::string> writes;
};

// A form of a function: an overload that takes the first `optional` of its
// optional operands.
struct Form {
  const Function* function = nullptr;
  size_t optional = 0;
  bool is_method = false;  // its first operand is *this
  bool is_in_place = false;
};

// True if a C++ function is made from the op's row. It is false for statements,
// for ops between ranks, and for ops that tensor.h has by hand, since their
// operands are of several kinds.
bool is_function(const Op& op);
Function function_of(const Op& op);
// takes_dtype() is true if the words that a key takes are dtypes; dtype_name()
// returns such a word in C++, "gt::f32".
bool takes_dtype(const KeyRow& row);
std::string dtype_name(std::string_view dtype);
// Returns the name of the options struct, "SoftmaxOptions" for "softmax".
std::string options_name(const std::string& function);
// True if the function is also a method of its first operand.
bool is_method(const Function& f);
// True if the number of results is given by an argument `parts`, since no
// operand tells it, as for split.
bool counts_parts(const Function& f);
bool has_variadic_result(const Function& f);

std::vector<Form> forms_of(const Function& f, bool is_method);
std::vector<const Argument*> operands_of(const Form& form);
// Returns the results of a form. It has an optional result only if it has the
// operand of that name.
std::vector<std::string> results_of(const Form& form);
// Returns, for each result, the operand that it can overwrite in place, or -1.
std::vector<int> places_of(const Form& form);

}  // namespace gt::client
