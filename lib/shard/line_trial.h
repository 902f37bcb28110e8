// Tries a line that has lines behind it (lines_ahead.h), and then those,
// without lasting effect.
#pragma once

#include <string>
#include <vector>

#include "shard/line_rewriter.h"
#include "shard/lines_ahead.h"

namespace gt::shard {

class LineTrial {
 public:
  // Takes the plan of a line that costs least together with the lines behind
  // it. A product that moves an operand may be followed by others that read the
  // same value, as those of queries, keys and values do, or the gradients of a
  // weight and of what it was multiplied with. Each by itself may do better by
  // moving something else, such as its weight, while all together do best by
  // moving what they share. So each plan of the product is tried with the lines
  // behind it. The line's layouts must be chosen.
  static void look_ahead(LineRewriter& rewriter, LineWork& work);

  // The line must be about to be written by `tried`, its layouts must be
  // chosen, and work.at.ahead must not be null.
  LineTrial(const LineRewriter& tried, const LineWork& work);
  LineTrial(const LineTrial&) = delete;  // its parts refer to each other

  // One of the two may be called, once. Each writes the line by the given plan
  // of it.

  // Returns what the line costs together with those lines behind it that read
  // what it reads or makes.
  struct Prospect {
    double seconds = 0;
    size_t readers = 0;
  };
  Prospect prospect(PlanCache::Entry& planned);
  // Returns true if a line behind this one adds the summands that it makes to
  // others. Then the sum is taken once of all, as that of the gradients of what
  // several products read.
  bool joins_sum(PlanCache::Entry& planned);

  // Called for each line of the trial that is written as planned, before its
  // results are bound. Returns true if it makes something of the summands
  // alone; then follow() must be called with that.
  bool reads_sum(const LineWork& work);
  void follow(const ShardValuePtr& summands) { summands_ = summands; }

 private:
  ShardValuePtr begin(PlanCache::Entry& planned,
                      std::vector<ShardValuePtr>& reads);

  const LineWork& work_;
  Explanation silence_;
  LineRewriter trial_;
  ShardValuePtr summands_;  // null: none, or a line has read them
  bool joins_sum_ = false;
};

// Returns the names that the line reads or binds, and those of which it makes
// the gradients.
std::vector<std::string> names_of(const Line& line);

}  // namespace gt::shard
