#include "stream/pattern.h"

#include <cstring>

#include "base/hash.h"
#include "stream/char_class.h"
#include "stream/line.h"

namespace gt {

struct Pattern::Word {
  std::string_view text;  // empty: the line is not of the common form
  size_t name = 0;        // bytes of the name that the word is, or begins with
  bool has_ranks = false;
  bool is_name() const { return name == text.size() || has_ranks; }
  std::string_view base() const { return text.substr(0, name); }
};

// Returns the word at `from`, and copies it to the key.
Pattern::Word Pattern::take_word(const char* from, const char* end, char* key) {
  const char* at = from;
  Word word;
  const auto copy = [&](CharClass kind) {
    while (at != end && has_class(*at, kind)) *key++ = *at++;
  };
  if (at != end && has_class(*at, kIdentFirst)) {
    copy(kIdentRest);
    word.name = static_cast<size_t>(at - from);
    if (at != end && *at == '@') {
      word.has_ranks = true;
      *key++ = *at++;
      copy(kOfRanks);
    }
  }
  if (!word.has_ranks) copy(kPlain);
  if (at == end || *at == ' ') {
    word.text = {from, static_cast<size_t>(at - from)};
  }
  return word;
}

// Returns false if the name rules the line out.
bool Pattern::take_name(const Word& word, bool internal_names) {
  const std::string_view base = word.base();
  const bool internal =
      base[0] == '_' || base.find("/_") != std::string_view::npos;
  if ((internal && !internal_names) || is_reserved(base)) return false;
  names_.push_back({word.text, base});
  is_placed_ = is_placed_ || word.has_ranks;
  return true;
}

// A word of the language, such as a dtype, is no name.
bool Pattern::is_operand_name(const Word& word) {
  return word.is_name() && (word.has_ranks || !is_reserved(word.text));
}

bool Pattern::scan(std::string_view line, bool internal_names) {
  names_.clear();
  results_ = key_size_ = 0;
  is_placed_ = has_at_ = false;
  if (line.size() > kMaxLine) return false;
  enum class Part { kResults, kOp, kFreed, kRest } part = Part::kResults;
  char* key = key_.data();
  const char* at = line.data();
  const char* const end = at + line.size();
  for (;; ++at) {
    if (part == Part::kRest &&
        std::string_view(at, static_cast<size_t>(end - at))
            .starts_with("#at=")) {
      has_at_ = true;
      while (at != end && has_class(*at, kPlain)) ++at;
      if (at == end) break;
      if (*at != ' ') return false;
      continue;
    }
    const Word word = take_word(at, end, key);
    if (word.text.empty()) return false;
    at += word.text.size();
    size_t kept = word.text.size();  // bytes of the word in the key
    if (part == Part::kRest && !is_operand_name(word)) {
      if (word.text == "#") return false;
    } else if (part == Part::kOp) {
      if (word.has_ranks) return false;
      part = Part::kRest;
    } else if (part == Part::kResults && word.text == "=") {
      if (names_.empty()) return false;
      results_ = names_.size();
      part = Part::kOp;
    } else if (part == Part::kResults && names_.empty() &&
               word.text == "free") {
      part = Part::kFreed;
    } else {
      if (!word.is_name() || !take_name(word, internal_names)) return false;
      // In the key the name is an empty word, which no line has.
      kept -= word.name;
      std::memmove(key, key + word.name, kept);
    }
    key += kept;
    *key++ = ' ';
    if (at == end) break;
  }
  key_size_ = static_cast<size_t>(key - key_.data());
  key_hash_ = hash_bytes(this->key());
  const bool is_whole = part == Part::kRest || part == Part::kFreed;
  return is_whole && !names_.empty();
}

}  // namespace gt
