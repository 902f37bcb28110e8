// libgt: tensors, gradients and modules for programs in C++, which write the
// lines of a gt program as they run. See libgt(3).
//
//   #include <gt/gt.h>
//
//   int main() {
//     gt::Tensor a = gt::randn({1000, 1000});
//     gt::Tensor b = gt::randn({1000, 1000});
//     gt::Tensor c = gt::matmul(a, b);
//     c({0, 4}, {0, 4}).print("c");
//   }
#pragma once

#include <gt/basic.h>
#include <gt/operators.h>
#include <gt/ops.h>
#include <gt/session.h>
#include <gt/tensor.h>
#include <gt/values.h>
