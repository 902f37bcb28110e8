// SaveCalls: the calls that save values in one safetensors file, each under its
// name.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "client/include/gt/c.h"

namespace gt::client {

class SaveCalls {
 public:
  SaveCalls(const std::string& path, std::span<gt_value* const> values,
            std::span<const char* const> names, gt_place at);
  SaveCalls(const SaveCalls&) = delete;  // calls refer to the other members
  SaveCalls& operator=(const SaveCalls&) = delete;

  std::span<const gt_instruction> calls() const { return calls_; }
  // Returns where value i is saved, "m.safetensors:w".
  const std::string& place(size_t i) const { return places_[i]; }

 private:
  std::vector<std::string> places_;
  std::vector<gt_word> words_;  // two of each call
  std::vector<gt_instruction> calls_;
};

}  // namespace gt::client
