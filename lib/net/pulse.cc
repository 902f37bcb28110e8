#include "net/pulse.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace gt::net {

Pulse::Pulse(std::function<void()> beat)
    : thread_([beat = std::move(beat)](const std::stop_token& stop) {
        constexpr std::chrono::milliseconds kLook{50};
        std::mutex mutex;
        std::condition_variable_any changed;
        std::unique_lock lock(mutex);
        while (!stop.stop_requested()) {
          changed.wait_for(lock, stop, kLook, [] { return false; });
          beat();
        }
      }) {}

}  // namespace gt::net
