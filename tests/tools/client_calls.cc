// Makes calls of libgt, for tests/oracle/client_calls.py, which makes the same
// calls in PyTorch: those of the ops by the op table, in all their forms and
// for all dtypes; and those that are listed here, of the other ops, of layers,
// losses and optimizers, with all their arguments.
//
// usage: client_calls OPERANDS.safetensors CALLS
//
// OPERANDS has x_f32 and so on. Results are printed as rN, or rN.I; CALLS gets
// a line for each call: N, what it is in PyTorch, what it is here, and, if it
// was refused, why, with tabs between them.
#include "client_calls.h"

#include <functional>
#include <utility>

using namespace client_calls;

namespace {

using One = std::function<Tensor(const Tensor&)>;
using Two = std::function<Tensor(const gt::Input&, const gt::Input&)>;
using TwoOfTensor = std::function<Tensor(const Tensor&, const gt::Input&)>;

// Changes a copy of x, which it returns.
Tensor changed(const Tensor& x, const std::function<void(Tensor&)>& change) {
  Tensor z = gt::copy(x);
  change(z);
  return z;
}

void unary(const std::string& op, const One& function, const One& method,
           const std::function<void(Tensor&)>& in_place) {
  for (const char* dtype : kDtypes) {
    for (const char* name : {"x", "s", "e", "y"}) {
      const std::string x = std::string(name) + "_" + dtype;
      call("op('" + op + "')(" + x + ")", "gt::" + op + "(" + x + ")",
           [&] { return function(of(x)); });
    }
    const std::string x = std::string("x_") + dtype;
    call("op('" + op + "')(" + x + ")", x + "." + op + "()",
         [&] { return method(of(x)); });
    if (!in_place) continue;
    call("op_('" + op + "')(" + x + ")", x + "." + op + "_()",
         [&] { return changed(of(x), in_place); });
  }
}

struct Number {
  const char* torch;
  gt::Input value;
};
const std::vector<Number>& numbers_of_calls() {
  static const std::vector<Number> all = {
      {"2", 2}, {"2.5", 2.5}, {"2.5", 2.5F}, {"True", true}, {"-1", -1}};
  return all;
}

// Makes calls of two operands: of all pairs of dtypes, and with numbers. `head`
// is "op('add')", or an operator's sign in quotes.
void pairs(const std::string& head, const std::string& text,
           const TwoOfTensor& make, const Two& make_of_numbers) {
  const auto pair = [&](const std::string& a, const std::string& b) {
    call(head + "(" + a + ", " + b + ")", text + "(" + a + ", " + b + ")",
         [&] { return make(of(a), of(b)); });
  };
  for (const char* a : kDtypes) {
    const std::string x = std::string("x_") + a;
    for (const char* b : kDtypes) {
      pair(x, std::string("y_") + b);
      pair(x, std::string("s_") + b);
      pair(std::string("s_") + a, std::string("y_") + b);
    }
    pair(x, std::string("r_") + a);
    pair(std::string("r_") + a, x);
    for (const Number& n : numbers_of_calls()) {
      call(head + "(" + x + ", " + n.torch + ")",
           text + "(" + x + ", " + n.torch + ")",
           [&] { return make(of(x), n.value); });
      if (!make_of_numbers) continue;
      call(head + "(" + n.torch + ", " + x + ")",
           text + "(" + n.torch + ", " + x + ")",
           [&] { return make_of_numbers(n.value, of(x)); });
    }
  }
}

void binary(const std::string& op, const Two& function,
            const TwoOfTensor& method,
            const std::function<void(Tensor&, const gt::Input&)>& in_place) {
  pairs(
      "op('" + op + "')", "gt::" + op,
      [&](const Tensor& a, const gt::Input& b) { return function(a, b); },
      function);
  pairs("op('" + op + "')", "method " + op, method, {});
  if (!in_place) return;
  pairs("op_('" + op + "')", "in place " + op,
        [&](const Tensor& a, const gt::Input& b) {
          return changed(a, [&](Tensor& z) { in_place(z, b); });
        },
        {});
}

// `make` takes the number of the options, and returns their call.
void reduction(const std::string& op,
               const std::function<One(size_t)>& options) {
  const std::vector<const char*> texts = {"", "dim=1", "dim=-1, keepdim=True",
                                          "dim=(0, 2)",
                                          "dim=(0, 1), keepdim=True"};
  for (size_t i = 0; i < texts.size(); ++i) {
    const One make = options(i);
    for (const char* dtype : kDtypes) {
      for (const char* name : {"x", "e", "s"}) {
        if (name[0] != 'x' && i > (name[0] == 'e' ? 1 : 0)) continue;
        const std::string x = std::string(name) + "_" + dtype;
        const std::string more = (i > 0 ? ", " : "") + std::string(texts[i]);
        call("op('" + op + "')(" + x + more + ")",
             "gt::" + op + "(" + x + more + ")", [&] { return make(of(x)); });
      }
    }
  }
}

// Returns a function of the method or the in-place form, or one that holds
// nothing where there is none.
#define UNARY(op, name)                                                  \
  unary(                                                                 \
      op, [](const Tensor& x) { return gt::name(x); },                   \
      [](const Tensor& x) { return x.name(); },                          \
      []<typename T>(std::type_identity<T>) -> std::function<void(T&)> { \
        if constexpr (requires(T & x) { x.name##_(); }) {                \
          return [](T& x) { x.name##_(); };                              \
        } else {                                                         \
          return {};                                                     \
        }                                                                \
      }(std::type_identity<Tensor>()));
#define BINARY(op, name)                                                       \
  binary(                                                                      \
      op,                                                                      \
      [](const gt::Input& a, const gt::Input& b) { return gt::name(a, b); },   \
      [](const Tensor& a, const gt::Input& b) { return a.name(b); },           \
      []<typename T>(std::type_identity<T>)                                    \
          -> std::function<void(T&, const gt::Input&)> {                       \
        if constexpr (requires(T & x, const gt::Input& b) { x.name##_(b); }) { \
          return [](T& x, const gt::Input& b) { x.name##_(b); };               \
        } else {                                                               \
          return {};                                                           \
        }                                                                      \
      }(std::type_identity<Tensor>()));
#define REDUCTION(op, name)                                                   \
  reduction(op, [](size_t i) -> One {                                         \
    switch (i) {                                                              \
      case 0:                                                                 \
        return [](const Tensor& x) { return gt::name(x); };                   \
      case 1:                                                                 \
        return [](const Tensor& x) { return x.name({.axis = 1}); };           \
      case 2:                                                                 \
        return [](const Tensor& x) {                                          \
          return gt::name(x, {.axis = -1, .keepdims = true});                 \
        };                                                                    \
      case 3:                                                                 \
        return [](const Tensor& x) { return gt::name(x, {.axis = {0, 2}}); }; \
      default:                                                                \
        return [](const Tensor& x) {                                          \
          return gt::name(x, {.axis = {0, 1}, .keepdims = true});             \
        };                                                                    \
    }                                                                         \
  });
#define OPERATOR(sign, torch)                                       \
  pairs(                                                            \
      torch, #sign,                                                 \
      [](const Tensor& a, const gt::Input& b) { return a sign b; }, \
      [](const gt::Input& a, const gt::Input& b) { return a sign b; });
#define ASSIGNMENT(sign, torch)                            \
  pairs(torch, #sign,                                      \
        [](const Tensor& a, const gt::Input& b) {          \
          return changed(a, [&](Tensor& z) { z sign b; }); \
        },                                                 \
        {});

void ops_of_the_table() {
#include "op_calls.inc"
  OPERATOR(+, "operator.add")
  OPERATOR(-, "operator.sub")
  OPERATOR(*, "operator.mul")
  OPERATOR(/, "operator.truediv")
  OPERATOR(%, "operator.mod")
  OPERATOR(==, "operator.eq")
  OPERATOR(!=, "operator.ne")
  OPERATOR(<, "operator.lt")
  OPERATOR(<=, "operator.le")
  OPERATOR(>, "operator.gt")
  OPERATOR(>=, "operator.ge")
  OPERATOR(&, "op('and')")
  OPERATOR(|, "op('or')")
  ASSIGNMENT(+=, "op_('add')")
  ASSIGNMENT(-=, "op_('sub')")
  ASSIGNMENT(*=, "op_('mul')")
  ASSIGNMENT(/=, "op_('div')")
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  calls.open(argv[2]);
  for (const char* dtype : kDtypes) {
    for (const char* name : {"x", "y", "m", "r", "s", "e"}) {
      const std::string full = std::string(name) + "_" + dtype;
      operands[full] = gt::load(argv[1] + (":" + full));
    }
  }
  for (const char* name : {"i", "j"}) {
    operands[name] = gt::load(argv[1] + std::string(":") + name);
  }
  gt::save(of("x_f32"), "x.npy");
  ops_of_the_table();
  listed_ops();
  losses();
  layers();
  optimizers();
  operands.clear();
  return calls.good() ? 0 : 2;
}
