#include "shard/plan_text.h"

#include <algorithm>
#include <cctype>

#include "base/result.h"

namespace gt::shard {
namespace {

std::string dtype_line(const std::string& key, Dtype said) {
  if (said == Dtype::kF32) return "";
  return key + ": " + std::string(to_string(said)) + "\n";
}

// Returns the scope as a key of a map. What YAML could take for something else
// is in quotes.
std::string yaml_key(const std::string& scope) {
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_';
  };
  const bool is_word =
      std::isalpha(static_cast<unsigned char>(scope.front())) != 0 &&
      std::ranges::all_of(scope, is_plain) && scope != "true" &&
      scope != "false" && scope != "null";
  return is_word ? scope : quote(scope);
}

}  // namespace

std::string PlanWriter::text(const Mesh& mesh, const PlanGuess& guess,
                             const std::string& stage_axis) const {
  std::string out = "mesh: {";
  for (const MeshAxis& axis : mesh.axes()) {
    out += (out.back() == '{' ? "" : ", ") + axis.name + ": " +
           std::to_string(axis.size);
  }
  return out + "}\n" + settings(guess) + signals(guess, stage_axis) +
         tensors(guess);
}

std::string PlanWriter::settings(const PlanGuess& guess) const {
  const int64_t chunks = given_.chunks();
  return machine_yaml(given_.machine()) +
         (guess.regather ? "regather: true\n" : "") +
         (given_.ring() ? "ring: true\n" : "") +
         (given_.overlap() ? "" : "overlap: false\n") +
         (chunks == 1 ? ""
          : chunks == kChunksByCost
              ? "chunks: auto\n"
              : "chunks: " + std::to_string(chunks) + "\n") +
         dtype_line("sums", given_.sums()) +
         dtype_line("precision", given_.precision()) + schedule(guess);
}

std::string PlanWriter::schedule(const PlanGuess& guess) const {
  const std::optional<Schedule>& given = given_.schedule();
  const ScheduleKind* kind = given ? given->kind : guess.kind;
  if (kind == nullptr) return "";
  const int64_t window = given ? given->window : 0;
  return "schedule: {kind: " + std::string(kind->name) +
         (window == 0 ? "" : ", window: " + std::to_string(window)) + "}\n";
}

std::string PlanWriter::signals(const PlanGuess& guess,
                                const std::string& stage_axis) const {
  if (guess.stages.empty()) return "";
  std::string out = "signals:\n";
  for (size_t i = 0; i < layers_.size(); ++i) {
    for (const std::string& scope : layers_[i]) {
      out += "  " + yaml_key(scope) + ": {on: {" + stage_axis + ": " +
             std::to_string(guess.stages[i]) + "}}\n";
    }
  }
  return out;
}

std::string PlanWriter::tensors(const PlanGuess& guess) const {
  std::string out;
  for (size_t g = 0; g < guess.cuts.size(); ++g) {
    if (guess.cuts[g].empty()) continue;
    std::string cuts;
    for (const auto& [axes, dim] : guess.cuts[g]) {
      cuts += (cuts.empty() ? "" : ", ") + axes + ": " + std::to_string(dim);
    }
    out += "  \"" + groups_[g].pattern + "\": {" +
           (groups_[g].is_computed ? "results" : "shard") + ": {" + cuts +
           "}}\n";
  }
  return out.empty() ? out : "tensors:\n" + out;
}

Config PlanWriter::config(const Mesh& mesh, const PlanGuess& guess,
                          const std::string& stage_axis) const {
  auto parsed = Config::parse(text(mesh, guess, stage_axis), "", 0);
  GT_CHECK(parsed.ok());
  return std::move(parsed.value());
}

void PlanWriter::drop_unused(PlanGuess& guess, const CutsInUse& used) {
  size_t number = 0;  // the number of the group's setting in the config
  for (GroupCuts& cuts : guess.cuts) {
    if (cuts.empty()) continue;
    std::erase_if(cuts, [&](const auto& cut) {
      return !used.contains({number, cut.first});
    });
    ++number;
  }
}

}  // namespace gt::shard
