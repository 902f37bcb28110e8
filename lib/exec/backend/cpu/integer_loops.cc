#include "exec/backend/cpu/integer_loops.h"

#include <algorithm>
#include <type_traits>

namespace gt::exec::cpu {
namespace {

template <typename T>
T floor_mod(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
  }
  const T r = static_cast<T>(a % b);
  return r != 0 && (b < 0) != (r < 0) ? static_cast<T>(r + b) : r;
}
template <typename T>
T floor_div(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return static_cast<T>(-a);
  }
  const T q = static_cast<T>(a / b);
  return a % b != 0 && (a < 0) != (b < 0) ? static_cast<T>(q - 1) : q;
}

template <typename T>
T greater(T a, T b) {
  return a > b ? a : b;
}
template <typename T>
T lesser(T a, T b) {
  return a < b ? a : b;
}
template <typename T>
T sign(T a) {
  return static_cast<T>((a > 0) - (a < 0));
}

template <typename T, typename F, typename Y>
const char* unary(const void* const* in, const bool* /*repeat*/, void* out,
                  int64_t n) {
  const auto* x = static_cast<const T*>(in[0]);
  auto* y = static_cast<Y*>(out);
  for (int64_t i = 0; i < n; ++i) {
    y[i] = static_cast<Y>(F{}(x[i], x[i], x[i]));
  }
  return nullptr;
}

template <typename T, typename F, typename Y>
const char* binary(const void* const* in, const bool* repeat, void* out,
                   int64_t n) {
  const auto* a = static_cast<const T*>(in[0]);
  const auto* b = static_cast<const T*>(in[1]);
  auto* y = static_cast<Y*>(out);
  if (repeat[0]) {
    const T all = *a;
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<Y>(F{}(all, b[i], all));
  } else if (repeat[1]) {
    const T all = *b;
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<Y>(F{}(a[i], all, all));
  } else {
    for (int64_t i = 0; i < n; ++i)
      y[i] = static_cast<Y>(F{}(a[i], b[i], b[i]));
  }
  return nullptr;
}

template <typename T, typename F>
const char* divide(const void* const* in, const bool* repeat, void* out,
                   int64_t n) {
  const auto* b = static_cast<const T*>(in[1]);
  if (std::find(b, b + (repeat[1] ? 1 : n), T{0}) != b + (repeat[1] ? 1 : n)) {
    return "integer division by zero";
  }
  return binary<T, F, T>(in, repeat, out, n);
}

template <typename T>
const char* where(const void* const* in, const bool* repeat, void* out,
                  int64_t n) {
  const auto* c = static_cast<const uint8_t*>(in[0]);
  const auto* a = static_cast<const T*>(in[1]);
  const auto* b = static_cast<const T*>(in[2]);
  auto* y = static_cast<T*>(out);
  for (int64_t i = 0; i < n; ++i) {
    y[i] =
        c[repeat[0] ? 0 : i] != 0 ? a[repeat[1] ? 0 : i] : b[repeat[2] ? 0 : i];
  }
  return nullptr;
}

#define GT_FORMULA_EXCESS
#include "exec/backend/formulas.def"

// A comparison of an i64, operand kInteger, with an f64.
template <size_t kInteger, typename F>
const char* mixed(const void* const* in, const bool* repeat, void* out,
                  int64_t n) {
  const auto* whole = static_cast<const int64_t*>(in[kInteger]);
  const auto* x = static_cast<const double*>(in[1 - kInteger]);
  auto* y = static_cast<uint8_t*>(out);
  for (int64_t i = 0; i < n; ++i) {
    const double e = excess(whole[repeat[kInteger] ? 0 : i],
                            x[repeat[1 - kInteger] ? 0 : i]);
    y[i] = kInteger == 0 ? F{}(e, 0.0, 0.0) : F{}(0.0, e, 0.0);
  }
  return nullptr;
}

// A comparison gives bool; every other formula gives the dtype of its operands.
template <typename T, int kOperands, Cost kCost, typename F>
constexpr Loop loop_of() {
  using Y =
      std::conditional_t<std::is_same_v<decltype(F{}(T{}, T{}, T{})), bool>,
                         uint8_t, T>;
  if constexpr (kCost == Cost::dividing) {
    return divide<T, F>;
  } else {
    return kOperands == 1 ? unary<T, F, Y> : binary<T, F, Y>;
  }
}

template <int kOperands, Cost kCost, typename F>
constexpr IntegerRow integers(const char* op) {
  return {op,
          std::is_same_v<decltype(F{}(0, 0, 0)), bool>,
          loop_of<int64_t, kOperands, kCost, F>(),
          loop_of<int32_t, kOperands, kCost, F>(),
          loop_of<uint8_t, kOperands, kCost, F>(),
          nullptr};
}
template <int kOperands, typename F>
constexpr IntegerRow booleans(const char* op) {
  return {op,      true,    nullptr,
          nullptr, nullptr, loop_of<uint8_t, kOperands, Cost::cheap, F>()};
}

#define GT_FUNCTOR(formula)                                           \
  decltype([]<typename V>([[maybe_unused]] V a, [[maybe_unused]] V b, \
                          [[maybe_unused]] V c) { return formula; })

struct MixedRow {
  const char* op;
  Loop loops[2];  // by which operand is the i64
};

constexpr MixedRow kMixedRows[] = {
#define GT_MIXED(op, formula) \
  {#op, {mixed<0, GT_FUNCTOR(formula)>, mixed<1, GT_FUNCTOR(formula)>}},
#include "exec/backend/formulas.def"
};

constexpr IntegerRow kIntegerRows[] = {
#define GT_INTEGER(op, operands, cost, formula) \
  integers<operands, Cost::cost, GT_FUNCTOR(formula)>(#op),
#define GT_BOOL(op, operands, formula) \
  booleans<operands, GT_FUNCTOR(formula)>(#op),
#include "exec/backend/formulas.def"
    {"where", false, where<int64_t>, where<int32_t>, where<uint8_t>,
     where<uint8_t>},
};

}  // namespace

std::span<const IntegerRow> integer_rows() { return kIntegerRows; }

const IntegerRow* integer_row(std::string_view op, Dtype dtype) {
  for (const IntegerRow& row : kIntegerRows) {
    if (op == row.op && row.loop(dtype) != nullptr) return &row;
  }
  return nullptr;
}

Loop mixed_loop(std::string_view op, size_t integer) {
  for (const MixedRow& row : kMixedRows) {
    if (op == row.op) return row.loops[integer];
  }
  return nullptr;
}

}  // namespace gt::exec::cpu
