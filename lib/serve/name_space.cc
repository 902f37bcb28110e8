#include "serve/name_space.h"

#include <algorithm>

#include "file/stored.h"
#include "ops/table.h"
#include "stream/marks.h"

namespace gt::serve {
namespace {

bool is_part_of_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
         (c >= 'a' && c <= 'z') || c == '_' || c == '.' || c == '/' || c == '-';
}

// Copies a text piece by piece, inserting words.
class Copy {
 public:
  Copy(std::string_view text, std::string& out) : text_(text), out_(out) {}

  // Copies up to `place`, a view into the text, and then appends the words. If
  // the value there is quoted, they go behind the quote.
  void insert(std::string_view place, std::string_view word,
              std::string_view more = {}) {
    auto at = static_cast<size_t>(place.data() - text_.data());
    if (place.starts_with('"')) ++at;
    out_ += text_.substr(at_, at - at_);
    out_ += word;
    out_ += more;
    at_ = at;
  }
  // Copies up to the index `at`, and leaves out the next `bytes` bytes.
  void skip(size_t at, size_t bytes) {
    out_ += text_.substr(at_, at - at_);
    at_ = at + bytes;
  }
  void finish() {
    out_ += text_.substr(at_);
    out_ += '\n';
  }

 private:
  std::string_view text_;
  std::string& out_;
  size_t at_ = 0;
};

// Copies the line's notes, from its first '#' on, and puts those that name
// something into the name space. No string stands behind that '#'.
void enter_notes(std::string_view text, const std::string& name, Copy& copy) {
  for (size_t at = text.find('#'); at < text.size();
       at = text.find('#', at + 1)) {
    const std::string_view note = text.substr(at + 1);
    if (note.starts_with(' ')) return;  // a remark
    for (const std::string_view key : {"at=", "grad="}) {
      if (note.starts_with(key)) {
        copy.insert(note.substr(key.size()), name, "/");
      }
    }
    constexpr std::string_view kClient = "client";
    if (!note.starts_with(kClient)) continue;
    const char after =
        note.size() > kClient.size() ? note[kClient.size()] : ' ';
    if (after != '=' && after != ' ') continue;
    copy.skip(at, std::min(text.find('#', at + 1), text.size()) - at);
  }
}

}  // namespace

// The session rejects paths that are not the client's (emit/saved_types.h); but
// if it rejects the line for another reason, it may write the line with such a
// path.
bool NameSpace::may_name_files(const Line& line) const {
  return !files_.empty() &&
         std::ranges::all_of(line.operands, [](const Operand& operand) {
           return operand.kind != Operand::Kind::kString ||
                  stays_below(unquote(operand.text));
         });
}

void NameSpace::enter(std::string_view line, std::string& out) {
  if (line.starts_with('#')) return enter_comment(line, out);
  if (!pattern_.scan(line, true)) return enter_parsed(line, out);
  Copy copy(line, out);
  for (const Pattern::Name& name : pattern_.names()) {
    copy.insert(name.text, name_, "/");
  }
  enter_notes(line, name_, copy);
  copy.finish();
}

void NameSpace::enter_parsed(std::string_view text, std::string& out) {
  const Line& line = line_;
  if (!parse_line(text, line_).ok()) return;  // no session writes such a line
  if (line.kind != Line::Kind::kInstruction) return;
  const Statement statement = statement_of(line.op);
  const bool is_of_file =
      statement == Statement::kLoad || statement == Statement::kSave;
  if (is_of_file && !may_name_files(line)) return;
  Copy copy(text, out);
  for (const Name& name : line.results) copy.insert(name.text, name_, "/");
  for (const Operand& operand : line.operands) {
    const bool is_register = operand.kind == Operand::Kind::kName ||
                             operand.kind == Operand::Kind::kGlob;
    if (is_register) {
      copy.insert(operand.text, name_, "/");
    } else if (is_of_file && operand.kind == Operand::Kind::kString) {
      copy.insert(operand.text, files_);
    }
  }
  // The keys end with the last one; if there are none, with the op.
  std::string_view last = line.op;
  bool has_space = false;
  for (const Key& key : line.keys) {
    const bool is_space = key.key == "space";
    has_space = has_space || is_space;
    if (is_space || key.key == "as") copy.insert(key.value, name_, "/");
    last = key.value;
  }
  if (is_declaration(statement) && !has_space) {
    copy.insert({last.data() + last.size(), 0}, " space=", name_);
  }
  enter_notes(text, name_, copy);
  copy.finish();
}

void NameSpace::enter_comment(std::string_view comment,
                              std::string& out) const {
  const std::string_view sync = sync_of(comment);
  if (sync.empty()) return;
  out += kSyncHead;
  out += name_;
  out += '/';
  out += kSyncOfClient;
  out += sync.substr(kSyncHead.size());
  out += '\n';
}

std::vector<std::pair<size_t, size_t>> NameSpace::leave_line(
    std::string_view line, std::string& out) const {
  std::vector<std::pair<size_t, size_t>> left_out;
  const std::string head = name_ + "/";
  for (size_t at = 0;;) {
    size_t found = line.find(head, at);
    size_t length = head.size();
    const size_t file = files_.empty() ? found : line.find(files_, at);
    if (file < found) {
      found = file;
      length = files_.size();
    }
    if (found == std::string_view::npos) {
      out += line.substr(at);
      return left_out;
    }
    const bool is_head = found == 0 || !is_part_of_word(line[found - 1]);
    out += line.substr(at, found - at + (is_head ? 0 : length));
    if (is_head) left_out.emplace_back(found, length);
    at = found + length;
  }
}

std::string NameSpace::leave(std::string_view text) const {
  std::string out;
  out.reserve(text.size());
  std::vector<std::pair<size_t, size_t>> above;
  while (!text.empty()) {
    const size_t lf = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, lf);
    const size_t caret = line.find_first_not_of(' ');
    if (caret != std::string_view::npos && line.substr(caret) == "^") {
      size_t column = caret;
      for (const auto& [at, bytes] : above) {
        if (at < caret) column -= std::min(bytes, caret - at);
      }
      out.append(column, ' ').append("^");
      above.clear();
    } else {
      above = leave_line(line, out);
    }
    if (lf < text.size()) out += '\n';
    text.remove_prefix(std::min(lf + 1, text.size()));
  }
  return out;
}

std::string_view space_of_result(std::string_view line) {
  if (line.starts_with(kSyncHead)) line.remove_prefix(kSyncHead.size());
  const size_t end = line.find_first_of(" /");
  return end == std::string_view::npos || line[end] == ' '
             ? std::string_view()
             : line.substr(0, end);
}

}  // namespace gt::serve
