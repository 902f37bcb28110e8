#include "emit/history_text.h"

#include <algorithm>
#include <unordered_map>

#include "grad/history.h"
#include "stream/line.h"
#include "stream/marks.h"

namespace gt::emit {

void append_history(const Ledger& ledger, const Messages& messages,
                    std::span<const NodeId> nodes, std::string& out) {
  for (const NodeId id : nodes) {
    const grad::Node n = ledger.tape.node(id);
    std::string type;
    for (const ValueId r : n.results) {
      if (r != kNil) type = ledger.types.describe(ledger.tape.type(r));
    }
    std::string reads;
    for (const ValueId v : n.needed) {
      const SymbolId name = ledger.reading_name(v);
      reads.append(" ").append(name == kNil ? "?"
                                            : ledger.symbols.name_of(name));
    }
    out += n.form->shown + "  # " + messages.place_of(n.origin) + " " + type +
           (reads.empty() ? "" : " reads" + reads) + "\n";
  }
}

namespace {

// Gives values names in a history: the user's name that holds the value, or "v"
// and a number.
class Called {
 public:
  explicit Called(const Ledger& ledger) : ledger_(ledger) {}

  const std::string& operator()(ValueId value) {
    const auto [at, is_new] = names_.try_emplace(value);
    if (!is_new) return at->second;
    const bool is_held =
        ledger_.tape.name(value) != kNil && !ledger_.tape.is_internal(value);
    if (is_held) {
      at->second = ledger_.symbols.name_of(ledger_.tape.name(value));
    } else {
      do {
        at->second = "v" + std::to_string(next_++);
      } while (ledger_.symbols.find(at->second) != kNoSymbol);
    }
    return at->second;
  }
  std::string unused() { return "v" + std::to_string(next_++); }

 private:
  const Ledger& ledger_;
  std::unordered_map<ValueId, std::string> names_;
  size_t next_ = 0;
};

}  // namespace

void append_history(const Ledger& ledger, ValueId of, std::string& out) {
  const grad::Tape& tape = ledger.tape;
  std::vector<std::pair<uint64_t, NodeId>> nodes;
  grad::walk_back(tape, of, [&](ValueId value) {
    const NodeId node = tape.producer(value);
    if (node != kNil) nodes.emplace_back(tape.node(node).serial, node);
    return true;
  });
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  Called called(ledger);
  for (const auto& [serial, id] : nodes) {
    const grad::Node node = tape.node(id);
    std::vector<std::string> names;  // the line has views into them
    names.reserve(node.results.size() + node.operands.size());
    Line line = tape.line(id);
    std::string type;
    for (size_t i = 0; i < node.results.size(); ++i) {
      const ValueId value = node.results[i];
      names.push_back(value == kNil ? called.unused() : called(value));
      line.results[i].text = names.back();
      if (value != kNil && type.empty()) {
        type = ledger.types.describe(tape.type(value));
      }
    }
    for (size_t i = 0; i < node.operands.size(); ++i) {
      if (node.operands[i] == kNil) continue;
      names.push_back(called(node.operands[i]));
      line.operands[i].text = names.back();
    }
    append_instruction(out, line);
    out += node.form->notes + "  # " + type + "\n";
  }
}

void append_tape_marks(std::string_view text, std::string& out) {
  constexpr size_t kMost = 180;  // bytes of a part; a #sync has room for 256
  constexpr std::string_view kHex = "0123456789ABCDEF";
  size_t begin = out.size();
  for (const char c : text) {
    if (out.size() == begin) out.append(kSyncHead).append("tape:");
    const auto byte = static_cast<unsigned char>(c);
    if (byte > ' ' && byte < 0x7f && c != '%') {
      out += c;
    } else {
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
    if (out.size() - begin < kMost) continue;
    out += '\n';
    begin = out.size();
  }
  if (out.size() > begin) out += '\n';
}

}  // namespace gt::emit
