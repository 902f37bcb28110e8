#include "client/place_notes.h"

#include "client/scopes.h"
#include "client/where.h"
#include "stream/line.h"

namespace gt::client {
namespace {

std::string end_of_line(const Where& at) {
  if (at.file.empty()) return "\n";
  // A file name that is no word is quoted, together with the line number.
  const std::string place = to_string(at);
  return " #at=" + (needs_quotes(at.file) ? quote(place) : place) + "\n";
}

}  // namespace

void PlaceNotes::append_end(const gt_place& place, std::string& out) {
  out += Scopes::of_thread().text();
  const char* path = place.file == nullptr ? "" : place.file;
  Known& known = known_[place.line % kKept];
  if (known.end.empty() || known.line != place.line || known.path != path) {
    known = {path, place.line, end_of_line(Where::of(place))};
  }
  out += known.end;
}

}  // namespace gt::client
