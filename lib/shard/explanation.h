// Collects what gt-shard --explain tells people about each line: in which ways
// the line could run, at what cost, and how it was written.
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
  // `say` is called with the text about each line, which begins with the line's
  // place. If it is empty, nothing is collected.
  Explanation(const Config& config, const Cluster& cluster,
              std::function<void(const std::string&)> say)
      : config_(config), cluster_(cluster), say_(std::move(say)) {}

  bool is_wanted() const { return say_ != nullptr; }
  // Adds the ways in which the line could run. Its layouts must be chosen.
  void add_choice(const LineWork& work);
  // Add that the line is written in chunks (chunks.h), or why it is not,
  // although the config wants it.
  void add_chunks(const LineWork& work, const Chunking& chunking);
  void add_whole(const LineWork& work, std::string_view why);
  // Adds that attention is written as a ring, or why it is not although the
  // config wants it: FoundRing::how.
  void add_ring(const std::string& how);
  // Adds how the line was written. `expanded` has the lines of its expansion;
  // it is "" if the line was not expanded. `result` is the value of its first
  // result; it is null if the line has none.
  void add_result(const LineWork& work, std::string_view expanded,
                  const ShardValuePtr& result);
  // Adds a line that waited (waiting.h) and is now written in this layout.
  // `reader` is the place of the line that reads it; it is "" if none does.
  void add_created(const UnwrittenLine& held, const Layout& layout,
                   const std::string& reader);
  // Passes on what was added since the last call: first what concerns the line
  // itself, then the waiting lines that were written for it.
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
