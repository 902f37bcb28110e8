// Plans cumsum.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "exec/backend/cuda/plan.h"
#include "exec/backend/cuda/source.h"
#include "ops/shape_rules.h"

namespace gt::exec::cuda {
namespace {

// A line of up to kShortLine elements is one thread's; one of up to kMiddleLine
// is if there are enough for all multiprocessors, since a block would wait for
// itself at each step. So are all parts of lines whose elements are apart:
// neighbouring threads then have neighbouring lines.
constexpr int64_t kShortLine = 32;
constexpr int64_t kMiddleLine = 256;
// The fewest elements of a part for a block, and for a thread.
constexpr int64_t kLeastOfBlock = 4096;
constexpr int64_t kLeastOfThread = 64;
// Lines are cut into parts until there are so many blocks or threads: they wait
// for memory and for each other, so it takes several to keep a multiprocessor
// busy.
constexpr int64_t kScanBlocks = 4 * kBusyBlocks;
constexpr int64_t kScanThreads = kScanBlocks * kThreads;

// Adds the launches of the running sums of one op.
class Scan {
 public:
  // `from` is the dtype of the elements.
  Scan(Plan& plan, Dtype from)
      : plan_(plan),
        from_(from),
        function_(instance("Running", {word_of(from)})),
        total_bytes_(is_float(from) ? 2 * sizeof(double) : sizeof(int64_t)) {}

  void add(const Lines& lines, Slot in, Dtype to, Slot out) {
    add(lines,
        {instance("Elements", {function_, word_of(from_)}), size_of(from_), in},
        {instance("Results", {function_, word_of(to)}), out});
  }

 private:
  struct Elements {
    std::string type;  // Elements or Partial of text/reduce.cuh
    size_t bytes;      // of one
    Slot slot;
  };
  struct Sums {
    std::string type;  // Results or Totals of text/reduce.cuh
    Slot slot;
  };
  // How lines are cut into parts of `size` elements.
  struct Cut {
    bool by_block;
    int64_t parts;
    int64_t size;
  };

  static Cut cut_of(const Lines& lines) {
    const int64_t of_thread =
        lines.count < kBusyBlocks * kThreads ? kShortLine : kMiddleLine;
    const bool by_block = lines.step == 1 && lines.size > of_thread;
    const int64_t most =
        lines.size / (by_block ? kLeastOfBlock : kLeastOfThread);
    const int64_t enough =
        (by_block ? kScanBlocks : kScanThreads) / lines.count;
    const int64_t parts = std::max<int64_t>(1, std::min(enough, most));
    // Parts begin where packs do.
    const int64_t size = parts_of(parts_of(lines.size, parts), 8) * 8;
    return {by_block, parts_of(lines.size, size), size};
  }

  void add(const Lines& lines, const Elements& from, const Sums& into) {
    if (lines.count * lines.size == 0) return;
    const Cut cut = cut_of(lines);
    Slot before;
    if (cut.parts > 1) {
      before = scratch(plan_.add_scratch(
          static_cast<size_t>(lines.count * cut.parts) * total_bytes_));
      const Sums totals{instance("Totals", {function_}), before};
      if (cut.by_block) {
        add_totals(lines, cut, from, totals);
      } else {
        add_launch(lines, cut, from, {}, totals, "scan_by_thread", "true");
      }
      // By blocks the totals of a line lie side by side; by threads those of
      // all lines' first parts do.
      add({lines.count, cut.parts, cut.by_block ? 1 : lines.count},
          {instance("Partial", {function_}), total_bytes_, before}, totals);
    }
    if (cut.by_block) {
      add_launch(lines, cut, from, before, into, "scan_by_block",
                 std::to_string(pack_of(from)));
    } else {
      add_launch(lines, cut, from, before, into, "scan_by_thread", "false");
    }
  }

  // Adds the sum of each part by the kernel that also reduces
  // (plan_reduction.cc), which need not take the elements in their order.
  void add_totals(const Lines& lines, const Cut& cut, const Elements& from,
                  const Sums& into) {
    // A thread of that kernel keeps a total in registers for each element of a
    // pack, so packs of short elements are smaller here.
    const int64_t pack = pack_of(from, 4);
    Launch launch = block_launch(
        make_source("scan.cuh",
                    fmt::format("reduce_by_block<{}, {}, {}, {}>(a);",
                                function_, from.type, into.type, pack)),
        lines.count * cut.parts);
    launch.n[entry::kResults] = lines.count;
    launch.n[entry::kReduced] = lines.size;
    launch.n[entry::kParts] = cut.parts;
    launch.n[entry::kPartSize] = cut.size;
    launch.n[entry::kIsWhole] = lines.size % pack == 0;
    int64_t* rest = launch.n.data() + entry::kPlaces;
    rest = write_place(rest, {lines.count}, {lines.size});
    write_place(rest, {lines.size}, {1});
    launch.in = {from.slot};
    launch.out = {into.slot};
    plan_.steps.emplace_back(std::move(launch));
  }

  void add_launch(const Lines& lines, const Cut& cut, const Elements& from,
                  Slot before, const Sums& into, const char* kernel,
                  const std::string& last_argument) {
    const Source source = make_source(
        "scan.cuh", fmt::format("{}<{}, {}, {}, {}>(a);", kernel, function_,
                                from.type, into.type, last_argument));
    const int64_t count = lines.count * cut.parts;
    Launch launch =
        cut.by_block ? block_launch(source, count) : each_launch(source, count);
    write_lines(launch, lines);
    launch.n[entry::kScanParts] = cut.parts;
    launch.n[entry::kScanPartSize] = cut.size;
    launch.n[entry::kScanIsWhole] = lines.size % pack_of(from) == 0;
    launch.in = {from.slot, before};
    launch.out = {into.slot};
    plan_.steps.emplace_back(std::move(launch));
  }

  // Returns how many neighbouring elements a thread takes at once: as many as
  // have 16 bytes, where an element of fewer than `least` bytes counts as
  // `least`.
  static int64_t pack_of(const Elements& from, size_t least = 2) {
    return static_cast<int64_t>(16 / std::max(from.bytes, least));
  }

  Plan& plan_;
  Dtype from_;
  std::string function_;  // "Running<f32>"
  size_t total_bytes_;    // size of a sum that is still to be joined
};

std::optional<Plan> plan_cumsum(const Call& call) {
  const Type& from = call.type(0);
  Plan plan;
  Scan(plan, from.dtype)
      .add(lines_along(from.shape, single_axis(call, 0)), operand(0),
           call.results[0].dtype, result(0));
  return plan;
}

constexpr PlanRow kScanPlans[] = {{"cumsum", plan_cumsum}};

}  // namespace

std::span<const PlanRow> scan_plans() { return kScanPlans; }

}  // namespace gt::exec::cuda
