// The kernel of a fusion (fusion.h): its text, and the launch that carries what
// it needs.
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

// A value of a fusion: an operand, or what is made of values before it, which
// are told by their indices.
struct FusedValue {
  enum class Home : uint8_t { kMemory, kNumber, kComputed };
  enum class Maker : uint8_t { kFormula, kCast, kRand };
  Home home = Home::kComputed;
  Type type;
  Slot slot;
  std::string text;  // of a number
  Maker maker = Maker::kFormula;
  std::string formula;          // in words of text/pointwise.cuh
  const char* parameters = "";  // of the formula
  const char* wrong = nullptr;  // which b is wrong
  std::vector<Dtype> rounds;    // of each operand, before the formula
  std::vector<size_t> operands;
  // Of rand: the index of its first element in the whole, and where the
  // others lie there.
  int64_t first = 0;
  Strides whole{};
};

// A launch in the making, and its text.
class FusedKernel {
 public:
  using Id = size_t;
  // `ids`: all that the results need, they included, in order.
  FusedKernel(const std::vector<FusedValue>& values, std::vector<Id> ids,
              std::span<const Id> results)
      : values_(values),
        ids_(std::move(ids)),
        results_(results.begin(), results.end()),
        type_(values.at(results_[0]).type) {}

  // Writes the results, which have one shape. None if a launch cannot carry
  // what is needed.
  std::optional<Launch> make(std::span<const Slot> to);
  // The same of an item of a launch.
  std::optional<ItemLaunch> make_item(std::span<const Slot> to);
  // Reduces the first result as `first` does its operand, and writes the
  // others.
  std::optional<Launch> make_reduced(const Reducing& reducing,
                                     const Launch& first,
                                     std::span<const Slot> to);

 private:
  using Value = FusedValue;
  using Home = FusedValue::Home;
  using Maker = FusedValue::Maker;
  const Value& value(Id id) const { return values_[id]; }
  // Names are counted within the kernel, so that one text serves all.
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
  const Type& type_;          // of the first result, as all have its shape
  std::vector<Id> operands_;  // that are read
  std::vector<std::string> sources_;  // of each: "In<f32>"
  std::vector<bool> along_;  // whether its elements lie side by side in a pack
  size_t rank_ = 0;
  size_t dimensions_ = 0;  // that there are of these
  std::array<int64_t, kNumbers> n_{};
  size_t used_ = 0;         // of n_
  int64_t pack_ = 1;        // elements that a thread takes at once
  std::string places_;      // a type of text/pointwise.cuh
  std::string formulas_;    // functions
  std::string statements_;  // for one element
};

}  // namespace gt::exec::cuda
