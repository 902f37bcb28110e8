// Where: the place in the user's source that a line comes from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "client/include/gt/c.h"

namespace gt::client {

struct Where {
  std::string_view file;  // the last part of its path; "": unknown
  uint32_t line = 0;

  static Where of(const gt_place& place) {
    if (place.file == nullptr) return {};
    const std::string_view path(place.file);
    return {path.substr(path.rfind('/') + 1), place.line};
  }
};

// Returns "model.cc:42", or "" if the place is unknown.
inline std::string to_string(const Where& at) {
  if (at.file.empty()) return {};
  return std::string(at.file) + ":" + std::to_string(at.line);
}

}  // namespace gt::client
