// Point-wise loops for integers and bool. Their arithmetic wraps, and is exact
// in any order, so the loops are plain and vectorised by the compiler. Their
// source is compiled with -fwrapv, so that the formulas wrap.
#pragma once

#include <span>
#include <string_view>

#include "exec/backend/cpu/loops.h"
#include "stream/type.h"

namespace gt::exec::cpu {

// A row of the table of integer loops. An op may have one row for integers and
// another for bool.
struct IntegerRow {
  const char* op;
  bool to_bool;
  Loop i64, i32, u8, boolean;  // null: the reference kernel is used
  Loop loop(Dtype dtype) const {
    switch (dtype) {
      case Dtype::kI64:
        return i64;
      case Dtype::kI32:
        return i32;
      case Dtype::kU8:
        return u8;
      case Dtype::kBool:
        return boolean;
      default:
        return nullptr;
    }
  }
};

std::span<const IntegerRow> integer_rows();
// Returns the row that has a loop of the op for the dtype; null if there is
// none.
const IntegerRow* integer_row(std::string_view op, Dtype dtype);

// Returns the loop of a comparison whose operand `integer` is an i64, and the
// other one an f64.
Loop mixed_loop(std::string_view op, size_t integer);

}  // namespace gt::exec::cpu
