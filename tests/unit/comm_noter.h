// Writes the notes that gt-route writes, for tests of workers without gt-route.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "comm_harness.h"
#include "ops/table.h"
#include "spmd/placed.h"
#include "stream/ranks.h"

namespace gt::exec {

// Adds #pieces= to lines that cross ranks, as gt-route does.
class Noter {
 public:
  std::string note(const std::string& text) {
    std::string out;
    for (const std::string& source : lines_of(text)) {
      Line line;
      EXPECT_TRUE(parse_line(source, line).ok()) << source;
      out += source + note_of(line) + "\n";
    }
    return out;
  }

 private:
  std::string note_of(const Line& line) {
    if (line.kind != Line::Kind::kInstruction) return "";
    if (is_declaration(statement_of(line.op))) {
      EXPECT_TRUE(meshes_.take(line).ok());
      return "";
    }
    if (!is_placed(line)) return "";
    const auto where = line_ranks(line);
    EXPECT_TRUE(where.ok());
    std::string note;
    const bool is_output = line.op == "print" || line.op == "save";
    if ((is_output && line.key("split") != nullptr) ||
        crosses_ranks(line, where.value())) {
      note = " #pieces=";
      const auto held = parse_ranks(line.operands[0].ranks);
      for (const int64_t rank : held.value()) {
        if (note.back() != '=') note += ';';
        note += to_string(*type_of(line, 0, rank));
      }
    }
    if (!is_output && line.op != "free") bind(line, where.value());
    return note;
  }

  const Type* type_of(const Line& line, size_t operand, int64_t rank) {
    return &types_[std::string(line.operands[operand].text) + "@" +
                   std::to_string(rank)];
  }
  void bind(const Line& line, const LineRanks& where) {
    const auto types = infer_placed(
        line, where, meshes_.of(line),
        [&](size_t o, int64_t rank) { return type_of(line, o, rank); });
    ASSERT_TRUE(types.ok()) << types.error().message;
    for (size_t r = 0; r < line.results.size(); ++r) {
      for (size_t p = 0; p < where.ranks.size(); ++p) {
        types_[std::string(line.results[r].text) + "@" +
               std::to_string(where.ranks[p])] = types.value()[r][p];
      }
    }
  }

  Meshes meshes_;
  std::map<std::string, Type> types_;
};

}  // namespace gt::exec
