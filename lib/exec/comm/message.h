// The messages between workers while values cross: a header in text, and in
// `fail`, `data` and `nodata` a body, which in `data` is the bytes of values.
//
//   hello PID FD SIZE TOKEN               where my arena can be mapped
//   ready SEQ GROUP STEP SOURCE TYPE AT   an export is there, at that offset of
//                                         the memory; "-": it is to be fetched
//   fail SEQ GROUP STEP SOURCE            it failed; the body says why
//   released SEQ GROUP STEP SOURCE        I have read it
//   get ID SEQ GROUP STEP SOURCE FIRST BYTES START COUNT
//                                         send me bytes of a region, row-major
//   data ID                               the body holds them
//   nodata ID                             they cannot be read; the body says
//   why ask                                   are you there? here I am
//
// SIZE 0: there is no arena. START and COUNT say a region of the value, an
// index and a count in each dimension, as "0,4"; "-" of a scalar.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

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
    kHere
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
  std::string_view body;   // fail, data, nodata: within the parsed bytes
};

// Takes any bytes. Error: what is wrong with them as a message.
Result<PeerMessage> parse_peer_message(std::string_view bytes);
std::string to_text(const PeerMessage& message);

}  // namespace gt::exec::comm
