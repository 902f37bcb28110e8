// Users: the users of one stream. Usually there is one, whose results come in
// the order of the program. A stream that asks for reports (stream/marks.h) has
// many, told apart by the outermost name space of their lines. Each has an
// order of results of its own, and its "#sync" waits for its own lines alone,
// so that no user waits for a worker that only another one uses.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "route/result_order.h"

namespace gt::route {

using UserId = uint32_t;  // small; reused once a user has nothing more to get

class Users {
 public:
  // The sources outlive it.
  explicit Users(ResultSources& sources);

  // From now on there is one user for each outermost name space.
  void split() { is_split_ = true; }
  bool is_split() const { return is_split_; }
  // Returns the user that a text belongs to, by the first name in it that is in
  // a name space.
  UserId of(std::string_view text);
  ResultOrder& results(UserId user) { return *orders_[user]; }
  const ResultOrder& results(UserId user) const { return *orders_[user]; }
  // count() counts a line of that user; lines() returns the number of them.
  void count(UserId user) {
    if (is_split_) ++lines_[user];
  }
  uint64_t lines(UserId user) const { return lines_[user]; }
  // Calls take(space, user) for each user that has a name space, in no fixed
  // order.
  template <typename Take>
  void each(const Take& take) const {
    for (const auto& [space, id] : ids_) take(space, id);
  }
  ResultOrder& results_of(std::string_view text) { return results(of(text)); }

  // The same functions as ResultOrder has, for the orders of all users. Users
  // take turns.
  void emit(std::string& out, size_t most, const IsDone& is_done,
            const ResultOrder::Sink& sink = {});
  void fail(const std::string& why);
  void fail(uint32_t worker);
  bool empty() const;
  uint64_t bytes() const;

  // Forgets users who are owed nothing and for whom has_nothing(user) is true.
  // The caller must not refer to them any more either.
  template <typename HasNothing>
  void forget(const HasNothing& has_nothing) {
    for (auto at = ids_.begin(); at != ids_.end();) {
      const UserId id = at->second;
      if (!orders_[id]->empty() || !has_nothing(id)) {
        ++at;
        continue;
      }
      free_.push_back(id);
      at = ids_.erase(at);
    }
  }

 private:
  ResultSources& sources_;
  bool is_split_ = false;
  // The orders by user id; the first is for lines without a name space. They
  // are pointers since ResultSources points to the runs in them.
  std::vector<std::unique_ptr<ResultOrder>> orders_;
  std::unordered_map<std::string, UserId, TextHash, std::equal_to<>> ids_;
  std::vector<UserId> free_;
  std::vector<uint64_t> lines_ = {0};  // indexed by user id
  size_t turn_ = 0;                    // the id whose results go out first
};

}  // namespace gt::route
