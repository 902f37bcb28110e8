#include "emit/history_text.h"

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

}  // namespace gt::emit
