// Characters that look like a blank or like nothing, and are no blanks of gt's
// languages: what was meant cannot be seen.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gt {

struct OddBlank {
  size_t at = 0;
  std::string what;  // "a no-break space (U+00A0) stands here, which ..."
};

// Returns an odd blank of the text, which is in UTF-8; nothing if it has none.
// `language` is whose blanks there are, as in "the language".
inline std::optional<OddBlank> find_odd_blank(std::string_view text,
                                              std::string_view language) {
  struct Kind {
    std::string_view bytes, name;
  };
  constexpr Kind kKinds[] = {
      {"\xc2\xa0", "a no-break space (U+00A0)"},
      {"\xe2\x80\xaf", "a narrow no-break space (U+202F)"},
      {"\xe2\x80\x89", "a thin space (U+2009)"},
      {"\xe3\x80\x80", "an ideographic space (U+3000)"},
      {"\xe2\x80\x8b", "a zero width space (U+200B)"},
      {"\xef\xbb\xbf", "a byte order mark (U+FEFF)"}};
  for (const auto& [bytes, name] : kKinds) {
    const size_t at = text.find(bytes);
    if (at == std::string_view::npos) continue;
    return OddBlank{at, std::string(name) +
                            " stands here, which is no blank of " +
                            std::string(language) + "; write a plain one"};
  }
  return std::nullopt;
}

}  // namespace gt
