#include "base/reported.h"

#include <cctype>

#include "base/hash.h"

namespace gt {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
         c == '.' || c == '/';
}

// Returns the text with "0" for each word that begins with a digit; names stay.
std::string without_numbers(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end == i) {
      out += text[i++];
      continue;
    }
    const bool number = std::isdigit(static_cast<unsigned char>(text[i])) != 0;
    out += number ? "0" : text.substr(i, end - i);
    i = end;
  }
  return out;
}

// The text with "0" for each run of digits, in names, too: a loop in a client's
// source may bind t1, t2 and so on.
std::string without_digits(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!is_digit) out += c;
    if (is_digit && !out.ends_with('0')) out += '0';
  }
  return out;
}

uint64_t kind_of(const Place& place, std::string_view reason,
                 std::string_view line) {
  const bool is_stream = place.file == kStdinName || place.file == kSharedName;
  if (!is_stream) {
    return hash_bytes(without_digits(reason) + "\n" + to_string(place));
  }
  return hash_bytes(without_numbers(reason) + "\n" + without_numbers(line));
}

}  // namespace

bool Reported::is_first(const Place& place, std::string_view reason,
                        std::string_view line) {
  if (index_.size() == kMost) {
    index_.clear();
    kinds_.clear();
  }
  const auto [it, fresh] =
      index_.emplace(kind_of(place, reason, line), kinds_.size());
  if (fresh) {
    kinds_.push_back({to_string(place), 0});
  } else {
    ++kinds_[it->second].more;
  }
  return fresh;
}

std::string Reported::take_counts(std::string_view program, bool was_written) {
  std::string out;
  bool by_stream = false;
  for (Kind& kind : kinds_) {
    by_stream = by_stream || kind.place.starts_with(kStdinName);
    if (kind.more == 0) continue;
    out += std::string(program) + ": " + std::to_string(kind.more) +
           " more like the one at " + kind.place + "\n";
    kind.more = 0;
  }
  if (by_stream && was_written) {
    out +=
        std::string(program) +
        ": note: a place in <stdin> is a line of the stream that came in, or "
        "with gt-emit --at one of the program\n";
  }
  return out;
}

}  // namespace gt
