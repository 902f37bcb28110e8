// Mixed precision, as the config wants it (precision: bf16). A product of f32,
// forward or backward, is written in other lines:
//
//   _s0 = cast x bf16
//   _s1 = cast w bf16
//   y = matmul _s0 _s1 out=f32
//
// So products read half of the bytes and add in f32, and everything else, as
// weights, moments, norms, losses and gradients, is in f32 as the program says.
// What a product reads is sent between ranks after its cast.
//
// f16 has no numbers below 6e-8 and none above 65504, and gradients are often
// smaller. So a gradient is scaled before its cast, by what brings its largest
// element to 2^14, and the product's results are divided by that again. The
// scale is found anew for each gradient, so none overflows, and no step of an
// optimizer has to be left out.
//
// The cast of a weight is kept beside it (ShardValue::narrow) until the weight
// is bound anew, so it is made once a step. The cast of another value is kept
// until a product comes that does not read it; if it was gathered, it is kept
// as long as the value, since the backward reads it again. Views of a value are
// sent as views of its cast.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "shard/config.h"
#include "shard/layout_chooser.h"
#include "shard/line_work.h"
#include "shard/materializer.h"
#include "shard/values.h"

namespace gt::shard {

class MixedPrecision {
 public:
  // Rewrites a line that is made here, as one of the input.
  using Take = std::function<void(const Line& line, const LineContext& at)>;

  MixedPrecision(const Config& config, ValueTable& values,
                 LayoutChooser& chooser, Materializer& materializer, Take take)
      : config_(config),
        values_(values),
        chooser_(chooser),
        materializer_(materializer),
        take_(std::move(take)) {}

  // Writes the line in other lines, if it is a product of f32 to which the
  // config gives another dtype. Otherwise returns false. The steps of an
  // expansion are written as they are: their op has decided.
  bool write(const LineWork& work);
  // If the line is a view of a value whose cast exists, and the view would be
  // sent, writes the same view of the cast, and returns its name. Otherwise
  // returns "". The caller must let the line wait, and give its value to
  // keep_view().
  std::string write_view(const LineWork& work);
  void keep_view(const ShardValuePtr& view, std::string narrow);

 private:
  std::optional<Dtype> dtype_for(const LineWork& work) const;
  void take_step(const std::string& text, LineContext at) const;
  void make_narrow(const LineWork& work, size_t argument, Dtype dtype);
  void drop_others(const LineWork& work);
  void write_product(const LineWork& work);
  void widen(const LineWork& work, const std::vector<std::string>& made,
             const std::string& scale);

  const Config& config_;
  ValueTable& values_;
  LayoutChooser& chooser_;
  Materializer& materializer_;
  Take take_;
  std::vector<std::weak_ptr<ShardValue>> narrow_;  // have casts, no weights
};

// Returns true if the line makes gradients: it is of the backward, and neither
// a forward line that is run again nor a view of what the forward made.
bool makes_gradient(const LineWork& work);

}  // namespace gt::shard
