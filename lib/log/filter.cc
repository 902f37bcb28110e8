#include "log/filter.h"

namespace gt::log {

Exit filter(const std::vector<std::string>& paths, const Selection& selection,
            Writer& out, const Say& say) {
  Input input(paths, say, [&out] { out.flush(); });
  Line line;
  std::string signal;
  while (out.ok() && input.next()) {
    Marks mark;
    if (input.form() == Input::Form::kStream &&
        input.kind() == Input::Kind::kMark &&
        mark.take(input.line()) == Marks::Mark::kEnd) {
      // The reader of the stream must learn that lines were left out.
      out.write(end_mark(worst(mark.status(), input.own_status())));
    } else if (input.kind() != Input::Kind::kInstruction ||
               selection.matches(subject_of(input, line, signal))) {
      out.write(input.line());
    } else {
      continue;
    }
    out.write("\n");
  }
  return input.status();
}

}  // namespace gt::log
