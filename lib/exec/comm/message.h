// The messages between workers while values cross: a header in text, and in
// some a body, which in `data` is the bytes of values.
//
//   hello PID FD SIZE TOKEN KINDS DEVICES SUMS
//                                         where my arena can be mapped, which
//                                         links my device can have, and whether
//                                         they are to add up values: 0 or 1
//   ready SEQ GROUP STEP SOURCE TYPE AT   an export is there, at that offset of
//                                         the memory; "-": it is to be fetched
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
// SIZE 0: there is no arena. START and COUNT say a region of the value, an
// index and a count in each dimension, as "0,4"; "-" of a scalar.
//
// A link (memory/device_link.h) is what brings values from device to device
// (direct_moves.h). KINDS and DEVICES are their words, the best first, with
// commas between them; "-": there is none. The body says why there is not one
// of each kind that there could be. The body of `take` has a line "SOURCE START
// COUNT" for each region that its sender will receive from the other, in that
// order; a first line "sum" says that it would rather have the step added by
// the link, which is done if all say so.
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

// Names one export among all of a session.
struct Tag {
  uint64_t seq = 0;
  uint32_t group = 0;   // of the instruction
  uint32_t step = 0;    // of the group's plan
  uint32_t source = 0;  // of the step
  friend auto operator<=>(const Tag&, const Tag&) = default;
};

std::string to_string(const Tag& tag);  // "SEQ GROUP STEP SOURCE"

using Token = ArenaToken;

inline constexpr uint64_t kNowhere = UINT64_MAX;  // `at`: in no arena
// Bytes of a data message, at most; what a get may ask for.
inline constexpr size_t kMaxData = size_t{256} << 10;

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
  Tag tag;                 // ready, fail, released, get
  Type type;               // ready
  uint64_t at = kNowhere;  // ready: the value's offset in the sender's arena
  uint64_t id = 0;         // get, data, nodata
  uint64_t first = 0;      // get: a byte of the region
  uint64_t bytes = 0;      // get
  Shape start;             // get
  Shape count;             // get
  uint64_t pid = 0;        // hello
  uint64_t fd = 0;         // hello
  uint64_t size = 0;       // hello
  Token token{};           // hello
  std::string link_kinds;  // hello: of its links; "": it has none
  std::string devices;     // hello: the links'
  bool has_fast_sums = false;  // hello
  std::string link;            // link
  std::string_view body;       // within the parsed bytes
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
// Takes any bytes. Error: one of its lines is none.
Result<Taken> parse_taken(std::string_view body);

// Takes any bytes. Error: what is wrong with them as a message.
Result<PeerMessage> parse_peer_message(std::string_view bytes);
std::string to_text(const PeerMessage& message);

}  // namespace gt::exec::comm
