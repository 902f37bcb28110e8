// gt-shard --explain: what people are told of each line, namely in which ways
// it could be taken, at what cost, and what became of it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "shard/chunks.h"
#include "shard/line_work.h"

namespace gt::shard {

class Explanation {
 public:
  // `say` gets text for each choice, its place first; empty: nobody listens.
  Explanation(const Config& config, const Cluster& cluster,
              std::function<void(const std::string&)> say)
      : config_(config), cluster_(cluster), say_(std::move(say)) {}

  bool is_wanted() const { return say_ != nullptr; }
  // The ways in which the line could be taken.
  void add_choice(const LineWork& work);
  // The line is written in chunks (chunks.h).
  void add_chunks(const LineWork& work, const Chunking& chunking);
  // What the line became: the lines of its expansion ("": it was written as
  // planned), and the layout of its first result (null: it has none).
  void add_result(const LineWork& work, std::string_view expanded,
                  const ShardValuePtr& result);
  // A line that waited (waiting.h) and is written now, in this layout.
  // `reader`: the place of the line that reads it; "": none does.
  void add_created(const UnwrittenLine& held, const Layout& layout,
                   const std::string& reader);
  // Says what was added since the last call: the line, then lines that waited
  // and were written for it.
  void flush();

 private:
  std::string as_said(size_t line) const;
  std::string not_as_said(const Claims& claims, const Layout& layout) const;

  const Config& config_;
  const Cluster& cluster_;
  std::function<void(const std::string&)> say_;
  std::string line_, created_;
};

}  // namespace gt::shard
