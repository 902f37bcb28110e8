#include "shard/recompute.h"

#include <algorithm>
#include <memory>

#include "ops/table.h"

namespace gt::shard {

bool is_recomputed(const Scope& scope, const Op& op) {
  const Row& row = *op.row;
  return scope.recompute && scope.recompute->wants(op.name) && !row.leaf &&
         row.statement == Statement::kCompute &&
         std::any_of(
             op.operands.begin(), op.operands.end(),
             [](const Parameter& p) { return p.role == Role::kTensor; });
}

void note_recompute(const Config& config, const LineWork& work) {
  const auto& wanted = work.scope.recompute;
  if (!wanted || work.at.depth > 0) return;
  if (work.is_backward) {
    config.note_backward(*wanted);
  } else if (work.line.note("recompute") == nullptr &&
             is_recomputed(work.scope, *work.call.op)) {
    config.note_kept(*wanted);
  }
}

namespace {

std::string region_of(const Config& config, const Line& line) {
  const std::string_view* signal = line.note("signal");
  const Op* op = find_op(line.op);
  if (signal == nullptr || op == nullptr) return "";
  // gt-shard tells of scopes that contradict each other.
  const auto scope = config.find(unquote(*signal), false);
  if (!scope.ok() || !is_recomputed(scope.value(), *op)) return "";
  return scope.value().region;
}

}  // namespace

Result<RegionOf> read_regions(std::string_view text, std::string_view file,
                              std::string_view* culprit) {
  auto read = Config::parse(text, file, Config::kAnyWorkers, culprit);
  if (!read.ok()) return read.error();
  if (!read.value().has_recompute()) return RegionOf{};
  const auto config = std::make_shared<const Config>(std::move(read.value()));
  return RegionOf(
      [config](const Line& line) { return region_of(*config, line); });
}

}  // namespace gt::shard
