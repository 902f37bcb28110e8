// The table in which gt-shard --plan --explain says what was weighed.
#pragma once

#include <string>
#include <vector>

#include "shard/cut_search.h"

namespace gt::shard {

// A way of running the step, with its price.
struct Weighed {
  std::string form;      // the name of its file
  std::string mesh;      // "pp=2 dp=4"
  std::string schedule;  // "1f1b"; "": none
  StepPrice price;
  bool is_estimate = false;  // it was not priced in order
};

// Returns a line for each, the best first, which has a star. The others' lines
// say why they lost.
std::string plan_table(std::vector<Weighed> all, const PriceOrder& order);

}  // namespace gt::shard
