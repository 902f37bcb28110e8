#include "exec/backend/cpu/integer_loops.h"

#include <algorithm>
#include <type_traits>

namespace gt::cpu {
namespace {

// In unsigned arithmetic, which wraps; of at least int's width, to which C++
// would promote what is shorter.
template <typename T>
using Wide = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

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
    if (b == -1) return static_cast<T>(Wide<T>{0} - static_cast<Wide<T>>(a));
  }
  const T q = static_cast<T>(a / b);
  return a % b != 0 && (a < 0) != (b < 0) ? static_cast<T>(q - 1) : q;
}

#define GT_INTEGER(Name, expression)                           \
  struct Name {                                                \
    template <typename T>                                      \
    static T of(T x, T y) {                                    \
      [[maybe_unused]] const auto a = static_cast<Wide<T>>(x); \
      [[maybe_unused]] const auto b = static_cast<Wide<T>>(y); \
      return static_cast<T>(expression);                       \
    }                                                          \
  };

GT_INTEGER(Add, a + b)
GT_INTEGER(Sub, a - b)
GT_INTEGER(Mul, a* b)
GT_INTEGER(Or, a | b)
GT_INTEGER(And, a& b)
GT_INTEGER(Not, a ^ 1)
GT_INTEGER(Neg, 0 - a)
GT_INTEGER(Abs, x < 0 ? 0 - a : a)
GT_INTEGER(Sign, (x > 0) - (x < 0))
GT_INTEGER(Maximum, x > y ? x : y)
GT_INTEGER(Minimum, x < y ? x : y)
GT_INTEGER(Eq, x == y)
GT_INTEGER(Ne, x != y)
GT_INTEGER(Lt, x < y)
GT_INTEGER(Le, x <= y)
GT_INTEGER(Gt, x > y)
GT_INTEGER(Ge, x >= y)
GT_INTEGER(Mod, floor_mod(x, y))
GT_INTEGER(FloorDiv, floor_div(x, y))

#undef GT_INTEGER

template <typename T, typename F, typename Y>
const char* unary(const void* const* in, const bool* /*repeat*/, void* out,
                  int64_t n) {
  const auto* x = static_cast<const T*>(in[0]);
  auto* y = static_cast<Y*>(out);
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<Y>(F::of(x[i], x[i]));
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
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<Y>(F::of(all, b[i]));
  } else if (repeat[1]) {
    const T all = *b;
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<Y>(F::of(a[i], all));
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<Y>(F::of(a[i], b[i]));
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

template <typename F>
constexpr IntegerRow arithmetic(const char* op, Loop boolean = nullptr) {
  return {op,
          false,
          binary<int64_t, F, int64_t>,
          binary<int32_t, F, int32_t>,
          binary<uint8_t, F, uint8_t>,
          boolean};
}
template <typename F>
constexpr IntegerRow single(const char* op) {
  return {op,
          false,
          unary<int64_t, F, int64_t>,
          unary<int32_t, F, int32_t>,
          unary<uint8_t, F, uint8_t>,
          nullptr};
}
template <typename F>
constexpr IntegerRow comparison(const char* op) {
  return {op,
          true,
          binary<int64_t, F, uint8_t>,
          binary<int32_t, F, uint8_t>,
          binary<uint8_t, F, uint8_t>,
          binary<uint8_t, F, uint8_t>};
}
template <typename F>
constexpr IntegerRow division(const char* op) {
  return {
      op,     false, divide<int64_t, F>, divide<int32_t, F>, divide<uint8_t, F>,
      nullptr};
}
template <typename F>
constexpr IntegerRow logical(const char* op) {
  return {op, true, nullptr, nullptr, nullptr, binary<uint8_t, F, uint8_t>};
}

constexpr Loop kOr = binary<uint8_t, Or, uint8_t>;
constexpr Loop kAnd = binary<uint8_t, And, uint8_t>;

constexpr IntegerRow kRows[] = {
    arithmetic<Add>("add", kOr),
    arithmetic<Sub>("sub"),
    arithmetic<Mul>("mul", kAnd),
    arithmetic<Maximum>("maximum", kOr),
    arithmetic<Minimum>("minimum", kAnd),
    division<Mod>("mod"),
    division<FloorDiv>("floordiv"),
    single<Neg>("neg"),
    single<Abs>("abs"),
    single<Sign>("sign"),
    comparison<Eq>("eq"),
    comparison<Ne>("ne"),
    comparison<Lt>("lt"),
    comparison<Le>("le"),
    comparison<Gt>("gt"),
    comparison<Ge>("ge"),
    logical<And>("and"),
    logical<Or>("or"),
    {"not", true, nullptr, nullptr, nullptr, unary<uint8_t, Not, uint8_t>},
    {"where", false, where<int64_t>, where<int32_t>, where<uint8_t>,
     where<uint8_t>},
};

}  // namespace

std::span<const IntegerRow> integer_rows() { return kRows; }

const IntegerRow* integer_row(std::string_view op) {
  for (const IntegerRow& row : kRows) {
    if (op == row.op) return &row;
  }
  return nullptr;
}

}  // namespace gt::cpu
