// result_types: a filter that adds to each line a remark with the types of what
// the line binds, "# y f32[8,2]". It shows what a new filter that needs types
// takes; CONTRIBUTING.md points here.
#include <unistd.h>

#include <string>
#include <string_view>

#include "base/writer.h"
#include "program/walker.h"
#include "stream/marks.h"
#include "stream/source.h"

int main() {
  gt::Writer out(STDOUT_FILENO);
  gt::Marks marks;
  gt::Walker walker;
  gt::Exit status = gt::Exit::kDone;
  const auto source = gt::open_source("-", [&] { out.flush(); });
  gt::Line line;
  out.write(std::string(gt::kOpenMark) + "\n");
  for (std::string_view text; source->next(text) == gt::Reader::Item::kLine;) {
    if (text.starts_with('#') && marks.take(text) != gt::Marks::Mark::kNone) {
      continue;
    }
    out.write(text);
    if (!gt::parse_line(text, line).ok()) {
      status = gt::Exit::kRejected;
    } else if (line.kind == gt::Line::Kind::kInstruction) {
      std::string_view mark = "  # ";
      for (const gt::WalkedPart& part : walker.take(line).writes) {
        if (part.stamp.type == gt::kNoType) continue;
        const gt::Name& name = line.results[part.place];
        out.write(std::string(mark) +
                  gt::full_name(name.text, part.rank < 0
                                               ? ""
                                               : std::to_string(part.rank)) +
                  " " + gt::to_string(walker.type(part.stamp.type)));
        mark = ", ";
      }
    }
    out.write("\n");
  }
  status = gt::worst(status, marks.status());
  out.write(gt::end_mark(status) + "\n");
  out.flush();
  return static_cast<int>(status);
}
