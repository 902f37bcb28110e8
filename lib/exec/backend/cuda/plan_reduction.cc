// Plans sum, mean, norm, prod, max, min, argmax and argmin over any axes.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <string>

#include "exec/backend/cuda/plan.h"
#include "exec/backend/cuda/reduce_steps.h"
#include "exec/backend/cuda/source.h"
#include "ops/shape_rules.h"

namespace gt::exec::cuda {
namespace {

// The number of elements that a block reduces as one part.
constexpr int64_t kBlockPart = 16384;
// A row of up to this many elements is reduced by one thread.
constexpr int64_t kShortRow = 32;
// Columns of more than kLongColumn rows are cut into parts of at least
// kLeastRows, until there are about kColumnBlocks blocks: three for each
// multiprocessor, which together load enough at a time to keep memory busy. All
// of them run at once, unless a chain that needs many registers computes the
// elements.
constexpr int64_t kLongColumn = 1024;
constexpr int64_t kColumnBlocks = 3 * kMultiprocessors;
constexpr int64_t kLeastRows = 64;
constexpr int64_t kLanes = 32;  // of a block for long columns
// Memory is read in sectors of this many bytes, so neighbouring threads read at
// least one whole sector together.
constexpr int64_t kSector = 32;

Layout layout_of(const Shape& shape,
                 const std::array<bool, Shape::kMaxRank>& is_reduced) {
  Layout layout;
  const Strides strides = strides_of(shape);
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    Shape& sizes = is_reduced[d] ? layout.reduced : layout.kept;
    (is_reduced[d] ? layout.reduced_strides
                   : layout.kept_strides)[sizes.size()] = strides[d];
    sizes.push_back(shape[d]);
  }
  return layout;
}

// True if the elements of neighbouring results lie side by side, rather than
// those of one result.
bool is_by_columns(const Layout& layout) {
  const size_t kept = layout.kept.size();
  const size_t reduced = layout.reduced.size();
  if (kept == 0 || layout.kept.elements() == 1) return false;
  if (reduced == 0) return true;
  return layout.kept_strides[kept - 1] < layout.reduced_strides[reduced - 1];
}

// Returns at least 1, since a reduction of no elements has a part, too.
int64_t parts_or_one(int64_t reduced, int64_t part) {
  return std::max<int64_t>(1, parts_of(reduced, part));
}

bool are_multiples(size_t count, const Strides& strides, int64_t of) {
  return std::all_of(strides.begin(),
                     strides.begin() + static_cast<ptrdiff_t>(count),
                     [of](int64_t stride) { return stride % of == 0; });
}

// Makes the text of a launch, given the type that its elements come from.
using Body = std::function<std::string(std::string_view from)>;

// Adds the launches of one reduction, and keeps what the last of them has left
// to reduce.
class Passes {
 public:
  Passes(Plan& plan, const Reduction& r)
      : plan_(plan),
        r_(r),
        layout_(r.layout),
        from_(r.from),
        in_(r.in),
        element_bytes_(r.element_bytes) {}

  // Adds launches until each result is one part. Returns the text of the first.
  Body add() {
    Body first;
    bool goes_on = true;
    while (goes_on) {
      Body body;
      goes_on = is_by_columns(layout_) ? add_columns(body) : add_rows(body);
      if (first == nullptr) first = std::move(body);
    }
    return first;
  }

 private:
  // Completes a launch, of which the caller has set the text and the numbers,
  // and adds it to the plan. Returns true if parts of results still have to be
  // reduced.
  bool finish(Launch launch, int64_t parts, const Layout& left) {
    const int64_t results = layout_.kept.elements();
    launch.in = in_;
    launch.out = {parts == 1 ? r_.out
                             : scratch(plan_.add_scratch(
                                   static_cast<size_t>(results * parts) *
                                   r_.total_bytes))};
    in_ = launch.out;
    plan_.steps.emplace_back(std::move(launch));
    from_ = instance("Partial", {r_.function});
    element_bytes_ = r_.total_bytes;
    layout_ = left;
    return parts > 1;
  }
  Body body_of(const char* name, int64_t parts, const std::string& more) const {
    const std::string into =
        parts == 1 ? instance("Results", {r_.function, word_of(r_.to)})
                   : instance("Totals", {r_.function});
    return [=, function = r_.function](std::string_view from) {
      return fmt::format("{}<{}, {}, {}{}>(a);", name, function, from, into,
                         more);
    };
  }

  // These two functions add a launch, set `body` to its text, and return true
  // if another launch must follow.
  bool add_rows(Body& body) {
    const int64_t results = layout_.kept.elements();
    const int64_t reduced = layout_.reduced.elements();
    const bool is_short = reduced <= kShortRow;
    const int64_t parts = is_short ? 1 : parts_or_one(reduced, kBlockPart);
    const JoinedDimensions along =
        join_dimensions(layout_.reduced, {layout_.reduced_strides});
    const bool is_beside = along.sizes.size() == 1 && along.strides[0][0] == 1;
    const int64_t pack = is_beside ? pack_size() : 1;
    const bool is_whole =
        pack > 1 && reduced % pack == 0 &&
        are_multiples(layout_.kept.size(), layout_.kept_strides, pack);
    body = is_short
               ? body_of("reduce_by_thread", 1, "")
               : body_of("reduce_by_block", parts, fmt::format(", {}", pack));
    const Source source = make_source("reduce.cuh", body(from_));
    Launch launch = is_short ? each_launch(source, results)
                             : block_launch(source, results * parts);
    launch.n[entry::kResults] = results;
    write_parts(launch, parts, kBlockPart, is_whole);
    int64_t* rest = launch.n.data() + entry::kPlaces;
    rest = write_place(rest, layout_.kept, layout_.kept_strides);
    write_place(rest, layout_.reduced, layout_.reduced_strides);
    return finish(std::move(launch), parts, {{results}, {parts}, {parts}, {1}});
  }

  bool add_columns(Body& body) {
    const int64_t results = layout_.kept.elements();
    const int64_t rows = layout_.reduced.elements();
    JoinedDimensions kept =
        join_dimensions(layout_.kept, {layout_.kept_strides});
    const int64_t width = kept.sizes.back();
    kept.sizes.erase(kept.sizes.size() - 1);
    const int64_t groups = kept.sizes.elements();
    const JoinedDimensions along =
        join_dimensions(layout_.reduced, {layout_.reduced_strides});
    const int64_t pack = pack_size();
    const auto tiles = [&](int64_t lanes) {
      return parts_or_one(width, lanes * pack);
    };
    // Many rows are cut into parts. With few rows, a block has about as many
    // threads along the rows as there are rows.
    int64_t parts = 1;
    int64_t lanes = kLanes;
    if (rows > kLongColumn) {
      parts = std::clamp<int64_t>(
          kColumnBlocks / std::max<int64_t>(groups * tiles(kLanes), 1), 1,
          rows / kLeastRows);
    } else {
      lanes = kThreads /
              std::clamp<int64_t>(std::bit_floor(static_cast<uint64_t>(rows)),
                                  1, kLanes);
    }
    while (lanes > 1 && (lanes / 2) * pack >= width) lanes /= 2;
    // If there are few blocks, the columns are divided among more blocks, and
    // the rows among more threads of each block.
    const int64_t pack_bytes = pack * static_cast<int64_t>(element_bytes_);
    while (lanes > 1 && groups * parts * tiles(lanes) < kBusyBlocks &&
           lanes * pack_bytes > kSector &&
           2 * (kThreads / lanes) <= rows / parts) {
      lanes /= 2;
    }
    const int64_t part = parts_or_one(rows, parts);
    parts = parts_or_one(rows, part);

    const bool is_whole =
        width % pack == 0 &&
        are_multiples(kept.sizes.size(), kept.strides[0], pack) &&
        are_multiples(along.sizes.size(), along.strides[0], pack);
    const int64_t blocks = groups * parts * tiles(lanes);
    body = body_of("reduce_columns", parts,
                   fmt::format(", {}, {}", pack, along.sizes.size() < 2));
    Launch launch =
        block_launch(make_source("reduce.cuh", body(from_)), blocks);
    launch.n[entry::kBlocks] = blocks;
    write_parts(launch, parts, part, is_whole);
    launch.n[entry::kLanes] = lanes;
    launch.n[entry::kWidth] = width;
    launch.n[entry::kTiles] = tiles(lanes);
    int64_t* rest = launch.n.data() + entry::kColumnPlaces;
    rest = write_place(rest, kept.sizes, kept.strides[0]);
    write_place(rest, layout_.reduced, layout_.reduced_strides);
    return finish(std::move(launch), parts,
                  {{results}, {parts}, {1}, {results}});
  }

  // Writes what the kernels of all launches read: how the elements of each
  // result are cut into parts, and how the total is finished.
  void write_parts(Launch& launch, int64_t parts, int64_t size,
                   bool is_whole) const {
    launch.n[entry::kReduced] = layout_.reduced.elements();
    launch.n[entry::kParts] = parts;
    launch.n[entry::kPartSize] = size;
    launch.n[entry::kDivisor] = r_.divisor;
    launch.n[entry::kIsWhole] = is_whole;
  }

  // Returns how many neighbouring elements a thread takes at once: 16 bytes of
  // them, unless their totals would need too many registers.
  int64_t pack_size() const {
    const size_t least = std::max(element_bytes_, r_.total_bytes / 4);
    return std::min<int64_t>(8, static_cast<int64_t>(16 / least));
  }

  Plan& plan_;
  const Reduction& r_;
  Layout layout_;
  std::string from_;
  std::vector<Slot> in_;
  size_t element_bytes_;
};

}  // namespace

size_t total_bytes(Dtype dtype) {
  return is_float(dtype) ? size_of(wide_dtype(dtype)) : sizeof(int64_t);
}

std::function<Source(std::string_view)> add_reduction(Plan& plan,
                                                      const Reduction& r) {
  return
      [body = Passes(plan, r).add(), from = instance("Computed", {r.function})](
          std::string_view declarations) {
        return make_source("reduce_computed.cuh", body(from), declarations);
      };
}

namespace {

Plan reduce(const Call& call, Layout layout, const char* name, size_t bytes,
            int64_t divisor = 1) {
  const std::string_view from = word_of(call.type(0).dtype);
  Reduction r;
  r.function = instance(name, {from});
  r.from = instance("Elements", {r.function, from});
  r.in = {operand(0)};
  r.out = result(0);
  r.to = call.results[0].dtype;
  r.element_bytes = size_of(call.type(0).dtype);
  r.total_bytes = bytes;
  r.divisor = divisor;
  r.layout = std::move(layout);
  Plan plan;
  auto computed = add_reduction(plan, r);
  plan.reducing = {call.type(0), call.results[0], std::move(computed)};
  return plan;
}

template <const char* kName>
std::optional<Plan> plan_reduction(const Call& call) {
  return reduce(call, layout_of(call.type(0).shape, axis_mask(call, 0)), kName,
                total_bytes(call.type(0).dtype));
}

template <const char* kName>
std::optional<Plan> plan_extreme(const Call& call) {
  std::array<bool, Shape::kMaxRank> mask;
  mask.fill(!call.has_key("axis"));
  if (call.has_key("axis")) mask[single_axis(call, 0)] = true;
  return reduce(call, layout_of(call.type(0).shape, mask), kName, 16);
}

std::optional<Plan> plan_mean(const Call& call) {
  static constexpr char kMean[] = "Mean";
  if (!is_float(call.type(0).dtype)) return std::nullopt;
  return reduce(call, layout_of(call.type(0).shape, axis_mask(call, 0)), kMean,
                sizeof(double), mean_divisor(call));
}

std::optional<Plan> plan_norm(const Call& call) {
  if (call.has_key("ord") && call.number("ord") != 2) return std::nullopt;
  const bool doubles = call.type(0).dtype == Dtype::kF64;
  return reduce(call, layout_of(call.type(0).shape, axis_mask(call, 0)), "Norm",
                doubles ? 2 * sizeof(double) : sizeof(double),
                call.has_key("divisor") ? call.integer("divisor") : 1);
}

std::optional<Plan> plan_prod(const Call& call) {
  const Dtype dtype = call.type(0).dtype;
  return reduce(call, layout_of(call.type(0).shape, axis_mask(call, 0)), "Prod",
                is_float(dtype) ? 2 * sizeof(double) : total_bytes(dtype));
}

std::optional<Plan> plan_exp_others(const Call& call) {
  return reduce(call, layout_of(call.type(0).shape, axis_mask(call, 0)),
                "ExpOthers", 2 * total_bytes(call.type(0).dtype));
}

// The names of the functions in text/reduce.cuh.
constexpr char kSum[] = "Sum";
constexpr char kMax[] = "Max";
constexpr char kMin[] = "Min";
constexpr char kArgmax[] = "Argmax";
constexpr char kArgmin[] = "Argmin";

constexpr PlanRow kReductionPlans[] = {
    {"sum", plan_reduction<kSum>},
    {"prod", plan_prod},
    {"max", plan_reduction<kMax>},
    {"min", plan_reduction<kMin>},
    {"argmax", plan_extreme<kArgmax>},
    {"argmin", plan_extreme<kArgmin>},
    {"mean", plan_mean},
    {"part_mean", plan_mean},
    {"norm", plan_norm},
    {"part_norm", plan_norm},
    {"exp_others", plan_exp_others},
};

}  // namespace

std::span<const PlanRow> reduction_plans() { return kReductionPlans; }

}  // namespace gt::exec::cuda
