// Timing: how the two ends of a connection know that the other is alive.
#pragma once

#include <cstdint>

namespace gt::net {

// How often the two ends of a connection give signs of life (beats), and what a
// silence of which length means. Times are in milliseconds.
struct Timing {
  int64_t beat = 500;
  int64_t suspect = 1000;     // after so long a silence people are told
  int64_t lost = 1500;        // after so long a silence the other is lost
  int64_t handshake = 15000;  // limit for a connection's handshake

  // Returns how much of the time between two checks does not count as silence
  // of others: all of it if it was so long that this process itself must have
  // been stopped, else none.
  int64_t excused(int64_t passed) const {
    return passed > 3 * beat / 2 ? passed : 0;
  }
  // Returns the timing in which a silence of so many ms is a loss. `silence`
  // must be at least two beats.
  static Timing with_silence(int64_t silence) {
    Timing timing;
    timing.suspect = silence * 2 / 3;
    timing.lost = silence;
    return timing;
  }
};

}  // namespace gt::net
