// What the files of client_calls share: how a call is made and told of, and
// what calls are made of.
#pragma once

#include <gt/data.h>
#include <gt/nn.h>

#include <array>
#include <fstream>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

namespace client_calls {

using gt::Tensor;

inline constexpr std::array<const char*, 8> kDtypes = {
    "f32", "f64", "f16", "bf16", "i64", "i32", "u8", "bool"};
inline std::map<std::string, Tensor> operands;
inline std::ofstream calls;
inline int count = 0;

inline const Tensor& of(const std::string& name) { return operands.at(name); }
inline const Tensor& of(const std::string& name, const char* dtype) {
  return of(name + "_" + dtype);
}

inline void show(const Tensor& x) { x.print("r" + std::to_string(count)); }
template <typename Tensors>
requires(!std::is_same_v<Tensors, Tensor>) void show(const Tensors& all) {
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].print("r" + std::to_string(count) + "." + std::to_string(i));
  }
}

inline std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  return text;
}

// Makes a call. `torch` is what it is in PyTorch.
template <typename Call>
void call(const std::string& torch, const std::string& text, const Call& make) {
  ++count;
  calls << count << '\t' << torch << '\t' << one_line(text) << '\t';
  try {
    show(make());
  } catch (const gt::Error& error) {
    calls << one_line(error.what());
  }
  calls << '\n';
}

#define CALL(torch, ...) call(torch, #__VA_ARGS__, [&] { return __VA_ARGS__; });

// The same numbers as in client_calls.py.
inline Tensor numbers(const gt::Shape& shape, gt::Dtype dtype = gt::f32) {
  const int64_t n = gt::Type(shape).elements();
  const Tensor x = gt::arange({{n}, gt::f64}) * 7 % 11 / 11 - 0.4;
  return x.reshape(shape).cast(dtype);
}

// A function's value, and the gradient of the sum of its cubes by the first
// operand: that of the squares is 0 where the value is normed.
#define LOSS(torch, x, ...)                                     \
  call("loss(lambda z: " torch ", " #x ")", #__VA_ARGS__, [&] { \
    Tensor z = gt::copy(x);                                     \
    z.requires_grad_();                                         \
    const Tensor value = __VA_ARGS__;                           \
    gt::sum(value* value* value).backward();                    \
    return std::vector<Tensor>{value, z.grad()};                \
  });

// The calls of each file.
void listed_ops();
void losses();
void layers();
void optimizers();

}  // namespace client_calls
