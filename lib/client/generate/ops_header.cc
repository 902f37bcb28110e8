// Writes gt/methods.h and gt/ops.h, the ops of the C++ interface, from the op
// table: for each op that a client can use a function, a method and, where the
// result can overwrite the operand, a form that binds its name again ("relu_").
// So a new op needs a row of the table, and nothing here.
//
// usage: gt-ops-header DIRECTORY
#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "client/generate/functions.h"
#include "ops/catalog.h"
#include "ops/table.h"

namespace gt::client {
namespace {

std::string result_type(const Form& form) {
  if (form.is_in_place) return form.is_method ? "Tensor&" : "void";
  if (has_variadic_result(*form.function)) return "std::vector<Tensor>";
  const size_t count = results_of(form).size();
  return count == 1 ? "Tensor"
                    : "std::array<Tensor, " + std::to_string(count) + ">";
}

std::string parameters(const Form& form, bool has_defaults) {
  const Function& f = *form.function;
  std::string out;
  const auto add = [&out](const std::string& text) {
    out += (out.empty() ? "" : ", ") + text;
  };
  const auto operands = operands_of(form);
  const auto places = form.is_in_place ? places_of(form) : std::vector<int>();
  for (size_t i = form.is_method ? 1 : 0; i < operands.size(); ++i) {
    const bool is_bound = std::find(places.begin(), places.end(),
                                    static_cast<int>(i)) != places.end();
    add((is_bound ? "Tensor&" : operands[i]->type) + " " + operands[i]->name);
  }
  for (const Argument& key : f.required) add(key.type + " " + key.name);
  if (counts_parts(f)) add("size_t parts");
  if (!f.options.empty()) {
    add("const " + options_name(f.name) + "& options" +
        (has_defaults ? " = {}" : ""));
  }
  add(std::string("At at") + (has_defaults ? " = At::here()" : ""));
  return out;
}

std::string declared_name(const Form& form) {
  return form.function->name + (form.is_in_place ? "_" : "");
}

std::string body(const Form& form) {
  const Function& f = *form.function;
  const auto operands = operands_of(form);
  std::string out = "  detail::Call call(\"" + f.op->name + "\", at);\n";
  for (size_t i = 0; i < operands.size(); ++i) {
    const bool is_self = form.is_method && i == 0;
    out += is_self ? "  call.add(self());\n" : "  " + operands[i]->add + "\n";
  }
  for (const Argument& key : f.required) out += "  " + key.add + "\n";
  for (const std::string& write : f.writes) out += "  " + write + "\n";
  if (form.is_in_place) {
    out += "  gt_value* const into[] = {";
    const auto places = places_of(form);
    for (size_t i = 0; i < places.size(); ++i) {
      const bool is_self = form.is_method && places[i] == 0;
      out += (i > 0 ? ", " : "") +
             (is_self ? "self()" : operands[places[i]]->name) + ".raw()";
    }
    out += "};\n  call.bind(into, " + std::to_string(places.size()) + ");\n";
    if (form.is_method) out += "  return self();\n";
    return out;
  }
  if (has_variadic_result(f)) {
    std::string count = "parts";
    for (const Argument* operand : operands) {
      if (operand->is_variadic) count = operand->name + ".size()";
    }
    return out + "  return call.run(" + count + ");\n";
  }
  const size_t count = results_of(form).size();
  if (count == 1) return out + "  return call.run();\n";
  const std::string size = std::to_string(count);
  out += "  gt_value* made[" + size + "];\n  call.run(made, " + size +
         ");\n  return {";
  for (size_t i = 0; i < count; ++i) {
    out += (i > 0 ? ", " : "") + ("Tensor::adopt(made[" + std::to_string(i)) +
           "])";
  }
  return out + "};\n";
}

// ---- comments ---------------------------------------------------------------

std::string comment(const Function& f, const std::string& indent) {
  const Row& row = *f.op->row;
  std::string text = row.sense;
  if (*row.details != '\0') text += std::string(" ") + row.details;
  std::string out = indent + "// " + row.signature + "\n";
  const std::string lines =
      wrapped(text, 0) + "\n" +
      (*row.source == '\0' ? ""
                           : wrapped("Source: " + std::string(row.source), 0));
  std::string line;
  for (const char c : lines) {
    if (c != '\n') {
      line += c;
      continue;
    }
    if (!line.empty()) out += indent + "// " + line + "\n";
    line.clear();
  }
  if (!line.empty()) out += indent + "// " + line + "\n";
  return out;
}

constexpr char kHead[] = R"(// Made from the op table; an op's row says it all.
#pragma once

)";

std::string methods_header(const std::vector<Function>& functions) {
  std::string out = kHead;
  out +=
      "#include <array>\n#include <optional>\n#include <string_view>\n"
      "#include <vector>\n\n#include <gt/basic.h>\n\n"
      "namespace gt::inline v1 {\n\n"
      "class Input;\nclass Tensor;\n\n";
  for (const Function& f : functions) {
    if (f.options.empty()) continue;
    out += "struct " + options_name(f.name) + " {\n";
    for (const std::string& option : f.options) out += option;
    out += "};\n";
  }
  out +=
      "\n// The ops as methods of their first operand. A method that ends in "
      "_ binds\n// the tensor's name to the result.\nclass Methods {\n "
      "public:\n";
  for (const Function& f : functions) {
    if (!is_method(f)) continue;
    out += comment(f, "  ");
    for (const Form& form : forms_of(f, true)) {
      out += "  " + result_type(form) + " " + declared_name(form) + "(" +
             parameters(form, true) + ")" + (form.is_in_place ? "" : " const") +
             ";\n";
    }
  }
  out +=
      "\n private:\n  const Tensor& self() const;\n  Tensor& self();\n};\n\n"
      "}  // namespace gt::inline v1\n";
  return out;
}

std::string ops_header(const std::vector<Function>& functions) {
  std::string out = kHead;
  out +=
      "#include <gt/tensor.h>\n\nnamespace gt::inline v1 {\n\n"
      "inline const Tensor& Methods::self() const {\n"
      "  return static_cast<const Tensor&>(*this);\n}\n"
      "inline Tensor& Methods::self() { return static_cast<Tensor&>(*this); "
      "}\n\n";
  for (const Function& f : functions) {
    out += comment(f, "");
    for (const Form& form : forms_of(f, false)) {
      out += "inline " + result_type(form) + " " + declared_name(form) + "(" +
             parameters(form, true) + ") {\n" + body(form) + "}\n";
    }
    if (!is_method(f)) continue;
    for (const Form& form : forms_of(f, true)) {
      out += "inline " + result_type(form) +
             " Methods::" + declared_name(form) + "(" +
             parameters(form, false) + ")" +
             (form.is_in_place ? "" : " const") + " {\n" + body(form) + "}\n";
    }
    out += "\n";
  }
  out += "}  // namespace gt::inline v1\n";
  return out;
}

}  // namespace
}  // namespace gt::client

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::vector<gt::client::Function> functions;
  for (const gt::Op& op : gt::all_ops()) {
    if (gt::client::is_function(op)) {
      functions.push_back(gt::client::function_of(op));
    }
  }
  const std::string folder = argv[1];
  std::ofstream(folder + "/methods.h") << gt::client::methods_header(functions);
  std::ofstream ops(folder + "/ops.h");
  ops << gt::client::ops_header(functions);
  return ops.good() ? 0 : 2;
}
