#include "client/save_calls.h"

namespace gt::client {

SaveCalls::SaveCalls(const std::string& path, std::span<gt_value* const> values,
                     std::span<const char* const> names, gt_place at)
    : words_(2 * values.size()), calls_(values.size()) {
  for (const char* name : names) places_.push_back(path + ":" + name);
  for (size_t i = 0; i < values.size(); ++i) {
    gt_word* const words = &words_[2 * i];
    words[0].kind = GT_VALUE;
    words[0].value = values[i];
    words[1].kind = GT_STRING;
    words[1].text = places_[i].data();
    words[1].size = places_[i].size();
    calls_[i].op = "save";
    calls_[i].operands = words;
    calls_[i].operand_count = 2;
    calls_[i].at = at;
  }
}

}  // namespace gt::client
