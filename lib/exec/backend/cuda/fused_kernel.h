// Makes the kernel of a fusion (fusion.h): its text, and a launch of it with
// all that it needs.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exec/backend/cuda/plan.h"
#include "exec/backend/view.h"

namespace gt::exec::cuda {

// A value of a fusion: an operand, or a value made of earlier values, which are
// named by their indices.
struct FusedValue {
  enum class Home : uint8_t { kMemory, kNumber, kComputed };
  enum class Maker : uint8_t { kFormula, kCast, kRand };
  Home home = Home::kComputed;
  Type type;
  Slot slot;
  std::string text;  // a number's text
  Maker maker = Maker::kFormula;
  std::string formula;          // in the words of text/pointwise.cuh
  const char* parameters = "";  // the formula's parameters
  // A test of b that finds wrong data, such as "b == 0"; null if none can be
  // wrong.
  const char* wrong = nullptr;
  // The dtype that each operand is rounded to before the formula.
  std::vector<Dtype> rounds;
  std::vector<size_t> operands;
  // For `rand` only: the global index of the part's first element, and the
  // strides of the whole tensor.
  int64_t first = 0;
  Strides whole{};
};

// Builds one launch and its text.
class FusedKernel {
 public:
  using Id = size_t;
  // `ids` are all values that the results need, including the results
  // themselves, in the order in which they are computed.
  FusedKernel(const std::vector<FusedValue>& values, std::vector<Id> ids,
              std::span<const Id> results)
      : values_(values),
        ids_(std::move(ids)),
        results_(results.begin(), results.end()),
        type_(values.at(results_[0]).type) {}

  // Makes the launch that writes the results, which have one shape, to `to`.
  // None if a launch cannot carry what the results need.
  std::optional<Launch> make(std::span<const Slot> to);
  // Does the same for a run that is one item of a launch.
  std::optional<ItemLaunch> make_item(std::span<const Slot> to);
  // Makes the launch that reduces the first result, as `first` reduces its
  // operand, and writes the other results to `to`.
  std::optional<Launch> make_reduced(const Reducing& reducing,
                                     const Launch& first,
                                     std::span<const Slot> to);

 private:
  using Value = FusedValue;
  using Home = FusedValue::Home;
  using Maker = FusedValue::Maker;
  const Value& value(Id id) const { return values_[id]; }
  // The variable of a value. Variables are numbered within the kernel, so that
  // fusions of one form have the same text.
  std::string name(Id id) const;
  int64_t stride(size_t operand, size_t d) const {
    return n_[1 + (operand + 1) * rank_ + d];
  }

  void name_operands();
  bool add_operands();
  bool add_flat_operands();
  bool is_little_work(const Launch& reduction) const;
  bool add_statements();
  int64_t widest_pack() const;
  void choose_pack();
  void add_cast(Id id);
  bool add_rand(Id id);
  bool add_formula(Id id);
  std::string rounded_operands(const Value& v) const;
  std::string declarations() const;
  std::string operand_text(size_t k, std::string_view at) const;
  template <typename Operand, typename To>
  std::string call_element(const std::string& at, const Operand& operand,
                           const To& to) const;
  template <typename PackOf, typename OneOf>
  std::string loads(const PackOf& pack, const OneOf& one) const;
  template <typename Text>
  std::string of_results(size_t first, const Text& text) const;
  std::string_view result_word(size_t r) const;
  std::string addresses(size_t first_result) const;
  std::string packed_element() const;
  std::string body() const;
  std::string pack_results() const;
  std::string item_body() const;
  std::string computed() const;

  const std::vector<Value>& values_;
  std::vector<Id> ids_;
  std::vector<Id> results_;
  const Type& type_;                  // the first result's; all have its shape
  std::vector<Id> operands_;          // the values that are read
  std::vector<std::string> sources_;  // each operand's: "In<f32>"
  // For each operand, whether its elements lie side by side in a pack.
  std::vector<bool> along_;
  size_t rank_ = 0;
  // The dimensions that the operands have; rank_ is that of the kernel, which
  // may be larger.
  size_t dimensions_ = 0;
  std::array<int64_t, kNumbers> n_{};
  size_t used_ = 0;         // entries of n_ in use
  int64_t pack_ = 1;        // elements that a thread computes at once
  std::string places_;      // a type of text/pointwise.cuh
  std::string formulas_;    // functions
  std::string statements_;  // for one element
};

}  // namespace gt::exec::cuda
