// The messages between workers while values cross. A message has a header in
// text, and some have a body; the body of `data` is the bytes of values.
//
//   hello PID FD SIZE TOKEN KINDS DEVICES SUMS
//                                         where my arena can be mapped, which
//                                         links my device can have, and whether
//                                         they are to add up values: 0 or 1
//   ready SEQ GROUP STEP SOURCE TYPE AT   an export is there, at that offset of
//                                         the memory; "-": it is to be fetched;
//                                         if values have no contents but keep
//                                         time (Device::done_at()), at that
//                                         time
//   fail SEQ GROUP STEP SOURCE            it failed; the body says why
//   released SEQ GROUP STEP SOURCE        I have read it
//   get ID SEQ GROUP STEP SOURCE FIRST BYTES START COUNT
//                                         send me bytes of a region, row-major
//   data ID                               the body holds them
//   nodata ID                             cannot be read; the body says why
//   ask                                   are you there?
//   here                                  I am
//
//   take SEQ GROUP STEP                   I am at that step, and what the body
//                                         says is to come by the link
//   link ID                               join the link by that word
//   linked                                I have
//   unlinked                              I have not, or do no longer; the body
//                                         says why
//   split                                 I am where the link gets the groups
//                                         that the body says
//   leaving                               I need the link no more
//
// SIZE 0 means that there is no arena. START and COUNT state a region of the
// value, an index and a count in each dimension, such as "0,4"; "-" for a
// scalar.
//
// A link (memory/device_link.h) moves values from device to device
// (direct_moves.h). KINDS and DEVICES are its words of that name, one for each
// link, the best link first, separated by commas; "-" if there is none. The
// body of a hello says why the worker does not offer every kind of link that
// its device could have. The body of `take` has a line "SOURCE START COUNT" for
// each region that its sender will receive from the other worker, in that
// order. A first line "sum" says that the sender would rather let the link add
// the step; that happens if all of them say so.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exec/memory/arena.h"
#include "stream/type.h"

namespace gt::exec::comm {

// Identifies an export among all exports of a session.
struct Tag {
  uint64_t seq = 0;
  uint32_t group = 0;   // of the instruction
  uint32_t step = 0;    // of the group's plan
  uint32_t source = 0;  // of the step
  friend auto operator<=>(const Tag&, const Tag&) = default;
};

std::string to_string(const Tag& tag);  // "SEQ GROUP STEP SOURCE"

using Token = ArenaToken;

// The offset `at` of a value that is in no arena.
inline constexpr uint64_t kNowhere = UINT64_MAX;
// The most bytes of a data message, and so of one get.
inline constexpr size_t kMaxData = size_t{256} << 10;

// A parsed message. The comments say which kinds have a field.
struct PeerMessage {
  enum class Kind : uint8_t {
    kHello,
    kReady,
    kFail,
    kReleased,
    kGet,
    kData,
    kNoData,
    kAsk,
    kHere,
    kTake,
    kLink,
    kLinked,
    kUnlinked,
    kSplit,
    kLeaving
  };
  Kind kind = Kind::kHere;
  Tag tag;    // ready, fail, released, get
  Type type;  // ready
  // ready: the value's offset in the sender's arena, or its time
  uint64_t at = kNowhere;
  uint64_t id = 0;         // get, data, nodata
  uint64_t first = 0;      // get: a byte of the region
  uint64_t bytes = 0;      // get
  Shape start;             // get
  Shape count;             // get
  uint64_t pid = 0;        // hello
  uint64_t fd = 0;         // hello
  uint64_t size = 0;       // hello
  Token token{};           // hello
  std::string link_kinds;  // hello: the kinds of its links; "" if it has none
  std::string devices;     // hello: the devices of its links
  bool has_fast_sums = false;  // hello
  std::string link;            // link
  std::string_view body;       // a view into the parsed bytes
};

// A region of an export, as a line of a `take`.
struct TakenRegion {
  uint32_t source = 0;
  Shape start;
  Shape count;
};
std::string to_text(const TakenRegion& region);  // with its newline
// The body of a `take`.
struct Taken {
  bool sums = false;
  std::vector<TakenRegion> regions;
};
inline constexpr std::string_view kTakenSum = "sum\n";
// Parses the body of a `take`, which may be any bytes. Error: a line is
// malformed.
Result<Taken> parse_taken(std::string_view body);

// Parses a message from any bytes. Error: what is malformed.
Result<PeerMessage> parse_peer_message(std::string_view bytes);
std::string to_text(const PeerMessage& message);

}  // namespace gt::exec::comm
