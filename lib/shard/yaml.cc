#include "shard/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>
#include <unordered_map>

#include "base/message.h"
#include "base/odd_blank.h"
#include "base/printable.h"
#include "base/reader.h"
#include "base/utf8.h"

namespace gt::shard {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 20;
constexpr size_t kMaxNodes = 200'000;
constexpr size_t kMaxNesting = 16;

YamlFault fault_at(const YAML::Mark& mark, std::string message) {
  if (mark.is_null()) return {0, Error{std::move(message)}};
  return {static_cast<size_t>(mark.line) + 1,
          Error{std::move(message), static_cast<size_t>(mark.column) + 1}};
}

// Builds the tree. It throws a YamlFault, since a handler can end the parse
// only in this way.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(YamlDocument& out) : out_(out) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (out_.root != nullptr) {
      throw fault_at(mark, "a second document begins; a config is one");
    }
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    YamlNode& node = make(YamlNode::Kind::kNull, mark, "?");
    // The parser places a missing value where the next thing stands, so it gets
    // the place of its key.
    if (!open_.empty() && is_value(open_.back())) {
      node.line = open_.back().node->items.back()->line;
      node.column = open_.back().node->items.back()->column;
    }
    finish(node, anchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag,
                YAML::anchor_t anchor, const std::string& value) override {
    YamlNode& node = make(YamlNode::Kind::kScalar, mark, tag);
    node.text = value;
    finish(node, anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchored_.find(anchor);
    if (found == anchored_.end()) {
      throw fault_at(mark, "an alias within what it stands for");
    }
    count(mark, found->second->weight);
    place(*found->second);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag,
                       YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(make(YamlNode::Kind::kList, mark, tag), mark, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag,
                  YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    open(make(YamlNode::Kind::kMap, mark, tag), mark, anchor);
  }
  void OnMapEnd() override { close(); }

  // Returns the innermost list or map that began and did not end. If a scalar
  // has no end, the parser has not reported it, so returns the last node before
  // it. Null: there is no such node.
  const YamlNode* unfinished(bool is_scalar) const {
    if (!is_scalar && !open_.empty()) return open_.back().node;
    return out_.nodes.empty() ? nullptr : &out_.nodes.back();
  }

 private:
  struct Open {
    YamlNode* node;
    YAML::anchor_t anchor;
    std::unordered_map<std::string_view, size_t> keys;  // keys and their lines
  };
  static bool is_value(const Open& open) {
    return open.node->kind == YamlNode::Kind::kMap &&
           open.node->items.size() % 2 == 1;
  }

  void count(const YAML::Mark& mark, size_t nodes) {
    nodes_ += nodes;
    if (nodes_ <= kMaxNodes) return;
    throw fault_at(mark, "more than " + std::to_string(kMaxNodes) +
                             " values, those that aliases repeat included");
  }
  YamlNode& make(YamlNode::Kind kind, const YAML::Mark& mark,
                 const std::string& tag) {
    // "?" is the tag of a plain word, "!" of a quoted one.
    if (!tag.empty() && tag != "?" && tag != "!") {
      throw fault_at(mark, "a tag, '" + excerpt(tag) + "'; a config has none");
    }
    count(mark, 1);
    YamlNode& node = out_.nodes.emplace_back();
    node.kind = kind;
    node.line = static_cast<size_t>(mark.line) + 1;
    node.column = static_cast<size_t>(mark.column) + 1;
    return node;
  }
  void open(YamlNode& node, const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (open_.size() == kMaxNesting) {
      throw fault_at(mark, "more than " + std::to_string(kMaxNesting) +
                               " levels within each other");
    }
    open_.push_back({&node, anchor, {}});
  }
  void close() {
    const Open closed = std::move(open_.back());
    open_.pop_back();
    for (const YamlNode* item : closed.node->items) {
      closed.node->weight += item->weight;
    }
    finish(*closed.node, closed.anchor);
  }
  void finish(const YamlNode& node, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) anchored_[anchor] = &node;
    place(node);
  }
  void place(const YamlNode& node) {
    if (open_.empty()) {
      out_.root = &node;
      return;
    }
    Open& parent = open_.back();
    if (parent.node->kind == YamlNode::Kind::kMap && !is_value(parent)) {
      take_key(parent, node);
    }
    parent.node->items.push_back(&node);
  }
  static void take_key(Open& map, const YamlNode& key) {
    const auto refuse = [&key](std::string message) {
      return YamlFault{key.line, Error{std::move(message), key.column}};
    };
    if (key.kind != YamlNode::Kind::kScalar) {
      throw refuse("a key must be a word");
    }
    if (key.text == "<<") {
      throw refuse("a merge key; a config has none, say what it stands for");
    }
    const auto [at, is_new] = map.keys.emplace(key.text, key.line);
    if (is_new) return;
    throw refuse("key '" + excerpt(key.text) +
                 "' stands twice, first in line " + std::to_string(at->second));
  }

  YamlDocument& out_;
  std::vector<Open> open_;  // innermost last
  std::unordered_map<YAML::anchor_t, const YamlNode*> anchored_;
  size_t nodes_ = 0;
};

std::optional<YamlFault> check_row(std::string_view row, size_t line) {
  if (!is_utf8(row)) return YamlFault{line, Error{"is not UTF-8"}};
  const size_t tab = row.find_first_not_of(' ');
  if (tab < row.size() && row[tab] == '\t') {
    return YamlFault{line, Error{"a tab; YAML is indented by blanks", tab + 1}};
  }
  const bool has_mark = line == 1 && row.starts_with(kByteOrderMark);
  const size_t begin = has_mark ? kByteOrderMark.size() : 0;
  const std::string_view text = row.substr(begin, row.find('#') - begin);
  if (const auto odd = find_odd_blank(text, "YAML")) {
    return YamlFault{line, Error{odd->what, begin + odd->at + 1}};
  }
  for (size_t i = 0; i < row.size(); ++i) {
    if (!is_control(row[i]) || row[i] == '\t' || row[i] == '\r') continue;
    return YamlFault{line, Error{"a control byte", i + 1}};
  }
  return std::nullopt;
}

// Checks that the text is UTF-8 without control bytes and that nothing in it
// misleads the parser. The parser sees only such text.
std::optional<YamlFault> check_text(std::string_view text) {
  if (text.size() > kMaxBytes) {
    return YamlFault{0, Error{"is larger than 1 MiB, the most of a config"}};
  }
  bool has_begun = false;
  for (size_t line = 1; !text.empty(); ++line) {
    const std::string_view row = text.substr(0, text.find('\n'));
    if (auto fault = check_row(row, line)) return fault;
    // At such a line the parser would end the document and ignore the rest
    // without an error.
    const bool is_directive = row.starts_with('%');
    if (is_directive && has_begun) {
      return YamlFault{line, Error{"is no YAML: '%' begins no line here; put "
                                   "the word into quotes, or leave it out",
                                   1}};
    }
    const size_t word = row.find_first_not_of(" \r");
    has_begun |= !is_directive && word != row.npos && row[word] != '#';
    text.remove_prefix(std::min(row.size() + 1, text.size()));
  }
  return std::nullopt;
}

// If something has no end, the parser reports the end of the text. The place
// where that thing begins is more useful.
YamlFault syntax_fault(std::string_view text, const YAML::Exception& e,
                       const TreeBuilder& builder) {
  const size_t end = text.find_last_not_of(" \r\n") + 1;
  const YamlNode* begun =
      !e.mark.is_null() && static_cast<size_t>(e.mark.pos) >= end
          ? builder.unfinished(e.msg == YAML::ErrorMsg::EOF_IN_SCALAR)
          : nullptr;
  if (begun == nullptr) return fault_at(e.mark, "is no YAML: " + e.msg);
  return {begun->line,
          Error{"is no YAML: what begins here has no end (" + e.msg + ")",
                begun->column}};
}

}  // namespace

std::optional<YamlFault> parse_yaml(std::string_view text, YamlDocument& out) {
  if (auto fault = check_text(text)) return fault;
  std::istringstream stream{std::string(text)};
  TreeBuilder builder(out);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YamlFault& fault) {
    return fault;
  } catch (const YAML::Exception& e) {
    return syntax_fault(text, e, builder);
  }
  return std::nullopt;
}

}  // namespace gt::shard
