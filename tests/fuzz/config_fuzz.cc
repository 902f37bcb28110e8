// Takes any text as a config: one that is read has only ranks and cuts of its
// mesh, and one that is refused gets a message with a place. The first line is
// a signal to ask for.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "shard/config.h"
#include "target.h"

namespace {

using gt::fuzz::require;

void check_split(const gt::Mesh& mesh,
                 const std::optional<gt::shard::CutSetting>& split) {
  if (!split) return;
  std::string all;
  for (const gt::SplitEntry& entry : split->cuts) {
    require(entry.unit >= 1 && entry.dim >= -8 && entry.dim < 8);
    all += (all.empty() ? "" : "+") + entry.axis;
  }
  require(all.empty() || mesh.resolve(all).ok());
}

void check_scope(const gt::Mesh& mesh, const gt::shard::Scope& scope) {
  check_split(mesh, scope.shard);
  check_split(mesh, scope.results);
  if (!scope.ranks) return;
  const gt::Ranks& ranks = *scope.ranks;
  require(!ranks.empty() && ranks.front() >= 0 && ranks.back() < mesh.size());
  require(std::is_sorted(ranks.begin(), ranks.end()));
  require(std::adjacent_find(ranks.begin(), ranks.end()) == ranks.end());
}

void ask(const gt::shard::Config& config, std::string_view signal) {
  require(config.mesh().size() >= 1);
  for (const bool is_backward : {false, true}) {
    const auto scope = config.find(signal, is_backward);
    if (scope.ok()) {
      check_scope(config.mesh(), scope.value());
    } else {
      require(scope.error().message.starts_with("f.yaml:"));
    }
  }
  const gt::shard::Scope* tensor = config.tensor(signal);
  if (tensor != nullptr) check_scope(config.mesh(), *tensor);
  for (const std::string& message : config.unused()) {
    require(message.starts_with("f.yaml:"));
  }
}

}  // namespace

GT_FUZZ_TARGET(config) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view signal = text.substr(0, end);
  const std::string_view yaml = text.substr(std::min(end + 1, text.size()));
  for (const int64_t workers : {0, 4}) {
    std::string_view culprit;
    const auto config =
        gt::shard::Config::parse(yaml, "f.yaml", workers, &culprit);
    if (config.ok()) {
      ask(config.value(), signal);
    } else {
      require(config.error().message.starts_with("f.yaml:"));
    }
  }
  return 0;
}
