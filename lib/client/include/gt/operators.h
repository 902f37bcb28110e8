// Operators on tensors and numbers, and << for streams.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include <gt/ops.h>
#include <gt/values.h>

namespace gt::inline v1 {

// The operands are Inputs, since an Input records the place of the call: an
// operator cannot have a further argument for that.
inline Tensor operator+(const Input& a, const Input& b) {
  return add(a, b, a.at());
}
inline Tensor operator-(const Input& a, const Input& b) {
  return sub(a, b, a.at());
}
inline Tensor operator*(const Input& a, const Input& b) {
  return mul(a, b, a.at());
}
inline Tensor operator/(const Input& a, const Input& b) {
  return div(a, b, a.at());
}
inline Tensor operator%(const Input& a, const Input& b) {
  return mod(a, b, a.at());
}
inline Tensor operator-(const Input& x) { return neg(x, x.at()); }
inline Tensor operator==(const Input& a, const Input& b) {
  return eq(a, b, a.at());
}
inline Tensor operator!=(const Input& a, const Input& b) {
  return ne(a, b, a.at());
}
inline Tensor operator<(const Input& a, const Input& b) {
  return lt(a, b, a.at());
}
inline Tensor operator<=(const Input& a, const Input& b) {
  return le(a, b, a.at());
}
inline Tensor operator>(const Input& a, const Input& b) {
  return gt::gt(a, b, a.at());
}
inline Tensor operator>=(const Input& a, const Input& b) {
  return ge(a, b, a.at());
}
inline Tensor operator&(const Input& a, const Input& b) {
  return logical_and(a, b, a.at());
}
inline Tensor operator|(const Input& a, const Input& b) {
  return logical_or(a, b, a.at());
}
inline Tensor operator!(const Input& x) { return logical_not(x, x.at()); }

// These bind the tensor's name again to the result.
inline Tensor& operator+=(Tensor& a, const Input& b) {
  return a.add_(b, b.at());
}
inline Tensor& operator-=(Tensor& a, const Input& b) {
  return a.sub_(b, b.at());
}
inline Tensor& operator*=(Tensor& a, const Input& b) {
  return a.mul_(b, b.at());
}
inline Tensor& operator/=(Tensor& a, const Input& b) {
  return a.div_(b, b.at());
}

namespace detail {

// A tensor that << is to write, and the place of that call.
struct Shown {
  Shown(const Tensor& x, At place = At::here())  // NOLINT: implicit
      : tensor(x), at(place) {}
  const Tensor& tensor;
  At at;
};

template <typename T, typename Traits>
void write_line(std::basic_ostream<char, Traits>& out, const Shown& x) {
  const std::vector<T> values = x.tensor.to_vector<T>(x.at);
  out << "tensor " << x.tensor.type(x.at).text();
  for (const T value : values) out << ' ' << value;
}

}  // namespace detail

// Writes the tensor as a line of the language: "tensor f32[2] 1 2". Waits for
// the value, and writes nothing if that throws. It is a template, so that only
// programs that use it need <ostream>.
template <typename Traits>
std::basic_ostream<char, Traits>& operator<<(
    std::basic_ostream<char, Traits>& out, const detail::Shown& x) {
  if (!x.tensor.defined()) return out << "tensor (undefined)";
  if (x.tensor.dtype().is_float()) {
    detail::write_line<double>(out, x);
  } else {
    detail::write_line<int64_t>(out, x);
  }
  return out;
}

}  // namespace gt::inline v1
